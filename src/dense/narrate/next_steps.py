"""What the next attempt should do about a finding: one imperative sentence for each code.

The finding's own sentence says what is wrong (`narrate.findings`); this one says what to do, and refers to the actions
instead of telling them again."""

from __future__ import annotations

from collections.abc import Callable

from dense.detectors.finding import Finding
from dense.narrate.phrases import listed, paths_text
from dense.text.quoting import code_span, in_quotes, one_line

type Advise = Callable[[Finding], str]


def describe_next_step(finding: Finding) -> str:
    """What to do about an open finding; empty if there is nothing to advise."""
    advise = ADVICE.get(finding.code)
    return advise(finding) if advise is not None else ""


def _check_failed(finding: Finding) -> str:
    return f"Make `{one_line(finding.subject, 100)}` pass, and run it after the last change."


def _program_failed(finding: Finding) -> str:
    return f"Fix what made the last program fail at a{finding.opened}, and run it again until it works."


def _output_doubted(finding: Finding) -> str:
    return f"Do not hand over the result of a{finding.opened}: correct it, and check it again."


def _last_action_failed(finding: Finding) -> str:
    return f"Repeat what failed last, at a{finding.opened}, or do what takes its place."


def _message_rejected(finding: Finding) -> str:
    return f"Do what the message at a{finding.opened} was to do, in the form that the harness takes."


def _deliverable_missing(finding: Finding) -> str:
    if candidate := finding.text("candidate"):
        seen = finding.number("candidate_action")
        return f"Write `{one_line(candidate, 200)}` (seen at a{seen}) to `{finding.subject}`."
    return f"{'Change' if finding.number('is_change') else 'Make'} `{finding.subject}`."


def _only_new_files(_: Finding) -> str:
    return "Change the files that the task is about; new files beside them are not what it asks for."


def _plan_unfinished(finding: Finding) -> str:
    items = listed([in_quotes(words, 60) for words in finding.texts("items")], 3)
    return f"Do what the attempt planned and never began: {items}."


def _tests_weakened(finding: Finding) -> str:
    return f"Make `{one_line(finding.subject, 100)}` pass with the tests as they were: {_files(finding)} must stay."


def _files(finding: Finding) -> str:
    return paths_text([*finding.texts("edited"), *finding.texts("removed")]) or "they"


def _unverified_change(finding: Finding) -> str:
    return f"Run or read back {paths_text(finding.texts('files'))} after the last change, before handing over."


def _answer_rejected(finding: Finding) -> str:
    return f"Do not hand in the answer of a{finding.opened} again: it was rejected. Find another."


def _submission_empty(_: Finding) -> str:
    return "Check that what is handed in is not empty."


def _unfinished(finding: Finding) -> str:
    quote = finding.text("quote")
    return f"Finish what the agent left undone{f': {code_span(quote, 160)}' if quote else '.'}"


def _request_unsatisfied(finding: Finding) -> str:
    return f"Satisfy the request first: {code_span(finding.text('reason'), 160)}"


def _ended_without_handover(finding: Finding) -> str:
    return f"Hand over before the limit: this attempt broke off after a{finding.opened}."


def _program_never_run(finding: Finding) -> str:
    return f"Run `{one_line(finding.subject, 100)}` as the task uses it, before handing over."


ADVICE: dict[str, Advise] = {
    "check_failed": _check_failed,
    "program_failed": _program_failed,
    "program_never_run": _program_never_run,
    "output_doubted": _output_doubted,
    "last_action_failed": _last_action_failed,
    "message_rejected": _message_rejected,
    "deliverable_missing": _deliverable_missing,
    "deliverable_attempt_failed": _deliverable_missing,
    "only_new_files": _only_new_files,
    "plan_unfinished": _plan_unfinished,
    "tests_weakened": _tests_weakened,
    "unverified_change": _unverified_change,
    "answer_rejected": _answer_rejected,
    "submission_empty": _submission_empty,
    "submission_partial": _unfinished,
    "agent_gave_up": _unfinished,
    "request_unsatisfied": _request_unsatisfied,
    "ended_without_handover": _ended_without_handover,
}
"""By code. A code without an entry gives no advice."""
