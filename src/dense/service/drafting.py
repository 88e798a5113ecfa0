"""Runs a method and delivers its draft: cleaning, drafting, checking, fitting into budget and frame.

The same for every method. A method only drafts; what it may see is decided here, by its type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from msgspec import Struct
from msgspec.structs import replace

from dense.analysis.detectors.assessment import TraceAssessment
from dense.errors import DenseError, MissingInput
from dense.feedback import Feedback
from dense.message.budget import Budgets
from dense.message.delivery import fit_report
from dense.message.injected_feedback import without_injected
from dense.message.memory import MemoryItem, share_of
from dense.message.message import MessageFrame, compose
from dense.message.page import Fit, Item, ReportPage, encodable, write_items
from dense.methods.method import AnyMethod, FeedbackDraft, MethodContext
from dense.options import Environment, Redaction
from dense.outcome import Outcome
from dense.redact import Engine, Redactions, Texts, clean_labels, redact, redact_text
from dense.redact.walk import texts_of
from dense.trajectory import Trajectory

METHOD_DOCS = "docs/add-a-method.md"
DRAFT_FIELDS: dict[str, Any] = {
    "fit": Callable,
    "frame": MessageFrame,
    "state": str,
    "files": Mapping,
    "is_tree": bool,
    "assessment": TraceAssessment | None,
}
"""The type of each field of a draft."""


class Delivered(Struct, frozen=True):
    """A method's draft, fitted into its budgets and put into its frame."""

    feedback: Feedback
    """What the recipient gets."""
    state: str = ""
    """The method's verdict on the attempt in a word, if it gives one."""
    files: Mapping[str, Struct] = {}
    """The method's own files, by name."""
    item: MemoryItem | None = None
    """The feedback as later rounds remember it; None for the task alone."""


def clean(trajectory: Trajectory, *, redacted: Redaction = True, delivered: str = "") -> tuple[Trajectory, Redactions]:
    """The trajectory as methods see it: without feedback that the run was given and, if asked, without credentials.
    Its labels are bounded lines. Everything that leaves is made of this trajectory, never of the one that was read.

    `delivered` is feedback that the run was given as a file, by the record of whoever gave it."""
    texts = Texts(texts_of(trajectory))
    own = without_injected(trajectory, texts, delivered=delivered)
    if not redacted:
        return clean_labels(own), Redactions()
    cleaned, redactions = redact(own, engine=_engine(redacted), texts=texts if own is trajectory else None)
    return clean_labels(cleaned), redactions


def _engine(redacted: Redaction) -> Engine | None:
    return redacted if isinstance(redacted, str) else None


async def draft(
    method: AnyMethod,
    trajectory: Trajectory,
    outcome: Outcome | None,
    context: MethodContext,
    *,
    redacted: Redaction = True,
) -> FeedbackDraft | None:
    """The draft of a method on a clean trajectory. Each kind of method gets what its type declares, and nothing else.

    If calls that ran together fail, the first error is raised."""
    try:
        return _checked(await _drafted(method, trajectory, outcome, context, redacted=redacted), method.name)
    except BaseExceptionGroup as errors:
        raise first_error(errors) from None


def deliver_draft(
    draft: FeedbackDraft | None,
    trajectory: Trajectory,
    budgets: Budgets,
    method: str,
    *,
    environment: Environment = "fresh",
    shares: int = 1,
) -> Delivered:
    """The feedback of a draft on a clean trajectory. With several `shares`, its report is also fitted for messages that
    carry so many."""
    task = trajectory.task
    if draft is None:
        return Delivered(Feedback("", encodable(task.instruction) if task else ""))
    fit = _checked_fit(draft.fit, method)
    parts = [share_of(budgets, count) for count in range(1, shares + 1)]
    reports = tuple([fit_report(fit, task, part, draft.frame, environment, is_tree=draft.is_tree) for part in parts])
    unsafe = tuple(texts_of(trajectory))
    message, key = compose(
        reports[:1], task, budgets.complete, frame=draft.frame, environment=environment, unsafe=unsafe
    )
    feedback = Feedback(write_items(reports[0].items, key), message, reports[0].dropped, key)
    return Delivered(feedback, draft.state, draft.files, MemoryItem(reports, budgets.complete, draft.frame))


def first_error(error: BaseException) -> BaseException:
    """The first exception of a group: tasks that ran together end together, for one reason."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return error


async def _drafted(
    method: AnyMethod, trajectory: Trajectory, outcome: Outcome | None, context: MethodContext, *, redacted: Redaction
) -> FeedbackDraft | None:
    if method.sees == "task":
        if trajectory.task is None:
            raise MissingInput(f"{method.name} works on the task, and the trace has none: give it with --task")
        return await method.feedback(trajectory.task, context)
    if not trajectory.steps:
        raise DenseError(f"{trajectory.source}: a trajectory without steps has nothing to learn from")
    if method.sees == "trajectory":
        return await method.feedback(trajectory, context)
    if outcome is None:
        raise MissingInput(f"{method.name} needs the outcome of the attempt: it reads those of Harbor trials")
    if redacted:
        outcome = replace(outcome, verifier_output=redact_text(outcome.verifier_output, engine=_engine(redacted))[0])
    return await method.feedback(trajectory, outcome, context)


def _checked(draft: Any, method: str) -> FeedbackDraft | None:
    """The draft, if it is one: a method need not be typed."""
    if draft is None:
        return None
    if not isinstance(draft, FeedbackDraft):
        kind = type(draft).__name__
        raise DenseError(f"{method} must return a `FeedbackDraft` or None, not {kind}; see {METHOD_DOCS}")
    wrong = [field for field, kind in DRAFT_FIELDS.items() if not isinstance(getattr(draft, field), kind)]
    if wrong:
        raise DenseError(f"the draft of {method} has the wrong type in {', '.join(wrong)}; see {METHOD_DOCS}")
    return draft


def _checked_fit(fit: Fit, method: str) -> Fit:
    """The same, checked: a method need not be typed, and a report that is longer than its room is an error."""

    def checked(room: int) -> ReportPage:
        page: Any = fit(room)
        items: Any = page.items if isinstance(page, ReportPage) else None
        if not isinstance(page, ReportPage) or not all(isinstance(item, Item) for item in items):
            raise DenseError(f"`fit` of {method} must return a `ReportPage` of items; see {METHOD_DOCS}")
        if page.size > max(room, 0):
            raise DenseError(f"{method} made a report of {page.size:,} bytes, and there is room for {max(room, 0):,}")
        return page

    return checked
