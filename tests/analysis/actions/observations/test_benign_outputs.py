"""What speaks of errors and is none: contents, names, numbers, notices, answers by exit code, echoes."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.observations.result import ObservedResult
from dense.analysis.actions.step_effects import effects
from dense.trajectory import Observation, Source, Step

type Look = Callable[..., ObservedResult]

TRACE = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\nValueError: x'

CONTENTS: list[tuple[str, str]] = [
    ("cat server.log", TRACE),
    ("tail -50 /var/log/app.log", "ERROR: cannot open database\nfatal: giving up"),
    ("sed -n '1,40p' a.py", 'raise ValueError("Error: x")\nerror: str = ""'),
    ("grep -rn error src", "src/a.py:3:    error: no such file\nsrc/b.c:3:5: error: x"),
    ("grep -rn Traceback . | head", "a.log:1:Traceback (most recent call last):"),
    ("git diff", "-    raise KeyError\n+error: fixed\nFAILED test"),
    ("git log --oneline", "a1b2c3 Fix error: cannot open file\nd4e5f6 FAILED tests fixed"),
    ("git --no-pager log -5 && git status", "Error: in a title\nnothing to commit"),
    ("git show HEAD:a.log", "ValueError: in an old log"),
    ("find . -name '*error*' | xargs ls -l", "./error.c\nError: a file of this name"),
    ("awk '{print $1}' log", "ERROR:\nFAILED x"),
    ("docker logs web", TRACE),
    ("journalctl -u web", "error: in the journal"),
    ("curl -s http://a/page", "Error: an article about errors\nTypeError: what it means"),
    ("ls", "Error: a file\nerror.log"),
    ("cat a.txt && wc -l a.txt", "FAILED to be short"),
    ("cp a b && cat b", "error: text in b"),
    ("jq . a.json", '{"error": "x"}'),
    ("cat test.txt", "===== 3 failed, 2 passed in 0.1s ====="[6:]),
]
NOTICES: list[tuple[str, str]] = [
    ("python a.py", "Error: 0.0038"),
    ("python a.py", "error: 3.35e-12"),
    ("python a.py", "Error: 6.50%"),
    ("python a.py", "error: None"),
    ("python a.py", "Errors: 0"),
    ("python a.py", "Max error: 1.2\nPut-call parity error: 0.003"),
    ("eslint .", "0 errors, 0 warnings"),
    ("make lint", "Success: no issues found\nno errors"),
    ("mypy a.py", "Found 0 errors in 3 files"),
    ("python a.py", "a.py:3: DeprecationWarning: error handling will change"),
    ("python a.py", "/a/b.py:5: SyntaxWarning: invalid escape sequence"),
    ("pip install x", "Requirement already satisfied: x\nWARNING: Running pip as the 'root' user"),
    ("pip install x", "ERROR: pip's dependency resolver does not currently take into account all the packages"),
    ("python a.py", "INFO: error handler installed\nINFO error handling enabled"),
    ("make", "make: Nothing to be done for 'all'."),
    ("make", "make[1]: Entering directory '/a'\nmake: 'x' is up to date."),
    ("make", "make: [clean] Error 1 (ignored)"),
    ("tar czf a.tgz /a", "tar: Removing leading `/' from member names"),
    ("sudo ls", "sudo: unable to resolve host a: Name or service not known"),
    ("gcc a.c", "a.c:3:5: warning: unused variable ‘error’ [-Wunused-variable]"),
    ("grep -r x .", "grep: ./a.bin: binary file matches"),
    ("grep x *", "grep: sub: Is a directory"),
    ("find / -name x", "find: ‘/proc/1/fd’: Permission denied\n/etc/x"),
    ("python server.py & kill %1", "[1]+  Terminated              python server.py"),
    ("python a.py", "Status: error\nresult: failed lookup count 3"),
    ("python a.py", "Error rate is low\nFailures seen: none"),
    ("pytest -v", "tests/test_a.py::test_error_is_raised PASSED\ntests/test_a.py::test_failed_login PASSED"),
    ("npm test", "npm warn deprecated error-lib@1.0.0"),
    ("python a.py", "{'error': None, 'failed': 0}"),
    ("python a.py", "http://host:80/error: see there"),
    ("apt-get install -y x", "debconf: delaying package configuration, since apt-utils is not installed"),
    ("bash a.sh", "bash: cannot set terminal process group (1): Inappropriate ioctl for device"),
    ("python a.py", '    "Traceback (most recent call last):" is how it begins'),
    ("python a.py", "Fehler: 0\nErreur : aucune"),
]


@pytest.mark.parametrize(("command", "text"), CONTENTS)
def test_contents_that_are_shown_are_no_failure(after: Look, command: str, text: str) -> None:
    found = after(command, text + "\n")
    assert not found.has_failed, found


@pytest.mark.parametrize(("command", "text"), NOTICES)
def test_notices_and_numbers_are_no_failure(after: Look, command: str, text: str) -> None:
    found = after(command, text + "\n")
    assert not found.has_failed, found


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("grep x a.txt", 1),
        ("cd /a && grep -q x a.txt", 1),
        ("python a.py | grep 'a|b'", 1),
        ("diff a b", 1),
        ("cmp a b", 1),
        ("test -f a", 1),
        ("[ -f a ]", 1),
        ("which gnuplot", 1),
        ("pgrep -f server", 1),
        ("yes | head -1", 141),
        ("make -j8", -1),
    ],
)
def test_an_exit_code_may_be_an_answer(after: Look, command: str, code: int) -> None:
    assert not after(command, "", code=code).has_failed


def test_a_search_that_a_harness_calls_an_error_is_an_answer_too(after: Look) -> None:
    assert not after("grep x a.txt", "Command exited with code 1", is_error=True).has_failed
    assert not after("pkill -f server", "Error", is_error=True).has_failed


@pytest.mark.parametrize("line", ["error: x is odd", "ValueError: x", "a.c:1:1: error: x", "✗ not supported here"])
def test_an_exit_code_of_0_speaks_against_what_a_program_printed(after: Look, line: str) -> None:
    assert not after("python a.py", line, code=0).has_failed
    assert not after("cd /a && python - <<'EOF'\nx = 1; y = 2 | 3\nEOF", line, code=0).has_failed


@pytest.mark.parametrize("command", ["python a.py | tail", "python a.py; echo done", "python a.py || true"])
def test_an_exit_code_of_0_behind_a_pipe_or_a_list_says_nothing(after: Look, command: str) -> None:
    assert after(command, "error: x is odd", code=0).has_failed


def test_a_traceback_stands_whatever_the_exit_code(after: Look) -> None:
    assert after("python a.py", TRACE, code=0).has_failed


def test_who_provides_for_a_failure_gets_an_answer(after: Look) -> None:
    assert not after("ls a || echo none", "ls: cannot access 'a': No such file or directory\nnone").has_failed


def test_what_was_typed_is_no_failure_when_it_is_shown_again(after: Look) -> None:
    command = "cat > a.yml <<'EOF'\nerror: cannot open it\nEOF\npython a.py"
    assert not after(command, "error: cannot open it\nok").has_failed


SCREEN = """root@c0ffee:/app# cat > a.py <<'PY'
> try:
>     f()
> except ValueError as error:
>     raise SystemExit("error: x")
> PY
root@c0ffee:/app# python a.py
30
root@c0ffee:/app# """


def test_a_terminal_repeats_what_was_typed(typed: Look) -> None:
    keys = ["cat > a.py <<'PY'\ntry:\n    f()\nexcept ValueError as error:\n    raise SystemExit(\"error: x\")\nPY\n"]
    assert not typed([*keys, "python a.py\n"], SCREEN).has_failed


def test_what_is_above_the_first_command_on_a_screen_is_older(typed: Look) -> None:
    screen = f"root@c:/app# python a.py\n{TRACE}\nroot@c:/app# python b.py\n30\nroot@c:/app# "
    assert not typed(["python b.py\n"], screen).has_failed
    assert typed(["python a.py\n"], screen).has_failed


@pytest.mark.parametrize(
    "text",
    [
        '{"error": null, "rows": [1]}',
        '{"errors": [], "success": true}',
        '{"items": [{"error": "inner"}]}',
        "The page says: Error 404",
        "Results about error handling",
        '{"status": "available", "error_rate": 0.1}',
    ],
)
def test_an_answer_with_error_words_is_no_error(tool: Look, text: str) -> None:
    assert not tool("search_flights", text, query="x").has_failed


@pytest.mark.parametrize("name", ["Read", "read_file", "view", "Grep", "open"])
def test_a_tool_that_reads_shows_contents(tool: Look, name: str) -> None:
    assert not tool(name, f"     1→{TRACE}\n     2→error: x", path="/a/b.py").has_failed


def test_what_a_user_says_is_not_looked_at() -> None:
    step = Step(Source("t"), message="hi", observations=(Observation("Error: I cannot log in", origin="user"),))
    assert not observe(step, effects(step)).has_failed
