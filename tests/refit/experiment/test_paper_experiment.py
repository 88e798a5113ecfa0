"""A whole experiment under the paper's settings gives, cell for cell, what was computed by hand.

Constructed: three tasks, two recipients (one of which passes its instruction on as an argument), nine methods. `alpha`
and `gamma` have a small attempt, whose feedback fits; that at `beta` writes six files of 40,000 bytes, so that only so
much of it fits into 180 and 200 KiB. The report of `dense-no-hierarchy` on `gamma` is never usable."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest
from loopback import Loopback
from made_experiment import made_plan, opened
from made_harness import write_task
from msgspec.structs import replace
from paper_case import BODY, METHODS, PaperHarness, answer

from refit.experiment.executor import CellExecutor
from refit.experiment.experiment import experiment_of
from refit.experiment.feedback import FeedbackMaker, analyst_model
from refit.experiment.plan import Plan
from refit.experiment.run import run
from refit.experiment.store.state import load_state
from refit.report import build
from refit.report.model import MethodRow
from refit.results import Result, at_base_rates

KIB = 1024
CALLS = {
    "none": 0,
    "advisor": 1,
    "self-reflection": 0,
    "all-at-once": 1,
    "step-by-step": 6,  # one for each action
    # Boundaries after a3 and a6; six scores; two summaries; one check of the top level; three compressions (n7, n8 and
    # the root n6) and three reconciliations.
    "dense": 2 + 6 + 2 + 1 + 3 + 3,
    "dense-no-shortcuts": 2 + 6 + 2 + 1,
    "dense-no-hierarchy": 1,
    "verifier-feedback": 0,
}
SCOPE = "(completion-scope: trajectory_local, judged from its actions a1-a6, ungraded)"
SMALL_REPORT = f"""\
state: incomplete {SCOPE}. It ended with a message.
summary: One half is done
open-issue issue_0: chart.png is missing [a4]
lesson shortcut_0 a1-a2: dead-end: pandas is missing; working-path: use csv
task n7 a1-a3 complete: Sum. Summed with csv, tested
KEY| key-action a2: message
Step 2.
KEY| tool-call bash
cat > sum.py <<'E'
import csv
E
KEY| observation
KEY| key-action a3: message
Step 3.
KEY| tool-call bash
python3 -m pytest -q
KEY| observation
1 passed
task n8 a4-a6 incomplete: Chart. No chart was drawn
 artifacts: note.txt
 open-issue issue_0: chart.png is missing [a4]
KEY| key-action a4: message
Step 4.
KEY| tool-call bash
gnuplot chart.gp
KEY| observation
gnuplot: command not found
KEY| key-action a5: message
Step 5.
KEY| tool-call bash
echo done > note.txt
KEY| observation
KEY| key-action a6: message
Step 6.
"""
"""DENSE's report on the small attempt, written by hand, without the lines that end quotes.

Quoted are the product (a2, a5), the test (a3), what shows the issue (a4), the final response (a6); a1 only failed, and
no exit code says so. The root is incomplete though its critic said `complete`: the issue of its part is open."""
# 180 KiB hold four blocks of 40,000 bytes beside the overview, not five; 200 KiB hold five rows, the first and the last
# ones, beside the note on the gap.
LARGE_QUOTED = {
    **{name: [1, 2, 3, 4] for name in ("dense", "dense-no-shortcuts")},
    **{name: [1, 3, 4, 5, 6] for name in ("self-reflection", "all-at-once", "step-by-step", "verifier-feedback")},
}
FOLDED = len(" artifacts: note.txt\n open-issue issue_0: part7.txt is missing [a6]\n")
"""Bytes of what is below the root's parts in DENSE's report on the large attempt, quoted actions apart."""
PRICES = {"input": 5.0, "output": 30.0, "cache_read": 0.5}
"""Of the recipients, whose cache served half of the input. The paper takes the base rate for all of it."""
PASSES = {
    # Passes of three tasks, of which round 0 passed one.
    "none": 1,
    "advisor": 1,
    "self-reflection": 2,
    "all-at-once": 1,
    "step-by-step": 2,
    "dense": 3,
    "dense-no-shortcuts": 1,
    "verifier-feedback": 3,
}
ATTEMPT_CALLS = 1 + 1 + 6 + 17
"""Advice, assessment, decisions, DENSE; the ablation without shortcuts asks nothing that DENSE did not ask."""


def run_experiment(base: Path, address: str) -> tuple[Plan, dict[tuple[str, str, str], Result]]:
    for task in ("alpha", "beta", "gamma"):
        write_task(base / "tasks" / task, f"This is the task {task}: write what it says.\n")
    analyst = {"model": f"{address}#m", "profile": "paper", "context": 1_000_000}
    plan = made_plan(
        base,
        count=0,
        recipients=[{"name": name, "agent": "nop", "prices": PRICES} for name in ("direct", "argument")],
        methods=METHODS,
        repetitions=1,
        retries=1,
        budget="paper",
        analyst={**analyst, "prices": {"input": 0.5, "output": 3.0}},
    )

    async def go() -> tuple[Result, ...]:
        with opened(plan) as store:
            async with analyst_model(plan.config, plan.folder) as model:
                executor = CellExecutor(plan, store, PaperHarness(), FeedbackMaker(plan.config, model), waits=(0.0,))
                await run(executor)
                return executor.state.results

    results = asyncio.run(go())
    return plan, {(one.cell.recipient, one.cell.task, one.cell.method): one for one in results}


def test_paper_experiment(tmp_path: Path) -> None:
    with Loopback(default=answer) as server:
        plan, cells = run_experiment(tmp_path, server.url)
        asked = len(server.received)
    assert len(cells) == 2 * 3 * (1 + len(METHODS))
    for (recipient, task, method), result in cells.items():
        if method != "run0":
            _check_cell(plan, recipient, task, method, result)
    _check_reports(plan, cells)
    # Each question is paid once, for both recipients. The report on `gamma` is asked for with a correction in each of
    # two tries of each recipient, because unusable answers are not kept: 4 to 8 calls, as the recipients overlap.
    for_gamma = asked - 3 * ATTEMPT_CALLS - 2
    assert 4 <= for_gamma <= 8
    state = load_state(plan.folder)
    assert state is not None
    assert state.spent.feedback == pytest.approx(asked * (100 * 0.5 + 10 * 3.0) / 1e6)
    _check_numbers(plan)


def _check_cell(plan: Plan, recipient: str, task: str, method: str, result: Result) -> None:
    name = f"{recipient} {task} {method}"
    if (task, method) == ("gamma", "dense-no-hierarchy"):  # retried, then invalid; nothing was delivered
        assert (result.attempt.reward, result.attempt.delivered) == (None, ""), name
        assert "in 2 tries; the last: no usable report came back" in result.attempt.ending, name
        return
    assert result.attempt.reward is not None, name
    if method == "none":
        assert (result.message, result.attempt.delivered) == ("", ""), name
        return
    message = (plan.folder / result.message).read_text()
    instruction = f"This is the task {task}: write what it says.\n"
    assert message.endswith(f"\n\n{instruction}"), name
    assert len(message.encode()) - len(instruction) <= 200 * KIB, name
    # All methods of a pair alike: an argument cannot hold the messages on `beta`.
    assert result.attempt.delivered == ("file" if (recipient, task) == ("argument", "beta") else "instruction"), name
    assert result.attempt.received == "same", name
    calls = CALLS[method]
    assert result.feedback is not None, name
    assert (result.feedback.input, result.feedback.output) == (100 * calls, 10 * calls), name
    assert result.feedback.cost_usd == pytest.approx(calls * (100 * 0.5 + 10 * 3.0) / 1e6), name
    if task == "beta" and method in LARGE_QUOTED:
        quoted = [int(number) for number in re.findall(r"(?m)^\w{5,8}\| (?:key-)?action a(\d+)", message)]
        assert quoted == LARGE_QUOTED[method], name
        assert all((str(n) * BODY in message) == (n in quoted) for n in range(1, 7)), name
    assert "LABEL-REASON" not in message, name
    assert ("verifier of" in message) == (method == "verifier-feedback"), name


def _check_reports(plan: Plan, cells: dict[tuple[str, str, str], Result]) -> None:
    for task in ("alpha", "gamma"):
        folder = plan.folder / cells["direct", task, "dense"].feedback_folder
        report = (folder / "feedback.txt").read_text()
        without_ends = re.sub(r"(?m)^\w{5,8}\|(?: end)?\n", "", report)
        assert re.sub(r"(?m)^\w{5,8}\| ", "KEY| ", without_ends) == SMALL_REPORT
    folder = plan.folder / cells["direct", "beta", "dense"].feedback_folder
    report = (folder / "feedback.txt").read_text()
    assert 4 * BODY < len(report.encode()) <= 180 * KIB
    assert not re.search(r"(?m)^ ", report)  # all detail was folded before any block went
    record = (folder / "run.json").read_text()
    folded, gone = r"detail below the root's parts folded \((\d+) bytes\)", r"(key-action a\d) \(\d+ bytes\)"
    assert re.findall(f"{folded}|{gone}", record) == [(str(FOLDED), ""), ("", "key-action a6"), ("", "key-action a5")]
    assert re.search(r'"complete":\s*204800', record) and re.search(r'"tree":\s*184320', record)


def _check_numbers(plan: Plan) -> None:
    """Rates, tokens and costs of the report, for both recipients alike."""
    experiment = experiment_of(plan.folder)
    base_rates = {name: at_base_rates(prices) for name, prices in experiment.prices.items()}  # `--prices paper`
    report = build(replace(experiment, prices=base_rates), draws=200)
    assert [recipient.recipient for recipient in report.recipients] == ["direct", "argument"]
    for recipient in report.recipients:
        rows: dict[str, MethodRow] = {row.method: row for row in recipient.rows}
        assert recipient.baseline is not None
        assert recipient.baseline.passed.value == pytest.approx(100 / 3)
        for method, passes in PASSES.items():
            row, place = rows[method], METHODS.index(method) + 1
            assert row.passes == passes, method
            assert row.passed.value == pytest.approx(passes * 100 / 3), method
            assert row.change is not None and row.change.value == pytest.approx((passes - 1) * 100 / 3), method
            tokens, feedback = 2_100 - 100 * place, 110 * CALLS[method]
            assert row.tokens.value == pytest.approx(tokens), method
            assert row.tokens_change is not None
            assert row.tokens_change.value == pytest.approx((tokens / 2_100 - 1) * 100), method
            assert row.means["feedback_tokens"].value == pytest.approx(feedback), method
            assert row.means["combined_tokens"].value == pytest.approx(tokens + feedback), method
            run_usd = ((2_000 - 100 * place) * 5.0 + 100 * 30.0) / 1e6
            feedback_usd = CALLS[method] * (100 * 0.5 + 10 * 3.0) / 1e6
            assert row.cost is not None
            assert row.cost.execution.value == pytest.approx(run_usd), method
            assert row.cost.total.value == pytest.approx(run_usd + feedback_usd), method
        assert {row.label for row in recipient.rows} >= {"DENSE (paper)", "Self-reflection"}
        lost = rows["dense-no-hierarchy"]
        assert (lost.counts.scored, lost.counts.invalid) == (2, 1)
