"""A test runner is one row: a new one is called, counted and named without any other change."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects
from dense.knowledge.test_outputs import SIGNS_OF_RUN
from dense.knowledge.test_runners import RUNNERS, SUMMARY_SIGNS, SUMMARY_STARTS, TEST_RUNNERS, RunnerTable, TestRunner
from dense.trajectory import Observation, Source, Step, ToolCall

LUNIT = TestRunner(
    name="lunit",
    calls=("lunit", "lua --lunit"),
    language="lua",
    config_files=(".lunit",),
    is_counting=True,
    summary=r"Done\. \d+ assertions",
    total=r"(\d+) tests",
    failed=r"(\d+) (?:failed|errors)",
    failed_name=r"  Failure: (\S+)",
)
EXTENDED = RunnerTable((*TEST_RUNNERS, LUNIT))
OUTPUT = "  Failure: sample.adds\n\nDone. 9 assertions in 4 tests, 1 failed, 1 errors\n"


def test_a_new_runner_is_counted_and_names_what_failed() -> None:
    step = Step(Source("trace"), calls=(ToolCall("bash", {"command": "./check"}),), observations=(Observation(OUTPUT),))
    (run,) = observe(step, effects(step), runners=EXTENDED).tests
    assert (run.runner, run.passed, run.failed, run.names) == ("lunit", 2, 2, ("sample.adds",))
    assert observe(step, effects(step)).tests == ()


def test_a_new_runner_is_known_by_its_calls() -> None:
    assert "lunit" in EXTENDED.programs - RUNNERS.programs
    assert EXTENDED.options["lua"] == {"--lunit"}
    assert "lunit" in EXTENDED.counting
    assert ".lunit" in EXTENDED.config_files


def test_calls_are_sorted_by_how_they_are_made() -> None:
    assert "pytest" in RUNNERS.programs
    assert "test" in RUNNERS.verbs["go"]
    assert "--test" in RUNNERS.options["node"]
    assert "unittest" in RUNNERS.modules


def test_a_summary_has_no_group() -> None:
    assert [runner.name for runner in TEST_RUNNERS if re.compile(runner.summary).groups] == []


LOOK_AHEAD = re.compile(r"\(\?[=!](?:[^()\\]|\\.|\((?:[^()\\]|\\.)*\))*\)")


@pytest.mark.parametrize("runner", [one for one in EXTENDED.runners if one.summary], ids=lambda one: one.name)
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_summary_has_a_sign(runner: TestRunner, data: st.DataObject) -> None:
    summary = data.draw(st.from_regex(LOOK_AHEAD.sub("", runner.summary), fullmatch=True))
    assert any(sign in summary for sign in SUMMARY_SIGNS), f"add a word of {runner.name}'s summary to SUMMARY_SIGNS"
    assert re.match(SUMMARY_STARTS, summary), f"add the first character of {runner.name}'s summary to SUMMARY_STARTS"


@pytest.mark.parametrize("line", [line for one in TEST_RUNNERS for line in (*one.failure_lines, one.progress) if line])
@settings(max_examples=10, deadline=None)
@given(data=st.data())
def test_every_line_without_a_summary_has_a_sign(line: str, data: st.DataObject) -> None:
    shown = data.draw(st.from_regex(LOOK_AHEAD.sub("", line), fullmatch=True))
    assert any(sign in shown for sign in SIGNS_OF_RUN), f"add a word of {line} to SIGNS_OF_RUN"
