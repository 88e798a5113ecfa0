"""The profile `paper`: algorithms 1 to 3, with six kinds of question, one judgement a call."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Collection, Mapping, Sequence

import msgspec

from dense.analysis.actions.action import Actions
from dense.analysis.analyst import Analysis
from dense.analysis.answers import BadAnswer
from dense.analysis.asking.asker import Asker, task_group, together
from dense.analysis.asking.questions.paper import (
    Boundary,
    BoundaryAnswer,
    Compression,
    CompressionAnswer,
    Group,
    IssueAnswer,
    Reconciliation,
    ReconciliationAnswer,
    Score,
    ScoreAnswer,
    Summary,
    SummaryAnswer,
    TopLevel,
    TopLevelAnswer,
)
from dense.analysis.trees.assembly import Assembly, Retention, by_height, with_children
from dense.analysis.trees.fallback_text import fallback_summary, fallback_title, task_title
from dense.analysis.trees.validate import require, valid_groups, valid_verdict
from dense.draft import GroupDraft, IssueDraft, LeafDraft, PartDraft, SubtaskDraft, TreeDraft, VerdictDraft
from dense.trajectory import Task, Trajectory
from dense.tree import Issue, Leaf, Node, Severity, Shortcut, Subtask, first_action, last_action, leaves

CHUNK_NODES = 999
"""How many nodes enter the queue's view at a time."""
MAX_ROUNDS = 20
"""How many levels there may be."""
ISSUE_NAME = re.compile(r"\W*(issue_\d+)\b")


class PaperAnalyst:
    """Asks for each boundary, label, summary, compression and reconciliation on its own."""

    name = "paper"

    def __init__(self, asker: Asker) -> None:
        self.asker = asker

    async def analyse(self, trajectory: Trajectory, *, with_verdicts: bool = True) -> Analysis:
        """See `dense.analysis.analyst.Analyst`."""
        queue = [Leaf(f"n{index}", index + 1, step) for index, step in enumerate(trajectory.steps)]
        builder = _Builder(self.asker, trajectory.task, len(queue))
        top = await builder.label_rest(await builder.build(queue))
        source = Subtask(id=f"n{len(queue)}", level=0, title=task_title(trajectory.task), summary="", children=top)
        if not with_verdicts:
            return Analysis(TreeDraft(root=drafted(source), asked=self.asker.record()))
        assembly = Assembly(Retention(leaves(source), Actions(trajectory.steps)))
        done: dict[str, Subtask] = {}
        for parents in by_height(source):
            ready = [with_children(parent, done) for parent in parents]
            done |= {node.id: node for node in await self._settle(ready, trajectory.task, assembly)}
        return Analysis(TreeDraft(root=drafted(source, done[source.id], assembly.issues), asked=self.asker.record()))

    async def _settle(self, parents: list[Subtask], task: Task | None, assembly: Assembly) -> list[Subtask]:
        """Compression, then reconciliation, a call each and a corrective one if needed."""

        async def compress(parent: Subtask) -> list[GroupDraft]:
            if len(parent.children) < 2:
                return []
            known, keys = assembly.known(parent), assembly.key_actions(parent)
            question = Compression(task=task, parent=parent, issues=tuple(known.inherited.values()), key_actions=keys)

            def check(answer: CompressionAnswer) -> None:
                require(valid_groups(group_drafts(answer.groups, parent), known)[1])

            answer = await self.asker.ask(question, CompressionAnswer, check, tries=2)
            return valid_groups(group_drafts(answer.groups, parent), known)[0] if answer is not None else []

        async def judge(parent: Subtask) -> VerdictDraft:
            known, keys = assembly.known(parent), assembly.key_actions(parent)
            issues = tuple(known.inherited.values())
            question = Reconciliation(task=task, subtree=parent, issues=issues, key_actions=keys)

            def check(answer: ReconciliationAnswer) -> None:
                require(valid_verdict(verdict_draft(answer, known.inherited), known)[1])

            answer = await self.asker.ask(question, ReconciliationAnswer, check, tries=2)
            draft = verdict_draft(answer, known.inherited) if answer is not None else VerdictDraft()
            return with_inherited(valid_verdict(draft, known)[0], known.inherited)

        groups = await together(compress(parent) for parent in parents)
        compressed = [assembly.compressed(parent, found) for parent, found in zip(parents, groups, strict=True)]
        verdicts = await together(judge(parent) for parent in compressed)
        return [assembly.reconciled(parent, verdict) for parent, verdict in zip(compressed, verdicts, strict=True)]


class _Builder:
    """From a queue of actions to the nodes below the root: one boundary, one label, one summary a call (paper,
    algorithms 1 and 2).

    Prefixes of an ordered queue are removed and their replacements put in order, so every action is there exactly once
    at every level. A level is complete before the next one reads it."""

    def __init__(self, asker: Asker, task: Task | None, count: int) -> None:
        self.asker, self.task = asker, task
        self._next_id = count + 1

    async def build(self, queue: Sequence[Node]) -> tuple[Node, ...]:
        """The nodes to be mounted below the root."""
        if len(queue) < 2:
            return tuple(queue)
        for level in range(1, MAX_ROUNDS + 1):
            grown = await self.level(queue, level)
            if len(grown) in (1, len(queue)):
                return grown
            is_top = await self.is_top(grown, level, len(queue))
            queue = grown
            if is_top:
                break
        return tuple(queue)

    async def level(self, queue: Sequence[Node], level: int) -> tuple[Node, ...]:
        """The next queue. What one subtask needs (labels, then a summary) runs beside the next boundary."""
        stretches: list[tuple[Node, ...]] = []
        head = 1
        async with task_group() as group:
            filled: list[asyncio.Task[Subtask]] = []
            for seen in [*range(CHUNK_NODES, len(queue), CHUNK_NODES), len(queue)]:
                is_last = seen == len(queue)
                while head <= seen:
                    end = await self.boundary(tuple(queue[head - 1 : seen]), level, head, is_last)
                    if end is None:
                        break
                    stretches.append(tuple(queue[head - 1 : end]))
                    head = end + 1
                    if len(stretches[-1]) > 1:
                        filled.append(group.create_task(self.fill(self.number(), level, stretches[-1])))
                    if not is_last:
                        break
        return replaced(stretches, [task.result() for task in filled])

    async def boundary(self, window: tuple[Node, ...], level: int, head: int, is_last: bool) -> int | None:
        """The ordinal at which the first stretch ends; None to wait for more."""
        question = Boundary(task=self.task, level=level, queue=window, head=head, is_last=is_last)
        answer = await self.asker.ask(question, BoundaryAnswer)
        tail = head + len(window) - 1
        if answer is None:
            return head
        if answer.action_index == -1:
            return tail if is_last else None
        return max(head, min(answer.action_index, tail))

    async def fill(self, identifier: str, level: int, members: tuple[Node, ...]) -> Subtask:
        """Labels first, then the summary that may lean on them."""
        members = await self.scored(identifier, members)
        question = Summary(task=self.task, subtask=identifier, level=level, members=members)
        return self.subtask(identifier, level, members, await self.asker.ask(question, SummaryAnswer))

    async def scored(self, identifier: str, members: tuple[Node, ...]) -> tuple[Node, ...]:
        """The same nodes, with the leaves that had no label labelled."""

        async def score(target: Leaf) -> tuple[str, ScoreAnswer | None]:
            question = Score(task=self.task, subtask=identifier, members=members, target=target)
            return target.id, await self.asker.ask(question, ScoreAnswer)

        scores = await together(score(leaf) for leaf in leaves(*members) if leaf.label is None)
        labels = {name: answer for name, answer in scores if answer is not None}
        return tuple([labelled(node, labels) for node in members])

    def number(self) -> str:
        """The identifier of the next subtask: in the order of the cuts, which is the order of the trajectory."""
        identifier, self._next_id = f"n{self._next_id}", self._next_id + 1
        return identifier

    def subtask(self, identifier: str, level: int, members: tuple[Node, ...], answer: SummaryAnswer | None) -> Subtask:
        """The subtask of these members, with a title and a summary of its own if there is no answer."""
        if answer is None:
            return Subtask(
                id=identifier,
                level=level,
                title=fallback_title(members),
                summary=fallback_summary(members),
                children=members,
            )
        return Subtask(
            id=identifier,
            level=level,
            title=answer.subtitle,
            summary=answer.summary,
            children=members,
            facets=answer.facets,
        )

    async def is_top(self, candidates: tuple[Node, ...], level: int, before: int) -> bool:
        question = TopLevel(task=self.task, level=level, candidates=candidates, before=before)
        answer = await self.asker.ask(question, TopLevelAnswer)
        return answer is not None and answer.can_mount_all

    async def label_rest(self, top: tuple[Node, ...]) -> tuple[Node, ...]:
        """Leaves that are still unscored are scored alone."""
        alone = [leaf for leaf in leaves(*top) if leaf.label is None]
        scored = await together(self.scored(leaf.id, (leaf,)) for leaf in alone)
        labels = {
            leaf.id: ScoreAnswer(reasoning=leaf.reason, label=leaf.label)
            for (leaf,) in scored
            if isinstance(leaf, Leaf) and leaf.label is not None
        }
        return tuple([labelled(node, labels) for node in top])


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
            first=first_action(children[group.source_node_ids[0]]),
            last=last_action(children[group.source_node_ids[-1]]),
            title=group.title,
            dead_end=group.dead_end,
            working_path=group.working_path,
            outcome=group.outcome,
            open_issue=IssueDraft(text=group.open_issue) if group.open_issue else None,
            evidence=tuple(group.evidence_node_ids),
            key_actions=tuple(group.key_action_ids),
        )
        for group in groups
        if group.mode == "shortcut"
    ]


def verdict_draft(answer: ReconciliationAnswer, inherited: Collection[str] = ()) -> VerdictDraft:
    """The verdict of an answer. An issue whose text begins with the identifier of an inherited one restates it."""

    def draft(one: IssueAnswer, severity: Severity) -> IssueDraft:
        found = ISSUE_NAME.match(one.issue)
        restates = found[1] if found and found[1] in inherited else ""
        return IssueDraft(text=one.issue, evidence=tuple(one.evidence_node_ids), severity=severity, restates=restates)

    return VerdictDraft(
        coherence=answer.coherence,
        completion=answer.completion,
        summary=answer.summary,
        issues=tuple(
            [draft(one, "serious") for one in answer.open_issues] + [draft(one, "fatal") for one in answer.fatal_issues]
        ),
        resolved={name: tuple(answer.resolution_evidence.get(name) or ()) for name in answer.resolved_issue_ids},
        key_actions=tuple(answer.key_action_ids),
    )


def with_inherited(verdict: VerdictDraft, inherited: Mapping[str, Issue]) -> VerdictDraft:
    """The verdict with every inherited issue that it neither resolves nor restates as an open one: none is lost."""
    settled = {*verdict.resolved, *[issue.restates for issue in verdict.issues]}
    kept = [IssueDraft(text=issue.text, restates=name) for name, issue in inherited.items() if name not in settled]
    return msgspec.structs.replace(verdict, issues=(*verdict.issues, *kept)) if kept else verdict


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
        level=source.level,
        children=tuple(children),
        title=source.title,
        summary=source.summary,
        facets=source.facets,
        groups=tuple(groups),
        verdict=VerdictDraft() if reconciled is None else _verdict(reconciled, source.summary, known),
        key=source.id,
    )


def _group(node: Shortcut, issues: Mapping[str, Issue]) -> GroupDraft:
    return GroupDraft(
        first=first_action(node),
        last=last_action(node),
        title=node.title,
        dead_end=node.dead_end,
        working_path=node.working_path,
        outcome=node.outcome,
        open_issue=_issue(issues[node.issue]) if node.issue is not None else None,
        evidence=node.evidence,
        key_actions=node.key_actions,
        key=node.id,
    )


def _verdict(node: Subtask, before: str, issues: Mapping[str, Issue]) -> VerdictDraft:
    verdict = node.verdict
    if verdict is None:
        return VerdictDraft()
    return VerdictDraft(
        coherence=verdict.coherence,
        completion=verdict.completion,
        summary=node.summary if node.summary != before else "",
        issues=tuple(
            [_issue(issues[name]) for name in verdict.issues]
            + [
                IssueDraft(
                    text=issues[name].text,
                    severity="fatal" if name in verdict.restated_fatal else "serious",
                    restates=name,
                )
                for name in verdict.restated
            ]
        ),
        resolved={name: issues[name].resolution for name in verdict.resolved},
        key_actions=verdict.key_actions,
    )


def _issue(issue: Issue) -> IssueDraft:
    return IssueDraft(text=issue.text, evidence=issue.evidence, severity=issue.severity, code=issue.code, key=issue.id)
