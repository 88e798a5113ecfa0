"""From a reconciled tree to what a recipient reads: evidence, report, budget, message. Calls no model."""

from __future__ import annotations

from collections.abc import Sequence

from dense.actions import effects as effects_of
from dense.deliver import budget, evidence, markup, message, render
from dense.deliver.evidence import EffectsOf
from dense.feedback import Feedback
from dense.tree import ReconciledTree

__all__ = ["deliver"]


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
    if min(tree_budget, complete_budget) < message.LEAST:
        raise ValueError(f"a budget of less than {message.LEAST} bytes cannot be kept")
    room = min(tree_budget, complete_budget - message.essential_size(tree.task, complete_budget))
    structure = markup.size(render.report(tree, {}), 0, evidence.WIDTH)
    # Where the structure alone takes too much it will be folded: plan with half, the budget sees to the rest.
    selection = evidence.select(tree, effects=effects, room=max(room - structure, room // 2))
    report, dropped = budget.fit(tree, selection.blocks, room)
    instruction = tree.task.instruction if tree.task else ""
    key = markup.choose_key([*markup.strings(report), *notes, instruction])
    written = markup.write(report, key)
    whole, gone = message.compose(written, key, tree.task, notes, complete_budget)
    return Feedback(written, whole, (*selection.left_out, *dropped, *gone))
