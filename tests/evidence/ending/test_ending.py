"""How attempts end, and what of it is held against them."""

from __future__ import annotations

import pytest
from made_attempt import Action, analysed, attempt

from dense.analyst.rules import RulesAnalyst
from dense.detectors.findings import Analysis
from dense.evidence.actions import EffectsCache
from dense.evidence.ending.admissions import admission
from dense.evidence.ending.handovers import handover_told, lacking_in
from dense.evidence.ending.ledgers import last_ledger
from dense.narrate.actions import NarratedAction
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

EDIT = ("sed -i s/a/b/ app.py", "")


def state(*actions: Action, task: str | None = None, end: str | None = None) -> str:
    verdict = distill_sync(attempt(task, *actions, end=end), RulesAnalyst()).reconciled.root.verdict
    assert verdict is not None
    return verdict.state


def called(name: str, arguments: dict[str, str], *came: Observation) -> Step:
    return Step(Source("made"), calls=(ToolCall(name, dict(arguments), "1"),), observations=came)


def of(*steps: Step, task: str = "Find the year.") -> Analysis:
    return Analysis(Trajectory("made", "made", Source("made"), task=Task(task), steps=steps), EffectsCache())


# The agent's own word


@pytest.mark.parametrize(
    "message",
    [
        "I was unable to complete the task.",
        "Two of three parts work. However, I was unable to finish the migration.",
        "While I made progress, I could not fix it. The tests still fail.",
        "Due to an error, I was unable to complete the task.",
        "I ran out of time.",
        "It seems that I am unable to make the necessary changes to the file.",
        "I'm unable to determine the year.",
        "I searched three catalogues. I could not find the year. You may want to ask the library.",
        "I failed to fix the bug: the tests do not pass.",
        "Unable to find the year in any source.",
        "Ich konnte die Aufgabe nicht abschließen.",
        "Je n'ai pas pu terminer la tâche.",
        "No pude completar la tarea.",
        "Não consegui concluir a tarefa.",
        "Не удалось выполнить задачу.",
        "未能完成任务。",
        "タスクを完了できませんでした。",
    ],
)
def test_words_of_giving_up(message: str) -> None:
    assert admission(message, makes_files=False)


@pytest.mark.parametrize(
    "message",
    [
        "Names were wrong. We were not able to find the row because of a wrong index; now fixed.",
        "Previously we could not access the attribute on None. The check now guards that.",
        "Pagination is not yet implemented since it was not asked for.",
        "Users can now filter items which are incomplete.",
        'The message now reads "I am unable to find the file".',
        "It prints:\n```\nI could not complete the request\n```\n",
        "> I could not complete the request\n\nThat line is gone.",
        "I was unable to access the page directly, but the abstract gives the figure.",
        "I was unable to access the page. Instead, I took the abstract.",
        "Although I could not find the page, the abstract gives the figure.",
        "I could not find a second source.\n\nFINAL ANSWER: 12",
        "It is not possible to determine the age. Answer: (C)",
        "I couldn't find an entry in the first menu, so I used the search box.",
        "The bug was that I could not complete an order without a name.",
        "I could not complete a full run of the slow suite because it needs a GPU.",
        "The cause: we failed to resolve symlinks before comparing.",
        "I could not solve it with a plain regex. A parser does the job.",
        "I could not fix it at the first try. Then all tests passed.",
        "I did not manage to fix the flaky test, which was there before.",
        "I was unable to find the exact date. X was founded in 1976.",
        "1976\n\nI could not access the official site.",
        "**1976** — I couldn't retrieve the archive page to be sure.",
        "I could not find any evidence for the claim. The claim is false.",
        "I can't help with that request.",
        "I am unable to cancel orders that were delivered.",
        "Ich konnte den Fehler beheben, der Test war nicht betroffen.",
        "Ich konnte die alte Datei nicht finden, sie wird aber nicht gebraucht.",
        "已修复。之前未能完成空字符串的处理，现在可以了。",
        "以前は空文字の処理を完了できませんでしたが、今は問題ありません。",
        "Раньше не удалось бы выполнить разбор, теперь всё работает.",
    ],
)
def test_words_that_are_none(message: str) -> None:
    assert not admission(message, makes_files=False)


def test_what_was_not_found_is_an_aside_where_files_are_the_work() -> None:
    aside = "I could not find any other place that uses it."
    assert admission(aside, makes_files=False)
    assert analysed(None, EDIT, aside).ending.kind == "handed_over"
    assert analysed(None, EDIT, "I could not fix it.").ending.kind == "given_up"


# Errors of the client, and of the harness


@pytest.mark.parametrize(
    "message",
    [
        "It now prints\nAPI Error: timeout\nwhen the server is away.",
        "Before:\n\nTraceback (most recent call last):\n  File 'a.py'\nKeyError\n\nNow it prints 3.",
        "It now raises:\n\nbuiltins.ValueError: empty",
        "It now raises this.\n\n```\nbuiltins.ValueError: empty\n```",
    ],
)
def test_a_quoted_error_is_no_crash(message: str) -> None:
    assert analysed(None, EDIT, message).ending.kind == "handed_over"


@pytest.mark.parametrize("message", ["API Error: 529 overloaded", "I go on.\n\nopenai.APIError: gone"])
def test_an_error_as_the_last_paragraph_is_a_crash(message: str) -> None:
    assert analysed(None, EDIT, message).ending.kind == "broken_off"


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Session limit: 45% used", "handed_over"),
        ("Total cost: $0.12; max tokens 4096", "handed_over"),
        ("Agent finished within maximum of 50 turns", "handed_over"),
        ("Conversation interrupted", "handed_over"),
        ("Max rounds (30) reached.", "broken_off"),
        ("The token budget was exceeded", "broken_off"),
        ("message limit reached: 50", "broken_off"),
        ("exit_cost", "broken_off"),
    ],
)
def test_what_a_harness_says_after_a_last_word(said: str, kind: str) -> None:
    assert analysed(None, EDIT, "Done.", end=said).ending.kind == kind


# Ends that are ends


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("send_msg_to_user", {"text": "1976"}), ("end_conversation", {}), ("report_infeasible", {"reason": "closed"})],
)
def test_tools_that_end_it(name: str, arguments: dict[str, str]) -> None:
    assert of(called("click", {"id": "1"}), called(name, arguments, Observation("ok"))).ending.kind == "handed_over"


@pytest.mark.parametrize("verdict", ["false", False])
def test_a_hand_over_that_is_marked_as_not_done(verdict: str | bool) -> None:
    call = ToolCall("finish", {"message": "The page asks for a login.", "task_completed": verdict}, "1")
    (finding,) = of(called("click", {"id": "1"}), Step(Source("made"), calls=(call,))).findings
    assert "not done: `The page asks for a login.`" in finding.text
    done = ToolCall("finish", {"message": "The year is 1976.", "task_completed": "true"}, "1")
    assert of(called("click", {"id": "1"}), Step(Source("made"), calls=(done,))).findings == ()


def test_to_leave_the_shell_is_an_end() -> None:
    assert analysed(None, EDIT, ("exit", "")).ending.kind == "handed_over"


def test_an_end_without_a_last_word_after_what_work_ends_with() -> None:
    passes = ("pytest", "5 passed in 0.1s")
    assert state(EDIT, passes) == "unknown"
    assert state(EDIT, ("git commit -qam fix", "")) == "unknown"
    assert state(EDIT, ("cat other.py", "x = 1")) == "incomplete"
    assert state(EDIT, passes, end="LimitsExceeded") == "incomplete"
    ran = Step(Source("made"), "```python\nprint(2)\n```", observations=(Observation("exitcode: 0\n2", exit_code=0),))
    assert not [one for one in of(ran).findings if one.kind == "broken_off"]


def test_what_is_shown_to_be_done_does_not_break_off() -> None:
    task = "Write hello to `out.txt`."
    assert state(("echo hello > out.txt", ""), ("cat out.txt", "hello"), task=task) == "complete"


def test_nothing_is_missing_in_a_trace_that_goes_on_elsewhere() -> None:
    task = "Write hello to `out.txt`."
    assert state(("ls", "a"), ("cat a", "x"), task=task) == "incomplete"
    assert state(("ls", "a"), ("cat a", "x"), task=task, end="Handoff to continue the task.") == "unknown"


# A lead and its ledger

LEDGER = 'Updated Ledger:\n{"is_request_satisfied": {"reason": "The \\"year\\" is not known.", "answer": %s}, "n": {}}'


def led(answer: str, *last: Step) -> Analysis:
    lead = Step(Source("made"), LEDGER % answer, agent="Lead")
    told = Step(Source("made"), calls=(ToolCall("Browser", {"input": "Look."}),), agent="Lead")
    return of(lead, told, *last)


def page(*lines: str) -> Step:
    text = "\n".join(["https://library.example", *lines])
    return Step(Source("made"), "I clicked 'Hours'.", observations=(Observation(text),), agent="Browser")


def test_the_lead_does_not_hold_it_to_be_done() -> None:
    crash = "openai.BadRequestError: Error code: 400"
    (finding,) = led("false", page(crash, "FINAL ANSWER: 1976")).findings
    assert finding.kind == "admitted"
    assert finding.evidence == (3,)
    assert "(a1)" in finding.text
    assert '`The "year" is not known.`' in finding.text
    assert f"`{crash}`" in finding.text
    assert "The answer `1976` was drawn from what there was by then" in finding.text


def test_the_lead_holds_it_to_be_done() -> None:
    assert led("true", page("FINAL ANSWER: 1976")).findings == ()
    assert led("true", page("something else")).findings == ()


def test_an_answer_that_somebody_wrote_down_is_a_hand_over() -> None:
    told = Step(Source("made"), "I ask the browser.", agent="Lead")
    assert of(told, page("FINAL ANSWER: 1976")).findings == ()
    assert of(told, page("openai.BadRequestError: 400", "FINAL ANSWER: 1976")).ending.kind == "broken_off"


def test_ledgers_in_either_notation() -> None:
    def read(text: str) -> tuple[bool, str] | None:
        found = last_ledger([Step(Source("made"), text)])
        return (found.is_satisfied, found.reason) if found else None

    assert read("{'is_request_satisfied': {'answer': True, 'reason': 'It\\'s there.'}}") == (True, "It's there.")
    assert read('"is_request_satisfied": {"reason": "No.", "answer": "false"}') == (False, "No.")
    assert read("is_request_satisfied is a key of the ledger") is None


FINISHED = "The parser takes single tuples now, in `parser.c`. "


def finish(message: str, **marks: str | bool) -> Analysis:
    call = ToolCall("finish", {"message": message, **marks}, "1")
    return of(called("bash", {"command": "sed -i s/a/b/ parser.c"}), Step(Source("made"), calls=(call,)))


@pytest.mark.parametrize(
    "missing",
    [
        "However, the compiler was not built, so the fix could not be verified.",
        "Unfortunately I could not run the suite.",
        "Der Compiler konnte nicht gebaut werden, die Prüfung fehlt.",
    ],
)
def test_a_hand_over_that_is_marked_as_done_in_part(missing: str) -> None:
    analysis = finish(FINISHED + missing, task_completed="partial")
    (finding,) = [one for one in analysis.findings if one.kind == "doubted"]
    assert (finding.evidence, finding.is_serious) == ((2,), False)
    assert finding.text == f"The agent itself marks what it hands in at a2 as done only in part: `{missing}`"
    assert analysis.ending.kind == "handed_over"


def test_a_mark_of_done_in_part_without_a_word_stands_for_itself() -> None:
    (finding,) = [one for one in finish("", success="Partially").findings if one.kind == "doubted"]
    assert finding.text == "The agent itself marks what it hands in at a2 as done only in part."
    assert not [one for one in finish(FINISHED, task_completed="true").findings if one.kind == "doubted"]


def test_a_hand_over_is_told_with_what_it_says_is_missing() -> None:
    missing = "However, the compiler was not built, so the fix could not be verified."

    def told(message: str, *, tells_lacking: bool = True) -> str:
        analysis = finish(message)
        last = NarratedAction(analysis.facts[-1], analysis.step(2), "deliver")
        return handover_told(last, tells_lacking=tells_lacking)

    first = 'handed in "The parser takes single tuples now, in `parser.c`.'
    assert told(FINISHED + missing).startswith(first)
    assert told(FINISHED + missing).endswith(f' and said "{missing}"')
    assert told(FINISHED + "All 12 tests pass.") == f'{first} All 12 tests pass."'
    assert " and said " not in told(FINISHED + missing, tells_lacking=False)
    assert told("The suite could not run.") == 'handed in "The suite could not run."'


def test_what_is_missing_may_stand_at_the_end_of_a_long_report() -> None:
    report = "I changed the parser. " + "- one more rule is read from the table\n" * 40
    assert (
        lacking_in(f"{report}\nHowever, the docs could not be built. Thanks.") == "However, the docs could not be built"
    )
    assert lacking_in(f"{report}\nThe old parser could not read this. It does now.") == ""
    assert lacking_in(f"{report}\nBut now all of it works.") == ""
