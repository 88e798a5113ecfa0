"""Each method on one example: what it says, as it was read and found good, and that all share frame and budget."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from dense.analysis.asking.scripted import ScriptedAnswerer
from dense.analysis.rules import RulesAnalyst
from dense.errors import MissingInput, UnusableAnswer
from dense.message.message import REPORT
from dense.methods import method_names
from dense.service import FeedbackRun, distill_sync
from dense.trajectory import Trajectory

type Making = Callable[..., FeedbackRun]
NAMES = sorted(method_names())
BY_MODEL = {"advisor": 1, "all-at-once": 1, "step-by-step": 14, "dense-no-hierarchy": 1}


@pytest.mark.parametrize("name", NAMES)
def test_golden_feedback(name: str, made: Making, golden: Callable[[str, str], None]) -> None:
    found = made(name)
    assert [asked.key for asked in found.record.asked if asked.fell_back or asked.problems] == []
    golden(f"methods/{name}.txt", found.feedback.message)


@pytest.mark.parametrize("name", sorted(BY_MODEL))
def test_golden_feedback_by_rule(name: str, made: Making, golden: Callable[[str, str], None]) -> None:
    found = made(name, RulesAnalyst())
    assert [asked.key for asked in found.record.asked if asked.fell_back or asked.problems] == []
    golden(f"methods/{name}-by-rule.txt", found.feedback.message)


def test_golden_list(golden: Callable[[str, str], None]) -> None:
    done = subprocess.run([sys.executable, "-m", "dense", "methods"], capture_output=True, text=True, check=True)
    golden("methods/list.txt", done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_calls_are_as_listed(name: str, made: Making, trajectory: Trajectory) -> None:
    asked = made(name).record.asked
    if name in {"none", "self-reflection", "verifier-feedback"}:
        assert asked == ()
    elif name in BY_MODEL:
        assert len(asked) == BY_MODEL[name]
    else:
        assert [question.key for question in asked] == [f"whole a1 to a{len(trajectory.steps)}"]


def test_dense_is_what_distilling_gives(made: Making, trajectory: Trajectory, script: dict[str, Any]) -> None:
    done, found = distill_sync(trajectory, ScriptedAnswerer(script)), made("dense")
    assert found.feedback == done.feedback
    assert found.files == {"tree.json": done.source, "reconciled.json": done.reconciled}


def test_none_is_the_task_byte_for_byte(made: Making, trajectory: Trajectory) -> None:
    assert trajectory.task is not None
    feedback = made("none").feedback
    assert (feedback.report, feedback.message) == ("", trajectory.task.instruction)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "none"])
def test_the_frame_is_the_same(name: str, made: Making, trajectory: Trajectory) -> None:
    assert trajectory.task is not None
    message = made(name).feedback.message
    first, *_ = message.splitlines()
    (key,) = re.findall(r"^\[dense-feedback-(\w{5})\] ", first)
    assert message.endswith(f"\n{key}| end\n\n{trajectory.task.instruction}")
    assert (REPORT.fresh in message) == (name != "advisor")


def test_the_advisor_claims_no_observation(made: Making) -> None:
    message = made("advisor").feedback.message
    assert "from your task's text alone" in message
    assert "earlier attempt" not in message


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [512, 700, 1_500, 3_000, 6_000, 12_000])
def test_the_budget_holds(name: str, size: int, made: Making, trajectory: Trajectory) -> None:
    assert trajectory.task is not None
    feedback = made(name, budget=size).feedback
    assert len(feedback.message.encode()) - len(trajectory.task.instruction.encode()) <= size
    # Quoted bodies are closed: after the last marker line comes no quoted text.
    marks = [line for line in feedback.report.splitlines() if feedback.key and line.startswith(f"{feedback.key}|")]
    assert not marks or marks[-1] in (f"{feedback.key}|", f"{feedback.key}| end")


@pytest.mark.parametrize("name", ["self-reflection", "all-at-once", "step-by-step", "verifier-feedback"])
def test_a_shortened_table_says_what_is_missing(name: str, made: Making) -> None:
    report = made(name, budget=6_000).feedback.report
    shown = [int(number) for number in re.findall(r"^\w{5}\| action a(\d+)", report, re.MULTILINE)]
    ((first, last),) = re.findall(r"^left out: a(\d+) to a(\d+) left out here", report, re.MULTILINE)
    assert sorted({*shown, *range(int(first), int(last) + 1)}) == list(range(1, 15))
    assert shown[-1] == 14
    assert int(first) <= int(last) < 14


def test_labels_stand_in_the_tables(made: Making) -> None:
    assert re.search(r"^\w{5}\| action a13: -2 ", made("all-at-once", budget=20_000).feedback.report, re.MULTILINE)
    report = made("step-by-step", budget=20_000).feedback.report
    assert report.count("(known at the time: ") == 14


def test_labels_are_not_in_dense(made: Making) -> None:
    for name in ("dense", "dense-flat"):
        assert "label" not in made(name).feedback.report


@pytest.mark.parametrize("budget", [20_000, "paper"])
def test_paper_without_shortcuts_only_what_compresses_and_judges_is_missing(budget: Any, made: Making) -> None:
    """Neither shortcut nor verdict nor a numeric label; what DENSE has besides is the same, in the same frame."""
    dense, found = (made(name, budget=budget) for name in ("dense", "dense-no-shortcuts"))
    report = found.feedback.report
    assert not re.search(r"(?m)^ *shortcut|^ *lesson|resolved|label|-[12]\b.*:", report)
    assert report.startswith("state: unknown")
    assert list(found.files) == ["tree.json"]
    kinds = [{line.split()[0] for line in one.feedback.report.splitlines() if line} for one in (dense, found)]
    own = {"state:", "summary:", "next-step", "unchecked:", "task", "key-action", "met:", "proven:"}
    assert kinds[0] & own == kinds[1] & own
    before = [one.feedback.message.split("state:")[0].replace(one.feedback.key, "KEY") for one in (dense, found)]
    assert before[0] == before[1]


@pytest.mark.parametrize("name", ["none", "advisor"])
def test_no_task_is_reported(name: str, made: Making, trajectory: Trajectory) -> None:
    import msgspec

    with pytest.raises(MissingInput, match="--task"):
        made(name, of=msgspec.structs.replace(trajectory, task=None))


def test_all_methods_work_without_a_task_that_can(made: Making, trajectory: Trajectory) -> None:
    import msgspec

    bare = msgspec.structs.replace(trajectory, task=None)
    for name in NAMES:
        if name not in {"none", "advisor"}:
            assert "was not recorded" in made(name, RulesAnalyst(), of=bare).feedback.message


@pytest.mark.parametrize("name", NAMES)
def test_the_same_every_time(name: str, made: Making) -> None:
    rules = [made(name, RulesAnalyst()).feedback for _ in range(2)]
    assert rules[0] == rules[1]
    assert made(name).feedback == made(name).feedback


def test_the_script_answers_nothing_in_vain(script: dict[str, Any], made: Making) -> None:
    asked = {asked.key for name in NAMES for asked in made(name).record.asked}
    assert asked == set(script) - {"about"}


def test_usable_parts_of_an_incomplete_assessment_count(made: Making, script: dict[str, Any]) -> None:
    key = "assessment of 14 actions"
    entries = script[key]["actions"]
    wrong = {"actions": [*entries[:3], entries[2], {**entries[0], "action_index": 99}]}
    once = made("all-at-once", ScriptedAnswerer({key: [wrong, json.dumps(entries)]}), budget=20_000)
    assert once.record.asked[0].attempts == 2
    (problem,) = once.record.asked[0].problems
    assert "no entry for action_index: 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14" in problem
    assert "more than one entry for action_index: 3" in problem
    assert "not asked for: 99" in problem
    assert len(re.findall(r"\| action a\d+: ", once.feedback.report)) == 14
    halves = made("all-at-once", ScriptedAnswerer({key: [wrong, {"actions": entries[3:]}]}), budget=20_000)
    assert len(re.findall(r"\| action a\d+: -?\d ", halves.feedback.report)) == 14


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("all-at-once", "assessment of 14 actions", "11 of 14 actions have no assessment"),
        ("step-by-step", "decision a5", "1 of 14 actions have no assessment"),
        ("dense-no-hierarchy", "overview of 14 actions", "no usable report came back"),
        ("advisor", "advice task", "no usable advice came back"),
    ],
)
def test_paper_an_unusable_analysis_is_never_delivered(
    name: str, key: str, words: str, made: Making, script: dict[str, Any]
) -> None:
    bad = {"actions": script[key]["actions"][:3]} if name == "all-at-once" else "Well."
    with pytest.raises(UnusableAnswer, match=words):
        made(name, ScriptedAnswerer({**script, key: bad}))
    again = made(name, ScriptedAnswerer({**script, key: ["Well.", script[key]]}))
    assert next(asked for asked in again.record.asked if asked.key == key).attempts == 2


def test_an_overview_that_cites_what_is_not_there_is_asked_again(made: Making, script: dict[str, Any]) -> None:
    key = "overview of 14 actions"
    bad = script[key] | {"evidence": [{"action_index": 77, "shows": "x"}]}
    found = made("dense-no-hierarchy", ScriptedAnswerer({key: [bad, script[key]]}))
    assert (found.record.asked[0].attempts, found.state) == (2, "incomplete")
