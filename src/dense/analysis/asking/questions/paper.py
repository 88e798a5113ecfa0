"""The paper's six judgements: each with its answer, its schema and what its prompt shows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Literal, get_args

from dense.analysis.answers import NONE, Answer, FreeText, LabelNumber, OptionalText, RequiredText, WholeNumber
from dense.analysis.asking.questions import outlines
from dense.analysis.asking.questions.question import Judgement
from dense.analysis.asking.schemas import Schema, SubtreeSchema, enum_of, object_of, ordinals, short_length, text_of
from dense.analysis.asking.views import (
    Limits,
    branch_view,
    candidates_view,
    facets_view,
    issues_view,
    members_view,
    observation_view,
    queue_view,
    safe_text,
    subtask_view,
    visible_queue,
)
from dense.analysis.trees.assembly import said
from dense.facets import FACETS, Artifact, DeadEnd, Facets, KeyValue, Mechanism, Order, StateChange
from dense.tree import Coherence, Completion, Issue, Label, Leaf, Node, ShortcutOutcome, Subtask

INDEX_AT_END = re.compile(r'"action_index"\s*:\s*"?(-?\d{1,9})"?\s*\}\s*(?:```)?\s*$')


class BoundaryAnswer(Answer, frozen=True, kw_only=True):
    """`action_index`: an ordinal, 0 for the head alone, -1 for more."""

    reasoning: FreeText = ""
    action_index: WholeNumber

    @classmethod
    def salvaged(cls, reply: str) -> Any:
        """Quotes or line feeds within the reasoning may break the JSON; the index at its end decides all the same."""
        match = INDEX_AT_END.search(reply)
        return {"action_index": int(match[1])} if match else None


class Boundary(Judgement, frozen=True, kw_only=True):
    """Where does the first coherent stretch of the queue end?"""

    answer = BoundaryAnswer

    level: int
    """The round: 1 reads actions, higher ones titles and summaries."""
    queue: tuple[Node, ...]
    """The nodes in view."""
    head: int
    """The ordinal of the first of them."""
    is_last: bool
    """Whether no more will come: then waiting is no answer."""

    @property
    def subject(self) -> str:
        return queue_subject(self.level, self.queue, self.head)

    def slots(self, limits: Limits) -> dict[str, Any]:
        shown = visible_queue(self.queue, limits)
        is_last = self.is_last or len(shown) < len(self.queue)  # what there is no room for cannot be asked about
        return {**queue_slots(self.level, shown, self.head, limits), "is_last": is_last}

    def schema(self, limits: Limits) -> Schema:
        shown = visible_queue(self.queue, limits)
        specials = [0] if self.is_last or len(shown) < len(self.queue) else [-1, 0]
        index = ordinals(self.head, len(shown), specials)
        return object_of(reasoning=text_of(limits.answer), action_index=index)

    def outline(self) -> dict[str, Any]:
        return {"reasoning": outlines.SENTENCE * 2, "action_index": self.head + outlines.first_end(self.queue)}


class ScoreAnswer(Answer, frozen=True, kw_only=True):
    reasoning: FreeText = ""
    label: LabelNumber


class Score(Judgement, frozen=True, kw_only=True):
    """Did this action help, within its subtask and for the task?"""

    answer = ScoreAnswer

    subtask: str
    """The new subtask's identifier; the action's own if it is alone."""
    members: tuple[Node, ...]
    """What the subtask consists of."""
    target: Leaf
    """The action in question."""

    @property
    def subject(self) -> str:
        return f"{self.target.id} in {self.subtask}"

    def slots(self, limits: Limits) -> dict[str, Any]:
        return {
            "tree": subtask_view(self.subtask, self.members, self.target, limits),
            "observation": observation_view(self.target.step, limits.target),
            "target": self.target.id,
        }

    def schema(self, limits: Limits) -> Schema:
        return object_of(reasoning=text_of(limits.answer), label=enum_of(get_args(Label)))

    def outline(self) -> dict[str, Any]:
        return {"reasoning": outlines.SENTENCE * 2, "label": outlines.label(self.target)}


class SummaryAnswer(Answer, frozen=True, kw_only=True):
    subtitle: RequiredText
    summary: RequiredText
    artifacts: OptionalText = NONE
    final_state: OptionalText = NONE
    key_values: OptionalText = NONE
    key_mechanisms: OptionalText = NONE
    critical_order: OptionalText = NONE
    dead_ends: OptionalText = NONE
    open_issues: OptionalText = NONE

    @property
    def facets(self) -> Facets:
        """What the answer says of each facet, in its own words."""
        return Facets(
            artifacts=tuple(map(Artifact, _said(self.artifacts))),
            final_state=tuple(map(StateChange, _said(self.final_state))),
            key_values=tuple([KeyValue(piece) for text in _said(self.key_values) for piece in text.split("; ")]),
            key_mechanisms=tuple(map(Mechanism, _said(self.key_mechanisms))),
            critical_order=tuple(map(Order, _said(self.critical_order))),
            dead_ends=tuple([DeadEnd(text=text) for text in _said(self.dead_ends)]),
            open_issues=tuple(_said(self.open_issues)),
        )


def _said(answer: str) -> list[str]:
    """The answer, if there is something in it."""
    return [text] if (text := said(answer)) else []


class Summary(Judgement, frozen=True, kw_only=True):
    """What did this subtask do that a rerun can use?"""

    answer = SummaryAnswer

    subtask: str
    """The new subtask's identifier."""
    level: int
    """The round that made it."""
    members: tuple[Node, ...]
    """What it consists of, with labels or summaries."""

    @property
    def subject(self) -> str:
        return self.subtask

    def slots(self, limits: Limits) -> dict[str, Any]:
        return summary_slots(self.subtask, self.level, self.members, (), limits)

    def schema(self, limits: Limits) -> Schema:
        return object_of(**summary_schema(limits))

    def outline(self) -> dict[str, Any]:
        return outlines.summary(self.members)


class TopLevelAnswer(Answer, frozen=True, kw_only=True):
    reasoning: FreeText = ""
    can_mount_all: bool


class TopLevel(Judgement, frozen=True, kw_only=True):
    """Are these nodes the task's phases, or can they be drawn together further?"""

    answer = TopLevelAnswer

    level: int
    """The round that made them."""
    candidates: tuple[Node, ...]
    """The nodes."""
    before: int
    """How many nodes there were before this round."""

    @property
    def subject(self) -> str:
        return f"level {self.level} of {len(self.candidates)}"

    def slots(self, limits: Limits) -> dict[str, Any]:
        return {
            "level": self.level,
            "count": len(self.candidates),
            "before": self.before,
            "candidates": candidates_view(self.candidates, limits),
        }

    def schema(self, limits: Limits) -> Schema:
        return object_of(reasoning=text_of(2 * limits.answer), can_mount_all={"type": "boolean"})

    def outline(self) -> dict[str, Any]:
        return {"reasoning": outlines.SENTENCE * 3, "can_mount_all": outlines.is_top(self.candidates)}


class Group(Answer, frozen=True, kw_only=True):
    mode: Literal["keep", "shortcut"]
    source_node_ids: list[str]
    title: str = ""
    dead_end: str = ""
    working_path: str = ""
    outcome: ShortcutOutcome = "unknown"
    open_issue: str = ""
    evidence_node_ids: list[str] = []
    key_action_ids: list[str] = []


class CompressionAnswer(Answer, frozen=True, kw_only=True):
    groups: list[Group]


class Compression(Judgement, frozen=True, kw_only=True):
    """Which stretches of these siblings tried, failed and recovered, or gave up?"""

    answer = CompressionAnswer

    parent: Subtask
    """The parent, with its children reconciled."""
    issues: tuple[Issue, ...]
    """The issues below it that are open."""
    key_actions: tuple[str, ...]
    """Leaves that are kept by rule."""

    @property
    def subject(self) -> str:
        return self.parent.id

    def slots(self, limits: Limits) -> dict[str, Any]:
        return branch_slots(self.parent, self.issues, self.key_actions, limits)

    def schema(self, limits: Limits) -> Schema:
        tree = SubtreeSchema(self.parent, (), self.key_actions, limits)
        return object_of(groups=tree.groups()) | tree.definitions(has_verdict=False)

    def outline(self) -> dict[str, Any]:
        return {"groups": outlines.groups(self.parent.children)}


class IssueAnswer(Answer, frozen=True, kw_only=True):
    issue: str
    evidence_node_ids: list[str] = []


class ReconciliationAnswer(Answer, frozen=True, kw_only=True):
    coherence: Coherence
    completion: Completion
    summary: str = ""
    open_issues: list[IssueAnswer] = []
    fatal_issues: list[IssueAnswer] = []
    resolved_issue_ids: list[str] = []
    resolution_evidence: dict[str, list[str]] = {}
    key_action_ids: list[str] = []


class Reconciliation(Judgement, frozen=True, kw_only=True):
    """Does it fit together, was it reached, what is left, and which inherited issue has been settled by what?"""

    answer = ReconciliationAnswer

    subtree: Subtask
    """The parent with its children compressed."""
    issues: tuple[Issue, ...]
    """The issues that it inherits."""
    key_actions: tuple[str, ...]
    """Leaves that are kept by rule."""

    @property
    def subject(self) -> str:
        return self.subtree.id

    def slots(self, limits: Limits) -> dict[str, Any]:
        return branch_slots(self.subtree, self.issues, self.key_actions, limits)

    def schema(self, limits: Limits) -> Schema:
        tree = SubtreeSchema(self.subtree, self.issues, self.key_actions, limits)
        return tree.verdict() | tree.definitions(has_verdict=True)

    def outline(self) -> dict[str, Any]:
        return outlines.verdict(self.subtree.children)


JUDGEMENTS = (Boundary, Score, Summary, TopLevel, Compression, Reconciliation)

# What questions have in common


def queue_subject(level: int, queue: Sequence[Node], head: int) -> str:
    return f"level {level} from {head} to {head + len(queue) - 1}"


def queue_slots(level: int, queue: Sequence[Node], head: int, limits: Limits) -> dict[str, Any]:
    tail = head + len(queue) - 1
    return {"level": level, "head": head, "tail": tail, "queue": queue_view(queue, head, limits)}


def summary_slots(
    subtask: str, level: int, members: Sequence[Node], targets: Sequence[str], limits: Limits
) -> dict[str, Any]:
    members_text = members_view(members, limits)
    return {"subtask": subtask, "level": level, "members": members_text, "targets": ", ".join(targets)}


def summary_schema(limits: Limits) -> dict[str, Schema]:
    long, short = limits.answer, short_length(limits)
    facets = {name: text_of(long // 2, least=1) for name in FACETS}
    return {"subtitle": text_of(min(short, 120), least=1), "summary": text_of(long, least=1), **facets}


def branch_slots(parent: Subtask, issues: Sequence[Issue], kept: Sequence[str], limits: Limits) -> dict[str, Any]:
    return {
        "parent": parent.id,
        "title": safe_text(parent.title, limits.facet),
        "summary": safe_text(parent.summary, limits.summary),
        "children": branch_view(parent.children, kept, limits),
        "facets": facets_view(parent, limits),
        "ids": ", ".join(child.id for child in parent.children),
        "issues": issues_view(issues, limits),
        "issue_ids": ", ".join(issue.id for issue in issues),
    }
