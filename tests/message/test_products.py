"""A product that several edits made: every edit that is part of its final version is quoted, no other is."""

from __future__ import annotations

import re

from made_feedback import tree_feedback

import dense
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from dense.tree import Leaf, Product, ReconciledTree, Subtask

PATH = "/app/limits.py"


def step(name: str, output: str = "ok", **arguments: str) -> Step:
    return Step(Source("x"), "", calls=(ToolCall(name, arguments),), observations=(Observation(output, exit_code=0),))


def edit(old: str, new: str) -> Step:
    return step("Edit", file_path=PATH, old_string=old, new_string=new)


def quoted(*steps: Step) -> dict[int, str]:
    """The purposes of the quoted actions by their numbers."""
    task = Task(f"Write `{PATH}` with the limits, so that `python3 /app/limits.py` prints them.")
    report = dense.distill_sync(Trajectory("test", "t", Source("x"), task=task, steps=steps)).feedback.report
    assert "given up" not in report
    return {int(n): why for n, why in re.findall(r"^\w{5}\| (?:key-action )?a(\d+), ([^:\n]*)", report, re.MULTILINE)}


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
    assert found == {2: f"for {PATH}", 4: f"for {PATH}", 5: f"final {PATH}"}


def test_what_made_the_product_comes_before_a_program_that_another_one_replaced() -> None:
    """Two programs wrote the asked file one after the other: there is room for one, the last."""
    body = "\n".join(f"value_{number} = {number} * 2  # the same in both" for number in range(40))
    write = "open('/app/out.json', 'w').write('{}')\n"
    steps = (
        step("Bash", command="mkdir -p /app"),
        step("Write", file_path="/app/first.py", content=f"{body}\n{write}"),
        step("Write", file_path="/app/second.py", content=f"{body}\n{write}"),
        step("Bash", "saved /app/out.json", command="python3 /app/first.py"),
        step("Bash", "saved /app/out.json", command="python3 /app/second.py"),
        step("Bash", "{}", command="cat /app/out.json"),
    )
    task = Task("Compute the values and save them as `/app/out.json`.")
    products = (Product("/app/first.py", 2, 0), Product("/app/out.json", 5, 6))
    leaves = tuple(Leaf(f"n{n}", n + 1, one) for n, one in enumerate(steps))
    tree = ReconciledTree("t", task, Subtask("n9", 0, "all", "Done.", leaves), (), products=products)
    report = tree_feedback(tree, 3_000).report
    shown = re.findall(r"^\w{5}\| (?:key-action )?(a\d+[^:\n]*)", report, re.MULTILINE)
    assert "a3, for /app/out.json" in shown and "a5, final /app/out.json" in shown
    assert "a2, final /app/first.py" not in shown


def test_an_edit_that_was_refused_and_a_folder_are_no_versions() -> None:
    refused = step(
        "Edit", "Error: string to replace not found in file.", file_path=PATH, old_string="x", new_string="y"
    )
    found = quoted(
        step("Bash", command="mkdir -p /app"),
        step("Write", file_path=PATH, content="LOW = 1\nprint(LOW)\n"),
        refused,
        edit("LOW = 1\n", "LOW = 2\n"),
        step("Bash", "2", command="python3 /app/limits.py"),
    )
    assert found == {2: f"for {PATH}", 4: f"final {PATH}"}


def test_a_diff_that_shows_the_whole_change_is_quoted_in_place_of_the_edits() -> None:
    diff = "diff --git a/app/limits.py b/app/limits.py\n--- a/app/limits.py\n+++ b/app/limits.py\n-LOW = 1\n+LOW = 2"
    steps = (
        step("Bash", command="sed -i '1i print(LOW)  # to see it' app/limits.py"),
        step("Bash", command="sed -i 's/LOW = 1/LOW = 2/' app/limits.py"),
        step("Bash", command="sed -i '1d' app/limits.py"),
        step("Bash", diff, command="echo SUBMIT && git add -A && git diff --cached"),
    )
    leaves = tuple(Leaf(f"n{n}", n + 1, one) for n, one in enumerate(steps))
    products = (Product("app/limits.py", 3, None),)
    tree = ReconciledTree("t", Task("Fix `app/limits.py`."), Subtask("n9", 0, "all", "", leaves), (), products=products)
    report = tree_feedback(tree).report
    assert "a4, final app/limits.py" in report and report.count("+LOW = 2") == 1
