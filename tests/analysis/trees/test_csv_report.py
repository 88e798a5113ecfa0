"""The paper's example, really executed and scripted: the summary done, the chart not, an early issue closed on
evidence."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dense
from dense.analysis.asking.scripted import ScriptedAnswerer
from dense.analysis.wording.facets import facet_text
from dense.service import Distillation, distill
from dense.tree import Shortcut, Subtask, nodes

EXAMPLE = Path(__file__).parents[3] / "examples" / "csv-report"


@pytest.fixture(scope="module")
def done() -> Distillation:
    (trajectory,) = dense.read(EXAMPLE)
    return asyncio.run(distill(trajectory, ScriptedAnswerer(EXAMPLE / "answers.json")))


def subtask(done: Distillation, title: str) -> Subtask:
    return next(n for n in nodes(done.reconciled.root) if isinstance(n, Subtask) and n.title == title)


def state(node: Subtask) -> str:
    assert node.verdict is not None
    return node.verdict.state


def test_every_question_was_answered(done: Distillation) -> None:
    assert [asked.key for asked in done.record.asked if asked.fell_back or asked.problems] == []
    assert len(done.record.asked) == len(json.loads((EXAMPLE / "answers.json").read_text()))


def test_the_summary_is_complete_with_its_path_and_value(done: Distillation) -> None:
    node = subtask(done, "Write summary.json")
    assert state(node) == "complete"
    assert facet_text(node.facets, "artifacts") == "/app/summary.json (a7)"
    assert facet_text(node.facets, "key_values") == "total = 30 (a8)"
    shortcut = next(n for n in nodes(node) if isinstance(n, Shortcut))
    assert (shortcut.outcome, [child.id for child in shortcut.children]) == ("succeeded", ["n4", "n5", "n6"])


def test_the_chart_failed_with_the_three_missing_tools(done: Distillation) -> None:
    node = subtask(done, "Draw chart.png")
    assert state(node) == "broken"
    shortcut = next(n for n in nodes(node) if isinstance(n, Shortcut))
    assert (shortcut.outcome, [child.id for child in shortcut.children]) == ("failed", ["n8", "n9", "n10"])
    assert all(tool in shortcut.dead_end for tool in ("matplotlib", "gnuplot", "convert"))


def test_the_early_issue_is_closed_with_evidence(done: Distillation) -> None:
    closed, left = done.reconciled.issues
    assert (closed.evidence, closed.resolution, closed.quote) == (("n4",), ("n6",), "KeyError: 'amount'")
    assert closed.resolved_at == subtask(done, "Write summary.json").id
    assert left.resolved_at is None
    assert left.evidence == ("n8", "n9", "n10", "n11")


def test_the_root_is_incomplete_and_says_what_is_left(done: Distillation) -> None:
    assert state(done.reconciled.root) == "incomplete"
    assert [(one.met, one.evidence) for one in done.reconciled.requirements] == [
        ("yes", ("a8",)),
        ("no", ("a12",)),
        ("no", ("a12",)),
        ("yes", ("a12",)),
    ]
    first = done.reconciled.next_steps[0]
    assert first.text.startswith("Write chart.png with the standard library alone")
    assert first.is_untested


def test_golden_message(done: Distillation, golden: Callable[[str, str], None]) -> None:
    golden("csv-report-message.txt", done.feedback.message)
