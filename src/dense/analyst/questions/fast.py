"""The questions of the profile `fast`, which draw the paper's judgements together."""

from __future__ import annotations

from typing import Any

from dense.analyst.answers import Answer
from dense.analyst.questions import outlines
from dense.analyst.questions.paper import (
    Group,
    ReconciliationAnswer,
    ScoreAnswer,
    SummaryAnswer,
    branch_slots,
    queue_slots,
    queue_subject,
    summary_schema,
    summary_slots,
)
from dense.analyst.questions.question import Judgement
from dense.analyst.schemas import Schema, SubtreeSchema, labels_of, list_of, object_of, ordinals, short_length, text_of
from dense.analyst.views import Limits, members_view
from dense.tree import Issue, Leaf, Node, Subtask


class CutsAnswer(Answer, frozen=True, kw_only=True):
    """`ends`: the ordinal of the last node of each stretch, in order."""

    reasoning: str = ""
    can_mount_all: bool = False
    ends: list[int]


class Cuts(Judgement, frozen=True, kw_only=True):
    """Where does each coherent stretch of the queue end? And is the queue already the top of the tree?"""

    answer = CutsAnswer
    is_lean = True

    level: int
    """The round: 1 reads actions, higher ones titles and summaries."""
    queue: tuple[Node, ...]
    """The nodes in view."""
    head: int
    """The ordinal of the first of them."""
    may_stop: bool
    """Whether it may be answered that the nodes are top-level phases as they are."""

    @property
    def subject(self) -> str:
        return queue_subject(self.level, self.queue, self.head)

    def slots(self, limits: Limits) -> dict[str, Any]:
        return {**queue_slots(self.level, self.queue, self.head, limits), "may_stop": self.may_stop}

    def schema(self, limits: Limits) -> Schema:
        stop: Schema = {"can_mount_all": {"type": "boolean"}} if self.may_stop else {}
        ends = list_of(ordinals(self.head, len(self.queue), []), most=len(self.queue), least=1)
        return object_of(reasoning=text_of(2 * limits.answer), **stop, ends=ends)

    def outline(self) -> dict[str, Any]:
        is_top = self.may_stop and outlines.is_top(self.queue)
        ends = [len(self.queue)] if is_top else outlines.ends(self.queue)
        shifted = [self.head - 1 + end for end in ends]
        return {"reasoning": outlines.SENTENCE * 4, "can_mount_all": is_top, "ends": shifted}


class LabelAnswer(ScoreAnswer, frozen=True, kw_only=True):
    """A score with the identifier of its action."""

    id: str


class LabelsAnswer(Answer, frozen=True, kw_only=True):
    labels: list[LabelAnswer]


class Labels(Judgement, frozen=True, kw_only=True):
    """Did these actions, which stayed alone, help?"""

    answer = LabelsAnswer
    is_lean = True

    targets: tuple[Leaf, ...]
    """The actions in question."""

    @property
    def subject(self) -> str:
        return " ".join(leaf.id for leaf in self.targets)

    def slots(self, limits: Limits) -> dict[str, Any]:
        targets = ", ".join(leaf.id for leaf in self.targets)
        return {"members": members_view(self.targets, limits), "targets": targets}

    def schema(self, limits: Limits) -> Schema:
        return object_of(labels=labels_of([leaf.id for leaf in self.targets], short_length(limits)))

    def outline(self) -> dict[str, Any]:
        return {"labels": [outlines.labelled(leaf) for leaf in self.targets]}


class DigestAnswer(SummaryAnswer, frozen=True, kw_only=True):
    labels: list[LabelAnswer] = []


class Digest(Judgement, frozen=True, kw_only=True):
    """Labels of a subtask's unscored actions and its summary, in one."""

    answer = DigestAnswer
    is_lean = True

    subtask: str
    """The new subtask's identifier."""
    level: int
    """The round that made it."""
    members: tuple[Node, ...]
    """What it consists of."""
    targets: tuple[str, ...]
    """The leaves that have no label yet."""

    @property
    def subject(self) -> str:
        return self.subtask

    def slots(self, limits: Limits) -> dict[str, Any]:
        return summary_slots(self.subtask, self.level, self.members, self.targets, limits)

    def schema(self, limits: Limits) -> Schema:
        return object_of(labels=labels_of(self.targets, short_length(limits)), **summary_schema(limits))

    def outline(self) -> dict[str, Any]:
        targets = [node for node in self.members if isinstance(node, Leaf) and node.id in self.targets]
        return {"labels": [outlines.labelled(leaf) for leaf in targets], **outlines.summary(self.members)}


class SettlementAnswer(Answer, frozen=True, kw_only=True):
    groups: list[Group]
    verdict: ReconciliationAnswer


class Settlement(Judgement, frozen=True, kw_only=True):
    """Compression and reconciliation of a parent, in one."""

    answer = SettlementAnswer
    is_lean = True

    parent: Subtask
    """The parent, with its children reconciled."""
    issues: tuple[Issue, ...]
    """The issues that it inherits."""
    key_actions: tuple[str, ...]
    """Leaves that are kept by rule."""

    @property
    def subject(self) -> str:
        return self.parent.id

    def slots(self, limits: Limits) -> dict[str, Any]:
        return branch_slots(self.parent, self.issues, self.key_actions, limits, is_labelled=True)

    def schema(self, limits: Limits) -> Schema:
        tree = SubtreeSchema(self.parent, self.issues, self.key_actions, limits)
        # What is in no group is kept: only shortcuts need to be listed.
        return object_of(groups=tree.groups(least=0), verdict=tree.verdict()) | tree.definitions(has_verdict=True)

    def outline(self) -> dict[str, Any]:
        groups = [group for group in outlines.groups(self.parent.children) if group["mode"] == "shortcut"]
        return {"groups": groups, "verdict": outlines.verdict(self.parent.children)}


JUDGEMENTS = (Cuts, Labels, Digest, Settlement)
