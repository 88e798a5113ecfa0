"""From a queue of actions to the nodes below the root: the paper's calls, or the fast profile's.

Both remove prefixes of an ordered queue and put their replacements in order, so every action is there exactly once at
every level. What one subtask needs (labels, then a summary) runs beside the next boundary; a level is complete before
the next one reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from dense.analyst.answers import (
    BoundaryAnswer,
    CutsAnswer,
    DigestAnswer,
    LabelAnswer,
    LabelsAnswer,
    ScoreAnswer,
    SummaryAnswer,
    TopLevelAnswer,
)
from dense.analyst.questions import Boundary, Cuts, Digest, Labels, Score, Summary, TopLevel
from dense.distillation.panel import Panel, Work
from dense.distillation.words import own_summary, own_title
from dense.trajectory import Task
from dense.tree import Facets, Leaf, Node, Subtask, leaves

CHUNK = 999
"""How many nodes enter the queue's view at a time."""
ROUNDS = 20
"""How many levels there may be."""
FAST_ROUNDS = 3
"""The same for the fast profile, which names all cuts of a level at once and so needs few: round trips are what it
saves."""
WINDOW = 60_000
"""How many tokens of a queue one call of the fast profile sees."""
OVERLAP = 12
"""How many nodes two such windows share."""
BATCH = 12_000
"""How many tokens of lone actions are labelled in one call of the fast profile."""


class Builder:
    """What both profiles share: numbering, labels put into leaves, summaries put into subtasks."""

    def __init__(self, panel: Panel, task: Task | None, count: int) -> None:
        self.panel, self.task = panel, task
        self.next_id = count + 1

    def number(self) -> str:
        """The identifier of the next subtask: in the order of the cuts, which is the order of the trajectory."""
        identifier, self.next_id = f"n{self.next_id}", self.next_id + 1
        return identifier

    def subtask(self, identifier: str, level: int, members: tuple[Node, ...], answer: SummaryAnswer | None) -> Subtask:
        if answer is None:
            return Subtask(identifier, level, own_title(members), own_summary(members), members)
        facets = Facets(
            answer.artifacts,
            answer.final_state,
            answer.key_values,
            answer.key_mechanisms,
            answer.critical_order,
            answer.dead_ends,
            answer.open_issues,
        )
        return Subtask(identifier, level, answer.subtitle, answer.summary, members, facets)


class PaperBuilder(Builder):
    """One boundary, one label, one summary a call (paper, algorithms 1 and 2)."""

    async def build(self, queue: Sequence[Node]) -> tuple[Node, ...]:
        """The nodes to be mounted below the root."""
        if len(queue) < 2:
            return tuple(queue)
        for level in range(1, ROUNDS + 1):
            grown = await self.level(queue, level)
            if len(grown) in (1, len(queue)):
                return grown
            is_top = await self.is_top(grown, level, len(queue))
            queue = grown
            if is_top:
                break
        return tuple(queue)

    async def level(self, queue: Sequence[Node], level: int) -> tuple[Node, ...]:
        stretches: list[tuple[Node, ...]] = []
        head = 1
        async with Work[Subtask](is_instant=self.panel.is_instant) as work:
            for seen in [*range(CHUNK, len(queue), CHUNK), len(queue)]:
                is_last = seen == len(queue)
                while head <= seen:
                    end = await self.boundary(tuple(queue[head - 1 : seen]), level, head, is_last)
                    if end is None:
                        break
                    stretches.append(tuple(queue[head - 1 : end]))
                    head = end + 1
                    if len(stretches[-1]) > 1:
                        await work.add(self.fill(self.number(), level, stretches[-1]))
                    if not is_last:
                        break
        return _replaced(stretches, work.results)

    async def boundary(self, window: tuple[Node, ...], level: int, head: int, is_last: bool) -> int | None:
        """The ordinal at which the first stretch ends; None to wait for more."""
        question = Boundary(task=self.task, level=level, queue=window, head=head, is_last=is_last)
        answer = await self.panel.ask(question, BoundaryAnswer)
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
        return self.subtask(identifier, level, members, await self.panel.ask(question, SummaryAnswer))

    async def scored(self, identifier: str, members: tuple[Node, ...]) -> tuple[Node, ...]:
        """The same nodes, with the leaves that had no label labelled."""
        targets = [leaf for leaf in leaves(*members) if leaf.label is None]

        async def score(target: Leaf) -> tuple[str, ScoreAnswer | None]:
            question = Score(task=self.task, subtask=identifier, members=members, target=target)
            return target.id, await self.panel.ask(question, ScoreAnswer)

        answers = dict(await self.panel.together(score(target) for target in targets))
        labels = {key: LabelAnswer(id=key, reasoning=a.reasoning, label=a.label) for key, a in answers.items() if a}
        return tuple(labelled(node, labels) for node in members)

    async def is_top(self, candidates: tuple[Node, ...], level: int, before: int) -> bool:
        question = TopLevel(task=self.task, level=level, candidates=candidates, before=before)
        answer = await self.panel.ask(question, TopLevelAnswer)
        return answer is not None and answer.can_mount_all

    async def label_rest(self, top: tuple[Node, ...]) -> tuple[Node, ...]:
        """Leaves that are still unscored are scored alone."""
        alone = [leaf for leaf in leaves(*top) if leaf.label is None]
        scored = await self.panel.together(self.scored(leaf.id, (leaf,)) for leaf in alone)
        labels = {
            leaf.id: LabelAnswer(id=leaf.id, reasoning=leaf.reason, label=leaf.label)
            for (leaf,) in scored
            if type(leaf) is Leaf and leaf.label is not None
        }
        return tuple(labelled(node, labels) for node in top)


class FastBuilder(Builder):
    """All cuts of a level in one call, labels and summary of a subtask in one call."""

    async def build(self, queue: Sequence[Node]) -> tuple[Node, ...]:
        """The nodes to be mounted below the root."""
        for level in range(1, FAST_ROUNDS + 1):
            if len(queue) < 2:
                break
            ends = await self.cuts(queue, level)
            if ends is None or len(ends) == len(queue):
                break
            queue = await self.level(queue, level, ends)
        return tuple(queue)

    async def cuts(self, queue: Sequence[Node], level: int) -> list[int] | None:
        """The ordinals at which stretches end, the last one included; None if the queue is the top already."""
        # A window is what a model can take in at a time; rules take in any length.
        windows = [(0, len(queue))] if self.panel.is_instant else list(_windows([_tokens(node) for node in queue]))

        async def ask(start: int, end: int) -> CutsAnswer | None:
            view, may_stop = tuple(queue[start:end]), level > 1 and len(windows) == 1
            question = Cuts(task=self.task, level=level, queue=view, head=start + 1, may_stop=may_stop)
            return await self.panel.ask(question, CutsAnswer)

        answers = await self.panel.together(ask(start, end) for start, end in windows)
        if any(answer is None for answer in answers):
            return list(range(1, len(queue) + 1)) if len(windows) == 1 else _joined(windows, answers, len(queue))
        if len(windows) == 1 and level > 1 and answers[0] is not None and answers[0].can_mount_all:
            return None
        return _joined(windows, answers, len(queue))

    async def level(self, queue: Sequence[Node], level: int, ends: list[int]) -> tuple[Node, ...]:
        stretches = [tuple(queue[start:end]) for start, end in pairwise([0, *ends])]
        filled = await self.panel.together(self.fill(self.number(), level, one) for one in stretches if len(one) > 1)
        return _replaced(stretches, filled)

    async def fill(self, identifier: str, level: int, members: tuple[Node, ...]) -> Subtask:
        targets = tuple([leaf.id for leaf in leaves(*members) if leaf.label is None])
        question = Digest(task=self.task, subtask=identifier, level=level, members=members, targets=targets)
        answer = await self.panel.ask(question, DigestAnswer)
        if answer is not None:
            allowed = frozenset(targets)
            labels = {label.id: label for label in answer.labels if label.id in allowed}
            members = tuple([labelled(node, labels) for node in members])
        return self.subtask(identifier, level, members, answer)

    async def label_rest(self, top: tuple[Node, ...]) -> tuple[Node, ...]:
        """Leaves that are still unscored, in batches."""
        alone = [leaf for leaf in leaves(*top) if leaf.label is None]

        async def ask(batch: tuple[Leaf, ...]) -> LabelsAnswer | None:
            return await self.panel.ask(Labels(task=self.task, targets=batch), LabelsAnswer)

        labels: dict[str, LabelAnswer] = {}
        batches = list(_batches(alone))
        for batch, answer in zip(batches, await self.panel.together(map(ask, batches)), strict=True):
            allowed = {leaf.id for leaf in batch}
            labels |= {label.id: label for label in (answer.labels if answer else ()) if label.id in allowed}
        return tuple([labelled(node, labels) for node in top])


def labelled[N: Node](node: N, labels: dict[str, LabelAnswer]) -> N:
    """The same node with labels in its leaves."""
    if not labels:
        return node
    if type(node) is Leaf:
        label = labels.get(node.id)
        return node if label is None else msgspec.structs.replace(node, label=label.label, reason=label.reasoning)
    return msgspec.structs.replace(node, children=tuple(labelled(child, labels) for child in node.children))


def _replaced(stretches: list[tuple[Node, ...]], filled: Sequence[Subtask]) -> tuple[Node, ...]:
    """The next level's queue: a subtask in the place of each stretch, in order; a node that is alone stays."""
    subtasks = iter(filled)
    return tuple(node if len(rest) == 0 else next(subtasks) for node, *rest in stretches)


def _tokens(node: Node) -> int:
    """What a node costs in a queue's view, about: a leaf shows its action, a subtask its title and summary."""
    if type(node) is Leaf:
        step = node.step
        size = len(step.message) + sum(len(str(value)) for call in step.calls for value in call.arguments.values())
        return min(size, 2000) // 4 + 12
    summary = node.summary if type(node) is Subtask else node.working_path
    return min(len(node.title) + len(summary), 2000) // 4 + 12


def _windows(tokens: list[int]) -> Iterator[tuple[int, int]]:
    """Stretches of the queue that fit a call, each beginning a little before the last one ended."""
    start = 0
    while True:
        end, total = start, 0
        while end < len(tokens) and (total + tokens[end] <= WINDOW or end < start + OVERLAP + 1):
            total += tokens[end]
            end += 1
        yield start, end
        if end >= len(tokens):
            return
        start = max(end - OVERLAP, start + 1)


def _joined(windows: list[tuple[int, int]], answers: Sequence[CutsAnswer | None], count: int) -> list[int]:
    """One list of ends. Where windows overlap, each speaks for its half of what they share; an unusable one says
    nothing."""
    ends: set[int] = {count}
    for number, ((start, end), answer) in enumerate(zip(windows, answers, strict=True)):
        if answer is None:
            continue
        first = start if number == 0 else (start + windows[number - 1][1]) // 2
        last = end if number == len(windows) - 1 else (end + windows[number + 1][0]) // 2
        clamped = (max(start + 1, min(ordinal, end)) for ordinal in answer.ends)
        # An end at the very edge of a window is where the view ended, not where a stretch did.
        ends |= {ordinal for ordinal in clamped if first < ordinal <= last and (ordinal < end or end == count)}
    return sorted(ends)


def _batches(alone: list[Leaf]) -> Iterator[tuple[Leaf, ...]]:
    batch: list[Leaf] = []
    total = 0
    for leaf in alone:
        size = _tokens(leaf) + 300
        if batch and total + size > BATCH:
            yield tuple(batch)
            batch, total = [], 0
        batch.append(leaf)
        total += size
    if batch:
        yield tuple(batch)
