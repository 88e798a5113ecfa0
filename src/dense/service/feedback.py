"""Makes feedback: runs one method on one trajectory and returns the feedback with its record. Read this first.

    clean → draft → refuse if calls failed for good → fit and frame → record

A failure is a value with its record, `FailedRun`, so that no caller loses what was paid for."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dense.analysis.analyst import Analyst
from dense.analysis.asking.asker import Asker
from dense.analysis.asking.rules_answerer import RulesAnswerer
from dense.analysis.choice import analyst_for
from dense.analysis.detectors.assessment import TraceAssessment
from dense.draft import Asked
from dense.errors import DenseError, ModelError, UnansweredCalls, UnusableAnswer, describe_exception
from dense.feedback import Feedback
from dense.lessons.files import read_evidence
from dense.lessons.lesson import LessonEvidence, lessons_for
from dense.lessons.project import project_of
from dense.message.budget import Budgets, budgets_for
from dense.message.injected_feedback import own_task
from dense.message.memory import MemoryItem
from dense.message.paper_report import paper_frame
from dense.methods.method import AnyMethod, MethodContext
from dense.model import CallTotals, ModelCall, OpenModel, TalliedModel
from dense.options import FeedbackOptions
from dense.outcome import Outcome
from dense.redact import Redactions, clean_line
from dense.service.analysts import AnalystChoice
from dense.service.drafting import clean, deliver_draft, draft
from dense.service.record import RunRecord, package_versions, prompt_hashes
from dense.service.stored_trees import trace_hash
from dense.service.turns import select_turn
from dense.trajectory import Source, Trajectory

MAX_FAILURE_CHARS = 2_000


class RoundContext(Struct, frozen=True):
    """What a caller knows of an attempt and its rounds besides the trace."""

    delivered: str = ""
    """The message that its agent was given as a file, by the record of whoever gave it."""
    shares: int = 1
    """How many rounds one message may carry: the report is also fitted for messages of two, three … reports."""
    lessons: tuple[LessonEvidence, ...] | None = None
    """The evidence of the options' lessons, if it was read before; only what other tasks taught is used."""


UNREAD = Trajectory(format="", id="", source=Source(""))
"""In place of a trajectory that could not be cleaned: nothing of it leaves."""


class FeedbackRun(Struct, frozen=True):
    """The feedback of one method on one trajectory."""

    method: str
    """The method's name."""
    feedback: Feedback
    """What the recipient gets."""
    record: RunRecord
    """How it was made."""
    state: str = ""
    """The method's verdict on the attempt in a word, if it gives one."""
    files: Mapping[str, Struct] = {}
    """The method's own files, by name."""
    item: MemoryItem | None = None
    """The feedback as later rounds remember it; None for the task alone."""
    trajectory: Trajectory | None = None
    """The trajectory as the method saw it: clean, and only the request that was asked for."""
    assessment: TraceAssessment | None = None
    """What that trajectory shows by itself, of a method that built on an analysis."""

    def require(self) -> FeedbackRun:
        """This run; a `FailedRun` raises its error."""
        return self


class FailedRun(Struct, frozen=True):
    """A run that made no feedback."""

    error: Exception
    """Why. A method of somebody's own may raise anything."""
    record: RunRecord
    """What was asked and what it cost until then."""
    trajectory: Trajectory
    """The trajectory as the method saw it; an empty one if it could not be cleaned."""

    def require(self) -> FeedbackRun:
        """Raise the error."""
        raise self.error


async def make_feedback(
    method: AnyMethod,
    trajectory: Trajectory,
    choice: AnalystChoice = AnalystChoice(),  # noqa: B008 - immutable
    *,
    options: FeedbackOptions = FeedbackOptions(),  # noqa: B008 - immutable
    outcome: Outcome | None = None,
    context: RoundContext = RoundContext(),  # noqa: B008 - immutable
) -> FeedbackRun | FailedRun:
    """Run one method on one trajectory. `choice` says who answers, whatever the options name. An outcome reaches only a
    method that is privileged by its type.

    A question without a usable answer is the method's to handle, and the record says so. A call that failed for good
    fails the run: what a fallback would make of it is not the method's feedback. After a failure, unusable answers are
    removed from the model's cache, so that the next try asks again; all others stay and are not paid for twice."""
    start = time.perf_counter()
    given, tally = choice.open()
    redactions, asker, budgets, trace, cleaned = Redactions(), None, Budgets(), "", UNREAD

    def record(feedback: Feedback, failure: str = "") -> RunRecord:
        asked = asker.record() if asker is not None else ()
        calls = tally.ledger.calls if tally is not None else ()
        return RunRecord(
            trajectory=cleaned.id,
            source=cleaned.source,
            format=cleaned.format,
            analyst=choice.recorded_name,
            profile=options.profile,
            budgets=budgets,
            asked=asked,
            fallbacks=sum(question.fell_back for question in asked),
            calls=tuple(sorted(calls, key=lambda call: (call.label, call.at))),
            totals=tally.ledger.totals if tally is not None else CallTotals(),
            prices=tally.ledger.prices.source if tally is not None else "",
            prompts=prompt_hashes() | (asker.prompts if asker is not None else {}),
            redactions=dict(redactions.counts),
            dropped=feedback.dropped,
            seconds=round(time.perf_counter() - start, 3),
            versions=package_versions(),
            method=method.name,
            failure=failure,
            trace=trace,
        )

    try:
        cleaned, redactions = clean(trajectory, redacted=options.redact, delivered=context.delivered)
        if options.turn is not None:
            cleaned = select_turn(cleaned, options.turn)
        trace = trace_hash(cleaned)
        budgets = budgets_for(options.budget, cleaned)
        asker = Asker(RulesAnswerer(cleaned) if given is None or isinstance(given, Analyst) else given)
        lessons = read_lessons(options) if context.lessons is None else context.lessons
        method_context = MethodContext(
            asker=asker,
            analyst=analyst_for(given, asker, options.profile, choice.settings.look),
            model=tally,
            prompt_bytes=choice.settings.prompt_bytes,
            redacted=redactions.describe() if redactions else "",
            lessons=tuple(lessons_for(lessons, cleaned, project_of(trajectory), own_task(trajectory))),
            follows_paper=options.budget == "paper",
        )
        drafted = await draft(method, cleaned, outcome, method_context, redacted=options.redact)
        if drafted is not None and method_context.follows_paper:
            drafted = replace(drafted, frame=paper_frame(drafted.frame))
        _refuse_failed_calls(asker, tally, choice.recorded_name)
        _refuse_unusable(asker, tally, choice.recorded_name)
        environment = options.environment or "fresh"
        delivery = deliver_draft(drafted, cleaned, budgets, method.name, environment=environment, shares=context.shares)
    except Exception as error:
        asked = asker.record() if asker is not None else ()
        reason = _reason(error, asker, tally, choice.recorded_name)
        if choice.model is not None and tally is not None:
            await _forget_unusable(choice.model, tally, asked, reason)
        return FailedRun(reason, record(Feedback("", ""), describe_failure(reason, method)), cleaned)
    return FeedbackRun(
        method=method.name,
        feedback=delivery.feedback,
        record=record(delivery.feedback),
        state=delivery.state,
        files=delivery.files,
        item=delivery.item,
        trajectory=cleaned,
        assessment=drafted.assessment if drafted is not None else None,
    )


def read_lessons(options: FeedbackOptions) -> tuple[LessonEvidence, ...]:
    """The evidence of the options' lessons; none if they name no file."""
    return read_evidence(options.lessons) if options.lessons is not None else ()


def describe_failure(error: Exception, method: AnyMethod) -> str:
    """Why a run failed: the error's own words if it is one of ours, else its type, text and place in the method."""
    words = str(error) if isinstance(error, DenseError) else describe_exception(error, type(method).__module__)
    return clean_line(words, MAX_FAILURE_CHARS)


def _reason(error: Exception, asker: Asker | None, tally: TalliedModel | None, name: str) -> Exception:
    """The error, or the failed calls that led to it."""
    if isinstance(error, ModelError | UnansweredCalls) or asker is None:
        return error
    return _failed_calls(asker, tally, name) or error


def _refuse_failed_calls(asker: Asker, tally: TalliedModel | None, name: str) -> None:
    """Raise if calls failed for good: a fallback in their place is not the method's feedback."""
    if failed := _failed_calls(asker, tally, name):
        raise failed


def _refuse_unusable(asker: Asker, tally: TalliedModel | None, name: str) -> None:
    """Raise if no answer of a model could be used: what is left is neither the model's feedback nor the rules'."""
    asked = asker.record()
    if tally is not None and asked and all(question.fell_back for question in asked):
        problems = [problem for question in asked for problem in question.problems]
        last = f": {problems[-1]}" if problems else ""
        raise UnusableAnswer(f"no answer of {name} could be used{last}")


def _failed_calls(asker: Asker, tally: TalliedModel | None, name: str) -> UnansweredCalls | None:
    """The error of a run in which calls failed for good; None if there is none.

    A question counts if its last try got no reply; a method's own prompt if no later call with its label got one."""
    asked = asker.record()
    unanswered = {question.key for question in asked if question.is_unanswered}
    if tally is None:
        failed, total = len(unanswered), len(asked)
        errors = [question.problems[-1] for question in asked if question.is_unanswered]
    else:
        questions = {question.key for question in asked}
        own = [call for call in tally.ledger.calls if call.label not in questions]
        dead = _without_answer(own) + [call for call in tally.ledger.calls if call.error and call.label in unanswered]
        failed, total = len(dead), len(tally.ledger.calls)
        errors = [call.error for call in dead]
    if not failed:
        return None
    return UnansweredCalls(f"{failed} of {total} calls to {name} failed for good; the last error: {errors[-1]}")


def _without_answer(calls: Sequence[ModelCall]) -> list[ModelCall]:
    """The calls that failed and were not repeated with success under the same label; without a label, all that
    failed."""
    last_answer = {call.label: number for number, call in enumerate(calls) if call.label and call.error is None}
    return [call for number, call in enumerate(calls) if call.error and number > last_answer.get(call.label, -1)]


async def _forget_unusable(model: OpenModel, tally: TalliedModel, asked: Iterable[Asked], error: Exception) -> None:
    """Let the next try get new answers: with the same ones it would fail again.

    Removed are answers that were judged unusable, and those to a method's own prompts, which nobody but the method can
    judge. If calls failed for good, they are the reason, and every answer stays."""
    if isinstance(error, ModelError | UnansweredCalls):
        return
    fell_back = {question.key: question.fell_back for question in asked}
    await model.discard_replies(call for call in tally.ledger.calls if fell_back.get(call.label, True))
