"""The words of a shortcut: what failed, and the shortest way that worked."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import islice
from typing import Any

from dense.analysis.actions.calls import parse_call
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.changes import describe_change, remaining_changes, small_changes
from dense.analysis.wording.outputs import describe_missing, main_failure, test_name
from dense.analysis.wording.phrases import listed, paths_text
from dense.analysis.wording.tools import tool_name
from dense.knowledge.test_outputs import COMPLAINT_LINE, HEADING_LINE
from dense.text.differences import differing_leaves, differing_parts
from dense.text.guarded import GuardedPattern
from dense.text.quoting import as_text, code_span, in_quotes

MAX_FAILURES = 4
MAX_TESTED_CHANGES = 2
"""How many changes before a failure are named, the last ones."""
MAX_WORKING_CHANGES = 3
MAX_COMPLAINT_TEXT = 40_000
"""How much of an output is searched for what a test expected."""
MAX_ARGUMENT_CHARS = 60
MAX_VALUES = 3
"""How many single values are named in which two lists or records differ."""
TEST_COMPLAINT = GuardedPattern(COMPLAINT_LINE)
"""How pytest, unittest and go say what a test expected, in the order of preference."""
TEST_HEADING = GuardedPattern(HEADING_LINE)
"""How unittest, pytest and go begin what they say of one test that failed."""

type TestedChanges = Callable[[NarratedAction], Sequence[NarratedAction]]
"""The changes that a check or a run put to the test."""


def dead_end(
    failed: Sequence[NarratedAction],
    complaint: Callable[[int], str],
    tested: TestedChanges,
    baselines: Collection[int] = (),
) -> str:
    """What was tried and what came back, each failure once. `complaint`: what the agent said is wrong with a result. A
    check only says that it failed: what failed are the changes before it. `baselines`: failures from before any
    change, which say what the task is."""
    by_output: dict[str, list[NarratedAction]] = {}
    for action in failed:
        by_output.setdefault(action.output_text, []).append(action)
    texts = [
        ("before any change: " if actions[0].action in baselines else "")
        + _describe_failure(actions, complaint, lambda action: () if action.action in baselines else tested(action))
        for actions in list(by_output.values())[-MAX_FAILURES:]
    ]
    more = f"; and {len(by_output) - MAX_FAILURES} more" if len(by_output) > MAX_FAILURES else ""
    return "; ".join(texts) + more


def _describe_failure(actions: Sequence[NarratedAction], complaint: Callable[[int], str], tested: TestedChanges) -> str:
    """One failure, with the changes before it, and those after which it was still the same."""
    first, last = actions[0], actions[-1]
    failures = first.facts.result.failures
    if failures and first.has_failed and main_failure(failures).missing_dependency:
        return f"{describe_missing(main_failure(failures))} (a{first.action})"
    before = _tested_changes(first, tested)
    did = f"{before}, then {first.action_text}" if before else first.action_text
    did = before if before and first.facts.result.tests else did
    words = complaint(first.action) if not first.has_failed else ""
    output = f"{first.output_text}, of which the agent said {in_quotes(words, 160)}" if words else first.output_text
    text = f"{did}: {output}{_expectation(first)}"
    again = _tested_changes(last, tested) if last is not first else ""
    return f"{text}, and the same after this: {again}" if again and again != before else text


def _tested_changes(action: NarratedAction, tested: TestedChanges) -> str:
    if action.facts.effects.changes_files or action.could_not_run:
        return ""
    return ", then ".join(dict.fromkeys(map(_change_text, remaining_changes(tested(action))[-MAX_TESTED_CHANGES:])))


def _expectation(action: NarratedAction) -> str:
    """What the test that is named first says; without a name, the first one that says something."""
    if not action.facts.result.tests or action.could_not_run or not action.step.observations:
        return ""
    text = action.step.observations[-1].text[:MAX_COMPLAINT_TEXT]
    named = next((test_name(name) for run in action.facts.result.tests for name in run.names), "")
    found = TEST_COMPLAINT.findall(_said_of(named, text) if named else text)
    by_kind = [next((groups[kind] for groups in found if groups[kind]), "") for kind in range(4)]
    line = next(filter(None, by_kind), "")
    return f" ({code_span(line, 110)})" if line else ""


def _said_of(name: str, text: str) -> str:
    """What a text says of one test: from its heading to the next; without headings all of it."""
    headings = list(TEST_HEADING.finditer(text))
    ends = [*[heading.start() for heading in headings[1:]], len(text)]
    for heading, end in zip(headings, ends, strict=False):
        if test_name(heading[heading.lastindex or 0]).rpartition(".")[2] == name.rpartition(".")[2]:
            return text[heading.start() : end]
    return "\n".join([line for line in text.splitlines() if name in line]) if headings else text


def working_path(
    changes: Sequence[NarratedAction],
    failed: NarratedAction | None,
    recovery: NarratedAction,
    changed_tests: Sequence[str] = (),
    not_covered: Sequence[tuple[str, int]] = (),
) -> str:
    """The changes that were in place when it worked, then what showed that it did. Of a call that was tried again, only
    what is different. `changed_tests`: tests that pass because they were changed themselves. `not_covered`: other
    checks and limits that are open, each with the action at which it failed."""
    steps = list(dict.fromkeys(map(_change_text, remaining_changes(changes)[-MAX_WORKING_CHANGES:])))
    shown = _difference(failed, recovery) if failed is not None else ""
    shown = shown or describe_change(recovery, recovery.action_text)
    path = ", then ".join([*steps, shown if recovery.is_bare else f"{shown}: {recovery.output_text}"])
    if not_covered:
        names = listed([f"{code_span(name, 80)} (failed at a{action})" for name, action in not_covered])
        path = f"not {names}, only this: {path}"
    return f"made to pass by changing the test itself ({paths_text(changed_tests)}): {path}" if changed_tests else path


def _change_text(action: NarratedAction) -> str:
    """What a change is: the text that it replaced, or the agent's words for it."""
    small = [] if action.has_detail else [one for one in small_changes(action) if one.new]
    if len(small) == 1 and action.facts.commands:
        return f"changed {code_span(small[0].old)} to {code_span(small[0].new)} in {paths_text([small[0].path])}"
    return describe_change(action, action.action_text)


def _difference(failed: NarratedAction, worked: NarratedAction) -> str:
    """What a call has that the failed one of the same tool, or of the same commands, had not. An edit is described by
    what it changes; prose beside commands says only what they are for."""
    commands, counts = worked.facts.commands, {len(failed.step.calls), len(worked.step.calls)}
    if failed.facts.commands != commands or len(counts) != 1 or (counts != {1} and not commands):
        return ""
    before, after = parse_call(failed.step.calls[-1]), parse_call(worked.step.calls[-1])
    if before.name != after.name or (worked.facts.effects.changes_files and not commands):
        return ""
    texts: list[str] = []
    for key, value in after.arguments.items():
        if not commands or " " not in as_text(value):
            texts += _other_values(key, value, before.arguments.get(key))
    texts += [f"without {code_span(key, 30)}" for key in before.arguments if key not in after.arguments]
    did = "the same" if commands else f"called {code_span(tool_name(after), 40)}"
    return f"{did} with {listed(texts)}" if texts else ""


def _other_values(key: str, value: Any, before: Any) -> list[str]:
    """How an argument differs; of lists and records the single values, if they are few and short."""
    texts: list[str] = []
    for name, new, old in islice(differing_leaves(value, before, key), MAX_VALUES + 1):
        text, text_before = as_text(new)[:2000], as_text(old)[:2000]
        if not isinstance(new, str) and max(len(text), len(text_before)) > MAX_ARGUMENT_CHARS:
            return [f"other {code_span(key, 30)}"]  # a piece of a list or a record says nothing
        text, text_before = differing_parts(text, text_before, MAX_ARGUMENT_CHARS)
        if text != text_before and max(len(text), len(text_before)) <= MAX_ARGUMENT_CHARS:
            instead = f" instead of {code_span(text_before, MAX_ARGUMENT_CHARS)}" if text_before.strip() else ""
            texts.append(f"{code_span(name, 60)} {code_span(text, MAX_ARGUMENT_CHARS)}{instead}")
    return texts if len(texts) <= MAX_VALUES else [f"other {code_span(key, 30)}"]
