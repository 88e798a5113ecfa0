"""What failed and what worked, in the words of a shortcut."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from made_attempt import evidence_of, trajectory
from made_facts import facts

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects
from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.wording.actions import NarratedAction, describe_action
from dense.analysis.wording.changes import remaining_changes
from dense.analysis.wording.outputs import describe_missing
from dense.analysis.wording.shortcuts import TestedChanges, dead_end, working_path
from dense.knowledge.errors import NOT_ON_PATH
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Leaf


def action(name: str, text: str = "ok", message: str = "", *, failed: bool = False, **arguments: Any) -> NarratedAction:
    observation = Observation(text, is_error=failed or None)
    step = Step(Source("t"), message, "", (ToolCall(name, {**arguments}),), (observation,))
    known = facts(Leaf("n0", 1, step), done := effects(step), observe(step, done))
    return NarratedAction(known, step, known.phase)


def edit(old: str, new: str, message: str = "") -> NarratedAction:
    return action("Edit", message=message, file_path="a.py", old_string=old, new_string=new)


def patch(gone: str, new: str) -> NarratedAction:
    text = f"*** Begin Patch\n*** Update File: a.py\n@@\n-{gone}\n+{new}\n*** End Patch"
    return action("apply_patch", input=text)


def described(failed: Sequence[NarratedAction], tested: TestedChanges = lambda _: ()) -> str:
    return dead_end(failed, lambda _: "", tested)


TESTS = action("bash", "....\n4 passed in 0.10s\n", command="pytest -q")


def test_a_small_edit_is_described_by_what_it_replaces() -> None:
    assert working_path([edit("360", "3600")], None, TESTS) == (
        "edited `a.py` (`360` → `3600`), then ran `pytest -q`: all 4 tests pass"
    )
    assert "edited `a.py` (`x = 1` → `x = 2`)" in working_path([patch("x = 1", "x = 2")], None, TESTS)


def test_a_long_edit_is_described_by_what_the_agent_says_that_it_is_for() -> None:
    long = edit("x = 1\n" * 20, "y = 2\n" * 20, "I'll count from one instead of from zero.")
    assert working_path([long], None, TESTS).startswith('edited `a.py` ("I\'ll count from one instead of from zero.")')


def test_an_edit_that_a_later_one_replaced_is_not_described() -> None:
    first, second, third = edit("a = 1", "a = 2"), edit("a = 2", "a = 3"), edit("b = 1", "b = 2")
    assert remaining_changes([first, second, third]) == [second, third]
    assert remaining_changes([patch("a = 1", "a = 2"), last := patch("a = 2", "a = 3")]) == [last]
    assert remaining_changes([first, whole := action("Write", file_path="a.py", content="a = 4\n")]) == [whole]
    assert remaining_changes([whole, first]) == [whole, first]


def test_an_edit_that_only_adds_replaces_nothing() -> None:
    first, added = edit("a = 1", "a = 2"), edit("x", "x\nc = 1")
    assert remaining_changes([first, added]) == [first, added]


def test_of_a_call_that_was_tried_again_only_the_difference_is_described() -> None:
    failed = action("book", "no such day", failed=True, day="31 April", seats="2", guest="Mia")
    worked = action("book", "booked", day="30 April", seats="2", guest="Mia")
    assert working_path([], failed, worked) == "called `book` with `day` `30 April` instead of `31 April`: `booked`"


def test_of_a_long_argument_the_piece_that_differs_is_described() -> None:
    failed, worked = (
        action(
            "book", "ok", failed=number == 1, plan=f"{'from here to there ' * 9}on flight HAT{number} {'and back ' * 9}"
        )
        for number in (1, 2)
    )
    assert working_path([], failed, worked) == "called `book` with `plan` `HAT2` instead of `HAT1`: `ok`"


def test_a_command_that_was_tried_again_is_described_by_its_other_arguments() -> None:
    """A reason for a command says nothing of why it works now."""
    command = "ls | sort"
    failed = action("shell", "sandbox error", failed=True, command=command, reason="First look")
    worked = action("shell", "a.py", command=command, reason="Look again", permissions="escalated")
    assert working_path([], failed, worked).startswith("the same with `permissions` `escalated`: ")
    other = action("shell", "a.py", command="ls", permissions="escalated")
    assert working_path([], failed, other).startswith("listed the folder")


def test_an_edit_that_was_tried_again_is_described_by_what_it_changes() -> None:
    failed = action("Edit", "not found in file", failed=True, file_path="a.py", old_string="y", new_string="3600")
    assert working_path([], failed, edit("360", "3600")).startswith("edited `a.py` (`360` → `3600`)")


def test_each_failure_is_described_once() -> None:
    failed = action("bash", "bash: gnuplot: command not found", command="gnuplot x")
    assert described([failed, failed]) == "`gnuplot` is not installed (a1)"
    broken = action("bash", "Traceback (most recent call last):\nKeyError: 'a'", failed=True, command="python3 x.py")
    assert described([broken, broken]) == "ran `python3 x.py`: `KeyError: 'a'`"


def test_of_lists_and_records_the_single_value_that_differs_is_described() -> None:
    failed, worked = (
        action(
            "book", "ok", failed=amount == 5, payments=[{"id": "card", "amount": 100}, {"id": "gift", "amount": amount}]
        )
        for amount in (5, 55)
    )
    assert working_path([], failed, worked) == "called `book` with `payments[1].amount` `55` instead of `5`: `ok`"
    longer = action("book", "ok", payments=[{"id": "card" * 9, "amount": n} for n in range(9)])
    assert working_path([], failed, longer) == "called `book` with other `payments`: `ok`"


FAILS = "FAILED (failures=1)"
UNITTEST = f"""F.
======================================================================
FAIL: test_limit (test_a.A)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "test_a.py", line 3, in test_limit
    self.assertEqual(count([0, 10]), 1)
AssertionError: 0 != 1

Ran 2 tests in 0.003s

{FAILS}
"""


def test_a_check_that_failed_is_described_by_the_change_that_it_put_to_the_test() -> None:
    tests = action("bash", UNITTEST, command="python3 -m unittest")
    change = edit("x" * 90, "y" * 90, "I'll count with bisect instead of comparing every pair.")
    assert described([tests], tested=lambda _: [change]) == (
        'edited `a.py` ("I\'ll count with bisect instead of comparing every pair."): 1 of 2 tests fail: `test_limit` '
        "(`AssertionError: 0 != 1`)"
    )
    assert described([tests]).startswith("ran `python3 -m unittest`: 1 of 2 tests fail")


def test_what_was_changed_without_success_since_is_described_with_the_same_failure() -> None:
    tests = [action("bash", UNITTEST, command="python3 -m unittest") for _ in range(2)]
    changes = {id(tests[0]): [edit("a", "b")], id(tests[1]): [edit("b", "c")]}
    text = described(tests, tested=lambda action: changes[id(action)])
    assert text.startswith("edited `a.py` (`a` → `b`): 1 of 2 tests fail")
    assert text.endswith(", and the same after this: edited `a.py` (`b` → `c`)")


def test_a_run_that_failed_keeps_its_command() -> None:
    run = action("bash", "Traceback (most recent call last):\nKeyError: 'x'", command="python3 solve.py")
    text = described([run], tested=lambda _: [action("bash", "", command="sed -i 's/a/b/' solve.py")])
    assert text == "changed `a` to `b` in `solve.py`, then ran `python3 solve.py`: `KeyError: 'x'`"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("E       assert 3 == 4\n\nFAILED t.py::test_a - assert 3 == 4\n1 failed, 2 passed in 0.1s", "assert 3 == 4"),
        ("FAILED t.py::test_a - ValueError: no\n1 failed, 2 passed in 0.1s", "ValueError: no"),
        ("--- FAIL: TestA (0.00s)\n    a_test.go:12: got 3, want 4\nFAIL\nFAIL\tshop\t0.1s", "got 3, want 4"),
    ],
)
def test_the_first_complaint_of_the_tests_is_described(text: str, line: str) -> None:
    command = "go test ./..." if "go:" in text else "pytest -q"
    assert described([action("bash", f"...\n{text}\n", command=command)]).endswith(f"(`{line}`)")


TWO_FAIL = UNITTEST.replace(
    "\nRan 2",
    f"""
======================================================================
FAIL: test_other (test_a.A)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "test_a.py", line 9, in test_other
{"    self.assertRaises(ValueError, count, [0, 10, 20, 30])" * 60}
AssertionError: ValueError not raised

Ran 2""",
).replace("failures=1", "failures=2")


def test_a_complaint_is_that_of_the_test_that_is_named_first() -> None:
    text = described([action("bash", TWO_FAIL, command="python3 -m unittest")])
    assert text.endswith("tests fail: `test_limit` and `test_other` (`AssertionError: 0 != 1`)")
    logged = action("bash", f"ValueError: only logged\n{TWO_FAIL}", command="python3 -m unittest")
    assert described([logged]).endswith("(`AssertionError: 0 != 1`)")
    cut = action("bash", TWO_FAIL.replace("AssertionError: 0 != 1", "[… cut …]"), command="python3 -m unittest")
    assert described([cut]).endswith("`test_limit` and `test_other`")


def test_a_failure_from_before_any_change_is_called_that() -> None:
    tests = action("bash", UNITTEST, command="python3 -m unittest")
    text = dead_end([tests], lambda _: "", lambda _: [edit("a", "b")], baselines=[1])
    assert text.startswith("before any change: ran `python3 -m unittest`: 1 of 2 tests fail")
    assert "edited" not in text


def test_what_passed_says_which_other_check_is_open() -> None:
    text = working_path([edit("360", "3600")], None, TESTS, not_covered=[("make speed", 3)])
    assert text.startswith("not `make speed` (failed at a3), only this: edited `a.py`")
    assert text.endswith("then ran `pytest -q`: all 4 tests pass")


def test_what_the_attempt_makes_itself_is_not_called_uninstalled() -> None:
    """A module or a program among its own files is not on the path; a stray word is no program at all."""
    missing = "ModuleNotFoundError: No module named 'shop'"
    own = evidence_of(None, ("python repro.py", missing, 1), ("touch /app/shop/__init__.py", ""))
    other = evidence_of(None, ("python repro.py", missing, 1), ("touch /app/main.py", ""))
    word = evidence_of(None, ("The results", "bash: line 1: The: command not found", 127))
    assert [one.facts[0].result.failures[0].missing_dependency for one in (own, other)] == ["", "shop"]
    assert own.facts[0].result.failures[0].family is NOT_ON_PATH
    assert describe_missing(other.facts[0].result.failures[0]) == "`shop` is not installed"
    assert describe_missing(word.facts[0].result.failures[0]) == "`The` is no command here"


def test_the_error_of_one_call_is_not_that_of_its_siblings() -> None:
    calls = [ToolCall("Write", {"file_path": f"/app/{name}.txt", "content": "x"}, name) for name in ("a", "b")]
    seen = (Observation("Error: permission denied", "a", is_error=True), Observation("File created.", "b"))
    step = Step(Source("made"), "", "", tuple(calls), seen)
    evidence = TraceAssessment(trajectory("Write two files.", step, Step(Source("made"), "Done."))).evidence
    assert describe_action(evidence.fact(1), evidence.step(1)) == "tried to write `/app/a.txt` (1 line)"
    assert evidence.products == {"/app/b.txt": 1}
