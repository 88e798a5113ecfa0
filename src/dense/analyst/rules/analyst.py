"""From the evidence of a whole trace to the draft of its tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

import msgspec

from dense.analyst.rules import boundaries
from dense.analyst.rules.labels import label
from dense.analyst.rules.shortcuts import shortcuts
from dense.analyst.rules.spans import Part, first_of, last_of
from dense.analyst.rules.verdicts import Verdicts
from dense.detectors.findings import Analysis
from dense.draft import LeafDraft, SubtaskDraft, TreeDraft
from dense.evidence.actions import EffectsCache, EffectsOf
from dense.evidence.facts.facts import ActionFacts
from dense.narrate.elsewhere import elsewhere
from dense.narrate.narrator import Narrator
from dense.trajectory import Trajectory
from dense.tree import Facets

MAX_LEVELS = 3


class RulesAnalyst:
    """Drafts the tree of a trajectory by rule."""

    name = "rules"

    def __init__(self, effects: EffectsOf | None = None) -> None:
        """`effects` may be shared with others that look at the same trajectory."""
        self._effects = effects

    async def analyse(self, trajectory: Trajectory, *, with_verdicts: bool = True) -> TreeDraft:
        """See `dense.analyst.Analyst`."""
        del with_verdicts  # they cost nothing
        return self.draft(trajectory)

    def draft(self, trajectory: Trajectory, *, is_flat: bool = False) -> TreeDraft:
        """The draft, without an event loop; if flat, with all actions right below the root."""
        effects = self._effects or EffectsCache()
        analysis = Analysis(trajectory, effects)
        narrator = narrator_of(analysis)
        actions = tuple([_leaf(fact, analysis) for fact in analysis.facts])
        top = actions if is_flat else _levels(actions, analysis, narrator)
        keys = frozenset([n for n, step in enumerate(trajectory.steps, 1) if effects(step).is_key])
        verdicts = Verdicts(analysis, narrator, keys)

        def judged(part: SubtaskDraft) -> SubtaskDraft:
            children = tuple([judged(child) if isinstance(child, SubtaskDraft) else child for child in part.children])
            part = msgspec.structs.replace(part, children=children)
            groups = shortcuts(children, analysis, narrator)
            return msgspec.structs.replace(part, groups=tuple(groups), verdict=verdicts.verdict(part, groups))

        return TreeDraft(judged(SubtaskDraft(0, top)))


def narrator_of(analysis: Analysis) -> Narrator:
    """What puts the actions of this trace into words."""
    handed_in = analysis.submission.told if analysis.submission is not None else ""
    stays = analysis.stays if handed_in or analysis.history.has_removals else None  # else all of it does
    meant = frozenset([command for command, end in analysis.expected.items() if end == "fails"])
    return Narrator(
        analysis.history, analysis.steps, analysis.origins, stays, handed_in, partial(elsewhere, analysis), meant
    )


def _leaf(fact: ActionFacts, analysis: Analysis) -> LeafDraft:
    left = analysis.left_at(fact.action) if fact.phase == "deliver" else ""
    if left:
        return LeafDraft(fact.action, -1, f"Hands over with something left to do. {left}")
    return LeafDraft(fact.action, *label(fact, analysis.history, analysis.steps))


def _levels(queue: Sequence[Part], analysis: Analysis, narrator: Narrator) -> tuple[Part, ...]:
    """The nodes below the root: stretches of actions, then stretches of those, until there are few enough."""
    for level in range(1, MAX_LEVELS + 1):
        if len(queue) < 2 or (level > 1 and boundaries.is_top(len(queue))):
            break
        ends = _ends(queue, level, analysis)
        if len(ends) == len(queue):
            break
        stretches = [tuple(queue[start:end]) for start, end in pairwise([0, *ends])]
        if level == 1:  # titles of neighbours are told apart
            narrator.prepare([(first_of(one[0]), last_of(one[-1])) for one in stretches if len(one) > 1])
        queue = [one[0] if len(one) == 1 else _subtask(level, one, narrator) for one in stretches]
    return tuple(queue)


def _ends(queue: Sequence[Part], level: int, analysis: Analysis) -> list[int]:
    """How many nodes of the queue each stretch and those before it hold."""
    if level == 1:
        return boundaries.ends(analysis.facts, analysis.history)
    spans = [(first_of(part), last_of(part)) for part in queue]
    return boundaries.higher_ends(
        [boundaries.stretch_traits(analysis.facts[first - 1 : last], analysis.wanted) for first, last in spans]
    )


def _subtask(level: int, members: tuple[Part, ...], narrator: Narrator) -> SubtaskDraft:
    digest = narrator.digest(first_of(members[0]), last_of(members[-1]))
    facets = Facets(**{name: digest[name] for name in Facets.__struct_fields__})
    return SubtaskDraft(level, members, digest["title"], digest["summary"], facets)
