"""What failed and what worked, in the words of a shortcut."""

from __future__ import annotations

from dense.actions import effects
from dense.analyst.rules.changes_told import standing
from dense.analyst.rules.facts import facts
from dense.analyst.rules.phrases import Deed
from dense.analyst.rules.shortcuts_told import dead_end, working_path
from dense.observations import seen
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Leaf


def deed(name: str, text: str = "ok", message: str = "", *, failed: bool = False, **arguments: str) -> Deed:
    observation = Observation(text, is_error=failed or None)
    step = Step(Source("t"), message, "", (ToolCall(name, {**arguments}),), (observation,))
    known = facts(Leaf("n0", 1, step), done := effects(step), seen(step, done))
    return Deed(known, step, known.phase)


def edit(old: str, new: str, message: str = "") -> Deed:
    return deed("Edit", message=message, file_path="a.py", old_string=old, new_string=new)


def patch(gone: str, new: str) -> Deed:
    text = f"*** Begin Patch\n*** Update File: a.py\n@@\n-{gone}\n+{new}\n*** End Patch"
    return deed("apply_patch", input=text)


TESTS = deed("bash", "....\n4 passed in 0.10s\n", command="pytest -q")


def test_a_small_edit_is_told_by_what_it_replaces() -> None:
    assert working_path([edit("360", "3600")], None, TESTS) == (
        "edited `a.py` (`360` → `3600`), then ran `pytest -q`: all 4 tests pass"
    )
    assert "edited `a.py` (`x = 1` → `x = 2`)" in working_path([patch("x = 1", "x = 2")], None, TESTS)


def test_a_long_edit_is_told_by_what_the_agent_says_that_it_is_for() -> None:
    long = edit("x = 1\n" * 20, "y = 2\n" * 20, "I'll count from one instead of from zero.")
    assert working_path([long], None, TESTS).startswith('edited `a.py` ("I\'ll count from one instead of from zero.")')


def test_an_edit_that_a_later_one_replaced_is_not_told() -> None:
    first, second, third = edit("a = 1", "a = 2"), edit("a = 2", "a = 3"), edit("b = 1", "b = 2")
    assert standing([first, second, third]) == [second, third]
    assert standing([patch("a = 1", "a = 2"), last := patch("a = 2", "a = 3")]) == [last]
    assert standing([first, whole := deed("Write", file_path="a.py", content="a = 4\n")]) == [whole]
    assert standing([whole, first]) == [whole, first]


def test_an_edit_that_only_adds_replaces_nothing() -> None:
    first, added = edit("a = 1", "a = 2"), edit("x", "x\nc = 1")
    assert standing([first, added]) == [first, added]


def test_of_a_call_that_was_tried_again_only_the_difference_is_told() -> None:
    failed = deed("book", "no such day", failed=True, day="31 April", seats="2", guest="Mia")
    worked = deed("book", "booked", day="30 April", seats="2", guest="Mia")
    assert working_path([], failed, worked) == "called `book` with `day` `30 April` instead of `31 April`: `booked`"


def test_of_a_long_argument_the_piece_that_differs_is_told() -> None:
    failed, worked = (
        deed(
            "book", "ok", failed=number == 1, plan=f"{'from here to there ' * 9}on flight HAT{number} {'and back ' * 9}"
        )
        for number in (1, 2)
    )
    assert working_path([], failed, worked) == "called `book` with `plan` `HAT2` instead of `HAT1`: `ok`"


def test_an_edit_that_was_tried_again_is_told_by_what_it_changes() -> None:
    failed = deed("Edit", "not found in file", failed=True, file_path="a.py", old_string="y", new_string="3600")
    assert working_path([], failed, edit("360", "3600")).startswith("edited `a.py` (`360` → `3600`)")


def test_each_failure_is_told_once() -> None:
    failed = deed("bash", "bash: gnuplot: command not found", command="gnuplot x")
    assert dead_end([failed, failed]) == "ran `gnuplot x`: `bash: gnuplot: command not found`"
