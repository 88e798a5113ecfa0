"""Answers each question with what the analysis of the whole trace says of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise

from dense.analyst.answers import (
    Answer,
    BoundaryAnswer,
    CompressionAnswer,
    CutsAnswer,
    DigestAnswer,
    LabelAnswer,
    LabelsAnswer,
    ScoreAnswer,
    SettlementAnswer,
    TopLevelAnswer,
)
from dense.analyst.questions import (
    AnyQuestion,
    Boundary,
    Compression,
    Cuts,
    Digest,
    Labels,
    Reconciliation,
    Score,
    Settlement,
    Summary,
    TopLevel,
)
from dense.analyst.rules import boundaries
from dense.analyst.rules.boundaries import Stretch
from dense.analyst.rules.labels import label
from dense.analyst.rules.settle import groups, shortcuts, verdict
from dense.analyst.rules.settle import leaf as leaf_name
from dense.detectors.findings import Analysis
from dense.evidence.actions import EffectsOf
from dense.narrate.elsewhere import elsewhere
from dense.narrate.narrator import Narrator
from dense.trajectory import Trajectory
from dense.tree import Leaf, Node, first_action, last_action


class RulesAnalyst:
    """Answers at once, about the trajectory that it was shown."""

    name = "rules"

    def study(self, trajectory: Trajectory, effects: EffectsOf) -> Callable[[AnyQuestion], Answer]:
        """Looks at the whole trace, once; gives back what answers all questions about it."""
        return Study(Analysis(trajectory, effects)).answer


class Study:
    """What answers the questions about one trajectory."""

    def __init__(self, analysis: Analysis) -> None:
        self.analysis = analysis
        handed_in = analysis.submission.told if analysis.submission is not None else ""
        stays = analysis.stays if handed_in or analysis.history.has_removals else None  # else all of it does
        meant = frozenset([command for command, end in analysis.expected.items() if end == "fails"])
        self.teller = Narrator(
            analysis.history, analysis.steps, analysis.origins, stays, handed_in, partial(elsewhere, analysis), meant
        )

    def answer(self, question: AnyQuestion) -> Answer:
        match question:
            # Those of the fast profile first: it is asked most.
            case Settlement():
                return SettlementAnswer(
                    groups=shortcuts(question.parent, self.analysis, self.teller),  # what none names is kept
                    verdict=verdict(question.parent, self.analysis, self.teller, question.issues, question.key_actions),
                )
            case Digest():
                return self._labelled_digest(question)
            case Cuts():
                return self._cuts(question)
            case Labels():
                return LabelsAnswer(labels=[self._label(leaf) for leaf in question.targets])
            case Boundary():
                return BoundaryAnswer(action_index=question.head - 1 + self._first_length(question.queue))
            case Score():
                found = self._label(question.target)
                return ScoreAnswer(reasoning=found.reasoning, label=found.label)
            case Summary():
                return self.teller.digest(question.members)
            case TopLevel():
                return TopLevelAnswer(can_mount_all=boundaries.is_top(len(question.candidates)))
            case Compression():
                return CompressionAnswer(groups=groups(question.parent, self.analysis, self.teller))
            case Reconciliation():
                return verdict(question.subtree, self.analysis, self.teller, question.issues, question.key_actions)

    def _first_length(self, queue: Sequence[Node]) -> int:
        """How many nodes from the head of a queue on belong together."""
        if all(isinstance(node, Leaf) for node in queue[: boundaries.WINDOW]):
            start, end = first_action(queue[0]) - 1, last_action(queue[-1])
            return min(boundaries.first_end(self.analysis.facts[:end], self.analysis.history, start), len(queue))
        size = boundaries.group_size(len(queue))
        window = [self._stretch(node) for node in queue[: 2 * size + 2]]
        return boundaries.first_group(window, 0, size)

    def _cuts(self, question: Cuts) -> CutsAnswer:
        before = question.head - 1
        if question.may_stop and boundaries.is_top(len(question.queue)):
            return CutsAnswer(can_mount_all=True, ends=[before + len(question.queue)])
        if question.level == 1:
            found = self._leaf_ends(question.queue)
            first = first_action(question.queue[0])
            spans = [(first + start, first + end - 1) for start, end in pairwise([0, *found]) if end - start > 1]
            self.teller.prepare(spans)  # what is asked for next
        else:
            found = boundaries.higher_ends([self._stretch(node) for node in question.queue])
        return CutsAnswer(ends=[before + end for end in found])

    def _leaf_ends(self, queue: Sequence[Node]) -> list[int]:
        start, end = first_action(queue[0]) - 1, last_action(queue[-1])
        facts = self.analysis.facts[:end]
        found: list[int] = []
        head = start
        while head < end:
            head += boundaries.first_end(facts, self.analysis.history, head)
            found.append(head - start)
        return found

    def _stretch(self, node: Node) -> Stretch:
        first, last = first_action(node), last_action(node)
        return boundaries.stretch(self.analysis.facts[first - 1 : last], self.analysis.wanted)

    def _label(self, leaf: Leaf) -> LabelAnswer:
        return self._labels[leaf.id]

    @cached_property
    def _labels(self) -> dict[str, LabelAnswer]:
        """The labels of all leaves, made at once: that is faster than some for each question."""
        analysis = self.analysis
        history, wanted, steps = analysis.history, analysis.wanted, analysis.steps
        answers: dict[str, LabelAnswer] = {}
        for fact in analysis.facts:
            left = analysis.left_at(fact.action) if fact.phase == "deliver" else ""
            if left:
                value, reason = -1, f"Hands over with something left to do. {left}"
            else:
                value, reason = label(fact, history, wanted, steps=steps)
            name = leaf_name(fact.action)
            answers[name] = LabelAnswer(id=name, reasoning=reason, label=value)
        return answers

    def _labelled_digest(self, question: Digest) -> DigestAnswer:
        labels = [self._labels[target] for target in question.targets]
        return DigestAnswer(labels=labels, **self.teller.words(question.members))
