"""Feedback by the built-in rules in a model's place: if its answer could not be used, or none came and that is allowed.

Only DENSE itself can do without a model; other methods fail. Experiments and batches call `make_feedback` itself:
there, rules never stand in for a model."""

from __future__ import annotations

from msgspec.structs import replace

from dense.errors import ModelError, UnansweredCalls, UnusableAnswer
from dense.message.message import BEGINS
from dense.methods.method import AnyMethod
from dense.options import DENSE, DENSE_WITH_LESSONS, FeedbackOptions
from dense.outcome import Outcome
from dense.service.analysts import AnalystChoice
from dense.service.feedback import FailedRun, FeedbackRun, RoundContext, make_feedback
from dense.service.record import Instead
from dense.trajectory import Trajectory

FIRST_WORDS = "The built-in rules wrote this in the place of a language model, {why}. "
UNUSABLE, NO_ANSWER = "whose answer could not be used", "which gave no answer"


async def feedback_or_rules(
    method: AnyMethod,
    trajectory: Trajectory,
    choice: AnalystChoice,
    *,
    options: FeedbackOptions = FeedbackOptions(),  # noqa: B008 - immutable
    outcome: Outcome | None = None,
    context: RoundContext = RoundContext(),  # noqa: B008 - immutable
) -> FeedbackRun | FailedRun:
    """`make_feedback`; after an unusable answer, by the rules. If no answer came, only with `options.or_rules`.

    The first line of such a message says so, and its record holds the calls and what they cost."""
    run = await make_feedback(method, trajectory, choice, options=options, outcome=outcome, context=context)
    if choice.model is None or isinstance(run, FeedbackRun) or method.name not in (DENSE, DENSE_WITH_LESSONS):
        return run
    is_unusable = isinstance(run.error, UnusableAnswer)
    if not is_unusable and not (options.or_rules and isinstance(run.error, ModelError | UnansweredCalls)):
        return run
    by_rules = await make_feedback(method, trajectory, options=options, outcome=outcome, context=context)
    if isinstance(by_rules, FailedRun):
        return run
    record = replace(
        by_rules.record,
        instead=Instead(run.record.analyst, run.record.failure, is_unusable),
        calls=run.record.calls,
        totals=run.record.totals,
        prices=run.record.prices,
        asked=run.record.asked,
        fallbacks=run.record.fallbacks,
        seconds=round(run.record.seconds + by_rules.record.seconds, 3),
    )
    feedback = by_rules.feedback
    message = said_first(feedback.message, feedback.key, UNUSABLE if is_unusable else NO_ANSWER)
    return replace(by_rules, feedback=replace(feedback, message=message), record=record)


def said_first(message: str, key: str, why: str) -> str:
    """The message with these words at its beginning: behind its marker, so that they are cut out with it later."""
    marker = BEGINS.format(key=key)
    marker = marker if message.startswith(marker) else ""
    return marker + FIRST_WORDS.format(why=why) + message.removeprefix(marker)
