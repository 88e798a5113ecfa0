"""Puts the stages together: a report within its budgets, in its frame.

`deliver` is for the tree that DENSE makes; `deliver_report` gives any other report the same frame and budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dense.deliver import fit as fitting
from dense.deliver import markup, message, selection
from dense.deliver.budget import MIN_BUDGET, Budgets
from dense.deliver.markup import MarkupBlock
from dense.deliver.message import MessageFrame
from dense.deliver.render import Renderer
from dense.evidence.actions import EffectsOf
from dense.evidence.actions import effects as effects_of
from dense.feedback import Feedback
from dense.trajectory import Task
from dense.tree import ReconciledTree

type Fit = Callable[[int], tuple[MarkupBlock, tuple[str, ...]]]
"""Makes a report of at most so many bytes, out of whole blocks, and names what it left out."""


def deliver(
    tree: ReconciledTree,
    budgets: Budgets = Budgets(),  # noqa: B008 - immutable
    *,
    notes: Sequence[str] = (),
    effects: EffectsOf = effects_of,
) -> Feedback:
    """The feedback on one attempt: the same bytes for the same tree, every time.

    `notes` are sections before the report, if there is room. `effects` returns what an action did."""
    return deliver_report(lambda room: fit_tree(tree, room, effects=effects), tree.task, budgets, notes=notes)


def fit_tree(
    tree: ReconciledTree, room: int, *, effects: EffectsOf = effects_of
) -> tuple[MarkupBlock, tuple[str, ...]]:
    """The report on a tree in at most so many bytes."""
    renderer = Renderer(tree)
    structure = markup.size(renderer.report({}), 0, selection.NUMBER_WIDTH)
    # If the structure alone takes too much it will be folded: plan with half, fitting does the rest.
    planned = max(room - structure, room // 2)
    chosen = selection.select(tree, effects=effects, room=planned, layout=renderer.layout)
    report, dropped = fitting.fit(renderer, chosen.blocks, room)
    return report, (*chosen.left_out, *dropped)


def deliver_report(
    fit: Fit,
    task: Task | None,
    budgets: Budgets = Budgets(),  # noqa: B008 - immutable
    *,
    notes: Sequence[str] = (),
    frame: MessageFrame = message.REPORT,
) -> Feedback:
    """Any report in its frame, within the same budgets."""
    if min(budgets.tree, budgets.complete) < MIN_BUDGET:
        raise ValueError(f"a budget of less than {MIN_BUDGET} bytes cannot be kept")
    room = min(budgets.tree, budgets.complete - message.essential_size(task, budgets.complete, frame))
    report, dropped = fit(room)
    key = markup.choose_key([*markup.strings(report), *notes, task.instruction if task else ""])
    written = markup.write(report, key)
    whole, gone = message.compose(written, markup.size(report), key, task, notes, budgets.complete, frame)
    return Feedback(written, whole, (*dropped, *gone), key)
