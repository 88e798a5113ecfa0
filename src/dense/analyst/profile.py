"""What both profiles of a language model share: from questions about nodes to the draft of a tree."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import msgspec

from dense.analyst.answers import BadAnswer
from dense.analyst.asker import Asker
from dense.analyst.assembly import Assembly, Retention, by_height, with_children
from dense.analyst.fallback_text import fallback_summary, fallback_title, task_title
from dense.analyst.questions.paper import Group, ReconciliationAnswer, ScoreAnswer, SummaryAnswer
from dense.draft import GroupDraft, IssueDraft, LeafDraft, PartDraft, SubtaskDraft, TreeDraft, VerdictDraft
from dense.evidence.actions import EffectsCache, EffectsOf
from dense.trajectory import Task, Trajectory
from dense.tree import Facets, Issue, Leaf, Node, Shortcut, Subtask, first_action, last_action, leaves


class ProfileAnalyst(ABC):
    """An analyst that asks: builds the levels of the tree, then compresses and reconciles them bottom-up."""

    def __init__(self, asker: Asker, effects: EffectsOf | None = None) -> None:
        self.asker = asker
        self._effects = effects or EffectsCache()

    async def analyse(self, trajectory: Trajectory, *, with_verdicts: bool = True) -> TreeDraft:
        """See `dense.analyst.Analyst`."""
        queue = [Leaf(f"n{index}", index + 1, step) for index, step in enumerate(trajectory.steps)]
        builder = self.builder(trajectory.task, len(queue))
        top = await builder.label_rest(await builder.build(queue))
        source = Subtask(f"n{len(queue)}", 0, task_title(trajectory.task), "", top)
        if not with_verdicts:
            return TreeDraft(drafted(source), self.asker.record())
        assembly = Assembly(Retention(leaves(source), self._effects))
        done: dict[str, Subtask] = {}
        for parents in by_height(source):
            ready = [with_children(parent, done) for parent in parents]
            done |= {node.id: node for node in await self.settle(ready, trajectory.task, assembly)}
        return TreeDraft(drafted(source, done[source.id], assembly.issues), self.asker.record())

    @abstractmethod
    def builder(self, task: Task | None, count: int) -> Builder:
        """What builds the levels of a tree of so many actions."""

    @abstractmethod
    async def settle(self, parents: list[Subtask], task: Task | None, assembly: Assembly) -> list[Subtask]:
        """Compress and reconcile all parents of one height."""


class Builder(ABC):
    """From a queue of actions to the nodes below the root.

    Both profiles remove prefixes of an ordered queue and put their replacements in order, so every action is there
    exactly once at every level. A level is complete before the next one reads it."""

    def __init__(self, asker: Asker, task: Task | None, count: int) -> None:
        self.asker, self.task = asker, task
        self._next_id = count + 1

    @abstractmethod
    async def build(self, queue: Sequence[Node]) -> tuple[Node, ...]:
        """The nodes to be mounted below the root."""

    @abstractmethod
    async def label_rest(self, top: tuple[Node, ...]) -> tuple[Node, ...]:
        """The same nodes, with the leaves labelled that are still unscored."""

    def number(self) -> str:
        """The identifier of the next subtask: in the order of the cuts, which is the order of the trajectory."""
        identifier, self._next_id = f"n{self._next_id}", self._next_id + 1
        return identifier

    def subtask(self, identifier: str, level: int, members: tuple[Node, ...], answer: SummaryAnswer | None) -> Subtask:
        """The subtask of these members, with a title and a summary of its own if there is no answer."""
        if answer is None:
            return Subtask(identifier, level, fallback_title(members), fallback_summary(members), members)
        facets = Facets(**{name: getattr(answer, name) for name in Facets.__struct_fields__})
        return Subtask(identifier, level, answer.subtitle, answer.summary, members, facets)


def replaced(stretches: Sequence[tuple[Node, ...]], filled: Sequence[Subtask]) -> tuple[Node, ...]:
    """The next level's queue: a subtask in the place of each stretch, in order; a node that is alone stays."""
    subtasks = iter(filled)
    return tuple([node if not rest else next(subtasks) for node, *rest in stretches])


def labelled[N: Node](node: N, labels: Mapping[str, ScoreAnswer]) -> N:
    """The same node with labels in its leaves."""
    if not labels:
        return node
    if isinstance(node, Leaf):
        label = labels.get(node.id)
        return node if label is None else msgspec.structs.replace(node, label=label.label, reason=label.reasoning)
    return msgspec.structs.replace(node, children=tuple([labelled(child, labels) for child in node.children]))


# From answers to pieces of a draft


def group_drafts(groups: Sequence[Group], parent: Subtask) -> list[GroupDraft]:
    """The shortcuts of an answer. `BadAnswer` if its groups are no complete, ordered partition of the children."""
    children = {child.id: child for child in parent.children}
    order = [source for group in groups for source in group.source_node_ids]
    if order != list(children):
        wanted, given = ", ".join(children), ", ".join(order) or "nothing"
        raise BadAnswer(f"the groups must list each of {wanted} exactly once, in this order; got {given}")
    for number, group in enumerate(groups, 1):
        count = len(group.source_node_ids)
        if count == 0 or (group.mode == "keep") != (count == 1):
            rule = "keep has exactly one, shortcut two or more"
            raise BadAnswer(f"group {number}: {group.mode} with {count} sources; {rule}")
    return [
        GroupDraft(
            first_action(children[group.source_node_ids[0]]),
            last_action(children[group.source_node_ids[-1]]),
            group.title,
            group.dead_end,
            group.working_path,
            group.outcome,
            IssueDraft(group.open_issue) if group.open_issue else None,
            tuple(group.evidence_node_ids),
            tuple(group.key_action_ids),
        )
        for group in groups
        if group.mode == "shortcut"
    ]


def verdict_draft(answer: ReconciliationAnswer) -> VerdictDraft:
    """The verdict of an answer."""
    return VerdictDraft(
        answer.coherence,
        answer.completion,
        answer.summary,
        tuple(
            [IssueDraft(one.issue, tuple(one.evidence_node_ids)) for one in answer.open_issues]
            + [IssueDraft(one.issue, tuple(one.evidence_node_ids), is_fatal=True) for one in answer.fatal_issues]
        ),
        {name: tuple(answer.resolution_evidence.get(name) or ()) for name in answer.resolved_issue_ids},
        tuple(answer.key_action_ids),
    )


# From a tree to its draft


def drafted(
    source: Subtask, reconciled: Subtask | None = None, issues: Mapping[str, Issue] | None = None
) -> SubtaskDraft:
    """The draft of a tree, with its identifiers as keys: `accept` makes the same tree of it.

    `reconciled` is the same subtask with shortcuts and verdict, if it has them; `issues` are those of the tree."""
    known = issues or {}
    groups: list[GroupDraft] = []
    after: dict[str, Subtask] = {}
    for child in reconciled.children if reconciled is not None else ():
        if isinstance(child, Shortcut):
            groups.append(_group(child, known))
        within = child.children if isinstance(child, Shortcut) else (child,)
        after |= {node.id: node for node in within if isinstance(node, Subtask)}
    children: list[PartDraft] = []
    for child in source.children:
        if isinstance(child, Leaf):
            children.append(LeafDraft(child.action, child.label, child.reason))
        elif isinstance(child, Subtask):
            children.append(drafted(child, after.get(child.id), known))
    return SubtaskDraft(
        source.level,
        tuple(children),
        source.title,
        source.summary,
        source.facets,
        tuple(groups),
        VerdictDraft() if reconciled is None else _verdict(reconciled, source.summary, known),
        source.id,
    )


def _group(node: Shortcut, issues: Mapping[str, Issue]) -> GroupDraft:
    return GroupDraft(
        first_action(node),
        last_action(node),
        node.title,
        node.dead_end,
        node.working_path,
        node.outcome,
        _issue(issues[node.issue]) if node.issue is not None else None,
        node.evidence,
        node.key_actions,
        node.id,
    )


def _verdict(node: Subtask, before: str, issues: Mapping[str, Issue]) -> VerdictDraft:
    verdict = node.verdict
    if verdict is None:
        return VerdictDraft()
    return VerdictDraft(
        verdict.coherence,
        verdict.completion,
        node.summary if node.summary != before else "",
        tuple([_issue(issues[name]) for name in verdict.issues]),
        {name: issues[name].resolution for name in verdict.resolved},
        verdict.key_actions,
    )


def _issue(issue: Issue) -> IssueDraft:
    return IssueDraft(issue.text, issue.evidence, issue.is_fatal, issue.code, issue.id)
