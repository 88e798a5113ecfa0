"""Runs of several agents: who acts, who only says what is to be done, and how both are described."""

from __future__ import annotations

from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.rules import RulesAnalyst
from dense.analysis.rules.boundaries import ends
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from dense.tree import Subtask

NEXT = Observation("Next speaker Browser", origin="system")


def thinks(text: str) -> Step:
    return Step(Source("made"), text, agent="Lead")


def tells(text: str, who: str = "Browser") -> Step:
    return Step(Source("made"), calls=(ToolCall(who, {"input": text}),), observations=(NEXT,), agent="Lead")


def sees(text: str, page: str, who: str = "Browser") -> Step:
    return Step(Source("made"), text, observations=(Observation(page),), agent=who)


def page(address: str, *more: str) -> str:
    return f"Here is a picture of [a page]({address}).\n" + "\n".join(["Some text of the page."] * 20 + list(more))


LIBRARY = [
    thinks("Plan: find the opening hours of the library."),
    tells("Please search for the library of Bergen."),
    sees("I typed 'library Bergen'.", page("https://search.example/?q=library&session=" + "0" * 60)),
    thinks("We have a list."),
    tells("Open the first hit."),
    sees("I clicked 'Library'.", page("https://library.example/")),
    thinks("We need the hours."),
    tells("Open the page about hours."),
    sees("I clicked 'Hours'.", page("https://library.example/hours")),
]


def run(*steps: Step) -> Trajectory:
    return Trajectory("made", "made", Source("made"), task=Task("When does the library open?"), steps=steps)


def analysed(*steps: Step) -> TraceEvidence:
    return TraceAssessment(run(*steps)).evidence


def test_to_tell_another_agent_is_no_action_and_what_that_one_does_is() -> None:
    facts = analysed(*LIBRARY).facts
    assert [fact.phase for fact in facts[:3]] == ["talk", "talk", "explore"]
    assert [fact.delegates_to for fact in facts[:3]] == ["", "Browser", ""]
    assert facts[5].targets == ("https://library.example/",)


def test_code_that_another_agent_runs_is_a_run() -> None:
    code = sees("```python\nprint(6 * 7)\n```", "exitcode: 0\nCode output: 42", who="Coder")
    assert analysed(thinks("Plan."), code, thinks("Good.")).facts[1].phase == "run"


def test_code_that_a_terminal_ran_is_a_run_without_a_team_too() -> None:
    said = "```python\nprint(6 * 7)\n```"
    ran = Step(Source("made"), said, observations=(Observation("exitcode: 0\n42", exit_code=0),))
    text = Step(Source("made"), said, observations=(Observation("Give one command in a fence."),))
    assert [fact.phase for fact in analysed(ran, text, text).facts] == ["run", "talk", "talk"]


def test_an_agent_by_itself_only_talks() -> None:
    alone = [Step(Source("made"), "I say something.", observations=(Observation("Give a command."),))] * 3
    assert {fact.phase for fact in analysed(*alone).facts} == {"talk"}


def test_a_tool_that_answers_is_a_tool_whatever_its_name() -> None:
    call = ToolCall("Browser", {"input": "Go."}, "1")
    step = Step(Source("made"), calls=(call,), observations=(Observation("a page", "1"),), agent="Lead")
    assert analysed(step, sees("I looked.", "x")).facts[0].delegates_to == ""


def test_no_stretch_ends_between_an_instruction_and_what_follows() -> None:
    analysis = analysed(*LIBRARY, *LIBRARY, *LIBRARY)
    found = ends(analysis.facts, analysis.history)
    assert len(found) > 2
    assert all(end % 3 == 0 for end in found)


def test_words() -> None:
    tree = distill_sync(run(*LIBRARY, *LIBRARY), RulesAnalyst()).reconciled
    parts = [node for node in tree.root.children if isinstance(node, Subtask)]
    assert parts[0].title == 'Browser: "search for the library of Bergen."'
    text = " ".join(part.summary for part in parts)
    assert "`Browser` said \"I clicked 'Hours'.\": `https://library.example/hours`" in text
    assert "https://search.example/?q=" in text
    assert "Next speaker" not in text


def test_what_only_words_say_is_done_is_unknown() -> None:
    tree = distill_sync(run(*LIBRARY, thinks("The request is satisfied.")), RulesAnalyst()).reconciled
    assert tree.root.verdict and tree.root.verdict.state == "unknown"
    parts = [part for part in tree.root.children if isinstance(part, Subtask)]
    assert all(part.verdict and part.verdict.state == "unknown" for part in parts)


def test_a_crash_behind_the_last_page_and_the_answer_are_described() -> None:
    crash = ["Traceback (most recent call last):", "openai.BadRequestError: Error code: 400", "FINAL ANSWER: ten"]
    last = sees("I scrolled down.", page("https://library.example/hours", *crash))
    tree = distill_sync(run(*LIBRARY, last), RulesAnalyst()).reconciled
    (issue,) = tree.issues
    assert "breaks off at a10" in issue.text
    assert "`openai.BadRequestError: Error code: 400`" in issue.text
    assert "The answer given: `ten`." in tree.root.summary


def test_who_leads_says_that_it_is_over() -> None:
    stopped = analysed(*LIBRARY, thinks("Replan counter exceeded. Terminating."))
    assert stopped.ending.kind == "broken_off"
    assert analysed(*LIBRARY, thinks("The library opens at ten.")).ending.kind == "handed_over"
    alone = [Step(Source("made"), "I look."), Step(Source("made"), "The job was killed, as you asked.")]
    assert analysed(*alone).ending.kind == "handed_over"
