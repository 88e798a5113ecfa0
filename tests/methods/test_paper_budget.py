"""Under the paper's budget: 180 KiB for trees, 200 KiB for everybody with all that is around the report."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from made_feedback import made_feedback

from dense.analysis.rules import RulesAnalyst
from dense.message.message import REPORT
from dense.methods import method, method_names
from dense.outcome import Outcome
from dense.service import FeedbackRun
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

KIB = 1024
TASK = Task("Write /app/out.txt.")
TREES = ("dense", "dense+lessons", "dense-flat", "dense-no-shortcuts")

type Making = Callable[..., FeedbackRun]


def long_run(count: int = 60, size: int = 6_000) -> Trajectory:
    """Constructed: every action writes a file of its own, so that all are key actions."""
    steps = [
        Step(
            Source("t"),
            f"Part {n}.",
            calls=(ToolCall("bash", {"command": f"cat > part{n}.txt <<'E'\n{n} {'y' * size}\nE"}, f"c{n}"),),
            observations=(Observation("", f"c{n}", exit_code=0),),
        )
        for n in range(count)
    ]
    return Trajectory("test", "t", Source("t"), task=TASK, steps=tuple(steps))


def message_bytes(run: FeedbackRun) -> int:
    return len(run.feedback.message.encode()) - len(TASK.instruction.encode())


@pytest.mark.parametrize("name", sorted(set(method_names()) - {"none", "advisor"}))
def test_paper_all_methods_have_one_complete_budget_and_only_trees_another(name: str) -> None:
    outcome = Outcome("t", 0.0, {"reward": 0.0}, "verifier\n" * 10_000) if name == "verifier-feedback" else None
    run = made_feedback(method(name), long_run(), RulesAnalyst(), outcome=outcome, budget="paper")
    report = len(run.feedback.report.encode())
    assert message_bytes(run) <= 200 * KIB
    if name in TREES:
        assert 170 * KIB < report <= 180 * KIB
    elif name != "dense-no-hierarchy":  # which has little to say
        assert report > 190 * KIB


def test_paper_the_verifier_s_output_is_limited_by_the_budget_alone() -> None:
    output = "".join(f"line {n} of the verifier's output\n" for n in range(4_000))
    assert len(output) > 100 * KIB
    short = long_run(3, 100)
    whole = made_feedback(
        method("verifier-feedback"), short, RulesAnalyst(), outcome=Outcome("t", 0.0, {}, output), budget="paper"
    )
    assert output.rstrip("\n") in whole.feedback.message
    less = made_feedback(
        method("verifier-feedback"), short, RulesAnalyst(), outcome=Outcome("t", 0.0, {}, output), budget=20_000
    )
    assert message_bytes(less) <= 20_000
    assert len(re.findall(r"(?m)^line \d+ of the verifier", less.feedback.message)) > 200


@pytest.mark.parametrize("name", sorted(set(method_names()) - {"none"}))
def test_paper_the_recipient_knows_of_the_fresh_environment(name: str) -> None:
    outcome = Outcome("t", 0.0, {"reward": 0.0}, "no") if name == "verifier-feedback" else None
    run = made_feedback(method(name), long_run(2, 10), RulesAnalyst(), outcome=outcome, budget="paper")
    words = ("fresh, isolated", "processes", "session state", "Recreate every deliverable", "preserve", "correct")
    assert all((word in run.feedback.message) == (name != "advisor") for word in words)
    assert REPORT.fresh not in run.feedback.message


def test_paper_order_is_used_only_with_the_paper_s_budget() -> None:
    whole = made_feedback(method("dense"), long_run(2, 10), RulesAnalyst(), budget="paper").feedback.report
    assert "completion-scope: trajectory_local" in whole
    assert "completion-scope" not in made_feedback(method("dense"), long_run(2, 10), RulesAnalyst()).feedback.report
