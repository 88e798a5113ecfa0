"""What the agent says at the end against its own work."""

from __future__ import annotations

import pytest
from made_attempt import analysed, attempt, described, dialog, found, state, the

from dense.analysis.detectors.assessment import TraceAssessment

TASK = "Recover the password from the disk."
LOOK = ("strings disk.img", "8XD")


def closing(words: str) -> TraceAssessment:
    return analysed(TASK, LOOK, words)


@pytest.mark.parametrize(
    "words",
    [
        "I recovered `8XD`, but the front half is still missing.",
        "The launch code was not found on the disk.",
        "I have no steps left, so this is where I stop.",
        "I was unable to recover the password.",
        "We ran out of time before the second part.",
        "The task is not yet complete.",
        "FINAL ANSWER: Unable to determine",
    ],
)
def test_an_admission_is_an_open_issue(words: str) -> None:
    assert the(closing(words), "failure_admitted").evidence == (2,)
    assert "task is not done" in described(closing(words), "failure_admitted")
    assert state(attempt(TASK, LOOK, words)) == "incomplete"


@pytest.mark.parametrize(
    "words",
    [
        "The positions do not match the reference, but the code is done.",
        "I could not verify the result.",
        "The fix was not tested.",
        "This may not be the exact formula.",
    ],
)
def test_a_doubt_is_a_doubt_with_the_line(words: str) -> None:
    doubt = the(closing(words), "closing_doubt")
    assert doubt.text("quote") in words and not doubt.is_serious
    assert state(attempt(TASK, LOOK, words)) == "unknown"


@pytest.mark.parametrize(
    "words",
    [
        "The password is 8XD.",
        "I could not find any other copy, so 8XD is the only one.",
        "The index was not found before, so I created it.",
        "It now prints `user was not found` for an unknown user.",
        'The message "could not verify" is gone.',
    ],
)
def test_other_words_are_neither(words: str) -> None:
    assert not found(closing(words), "failure_admitted", "closing_doubt")


def test_to_refuse_in_a_dialog_may_be_the_task() -> None:
    refusal = dialog(("Hello", "A refund, please."), ("I was unable to find your booking.", "Fine."))
    assert state(refusal) == "unknown"
