"""Answers that were not taken."""

from __future__ import annotations

import pytest

from dense.analyst.rules import RulesAnalyst
from dense.detectors.findings import Analysis
from dense.evidence.actions import EffectsCache
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

NO = Observation("Your submission was incorrect.", origin="user")


def run(*steps: Step) -> Trajectory:
    return Trajectory("made", "made", Source("made"), task=Task("Find the flag."), steps=steps)


def submit(answer: str, *came: Observation, tool: str = "submit") -> Step:
    echo = Observation(answer)
    return Step(Source("made"), calls=(ToolCall(tool, {"answer": answer}),), observations=(echo, *came))


def look(text: str = "x") -> Step:
    call = ToolCall("bash", {"command": "cat notes"}, "1")
    return Step(Source("made"), calls=(call,), observations=(Observation(text, "1"),))


def refused(*steps: Step) -> list[tuple[tuple[int, ...], int | None]]:
    analysis = Analysis(run(*steps), EffectsCache())
    return [(one.evidence, one.closed) for one in analysis.findings if one.kind == "refused"]


@pytest.mark.parametrize("answer", ["incorrect", "The sign is wrong", "Try again, said the sea"])
def test_an_answer_that_is_repeated_is_no_refusal(answer: str) -> None:
    assert not refused(look(), submit(answer))
    assert refused(look(), submit(answer, NO)) == [((2,), None)]


@pytest.mark.parametrize(
    ("said", "is_refused"),
    [
        ("Wrong flag!", True),
        ("Incorrect, try again", True),
        ("The answer you gave is not correct.", True),
        ("warning: wrong directory, using the current one\nSubmitted.", False),
        ("The answer is correct.", False),
        ("Please review: is anything incorrect or missing in your changes?", False),
    ],
)
def test_words_of_refusal(said: str, is_refused: bool) -> None:
    assert bool(refused(look(), submit("flag{a}", Observation(said)))) == is_refused


def test_another_answer_closes_it() -> None:
    assert refused(look(), submit("flag{a}", NO), look(), submit("flag{b}")) == [((2,), 4)]


def test_the_same_answer_again_does_not() -> None:
    steps = [look("flag{a} flag{b}"), submit("flag{a}", NO), submit("flag{b}", NO), submit("flag{a}")]
    assert refused(*steps) == [((2, 3, 4), None)]
    done = distill_sync(run(*steps), RulesAnalyst()).reconciled
    (issue,) = done.issues
    assert issue.text == (
        "What was handed in was not taken: `flag{a}` (a2) and `flag{b}` (a3): `Your submission was incorrect.`. "
        "At a4 `flag{a}` was handed in again."
    )


def test_what_was_not_taken_is_told_of_the_whole() -> None:
    done = distill_sync(run(look("flag{c}"), submit("flag{a}", NO), submit("flag{a}", NO), submit("flag{c}")))
    assert (
        "Answers that were not taken before: `flag{a}` (a2, a3, no output had shown it)."
        in done.reconciled.root.summary
    )
    assert done.reconciled.root.verdict and done.reconciled.root.verdict.state == "unknown"


def test_an_answer_that_was_made_up_is_told_as_such() -> None:
    guessed = Analysis(run(look(), submit("flag{made_up_1}", NO)), EffectsCache())
    assert "no output had shown it" in guessed.findings[0].text
    shown = Analysis(run(look("flag{made_up_1}"), submit("flag{made_up_1}", NO)), EffectsCache())
    assert "no output had shown it" not in shown.findings[0].text
