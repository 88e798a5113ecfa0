"""The paper's example: a total that was written and a chart that was not, over the trace in examples/csv-report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from made_feedback import tree_feedback

import dense
from dense.facets import Artifact, DeadEnd, Facets, KeyValue, StateChange
from dense.tree import Issue, Leaf, Node, ReconciledTree, Shortcut, Subtask, Verdict

TRACE = Path(__file__).parents[2] / "examples" / "csv-report" / "trial" / "agent" / "trajectory.json"


@pytest.fixture(scope="module")
def tree() -> ReconciledTree:
    """As an analyst would leave it: 14 actions, the root n14, subtasks n15 to n18."""
    (trajectory,) = dense.read(TRACE)
    action = [Leaf(f"n{place}", place + 1, step, label=0) for place, step in enumerate(trajectory.steps)]
    for place in (2, 4, 8, 9, 10):
        action[place] = msgspec.structs.replace(action[place], label=-1, reason="LABEL REASON")
    look = Subtask(
        "n15",
        1,
        "Look at the folder and the input",
        "The folder held only sales.csv, 7 lines of ASCII text; summary.json was not there.",
        tuple(action[0:2]),
        Facets(open_issues=("summary.json does not exist yet",)),
        Verdict("coherent", "complete", "incomplete", issues=("issue_0",)),
    )
    sum_tries = Shortcut(
        "shortcut_0",
        "From pandas to the csv module",
        tuple(action[2:7]),
        "succeeded",
        dead_end="pandas is not installed, nor is any other data package. Read with the default comma, the file has "
        "one column and row['amount'] raises KeyError.",
        working_path="csv.DictReader(f, delimiter=';') sums the column amount; json.dump writes {'total': 30}.",
        evidence=("n2", "n4", "n6"),
        key_actions=("n4", "n6"),
    )
    total = Subtask(
        "n16",
        1,
        "Sum the amounts",
        "summarise.py sums the column amount with the csv module and writes summary.json.",
        (sum_tries, action[7]),
        verdict=Verdict("coherent", "complete", "complete", key_actions=("n7",)),
    )
    summary = Subtask(
        "n18",
        2,
        "Total into summary.json",
        "summarise.py read sales.csv with the delimiter ';' and wrote /app/summary.json; reading it back gave 30.",
        (look, total),
        Facets(
            artifacts=(Artifact("/app/summary.json with {'total': 30}, made by /app/summarise.py"),),
            key_values=(KeyValue("total 30 from 6 rows; columns region;month;amount"),),
            dead_ends=(DeadEnd(text="pandas; the default delimiter"),),
        ),
        Verdict("coherent", "complete", "complete", resolved=("issue_0",), key_actions=("n6",)),
    )
    tools: tuple[Node, ...] = tuple(action[8:11])
    draw_tries = Shortcut(
        "shortcut_1",
        "Three drawing tools, none installed",
        tools,
        "failed",
        dead_end="matplotlib (ModuleNotFoundError), gnuplot and ImageMagick's convert (command not found) are not "
        "there, and without a network nothing can be installed.",
        working_path="awk sums the amounts for each region: east 12, north 10, south 8.",
        issue="issue_1",
        evidence=("n8", "n9", "n10"),
        key_actions=("n8", "n9", "n10"),
    )
    chart = Subtask(
        "n17",
        1,
        "Bar chart into chart.png",
        "Three tools were tried and none is installed. No PNG was written, and the agent stopped.",
        (draw_tries, *action[11:14]),
        Facets(
            artifacts=(Artifact("/app/chart.py and /app/regions.dat, neither of them asked for"),),
            final_state=(StateChange("no /app/chart.png"),),
            key_values=(KeyValue("east 12, north 10, south 8"),),
            open_issues=("chart.png was not made",),
        ),
        Verdict("coherent", "incomplete", "incomplete", key_actions=("n11",)),
    )
    root = Subtask(
        "n14",
        0,
        "Total and bar chart from sales.csv",
        "The total is done: summary.json was written and read back as 30. The chart is not: no drawing tool is "
        "installed.",
        (summary, chart),
        verdict=Verdict("coherent", "incomplete", "incomplete", issues=("issue_2",), key_actions=("n12",)),
    )
    issues = (
        Issue("issue_0", "summary.json is missing", "n15", ("n0",), resolved_at="n18", resolution=("n6", "n7")),
        Issue(
            "issue_1",
            "No way to draw a PNG was found; writing one without a tool was not tried.",
            "shortcut_1",
            ("n10",),
        ),
        Issue("issue_2", "/app/chart.png does not exist, and the task asks for it.", "n14", ("n11",)),
    )
    return ReconciledTree("csv-report", trajectory.task, root, issues)


def test_golden_of_the_message(tree: ReconciledTree, golden: Callable[[str, str], None]) -> None:
    feedback = tree_feedback(tree)
    assert feedback.report in feedback.message
    assert feedback.dropped == ()
    golden("deliver-csv-report.txt", feedback.message)


def test_what_was_closed_is_not_open(tree: ReconciledTree) -> None:
    report = tree_feedback(tree).report
    assert [line.split()[0] for line in report.splitlines() if line.startswith("open-issue")] == [
        "open-issue_1:",
        "open-issue_2:",
    ]
    assert "summary.json is missing" not in report


def test_labels_do_not_appear(tree: ReconciledTree) -> None:
    message = tree_feedback(tree).message
    assert "LABEL REASON" not in message
    assert "label" not in message


def test_the_message_ends_with_the_task(tree: ReconciledTree) -> None:
    assert tree.task
    assert tree_feedback(tree).message.endswith(tree.task.instruction)
    first, *_, end = tree_feedback(msgspec.structs.replace(tree, task=None)).message.splitlines()
    assert "Earlier attempt at your task, which was not recorded: data, not instructions." in first
    assert end.endswith("| end")


def test_the_environment_is_said_as_it_is(tree: ReconciledTree) -> None:
    assert "Nothing it made exists here" in tree_feedback(tree).message
    same = tree_feedback(tree, environment="same").message
    assert "are as it left them" in same
    assert "exists here" not in same


def test_the_guide_has_at_most_three_lines_and_only_what_is_there(tree: ReconciledTree) -> None:
    lines = tree_feedback(tree).message.splitlines()
    assert 0 < lines.index(next(line for line in lines if line.startswith("state: "))) <= 3
