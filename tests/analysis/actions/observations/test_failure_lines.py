"""Which lines report a failure, of which family, about what. The texts are what the programs really print."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dense.analysis.actions.observations.error_lines import TRACEBACK_START, tracebacks
from dense.analysis.actions.observations.result import ObservedFailure, ObservedResult
from dense.knowledge.errors import EXCEPTION

type Look = Callable[..., ObservedResult]

RUST = "error[E0308]: mismatched types\n --> a.rs:1:25\n  |\nerror: aborting due to 1 previous error"
NODE = """node:internal/modules/cjs/loader:1210
  throw err;
  ^

Error: Cannot find module 'express'
Require stack:
- /app/[eval]
    at Module._resolveFilename (node:internal/modules/cjs/loader:1207:15)"""
TRACE = """Traceback (most recent call last):
  File "/app/a.py", line 6, in <module>
    total = sum(rows)
            ^^^^^^^^^
KeyError: 'amount'"""
CHAINED = f"""{TRACE}

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/app/a.py", line 9, in <module>
    raise RuntimeError("no total")
RuntimeError: no total"""
COMPOSE = """web-1  | Traceback (most recent call last):
web-1  |   File "/app/a.py", line 1, in <module>
web-1  |     import flask
web-1  | ModuleNotFoundError: No module named 'flask'"""
SYNTAX = """  File "/app/a.py", line 3
    def f(:
          ^
SyntaxError: invalid syntax"""

REPORTED: list[tuple[str, str, str, str]] = [
    # the shell
    ("gnuplot -e x", "bash: gnuplot: command not found", "no_such_command", "gnuplot"),
    ("gnuplot -e x", "bash: line 1: gnuplot: command not found", "no_such_command", "gnuplot"),
    ("./run.sh", "./run.sh: line 3: foo: command not found", "no_such_command", "foo"),
    ("foo", "sh: 1: foo: not found", "no_such_command", "foo"),
    ("foo", "/bin/sh: 1: foo: not found", "no_such_command", "foo"),
    ("foo", "zsh: command not found: foo", "no_such_command", "foo"),
    ("foo", "fish: Unknown command: foo", "no_such_command", "foo"),
    ("foo", "'foo' is not recognized as an internal or external command,", "no_such_command", "foo"),
    ("node a.js", "Error: getaddrinfo ENOTFOUND db.local", "connection", ""),
    ("python a.py", "FileNotFoundError: [Errno 2] No such file or directory: 'a.csv'", "no_such_file", "a.csv"),
    ("./nope", "bash: line 1: ./nope: No such file or directory", "no_such_file", "./nope"),
    ("./a.c", "bash: ./a.c: Permission denied", "permission", "./a.c"),
    ("cd nope && make", "bash: line 1: cd: nope: No such file or directory", "no_such_file", "nope"),
    ("cd nope", "(eval):cd:1: no such file or directory: nope", "no_such_file", "nope"),
    ("make", "/bin/sh: 1: cd: can't cd to build", "no_such_file", "build"),
    ("if", "bash: -c: line 2: syntax error: unexpected end of file", "syntax", ""),
    ("echo (a", "bash: -c: line 1: syntax error near unexpected token `a'", "syntax", ""),
    ("if", 'dash: 1: Syntax error: end of file unexpected (expecting "then")', "syntax", ""),
    ("./x", "bash: line 1: 20550 Segmentation fault      ./x", "killed", ""),
    ("./x", "/bin/bash: line 124:  3143 Killed                  ./x", "killed", ""),
    ("set -u; echo $x", "bash: line 1: x: unbound variable", "other", ""),
    # programs that speak of themselves, whatever the action was for
    ("cat nope", "cat: nope: No such file or directory", "no_such_file", "nope"),
    ("cat nope", "cat: nope: Datei oder Verzeichnis nicht gefunden", "other", ""),
    ("cat nope", "cat: nope: Aucun fichier ou dossier de ce type", "other", ""),
    ("ls nope", "ls: 无法访问 'nope': 没有那个文件或目录", "other", ""),
    ("bash run", "bash: foo: Kommando nicht gefunden.", "other", ""),
    ("ls nope", "ls: cannot access 'nope': No such file or directory", "no_such_file", "nope"),
    ("cp a b", "cp: cannot stat 'a': No such file or directory", "no_such_file", "a"),
    ("rm a", "rm: cannot remove 'a': No such file or directory", "no_such_file", "a"),
    ("rm a", "rm: a: No such file or directory", "no_such_file", "a"),
    ("mkdir /proc/x", "mkdir: cannot create directory ‘/proc/x’: No such file or directory", "no_such_file", "/proc/x"),
    ("rmdir /tmp", "rmdir: failed to remove '/tmp': Directory not empty", "other", ""),
    ("sed -i s/a/b/ x", "sed: can't read x: No such file or directory", "no_such_file", "x"),
    ("sed s/a", "sed: -e expression #1, char 3: unterminated `s' command", "syntax", ""),
    ("head nope", "head: cannot open 'nope' for reading: No such file or directory", "no_such_file", "nope"),
    ("grep x nope", "grep: nope: No such file or directory", "no_such_file", "nope"),
    ("grep -E '(' a", "grep: Unmatched ( or \\(", "other", ""),
    ("find nope", "find: ‘nope’: No such file or directory", "no_such_file", "nope"),
    ("ls --nope", "ls: unrecognized option '--nope'", "usage", "--nope"),
    ("cp", "cp: missing file operand", "usage", ""),
    ("sort nope", "sort: cannot read: nope: No such file or directory", "no_such_file", "nope"),
    ("touch /etc/a", "touch: cannot touch '/etc/a': Permission denied", "permission", "/etc/a"),
    ("tar xf a.tar", "tar: a.tar: Cannot open: No such file or directory", "no_such_file", "a.tar"),
    ("jq . a", "jq: error: Could not open file a: No such file or directory", "no_such_file", "a"),
    ("awk '{'", "awk: line 2: missing } near end of file", "other", ""),
    ("date -d foo", "date: invalid date ‘foo’", "other", ""),
    ("env nope", "env: ‘nope’: No such file or directory", "no_such_file", "nope"),
    ("dd of=/x", "dd: error writing '/x': No space left on device", "disk_full", ""),
    ("git log", "fatal: not a git repository (or any of the parent directories): .git", "other", ""),
    ("git checkout nope", "error: pathspec 'nope' did not match any file(s) known to git", "other", ""),
    ("git foo", "git: 'foo' is not a git command. See 'git --help'.", "usage", ""),
    ("curl http://a:1", "curl: (7) Failed to connect to a port 1 after 0 ms: Couldn't connect", "connection", "a"),
    ("curl http://a.invalid", "curl: (6) Could not resolve host: a.invalid", "connection", "a.invalid"),
    ("curl -f http://a", "curl: (22) The requested URL returned error: 404", "http", "404"),
    ("curl -m 1 http://a", "curl: (28) Se agotó el tiempo", "time_out", ""),
    (
        "python3 nope.py",
        "python3: can't open file '/app/nope.py': [Errno 2] No such file or directory",
        "no_such_file",
        "/app/nope.py",
    ),
    ("python3 -m pytest", "/usr/bin/python3: No module named pytest", "no_such_module", "pytest"),
    ("ssh a", "ssh: Could not resolve hostname a: Name or service not known", "connection", "a"),
    ("psql", 'psql: error: connection to server at "db" (::1), port 1 failed: Connection refused', "connection", "db"),
    ("python3 a.py --x", "a.py: error: unrecognized arguments: --x", "usage", "--x"),
    # interpreters
    ("python a.py", TRACE, "exception", "KeyError"),
    ("python a.py", COMPOSE, "no_such_module", "flask"),
    ("python a.py", SYNTAX, "syntax", ""),
    ("python a.py | tail -1", "ValueError: bad total", "exception", "ValueError"),
    ("python a.py", TRACE.replace("KeyError: 'amount'", "AssertionError"), "assertion", "AssertionError"),
    ("python a.py", TRACE.replace("KeyError: 'amount'", "json.decoder.JSONDecodeError: Expecting value"), "syntax", ""),
    ("python a.py", TRACE.replace("KeyError: 'amount'", "MemoryError"), "out_of_memory", ""),
    (
        "python a.py",
        TRACE.replace("KeyError: 'amount'", "PermissionError: [Errno 13] Permission denied: '/x'"),
        "permission",
        "/x",
    ),
    (
        "python a.py",
        TRACE.replace("KeyError: 'amount'", "OSError: [Errno 98] Address already in use"),
        "port_in_use",
        "",
    ),
    (
        "python a.py",
        TRACE.replace("KeyError: 'amount'", "urllib.error.HTTPError: HTTP Error 404: Not Found"),
        "http",
        "404",
    ),
    ("python a.py", TRACE.replace("KeyError: 'amount'", "requests.exceptions.ConnectionError: boom"), "connection", ""),
    ("python a.py", TRACE.replace("KeyError: 'amount'", "TimeoutError"), "time_out", ""),
    ("python a.py | head -3", TRACE.rpartition("\n")[0], "exception", ""),
    ("node a.js", NODE, "no_such_module", "express"),
    ("node a.mjs", "Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/a/b.js'", "no_such_module", "/a/b.js"),
    (
        "node a.js",
        "TypeError: Cannot read properties of null (reading 'x')\n    at [eval]:1:6",
        "exception",
        "TypeError",
    ),
    ("node a.js", "Error: listen EADDRINUSE: address already in use :::8080", "port_in_use", "8080"),
    ("node a.js", "Uncaught ReferenceError: x is not defined", "exception", "ReferenceError"),
    ("java A", 'Exception in thread "main" java.lang.NullPointerException: null', "exception", ""),
    ("./b", "thread 'main' (20577) panicked at b.rs:1:54:\nindex out of bounds", "exception", ""),
    ("./g", "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:", "exception", ""),
    ("./f", "terminate called after throwing an instance of 'std::bad_alloc'", "out_of_memory", ""),
    ("./d", "d: d.c:2: main: Assertion `0' failed.", "assertion", ""),
    (
        "perl a.pl",
        "Can't locate Nope.pm in @INC (you may need to install the Nope module)",
        "no_such_module",
        "Nope.pm",
    ),
    ("Rscript a.R", "Error in library(nope) : there is no package called ‘nope’", "no_such_module", "nope"),
    ("php a.php", "PHP Fatal error:  Uncaught Error: Call to undefined function f()", "other", ""),
    ("sqlite3 x.db 'select * from t'", "Error: in prepare, no such table: t", "other", ""),
    ("sqlite3 x.db < a.sql", 'Parse error near line 1: near "int": syntax error', "syntax", ""),
    ("mysql < a.sql", "ERROR 1064 (42000) at line 1: You have an error in your SQL syntax", "other", ""),
    # builds and packages
    (
        "gcc a.c",
        "a.c: In function ‘main’:\na.c:1:20: error: ‘x’ undeclared (first use in this function)",
        "build",
        "a.c",
    ),
    ("gcc b.c", "b.c:1:10: fatal error: nope.h: No such file or directory", "build", "b.c"),
    ("javac B.java", "B.java:1: error: incompatible types: String cannot be converted to int", "build", "B.java"),
    ("npx tsc", "src/a.ts(28,2): error TS2739: Type '{}' is missing properties", "build", "src/a.ts"),
    ("rustc a.rs", RUST, "build", ""),
    ("make", "make: *** No rule to make target 'nope'.  Stop.", "usage", "nope"),
    ("make", "make: *** [Makefile:4: all] Error 1", "build", ""),
    ("cmake .", 'CMake Error: The source directory "/x" does not exist.', "build", ""),
    ("cargo build", "error: could not find `Cargo.toml` in `/x` or any parent directory", "other", ""),
    ("pdflatex a.tex", "! Undefined control sequence.", "build", ""),
    ("mvn test", "[ERROR] The goal you specified requires a project to execute", "other", ""),
    ("pip install nope", "ERROR: No matching distribution found for nope", "no_such_module", "nope"),
    ("pip install x", "error: externally-managed-environment", "permission", ""),
    ("apt-get install nope", "E: Unable to locate package nope", "no_such_module", "nope"),
    ("npm run nope", 'npm error Missing script: "nope"', "usage", "nope"),
    ("docker ps", "Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", "connection", ""),
    ("docker run x", "Error response from daemon: pull access denied for x", "other", ""),
    ("wget http://a:1", "Connecting to a (a)|127.0.0.1|:1... failed: Connection refused.", "connection", ""),
    ("uvicorn a:app", "ERROR:    [Errno 98] error while attempting to bind: address already in use", "port_in_use", ""),
    ("curl -i http://a/x", "HTTP/1.1 404 Not Found\nServer: x", "http", "404"),
    ("node a.js", "FATAL ERROR: Reached heap limit - JavaScript heap out of memory", "out_of_memory", ""),
    ("python check.py", "FAIL: column b has the wrong type", "assertion", ""),
    ("python check.py", "❌ total is 29, expected 30", "assertion", ""),
]


@pytest.mark.parametrize(("command", "text", "family", "subject"), REPORTED)
def test_a_line_reports_a_failure(after: Look, command: str, text: str, family: str, subject: str) -> None:
    failures = after(command, f"{text}\n").failures
    assert family in [failure.family.code for failure in failures], failures
    failure = next(failure for failure in failures if failure.family.code == family)
    assert not subject or failure.subject == subject, failure
    assert failure.line in "\n".join(line.strip() for line in text.replace("web-1  | ", "").split("\n"))


def test_a_traceback_is_reported_by_its_last_line(after: Look) -> None:
    assert after("python a.py", TRACE).failures == (ObservedFailure(EXCEPTION, "KeyError: 'amount'", "KeyError"),)


def test_every_chained_traceback_is_reported(after: Look) -> None:
    assert [failure.line for failure in after("python a.py", CHAINED).failures] == [
        "KeyError: 'amount'",
        "RuntimeError: no total",
    ]


def test_a_repeated_failure_is_reported_once(after: Look) -> None:
    assert len(after("python a.py", "\n".join([TRACE] * 9)).failures) == 1


def test_of_many_failures_the_first_few_and_the_last_are_reported(after: Look) -> None:
    text = "\n".join(f"a.c:{n}:1: error: e{n}" for n in range(1, 41))
    assert [failure.line.split()[-1] for failure in after("gcc a.c", text).failures] == [
        "e1",
        "e2",
        "e3",
        "e4",
        "e5",
        "e40",
    ]


def test_a_line_is_cut_at_300_characters(after: Look) -> None:
    assert len(after("python a.py", f"ValueError: {'x' * 900}").failures[0].line) == 300


@pytest.mark.parametrize(
    "line",
    (
        *("src/a.py:3:    def a(self):", "tests/test_a.py::test_b PASSED", "main.go:14: x := 1", "total: 30"),
        *("INFO: started", "std::vector<int> a", "a.json:{}", "terminals", "thread", "npm", "FAILED", "FAILED 3"),
    ),
)
def test_a_line_that_only_looks_like_an_error_is_none(after: Look, line: str) -> None:
    assert not after("python a.py", f"x\n{line}\n").has_failed


@pytest.mark.parametrize(
    "line",
    (
        *("Exception in thread main", "Uncaught x", "terminate called after x", "thread 'main' panicked at a.rs:1"),
        *(
            "CMake Error at a",
            "BUILD FAILED",
            "! LaTeX x",
            "Killed",
            "FAILED a",
            "[FAIL] a",
            "✗ it fails",
            "❌ it fails",
        ),
        *("HTTP/1.1 404 a", "< HTTP/2 500", "Your proposed edit x", "npm ERR! missing a", "npm error 404 a"),
        *("Error in a", "[ERROR] a", "Cannot a", "Can't a", "TypeError [ERR_X]: a", "No module named a"),
        *("parse error near a", "syntax error at a", "'a' is not recognized", "Connecting to a failed: b"),
        *("Get-Item : a", "An error occurred", "Permission denied", "PHP Fatal a", "Execution halted"),
    ),
)
def test_a_line_with_the_start_of_a_family_is_an_error(after: Look, line: str) -> None:
    assert [failure.line for failure in after("./run; true", f"x\n{line}\n").failures] == [line]


def test_a_long_traceback_is_followed_to_its_end(after: Look) -> None:
    frames = '  File "a.py", line 1, in f\n    f()\n' * 150
    text = f"Traceback (most recent call last):\n{frames}RecursionError: too deep\n"
    assert after("python a.py", text, code=1).failures[0].line == "RecursionError: too deep"


@pytest.mark.parametrize(
    ("text", "last"),
    (
        ('T\n  File "a"\n\n    x\n\x0b\nKeyError: 1\n', "KeyError: 1"),  # blank lines between the frames
        ('T\n  File "a"\n    x', "T"),  # cut off
        ('T\n  File "a"\n    x\n', "T"),
        ('| T\n|   File "a"\n| KeyError: 1\n', "KeyError: 1"),
        ("T\n  no frame\nKeyError: 1\n", None),
    ),
)
def test_the_last_line_of_a_traceback(text: str, last: str | None) -> None:
    lines = [*tracebacks("\n" + text.replace("T\n", TRACEBACK_START + ":\n")).values()]
    assert lines == ([] if last is None else [last.replace("T", TRACEBACK_START)])
