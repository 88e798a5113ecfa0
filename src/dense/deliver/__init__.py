"""From a reconciled tree to what a recipient reads: evidence, report, budget, message. Calls no model.

`deliver` is for the tree that DENSE makes; `delivered` is the same frame and the same budget for any other report."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dense.deliver import budget, evidence, markup, message
from dense.deliver.markup import Block
from dense.deliver.message import Frame
from dense.deliver.render import Renderer
from dense.evidence.actions import EffectsOf
from dense.evidence.actions import effects as effects_of
from dense.feedback import Feedback
from dense.trajectory import Task
from dense.tree import ReconciledTree

__all__ = ["Fit", "deliver", "delivered", "fitted"]

type Fit = Callable[[int], tuple[Block, tuple[str, ...]]]
"""Makes a report of at most so many bytes, out of whole blocks, and tells what had to go for it."""


def deliver(
    tree: ReconciledTree,
    *,
    tree_budget: int = 180 * 1024,
    complete_budget: int = 200 * 1024,
    notes: Sequence[str] = (),
    effects: EffectsOf = effects_of,
) -> Feedback:
    """The feedback of one attempt: the same bytes for the same tree, every time.

    The report keeps to `tree_budget`, the message without the task's own text to `complete_budget`, both in bytes of
    UTF-8 and at least 512. `notes` are sections that stand before the report if there is room. `effects` tells what an
    action did."""
    return delivered(
        lambda room: fitted(tree, room, effects=effects),
        tree.task,
        tree_budget=tree_budget,
        complete_budget=complete_budget,
        notes=notes,
    )


def fitted(tree: ReconciledTree, room: int, *, effects: EffectsOf = effects_of) -> tuple[Block, tuple[str, ...]]:
    """The report on a tree in at most so many bytes."""
    renderer = Renderer(tree)
    structure = markup.size(renderer.report({}), 0, evidence.WIDTH)
    # Where the structure alone takes too much it will be folded: plan with half, the budget sees to the rest.
    planned = max(room - structure, room // 2)
    selection = evidence.select(tree, effects=effects, room=planned, layout=renderer.layout)
    report, dropped = budget.fit(renderer, selection.blocks, room)
    return report, (*selection.left_out, *dropped)


def delivered(
    fit: Fit,
    task: Task | None,
    *,
    tree_budget: int = 180 * 1024,
    complete_budget: int = 200 * 1024,
    notes: Sequence[str] = (),
    frame: Frame = message.REPORT,
) -> Feedback:
    """Any report in its frame, within the same budgets."""
    if min(tree_budget, complete_budget) < message.LEAST:
        raise ValueError(f"a budget of less than {message.LEAST} bytes cannot be kept")
    room = min(tree_budget, complete_budget - message.essential_size(task, complete_budget, frame))
    report, dropped = fit(room)
    key = markup.choose_key([*markup.strings(report), *notes, task.instruction if task else ""])
    written = markup.write(report, key)
    whole, gone = message.compose(written, markup.size(report), key, task, notes, complete_budget, frame)
    return Feedback(written, whole, (*dropped, *gone), key)
