"""The four examples, distilled by the rules alone: the whole feedback as goldens, and what it must say, point by
point."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

import dense
from dense.analysis.rules import RulesAnalyst
from dense.options import FeedbackOptions, Profile
from dense.service import Distillation, distill_sync
from dense.tree import Issue, Shortcut, Subtask, nodes

EXAMPLES = Path(__file__).parents[3] / "examples"
TRACES = {
    "csv-report": EXAMPLES / "csv-report/trial",
    "password-recovery": EXAMPLES / "password-recovery/recovery.traj.json",
    "clean-success": EXAMPLES / "clean-success/session.jsonl",
    "looks-successful": EXAMPLES / "looks-successful/rollout.jsonl",
}


@cache
def distilled(name: str, profile: Profile = "fast") -> Distillation:
    (trajectory,) = dense.read(TRACES[name])
    return distill_sync(trajectory, RulesAnalyst(), options=FeedbackOptions(profile=profile))


def state(name: str, profile: Profile = "fast") -> str:
    verdict = distilled(name, profile).reconciled.root.verdict
    assert verdict is not None
    return verdict.state


def still_open(name: str) -> list[Issue]:
    return [issue for issue in distilled(name).reconciled.issues if issue.resolved_at is None]


@pytest.mark.parametrize("name", TRACES)
def test_golden_feedback(name: str, golden: Callable[[str, str], None]) -> None:
    golden(f"rules/{name}.txt", distilled(name).feedback.report)


@pytest.mark.parametrize("name", TRACES)
def test_the_whole_draft_is_accepted(name: str) -> None:
    assert distilled(name).reconciled.problems == ()


@pytest.mark.parametrize("name", TRACES)
def test_the_rules_draft_the_same_for_both_profiles(name: str) -> None:
    assert distilled(name, "paper").reconciled == distilled(name, "fast").reconciled


def test_the_password_was_assembled_and_never_written() -> None:
    assert state("password-recovery") == "incomplete"
    root = distilled("password-recovery").reconciled.root.id
    (missing,) = [issue for issue in still_open("password-recovery") if "recovered_passwords.txt" in issue.text]
    assert missing.raised_at == root
    assert "8XDR7K2MQ9T4HBV6NC3LW54" in missing.text
    assert missing.evidence == ("n14",)  # where it was put together and fitted
    assert any("LimitsExceeded" in issue.text for issue in still_open("password-recovery"))


def test_what_only_looks_successful_is_not_complete() -> None:
    assert state("looks-successful") == "incomplete"
    (issue,) = still_open("looks-successful")
    assert "check_speed.py" in issue.text
    assert "TOO SLOW" in issue.text
    assert issue.evidence == ("n2",)


def test_the_clean_success_is_complete() -> None:
    assert state("clean-success") == "complete"
    assert still_open("clean-success") == []


def test_the_total_is_done_and_the_chart_is_not() -> None:
    assert state("csv-report") == "incomplete"
    (issue,) = still_open("csv-report")
    assert "/app/chart.png" in issue.text
    assert "summary.json" not in issue.text
    for tried in ("matplotlib", "gnuplot", "convert"):
        assert tried in issue.text
    parts = [node for node in nodes(distilled("csv-report").reconciled.root) if isinstance(node, Subtask)]
    states = {part.title: part.verdict.state for part in parts if part.verdict is not None}
    assert next(state for title, state in states.items() if "summary.json" in title) == "complete"
    assert next(state for title, state in states.items() if "chart.png" in title) == "incomplete"


def test_the_way_out_of_the_wrong_delimiter_is_a_lesson() -> None:
    shortcuts = [node for node in nodes(distilled("csv-report").reconciled.root) if isinstance(node, Shortcut)]
    (lesson,) = [one for one in shortcuts if "KeyError" in one.dead_end]
    assert lesson.outcome == "succeeded"
    assert "delimiter=';'" in lesson.working_path
