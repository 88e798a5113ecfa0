"""A product that several edits made: every edit that is part of its final version is quoted, no other is."""

from __future__ import annotations

import re

import dense
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

PATH = "/app/limits.py"


def step(name: str, output: str = "ok", **arguments: str) -> Step:
    return Step(Source("x"), "", calls=(ToolCall(name, arguments),), observations=(Observation(output, exit_code=0),))


def edit(old: str, new: str) -> Step:
    return step("Edit", file_path=PATH, old_string=old, new_string=new)


def quoted(*steps: Step) -> dict[int, str]:
    """The purposes of the quoted actions by their numbers."""
    task = Task(f"Write `{PATH}` with the limits, so that `python3 /app/limits.py` prints them.")
    report = dense.distill_sync(Trajectory("test", "t", Source("x"), task=task, steps=steps)).feedback.report
    return {
        int(n): why for n, why in re.findall(r"^\w{5}\| (?:key-action )?a(\d+)(?:, ([^:\n]*))?", report, re.MULTILINE)
    }


def test_all_edits_of_the_final_version_are_quoted_and_no_other() -> None:
    lines = "LOW = 1\nMIDDLE = 5\nHIGH = 9\nprint(LOW, MIDDLE, HIGH)\n"
    found = quoted(
        step("Write", file_path=PATH, content="print('a first idea that is given up')\n"),
        step("Write", file_path=PATH, content=lines),
        edit("HIGH = 9\n", "HIGH = 90\n"),  # replaced by the last edit
        edit("LOW = 1\n", "LOW = 2\n"),
        edit("HIGH = 90\n", "HIGH = 99\n"),
        step("Bash", "2 5 99", command="python3 /app/limits.py"),
    )
    assert found == {2: f"for {PATH}", 4: f"for {PATH}", 5: f"final {PATH}", 6: f"shows {PATH}"}
