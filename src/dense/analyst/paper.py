"""The profile `paper`: algorithms 1 to 3, with six kinds of question, one judgement a call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from dense.analyst.asker import task_group, together
from dense.analyst.assembly import Assembly
from dense.analyst.profile import Builder, ProfileAnalyst, group_drafts, labelled, replaced, verdict_draft
from dense.analyst.questions.paper import (
    Boundary,
    BoundaryAnswer,
    Compression,
    CompressionAnswer,
    Reconciliation,
    ReconciliationAnswer,
    Score,
    ScoreAnswer,
    Summary,
    SummaryAnswer,
    TopLevel,
    TopLevelAnswer,
)
from dense.analyst.validate import require, valid_groups, valid_verdict
from dense.draft import GroupDraft, VerdictDraft
from dense.trajectory import Task
from dense.tree import Leaf, Node, Subtask, leaves

CHUNK_NODES = 999
"""How many nodes enter the queue's view at a time."""
MAX_ROUNDS = 20
"""How many levels there may be."""


class PaperAnalyst(ProfileAnalyst):
    """Asks for each boundary, label, summary, compression and reconciliation on its own."""

    name = "paper"

    def builder(self, task: Task | None, count: int) -> Builder:
        return PaperBuilder(self.asker, task, count)

    async def settle(self, parents: list[Subtask], task: Task | None, assembly: Assembly) -> list[Subtask]:
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
                require(valid_verdict(verdict_draft(answer), known)[1])

            answer = await self.asker.ask(question, ReconciliationAnswer, check, tries=2)
            return valid_verdict(verdict_draft(answer), known)[0] if answer is not None else VerdictDraft()

        groups = await together(compress(parent) for parent in parents)
        compressed = [assembly.compressed(parent, found) for parent, found in zip(parents, groups, strict=True)]
        verdicts = await together(judge(parent) for parent in compressed)
        return [assembly.reconciled(parent, verdict) for parent, verdict in zip(compressed, verdicts, strict=True)]


class PaperBuilder(Builder):
    """One boundary, one label, one summary a call (paper, algorithms 1 and 2)."""

    async def build(self, queue: Sequence[Node]) -> tuple[Node, ...]:
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
