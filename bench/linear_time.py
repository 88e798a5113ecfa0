"""Time that the built-in analyst takes for hostile texts, which must grow with their length and no faster.

Each pattern is repeated to 60 and 600 KB in five fields of a trace (command, output, task, message, written file) and
the trace distilled. A text of ten times the length may take GROWTH times as long, or SLACK seconds in all:

    python bench/linear_time.py                        # 150 patterns, five fields: half an hour
    python bench/linear_time.py --sizes 6000,60000     # smaller ones"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from types import FrameType

from dense import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

GROWTH = 25.0
"""Beyond this factor between two lengths, one of which is ten times the other, time is not linear."""
SLACK = 1.5
"""Seconds for which no factor is asked: what is constant weighs more than what grows."""
LONGEST = 30
"""Seconds after which a case is given up."""
FIELDS = ("command", "output", "task", "message", "file")
COUNTED = "1 failed, 2 passed in 0.1s"
PATTERNS = (
    *("`", "``", "`a`", "```", "```a\n", "$(", '"', "'", "\\", "\n", "\n\n", "(", ")", "()", "[", "[]", "{", "{}"),
    *('{"a":', '{"a": 1}\n', "<", "<a>", "</a>", "<div>", "> ", ">", "|", "||", "&&", ";", "# ", "#", "-", "--", "- "),
    *("* ", "**", "_", "~", "/", "a/", "../", ".", "..", "...", "a.", "@", "@@ -1 +1 @@\n", "+a\n", "-a\n", "=", "a="),
    *("a=b ", "export a=b;", "1", "1 ", "1,", "1.", "1..", "a:1:", 'File "a", line 1\n', "ValueError: x\n", "Error: "),
    *("Traceback (most recent call last):\n", "error: x\n", "a", "a ", "a\n", "aaaa_", "é", "\u3042", "\u3002", ". "),
    *("! ", "? ", "A. ", "e.g. ", "cd a && ", "cd a; ", "cat a\n", "cat <<E\n", "cat <<E\nx\nE\n", "<<", "<<<"),
    *("if true; then ", "for i in a; do ", "while :; do ", "case a in a) ;; esac; ", "fi; ", 'bash -c "', "bash -c '"),
    *("python3 -c '", 'python3 -c "', "ssh a ", "sudo ", "xargs ", "sed -i s/a/b/ f; ", "git add a; ", "pytest -q; "),
    *("make;", "1 passed\n", "1 failed\n", "FAILED a::b - x\n", "PASSED a::b\n", "ok 1 - a\n", "not ok 1 - a\n"),
    *("--- FAIL: a (0.0s)\n", "=== RUN a\n", "E   assert 1\n", "====\n", "----\n", "warning: x\n", "npm ERR! x\n"),
    *("total 1\n", "-rw-r--r-- 1 r r 1 Jan 1 00:00 a\n", "exit code 1\n", "<output>\n", "<returncode>1</returncode>"),
    *("\x1b[31m", "\x1b]0;", "\r", "\r\n", "\t", "\0", "http://a/b ", "http://", "password=", "token: ", "ghp_", "eyJ"),
    *("AKIA", "-----BEGIN PRIVATE KEY-----\n", "-----END", "QUFB", "%20", "\\u0041", "\\n", '\\"', "&amp;", "&#x"),
    *("print(", "def f():\n", "class A:\n", "import a\n", 'f"{', "1+", "((", "[[", "    ", "|a|b|\n", "- [ ] a\n"),
    *("1. a\n", "## a\n", "/app/a.txt ", "`/app/a.txt` ", "at least 1 ", "Write a.txt. ", "I will ", "the ", "100% "),
    *('"a": 1, ', "null,", "$a ", "${a} ", "$((1+", "*.py ", "{1..9}", "2>&1 ", "<(", "1e9 ", "2026-01-01 ", "a@b.c "),
)


def trace(text: str, field: str) -> Trajectory:
    """A session with a hostile text in one field, and a test that fails before and after it."""
    source = Source("trace.json")
    tests = ToolCall("bash", {"command": "pytest -q"}, "c2")
    call = ToolCall("bash", {"command": text if field == "command" else "pytest -q"}, "c1")
    if field == "file":
        call = ToolCall("write", {"path": "/app/a.py", "content": text}, "c1")
    seen = f"{text}\n{COUNTED}" if field == "output" else COUNTED
    said = text if field == "message" else "I go on."
    steps = (
        Step(source, said, calls=(call,), observations=(Observation(seen, "c1"),)),
        Step(source, "Again.", calls=(tests,), observations=(Observation(COUNTED, "c2"),)),
        Step(source, said),
    )
    task = Task(f"Make the tests pass. {text}" if field == "task" else "Make the tests pass.")
    return Trajectory("dense", "linear", source, task=task, steps=steps)


def seconds(pattern: str, field: str, size: int) -> float:
    """CPU seconds for a text of so many characters; infinite if it is given up."""
    made = trace(pattern * (size // len(pattern)), field)
    began = time.process_time()
    signal.alarm(LONGEST)
    try:
        distill_sync(made)
    except TimeoutError:
        return float("inf")
    finally:
        signal.alarm(0)
    return time.process_time() - began


def _give_up(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", default="60000,600000")
    parser.add_argument("--part", default="0/1", help="I/N: every Nth pattern, from the one of number I on")
    given = parser.parse_args()
    small, large = map(int, given.sizes.split(","))
    part, parts = map(int, given.part.split("/"))
    signal.signal(signal.SIGALRM, _give_up)
    seconds("a", "command", 100)  # loads what is loaded once
    slow, count, longest = 0, 0, 0.0
    for pattern in PATTERNS[part::parts]:
        for field in FIELDS:
            after = seconds(pattern, field, large)
            before = seconds(pattern, field, small) if after > SLACK else 0.0
            count, longest = count + 1, max(longest, after)
            if after > SLACK and after > GROWTH * large / small / 10 * before:
                slow += 1
                print(f"{field:8} {pattern!r:24} {before:8.2f} s {after:8.2f} s", flush=True)
    print(f"{count} cases of {small:,} and {large:,} characters: {slow} not linear, the longest took {longest:.1f} s")
    return min(slow, 1)


if __name__ == "__main__":
    sys.exit(main())
