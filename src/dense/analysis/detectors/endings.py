"""How a trace ends: rejected answers, an empty submission, giving up, ending in the middle of work."""

from __future__ import annotations

from collections.abc import Iterator

from dense.analysis.detectors.registry import Detector, Finding, FindingCode, each_of
from dense.analysis.evidence.ending.done import ANSWER_FORM, is_verified, is_work_shown, sight_of_answer
from dense.analysis.evidence.ending.ending import prints_work, submitted_answer
from dense.analysis.evidence.trace import TraceEvidence

ANSWER_REJECTED = FindingCode(
    name="answer_rejected",
    meaning="A submitted answer was rejected.",
    severity="serious",
    opens_issue=True,
    raised_at="root",
)
SUBMISSION_EMPTY = FindingCode(
    name="submission_empty", meaning="The submission is empty.", severity="serious", opens_issue=True, raised_at="root"
)
SUBMISSION_PARTIAL = FindingCode(
    name="submission_partial", meaning="The agent marks its submission as partly done.", severity="doubt"
)
AGENT_GAVE_UP = FindingCode(
    name="agent_gave_up",
    meaning="The agent marks its own work as not done.",
    severity="serious",
    opens_issue=True,
    raised_at="root",
)
REQUEST_UNSATISFIED = FindingCode(
    name="request_unsatisfied",
    meaning="The lead agent holds the request to be unsatisfied when the run ends.",
    severity="serious",
    opens_issue=True,
    raised_at="root",
)
ENDED_WITHOUT_HANDOVER = FindingCode(
    name="ended_without_handover",
    meaning="The trace ends in the middle of work.",
    severity="serious",
    opens_issue=True,
    raised_at="root",
)
ACTION_ANNOUNCED = FindingCode(
    name="action_announced",
    meaning="The last message announces an action, and no call follows.",
    severity="serious",
    opens_issue=True,
    raised_at="root",
)
FINISHING_FAMILIES = frozenset({"git commit", "git push", "gh pr"})
"""Commands that work may end with."""


def rejected_answers(evidence: TraceEvidence) -> Iterator[Finding]:
    """Answers that were rejected. Another answer resolves them, the same one again does not."""
    if not (rejections := evidence.rejections):
        return
    last = rejections[-1]
    actions = [rejection.action for rejection in rejections]
    later = [fact.action for fact in evidence.facts[last.action :] if fact.phase == "deliver"]
    answer = submitted_answer(evidence.fact(later[-1]), evidence.step(later[-1])) if later else ""
    if later and answer in {rejection.answer for rejection in rejections if rejection.answer}:
        yield ANSWER_REJECTED.found(last.answer, *actions, later[-1], line=last.line, repeated=answer)
    elif ANSWER_FORM.fullmatch(answer) and not sight_of_answer(evidence, answer):
        yield ANSWER_REJECTED.found(last.answer, *actions, later[-1], line=last.line, guessed=answer)
    else:
        yield ANSWER_REJECTED.found(last.answer, *actions, resolution=later[-1] if later else None, line=last.line)


def empty_submission(evidence: TraceEvidence) -> Iterator[Finding]:
    """A command that was to print the work and printed nothing: nothing was submitted."""
    last = evidence.facts[-1]
    step = evidence.steps[-1]
    is_printed = last.phase == "deliver" and prints_work(last) and not last.has_failed
    if is_printed and step.observations and not evidence.output(last.action).strip():
        yield SUBMISSION_EMPTY.found(last.commands[-1], last.action)


def ending(evidence: TraceEvidence) -> Iterator[Finding]:
    end = evidence.ending
    if end.kind == "given_up":
        yield AGENT_GAVE_UP.found("", end.action, quote=end.words)
    elif end.is_partial:
        yield SUBMISSION_PARTIAL.found("", end.action, quote=end.words)
    elif end.kind == "broken_off" and end.verdict is not None:
        yield REQUEST_UNSATISFIED.found(
            "",
            end.action,
            verdict_action=end.verdict.action,
            reason=end.verdict.reason,
            quote=end.words,
            answer=end.answer,
        )
    elif end.announced:
        yield ACTION_ANNOUNCED.found("", end.action, quote=end.announced)
    elif end.kind == "broken_off" and not _may_be_finished(evidence):
        # A limit that is hit while finished work is looked at once more is no unfinished work.
        severity = "doubt" if is_verified(evidence) else None
        yield ENDED_WITHOUT_HANDOVER.found("", end.action, severity=severity, quote=end.words)


def _may_be_finished(evidence: TraceEvidence) -> bool:
    """Whether nothing speaks against an end without a last message, which not every agent writes: what was asked for
    is there, or the last action is one that work ends with."""
    if is_work_shown(evidence):
        return True
    last, step = evidence.facts[-1], evidence.steps[-1]
    if evidence.ending.words or last.has_failed:
        return False
    if last.family in FINISHING_FAMILIES:
        return True
    if not last.commands and not step.calls:  # code that somebody ran for an agent that only talks
        return any(seen.exit_code == 0 or seen.text.startswith("exitcode: 0") for seen in step.observations)
    return last.has_passed and last.action > evidence.last_change


DETECTOR = Detector(
    each_of(rejected_answers, ending, empty_submission),
    (
        ANSWER_REJECTED,
        SUBMISSION_EMPTY,
        SUBMISSION_PARTIAL,
        AGENT_GAVE_UP,
        REQUEST_UNSATISFIED,
        ENDED_WITHOUT_HANDOVER,
        ACTION_ANNOUNCED,
    ),
    needs_end=False,
)
