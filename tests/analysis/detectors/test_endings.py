"""Findings about how a trace ends."""

from __future__ import annotations

import msgspec
import pytest
from made_attempt import Action, analysed, assess, attempt, described, found, state, the, trajectory

from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.rules import RulesAnalyst
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, ToolCall, Trajectory

EDIT = ("sed -i s/a/b/ app.py", "")
SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"
PRINT = f"{SUBMIT} && git add -A && git diff --cached"
NO = Observation("Your submission was incorrect.", origin="user")


def flags(*steps: Step) -> Trajectory:
    return trajectory("Find the flag.", *steps)


def submit(answer: str, *came: Observation) -> Step:
    call = ToolCall("submit", {"answer": answer})
    return Step(Source("made"), calls=(call,), observations=(Observation(answer), *came))


def look(text: str = "x") -> Step:
    call = ToolCall("bash", {"command": "cat notes"}, "1")
    return Step(Source("made"), calls=(call,), observations=(Observation(text, "1"),))


def finish(message: str, **marks: str | bool) -> TraceAssessment:
    call = ToolCall("finish", {"message": message, **marks}, "1")
    edit = ToolCall("bash", {"command": "sed -i s/a/b/ parser.c"}, "1")
    steps = Step(Source("made"), calls=(edit,)), Step(Source("made"), calls=(call,))
    return assess(trajectory("Fix the parser.", *steps))


# Rejected answers


def test_another_answer_resolves_a_rejection_and_the_same_again_does_not() -> None:
    seen = flags(look(), submit("flag{a}", NO), look("flag{b}"), submit("flag{b}"))
    other = the(assess(seen), "answer_rejected")
    assert (other.evidence, other.resolution) == ((2,), 4)
    guess = assess(flags(look(), submit("flag{a}", NO), look(), submit("flag{b}")))
    assert the(guess, "answer_rejected").is_open
    assert "At a4 `flag{b}` was submitted, which no output had shown." in described(guess, "answer_rejected")
    again = flags(look("flag{a} flag{b}"), submit("flag{a}", NO), submit("flag{b}", NO), submit("flag{a}"))
    assert the(assess(again), "answer_rejected").evidence == (2, 3, 4)
    (issue,) = distill_sync(again, RulesAnalyst()).reconciled.issues
    assert issue.text == (
        "The submitted answer was rejected: `flag{a}` (a2) and `flag{b}` (a3): `Your submission was incorrect.`. "
        "At a4 `flag{a}` was submitted again."
    )


def test_rejected_answers_are_in_the_summary_of_the_whole() -> None:
    run = flags(look("flag{c}"), submit("flag{a}", NO), submit("flag{a}", NO), submit("flag{c}"))
    summary = distill_sync(run, RulesAnalyst()).reconciled.root.summary
    assert "Answers rejected before: `flag{a}` (a2, a3, no output had shown it)." in summary
    assert state(run) == "unknown"


def test_a_guessed_answer_is_called_one() -> None:
    guessed, shown = (flags(look(text), submit("flag{made_up_1}", NO)) for text in ("x", "flag{made_up_1}"))
    assert "no output had shown it" in described(assess(guessed), "answer_rejected")
    assert "no output had shown it" not in described(assess(shown), "answer_rejected")


# Empty submissions


def test_a_submission_that_prints_nothing_is_empty() -> None:
    run = attempt(None, EDIT, (PRINT, ""))
    assert the(assess(run), "submission_empty").evidence == (2,)
    assert "a2 is empty" in described(assess(run), "submission_empty")
    assert state(run) == "incomplete"
    assert found(analysed(None, EDIT, (PRINT, "<returncode>0</returncode>\n<output>\n</output>")), "submission_empty")


def test_one_that_prints_something_or_is_not_to_print_is_not() -> None:
    for last in [(PRINT, "diff --git a/app.py b/app.py"), (SUBMIT, ""), ("submit", "")]:
        assert not found(analysed(None, EDIT, last), "submission_empty")
    run = attempt(None, EDIT, (PRINT, ""))
    unseen = msgspec.structs.replace(run.steps[-1], observations=())
    assert not found(assess(trajectory(None, run.steps[0], unseen)), "submission_empty")


# The agent's own mark


@pytest.mark.parametrize("mark", ["false", False])
def test_a_submission_that_is_marked_as_not_done(mark: str | bool) -> None:
    assert "not done: `The page asks for a login.`" in described(
        finish("The page asks for a login.", task_completed=mark), "agent_gave_up"
    )
    assert not found(finish("The year is 1976.", task_completed="true"), "agent_gave_up", "submission_partial")


@pytest.mark.parametrize(
    "missing",
    [
        "However, the compiler was not built, so the fix could not be verified.",
        "Unfortunately I could not run the suite.",
    ],
)
def test_a_submission_that_is_marked_as_partly_done(missing: str) -> None:
    assessment = finish(f"The parser takes single tuples now, in `parser.c`. {missing}", task_completed="partial")
    finding = the(assessment, "submission_partial")
    assert (finding.evidence, finding.is_serious, finding.text("quote")) == ((2,), False, missing)
    assert described(assessment, "submission_partial").endswith(f"only partly done: `{missing}`")


# Broken off


@pytest.mark.parametrize(
    ("actions", "end", "expected"),
    [
        ((EDIT, ("pytest", "5 passed in 0.1s")), None, "unknown"),
        ((EDIT, ("git commit -qam fix", "")), None, "unknown"),
        ((EDIT, ("cat other.py", "x = 1")), None, "incomplete"),
        ((EDIT, ("pytest", "5 passed in 0.1s")), "LimitsExceeded", "unknown"),
        ((("pytest", "5 passed in 0.1s"), EDIT), "LimitsExceeded", "incomplete"),
    ],
)
def test_an_end_without_a_last_message(actions: tuple[Action, ...], end: str | None, expected: str) -> None:
    assert state(attempt(None, *actions, end=end)) == expected


def test_work_that_is_shown_to_be_done_is_not_broken_off() -> None:
    """Nor is it complete: nobody handed it over."""
    run = attempt("Write hello to `out.txt`.", ("echo hello > out.txt", ""), ("cat out.txt", "hello"))
    assert not found(assess(run), "ended_without_handover")
    assert state(run) == "unknown"


def test_a_limit_that_is_hit_while_finished_work_is_verified_is_a_doubt() -> None:
    task, limit = "Write `/app/solve.py` and run it.", "LimitsExceeded"
    made, run = ("cat > /app/solve.py <<'E'\nprint(1)\nE", ""), ("python3 /app/solve.py", "1")
    look, fails = ("ls /app", "solve.py data.csv"), ("python3 /app/solve.py", "KeyError: 'x'", 1)
    ended = [
        analysed(task, *actions, end=limit)
        for actions in [(made, run, look), (made, look), (made, run, fails), (made, run, made)]
    ]
    found_at = [[one.severity for one in found(run, "ended_without_handover")] for run in ended]
    assert found_at == [["doubt"], ["serious"], ["serious"], ["serious"]]
    other = analysed("Fix `app.py`.", ("sed -i s/a/b/ app.py", ""), ("python3 app.py", "1"), look, end=limit)
    assert the(other, "ended_without_handover").severity == "doubt"


def test_a_closing_message_hands_over_even_if_another_look_follows() -> None:
    made, closing = ("echo hello > out.txt", ""), "The greeting has been written to `out.txt`."
    for look in [("cat out.txt", "hello"), ("ls", "out.txt")]:
        assert analysed("Write hello to `out.txt`.", made, look, closing, look).evidence.ending.kind == "handed_over"
    unanswered = Step(Source("made"), calls=(ToolCall("bash", {"command": "cat out.txt"}, "9"),))
    run = attempt("Write hello to `out.txt`.", made, closing)
    assert assess(msgspec.structs.replace(run, steps=(*run.steps, unanswered))).evidence.ending.action == 2
    again = analysed("Write hello to `out.txt`.", made, closing, ("echo bye > out.txt", ""))
    assert again.evidence.ending.kind == "broken_off"
    plain = analysed("Write hello to `out.txt`.", made, "The file is empty.", ("cat out.txt", ""))
    assert plain.evidence.ending.kind == "broken_off"


@pytest.mark.parametrize(
    "last",
    [
        "The parser is clear now. Let me create the solution file:",
        "Now I'll write the tests and run them.",
        "Found it.\n\nNext, I need to update the configuration",
        "I see - let me check the actual state of the environment:",
        '<tool_call>{"name": "bash", "arguments": {"command": "ls"}}</tool_call>',
    ],
)
def test_a_last_message_that_announces_an_action(last: str) -> None:
    assessment = analysed("Fix the parser.", ("cat parser.c", "x"), last)
    assert the(assessment, "action_announced").evidence == (2,)
    assert "announces an action" in described(assessment, "action_announced")
    assert state(attempt("Fix the parser.", ("cat parser.c", "x"), last)) == "incomplete"


@pytest.mark.parametrize(
    "last",
    [
        "The parser is fixed. Let me know if you want tests.",
        "The parser is fixed. I'll be happy to explain it.",
        "The parser is fixed. If you want, I will add tests.",
        "Let me summarize: the parser is fixed.",
        "First I'll read the parser. Then I fixed it. All is done.",
    ],
)
def test_a_last_message_that_ends_the_work(last: str) -> None:
    assert not found(analysed("Fix the parser.", ("cat parser.c", "x"), last), "action_announced")


@pytest.mark.parametrize(("mark", "code"), [("failed", "agent_gave_up"), ("partial", "submission_partial")])
def test_a_status_that_a_hand_over_tool_is_given(mark: str, code: str) -> None:
    assert the(finish("The grammar is still wrong.", status=mark), code)
    assert not found(finish("Fixed.", status="success"), "agent_gave_up", "submission_partial")


def test_code_that_ran_for_an_agent_that_only_talks_is_an_end() -> None:
    result = Observation("exitcode: 0\n2", exit_code=0)
    ran = Step(Source("made"), "```python\nprint(2)\n```", observations=(result,))
    assert not found(assess(trajectory("Print 2.", ran)), "ended_without_handover")


# A lead and its ledger

LEDGER = 'Updated Ledger:\n{"is_request_satisfied": {"reason": "The \\"year\\" is not known.", "answer": %s}, "n": {}}'


def led(answer: str, *lines: str) -> TraceAssessment:
    lead = Step(Source("made"), LEDGER % answer, agent="Lead")
    delegation = Step(Source("made"), calls=(ToolCall("Browser", {"input": "Look."}),), agent="Lead")
    text = "\n".join(["https://library.example", *lines])
    page = Step(Source("made"), "I clicked 'Hours'.", observations=(Observation(text),), agent="Browser")
    return assess(trajectory("Find the year.", lead, delegation, page))


def test_a_lead_that_is_not_satisfied() -> None:
    error = "openai.BadRequestError: Error code: 400"
    assessment = led("false", error, "FINAL ANSWER: 1976")
    assert [one.code for one in assessment.findings] == ["request_unsatisfied"]
    words = described(assessment, "request_unsatisfied")
    assert all(part in words for part in ("(a1)", '`The "year" is not known.`', f"`{error}`", "The answer `1976`"))


def test_a_lead_that_is_satisfied() -> None:
    assert led("true", "something else").findings == ()
