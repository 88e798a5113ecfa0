"""How traces end: kinds of endings, rejections, hand-overs."""

from __future__ import annotations

import pytest
from made_attempt import Action, assess, dialog, evidence_of, trajectory

from dense.analysis.evidence.ending.ending import lacking_sentence, last_verdict
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.handovers import describe_handover
from dense.trajectory import Observation, Source, Step, ToolCall

SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
NO = Observation("Your submission was incorrect.", origin="user")


def called(name: str, arguments: dict[str, str], *came: Observation) -> Step:
    return Step(Source("made"), calls=(ToolCall(name, dict(arguments), "1"),), observations=came)


def of(*steps: Step) -> TraceEvidence:
    return assess(trajectory("Find the year.", *steps)).evidence


@pytest.mark.parametrize(
    ("actions", "end", "kind"),
    [
        ((("ls", "a"), "The answer is 4."), None, "handed_over"),
        ((("ls", "a"), (f"{SUBMIT} && git diff", "")), None, "handed_over"),
        ((("ls", "a"), ("submit FLAG{x}", "")), None, "handed_over"),
        ((("ls", "a"), ("exit", "")), None, "handed_over"),
        ((("ls", "a"), ("cat b", "text")), "Performed context summarization and handoff to continue.", "continued"),
        ((("ls", "a"), ("cat b", "text")), None, "broken_off"),
        ((("ls", "a"), ("cat b", "text")), "LimitsExceeded", "broken_off"),
        ((("ls", "a"), "I go on."), "Max rounds (30) reached.", "broken_off"),
        ((("ls", "a"), "Done."), "The run took 30 steps.", "handed_over"),
    ],
)
def test_kinds_of_endings(actions: tuple[Action, ...], end: str | None, kind: str) -> None:
    assert evidence_of(None, *actions, end=end).ending.kind == kind


def test_to_refuse_in_a_dialog_may_be_the_task() -> None:
    refusing = dialog(("Hello", "A refund, please."), ("I am unable to refund this ticket.", "Fine."))
    assert assess(refusing).evidence.ending.kind == "handed_over"


def test_an_error_of_the_client_is_why_it_broke_off() -> None:
    error = "API Error: 529 overloaded"
    talk = Step(Source("made"), error)
    assert of(talk, called("bash", {"command": "ls"}, Observation("a"))).ending.words == error


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("send_msg_to_user", {"text": "1976"}), ("end_conversation", {}), ("report_infeasible", {"reason": "closed"})],
)
def test_tools_that_hand_over(name: str, arguments: dict[str, str]) -> None:
    assert of(called("click", {"id": "1"}), called(name, arguments, Observation("ok"))).ending.kind == "handed_over"


def test_ledgers_in_either_notation() -> None:
    def read(text: str) -> tuple[bool, str] | None:
        verdict = last_verdict([Step(Source("made"), text)])
        return (verdict.is_satisfied, verdict.reason) if verdict else None

    assert read("{'is_request_satisfied': {'answer': True, 'reason': 'It\\'s there.'}}") == (True, "It's there.")
    assert read('"is_request_satisfied": {"reason": "No.", "answer": "false"}') == (False, "No.")
    assert read("is_request_satisfied is a key of the ledger") is None


# Rejections


def submit(answer: str, *came: Observation) -> Step:
    return called("submit", {"answer": answer}, Observation(answer), *came)


@pytest.mark.parametrize("answer", ["incorrect", "The sign is wrong", "Try again, said the sea"])
def test_an_answer_that_is_repeated_is_no_rejection(answer: str) -> None:
    assert of(submit(answer)).rejections == []
    assert [one.answer for one in of(submit(answer, NO)).rejections] == [answer]


@pytest.mark.parametrize(
    ("said", "is_rejected"),
    [
        ("Wrong flag!", True),
        ("Incorrect, try again", True),
        ("The answer you gave is not correct.", True),
        ("warning: wrong directory, using the current one\nSubmitted.", False),
        ("The answer is correct.", False),
        ("Please review: is anything incorrect or missing in your changes?", False),
    ],
)
def test_words_of_rejection(said: str, is_rejected: bool) -> None:
    assert bool(of(submit("flag{a}", Observation(said))).rejections) == is_rejected


def test_words_in_a_submitted_diff_are_no_rejection() -> None:
    patch = "diff --git a/x.py b/x.py\n+    raise ValueError('incorrect: try again')"
    for last in [
        (f"{SUBMIT} && git diff --cached", patch),
        (f"{SUBMIT} && cat fix.patch", "@@ wrong"),
        ("submit", patch),
    ]:
        assert evidence_of(None, ("ls", "a"), last).rejections == []


# Hand-overs

FINISHED = "The parser takes single tuples now, in `parser.c`. "


def test_a_hand_over_is_described_with_what_it_says_is_missing() -> None:
    missing = "However, the compiler was not built, so the fix could not be verified."

    def words(message: str, *, with_lacking: bool = True) -> str:
        evidence = of(called("finish", {"message": message}))
        action = NarratedAction(evidence.fact(1), evidence.step(1), "deliver")
        return describe_handover(action, with_lacking=with_lacking)

    first = 'handed in "The parser takes single tuples now, in `parser.c`.'
    assert words(FINISHED + missing).startswith(first)
    assert words(FINISHED + missing).endswith(f' and said "{missing}"')
    assert words(FINISHED + "All 12 tests pass.") == f'{first} All 12 tests pass."'
    assert " and said " not in words(FINISHED + missing, with_lacking=False)
    assert words("The suite could not run.") == 'handed in "The suite could not run."'


def test_what_is_missing_may_be_at_the_end_of_a_long_report() -> None:
    report = "I changed the parser. " + "- one more rule is read from the table\n" * 40
    found = lacking_sentence(f"{report}\nHowever, the docs could not be built. Thanks.")
    assert found == "However, the docs could not be built"
    assert lacking_sentence(f"{report}\nThe old parser could not read this. It does now.") == ""
    assert lacking_sentence(f"{report}\nBut now all of it works.") == ""
