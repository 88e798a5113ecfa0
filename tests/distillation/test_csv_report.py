"""The paper's example, really executed and scripted: the summary done, the chart not, an early issue closed on
evidence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dense
from dense.analyst.scripted import ScriptedAnswerer
from dense.service import Distillation, distill
from dense.tree import Leaf, Shortcut, Subtask, nodes

EXAMPLE = Path(__file__).parents[2] / "examples" / "csv-report"


@pytest.fixture(scope="module")
def done() -> Distillation:
    (trajectory,) = dense.read(EXAMPLE)
    return asyncio.run(distill(trajectory, ScriptedAnswerer(EXAMPLE / "answers.json")))


def subtask(done: Distillation, title: str) -> Subtask:
    return next(n for n in nodes(done.reconciled.root) if isinstance(n, Subtask) and n.title == title)


def state(node: Subtask) -> str:
    assert node.verdict is not None
    return node.verdict.state


def block(report: str, identifier: str) -> str:
    """A task's block, from its opener to the end that it names."""
    start = report.index(f'<task id="{identifier}"')
    marker = report[report.index('end="', start) + 5 :].partition('"')[0]
    return report[start : report.index(f"</task {marker}>")]


def test_every_question_was_answered(done: Distillation) -> None:
    assert [asked.key for asked in done.record.asked if asked.fell_back or asked.problems] == []
    assert len(done.record.asked) == len(json.loads((EXAMPLE / "answers.json").read_text()))


def test_the_summary_is_complete_and_folded_with_its_write_kept(done: Distillation) -> None:
    node = subtask(done, "summary.json")
    assert state(node) == "complete"
    shown = block(done.feedback.report, node.id)
    assert "<shortcut" not in shown
    assert shown.count("<task") == 1
    assert "delimiter=';'" in shown
    write = next(leaf for leaf in nodes(node) if isinstance(leaf, Leaf) and leaf.id == "n6")
    assert all(str(call.arguments["keystrokes"]) in shown for call in write.step.calls)


def test_the_chart_is_incomplete_and_expanded_with_the_three_missing_tools(done: Distillation) -> None:
    node = subtask(done, "chart.png")
    assert state(node) == "incomplete"
    shown = block(done.feedback.report, node.id)
    assert "<shortcut" in shown
    for seen in ("No module named 'matplotlib'", "gnuplot: command not found", "convert: command not found"):
        assert seen in shown
    shortcut = next(n for n in nodes(node) if isinstance(n, Shortcut))
    assert (shortcut.outcome, [child.id for child in shortcut.children]) == ("failed", ["n8", "n9", "n10"])


def test_the_early_issue_is_closed_with_evidence(done: Distillation) -> None:
    issue = done.reconciled.issues[0]
    assert issue.text == "summary.json is missing"
    assert (issue.evidence, issue.resolution) == (("n0",), ("n7",))
    assert issue.resolved_at == subtask(done, "summary.json").id
    assert "summary.json is missing" not in done.feedback.report.replace("the earlier", "").split("<key-action")[0]


def test_the_root_is_incomplete_and_says_what_is_left(done: Distillation) -> None:
    assert state(done.reconciled.root) == "incomplete"
    root = done.feedback.report.partition('<task id="n19"')[0]
    assert "trajectory_local" in root
    assert "Make /app/chart.png" in root


def test_golden_message(done: Distillation, golden: Callable[[str, str], None]) -> None:
    golden("csv-report-message.txt", done.feedback.message)
