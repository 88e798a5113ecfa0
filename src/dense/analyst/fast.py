"""The profile `fast`: all cuts of a level, all labels and the summary of a subtask, and its compression and
reconciliation, each in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from dense.analyst.answers import BadAnswer
from dense.analyst.asker import together
from dense.analyst.assembly import Assembly
from dense.analyst.profile import Builder, ProfileAnalyst, group_drafts, labelled, replaced, verdict_draft
from dense.analyst.questions.fast import (
    Cuts,
    CutsAnswer,
    Digest,
    DigestAnswer,
    LabelAnswer,
    Labels,
    LabelsAnswer,
    Settlement,
    SettlementAnswer,
)
from dense.analyst.questions.paper import Group
from dense.analyst.validate import require, valid_groups, valid_verdict
from dense.draft import GroupDraft, VerdictDraft
from dense.trajectory import Task
from dense.tree import Leaf, Node, Subtask, leaves

MAX_ROUNDS = 3
"""How many levels there may be: each costs a round trip, and all cuts of a level are named at once."""
WINDOW_TOKENS = 60_000
"""How many tokens of a queue one call sees."""
OVERLAP_NODES = 12
"""How many nodes two such windows share."""
BATCH_TOKENS = 12_000
"""How many tokens of lone actions are labelled in one call."""


class FastAnalyst(ProfileAnalyst):
    """Draws the judgements of the paper together into four kinds of question."""

    name = "fast"

    def builder(self, task: Task | None, count: int) -> Builder:
        return FastBuilder(self.asker, task, count)

    async def settle(self, parents: list[Subtask], task: Task | None, assembly: Assembly) -> list[Subtask]:
        """Compression and reconciliation in one call. If one half of the reply stays unusable, the other counts."""

        async def ask(parent: Subtask) -> tuple[list[GroupDraft], VerdictDraft]:
            known, keys = assembly.known(parent), assembly.key_actions(parent)
            groups, verdict = list[GroupDraft](), VerdictDraft()

            def check(answer: SettlementAnswer) -> None:
                nonlocal groups, verdict
                groups, verdict = [], VerdictDraft()
                problems: list[str] = []
                if len(parent.children) > 1 and answer.groups:
                    try:
                        found, wrong = valid_groups(group_drafts(completed(answer.groups, parent), parent), known)
                        groups = [] if wrong else found
                        problems += wrong
                    except BadAnswer as error:
                        problems.append(str(error))
                found, wrong = valid_verdict(verdict_draft(answer.verdict), known)
                verdict = VerdictDraft() if wrong else found
                require([*problems, *wrong])

            issues = tuple(known.inherited.values())
            question = Settlement(task=task, parent=parent, issues=issues, key_actions=keys)
            await self.asker.ask(question, SettlementAnswer, check, tries=2)
            return groups, verdict

        answers = await together(ask(parent) for parent in parents)
        compressed = [assembly.compressed(parent, groups) for parent, (groups, _) in zip(parents, answers, strict=True)]
        return [assembly.reconciled(parent, verdict) for parent, (_, verdict) in zip(compressed, answers, strict=True)]


def completed(groups: Sequence[Group], parent: Subtask) -> list[Group]:
    """The groups in the order of the children; each child that none of them names is kept."""
    order = {child.id: place for place, child in enumerate(parent.children)}
    named = {source for group in groups for source in group.source_node_ids}
    kept = [Group(mode="keep", source_node_ids=[child]) for child in order if child not in named]
    return sorted([*groups, *kept], key=lambda group: order.get(next(iter(group.source_node_ids), ""), len(order)))


class FastBuilder(Builder):
    """All cuts of a level in one call, labels and summary of a subtask in one call."""

    async def build(self, queue: Sequence[Node]) -> tuple[Node, ...]:
        for level in range(1, MAX_ROUNDS + 1):
            if len(queue) < 2:
                break
            ends = await self.cuts(queue, level)
            if ends is None or len(ends) == len(queue):
                break
            queue = await self.level(queue, level, ends)
        return tuple(queue)

    async def cuts(self, queue: Sequence[Node], level: int) -> list[int] | None:
        """The ordinals at which stretches end, the last one included; None if the queue is the top already."""
        windows = list(_windows([_tokens(node) for node in queue]))
        is_whole = len(windows) == 1

        async def ask(start: int, end: int) -> CutsAnswer | None:
            view, may_stop = tuple(queue[start:end]), level > 1 and is_whole
            question = Cuts(task=self.task, level=level, queue=view, head=start + 1, may_stop=may_stop)
            return await self.asker.ask(question, CutsAnswer)

        answers = await together(ask(start, end) for start, end in windows)
        first = answers[0]
        if is_whole and first is None:
            return list(range(1, len(queue) + 1))
        if is_whole and level > 1 and first is not None and first.can_mount_all:
            return None
        return _joined(windows, answers, len(queue))

    async def level(self, queue: Sequence[Node], level: int, ends: list[int]) -> tuple[Node, ...]:
        stretches = [tuple(queue[start:end]) for start, end in pairwise([0, *ends])]
        filled = await together([self.fill(self.number(), level, one) for one in stretches if len(one) > 1])
        return replaced(stretches, filled)

    async def fill(self, identifier: str, level: int, members: tuple[Node, ...]) -> Subtask:
        targets = tuple([leaf.id for leaf in leaves(*members) if leaf.label is None])
        question = Digest(task=self.task, subtask=identifier, level=level, members=members, targets=targets)
        answer = await self.asker.ask(question, DigestAnswer)
        if answer is not None:
            labels = {label.id: label for label in answer.labels if label.id in targets}
            members = tuple([labelled(node, labels) for node in members])
        return self.subtask(identifier, level, members, answer)

    async def label_rest(self, top: tuple[Node, ...]) -> tuple[Node, ...]:
        """Leaves that are still unscored are labelled in batches."""

        async def ask(batch: tuple[Leaf, ...]) -> list[LabelAnswer]:
            answer = await self.asker.ask(Labels(task=self.task, targets=batch), LabelsAnswer)
            allowed = {leaf.id for leaf in batch}
            return [label for label in answer.labels if label.id in allowed] if answer is not None else []

        alone = [leaf for leaf in leaves(*top) if leaf.label is None]
        found = await together(map(ask, _batches(alone)))
        labels = {label.id: label for some in found for label in some}
        return tuple([labelled(node, labels) for node in top])


def _tokens(node: Node) -> int:
    """What a node costs in a queue's view, about: a leaf shows its action, a subtask its title and summary."""
    if isinstance(node, Leaf):
        step = node.step
        size = len(step.message) + sum(len(str(value)) for call in step.calls for value in call.arguments.values())
        return min(size, 2000) // 4 + 12
    summary = node.summary if isinstance(node, Subtask) else node.working_path
    return min(len(node.title) + len(summary), 2000) // 4 + 12


def _windows(tokens: list[int]) -> Iterator[tuple[int, int]]:
    """Stretches of the queue that fit a call, each beginning a little before the last one ended."""
    start = 0
    while True:
        end, total = start, 0
        while end < len(tokens) and (total + tokens[end] <= WINDOW_TOKENS or end < start + OVERLAP_NODES + 1):
            total += tokens[end]
            end += 1
        yield start, end
        if end >= len(tokens):
            return
        start = max(end - OVERLAP_NODES, start + 1)


def _joined(windows: list[tuple[int, int]], answers: Sequence[CutsAnswer | None], count: int) -> list[int]:
    """One list of ends. Where windows overlap, each counts for its half of what they share; an unusable one does not
    count."""
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
        if batch and total + size > BATCH_TOKENS:
            yield tuple(batch)
            batch, total = [], 0
        batch.append(leaf)
        total += size
    if batch:
        yield tuple(batch)
