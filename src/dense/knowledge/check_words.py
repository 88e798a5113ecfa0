"""Words of commands that test or check something: names, options, what they take."""

from __future__ import annotations

from dense.knowledge.program import words as words_of

TEST_WORDS = words_of("""
    test tests testing check checks verify verifier verification validate validator validation selftest runtests
    runtest unittest unittests spec specs lint typecheck tester e2e
""")
NO_RUN = words_of("--version -V --help -h --collect-only --co --listTests --list-tests --fixtures")
"""Options with which nothing is checked."""
INTERPRETER_OPTIONS = words_of("-W -X -c -e -cp -classpath --require -r -File -Command -I -O -S")
PACKAGER_OPTIONS = words_of("--prefix -w --workspace --filter -C --cwd --dir")
PACKAGER_VERBS = words_of(
    "install i add ci remove uninstall exec x dlx init create publish link list ls view why audit"
)
TASK_SCRIPTS = words_of("manage.py setup.py artisan rails tox nox")
"""Program files whose first argument says whether they test."""
VALUE_OPTIONS = words_of("""
    -W -X -p -o -c -n -e --tb --rootdir --settings --ds --confcutdir --reporter --config --color --log-level --junitxml
    --cov-report -C --directory --prefix
""")
"""Options whose value is a word of its own, and no subject."""
LABEL_RUNNERS = words_of("unittest manage.py runtests.py run_tests.py setup.py nose nose2 trial test")
"""Runners that take modules by their dotted names."""
GENERAL_NAMES = words_of("tests test testing src lib spec specs __tests__")
"""Parts of names that do not say which tests are meant."""
