"""Attempts of agents at tasks that others wrote (`tests/fixtures/make/agent_attempts.py`), in the shapes in which they
are recorded. The rules were corrected on these very attempts: the bounds here keep what was reached."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from attempt_shapes import SHAPES, Recorded, read_as
from made_attempt import assess, found, state

ATTEMPTS: dict[str, Recorded] = json.loads(
    (Path(__file__).parents[2] / "fixtures" / "agent-attempts.json").read_text(encoding="utf-8")
)
OWN_WORDS = {"B-trk-decode-hurried", "C-tiny16-assembler-hurried"}
"""Passed the hidden check, and the agent itself says that something is left to do."""


@pytest.mark.parametrize("shape", SHAPES)
def test_states_agree_with_the_hidden_checks(shape: str, tmp_path: Path) -> None:
    states = {name: state(read_as(made, shape, tmp_path)) for name, made in ATTEMPTS.items()}
    passed = {name for name, made in ATTEMPTS.items() if made["passed"]}
    complete = {name for name, word in states.items() if word == "complete"}
    alarms = {name for name, word in states.items() if word == "incomplete"} - OWN_WORDS
    assert len(complete & passed) >= 0.9 * len(complete), complete - passed
    assert len(complete & passed) >= 0.5 * len(passed)
    assert len(alarms & passed) <= 0.04 * len(passed), alarms & passed
    assert len(alarms - passed) >= 0.33 * (len(ATTEMPTS) - len(passed))


@pytest.mark.parametrize(
    ("name", "demand"),
    [
        ("A-access-log-rollup-hurried", ("file", "/app/report.json", "yes")),  # summarise the server logs into X
        ("C-perl-port-tally-hurried", ("file", "/app/tally.py", "yes")),  # port X to Python as Y
        ("C-tiny16-assembler-hurried", ("file", "/app/asm.py", "unchecked")),  # an assembler for our controller: X
        ("C-pebble-interpreter-hurried", ("command", "bash /app/run_tests.sh", "yes")),  # run by its name alone
        ("A-cronlite-spec-careful", ("command", "pytest -q", "yes")),  # run with more options, behind other code
        ("A-cronlite-spec-hurried", ("file", "test_more.py", "no")),  # tests of your own in a new file X
        ("B-pin-vault-hurried", ("file", "/app/flag.txt", "unchecked")),  # an order without an object leads a list
        ("C-release-knapsack-hurried", ("file", "/app/release.json", "yes")),  # `>>` in its program appends nothing
    ],
)
def test_what_a_task_demands_is_followed(name: str, demand: tuple[str, str, str], tmp_path: Path) -> None:
    demands = assess(read_as(ATTEMPTS[name], "mini_swe_agent", tmp_path)).demands
    assert demand in [(one.kind, one.subject, one.met) for one in demands], demands


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("B-fat-card-hurried", "ended_without_handover"),  # nothing ran after the last change
        ("B-sumlog-sh-hurried", "failure_admitted"),
        ("A-cronlite-spec-hurried", "deliverable_missing"),
    ],
)
def test_what_failed_is_found(name: str, code: str, tmp_path: Path) -> None:
    assert any(one.is_serious for one in found(assess(read_as(ATTEMPTS[name], "claude_code", tmp_path)), code))


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("A-csvcol-careful", "check_failed"),  # another program of the action said it, on purpose
        ("B-limiter-fix-careful", "check_failed"),  # an answer of the server to a bad request
        ("B-makefile-calc-careful", "check_failed"),  # provoked in a copy, after it had passed
        ("A-ledger-tests-medium", "check_failed"),  # the tests passed later, behind other code in one action
        ("A-tally-regression-medium", "deliverable_attempt_failed"),  # the commit behind the write failed
        ("C-cron-next-careful", "limit_missed"),  # never longer than 5 seconds
        ("B-sumlog-sh-careful", "limit_missed"),  # totals can exceed 4 GB
    ],
)
def test_no_false_alarm(name: str, code: str, tmp_path: Path) -> None:
    for shape in ("claude_code", "mini_swe_agent"):
        open_ones = [one for one in found(assess(read_as(ATTEMPTS[name], shape, tmp_path)), code) if one.is_open]
        assert not any(one.is_serious for one in open_ones)
