"""Drafts made at random from a seed: right ones, and ones with damage in every kind of piece."""

from __future__ import annotations

import random

from dense.draft import (
    GroupDraft,
    IssueDraft,
    LeafDraft,
    PartDraft,
    SubtaskDraft,
    TreeDraft,
    VerdictDraft,
    leaf_reference,
)
from dense.facets import Artifact, Facets


class DraftMaker:
    """Makes one draft. With `damage` above 0, so many of its pieces are wrong."""

    def __init__(self, count: int, seed: int, damage: float = 0.0) -> None:
        self.count, self.damage = count, damage
        self.chance = random.Random(f"{count} {seed} {damage}")
        self.keys = 0
        self.open: dict[str, int] = {}
        """The open issues so far, with the last action that shows each."""

    def draft(self) -> TreeDraft:
        queue: list[PartDraft] = [LeafDraft(n, self.chance.choice((None, 0, -1))) for n in range(1, self.count + 1)]
        for level in range(1, self.chance.randint(1, 4)):
            queue = self.level(queue, level)
        return TreeDraft(self.subtask(0, queue))

    def level(self, queue: list[PartDraft], level: int) -> list[PartDraft]:
        grown: list[PartDraft] = []
        while queue:
            size = self.chance.choice((1, 1, 2, 3, 5))
            some, queue = queue[:size], queue[size:]
            grown += [self.subtask(level, some)] if len(some) > 1 else some
        return grown

    def subtask(self, level: int, children: list[PartDraft]) -> SubtaskDraft:
        groups = self.groups(children)
        return SubtaskDraft(
            self.chance.choice((0, 1, 9)) if self.is_wrong() else level,
            tuple(self.disordered(children)),
            self.chance.choice(("a title", "", " ")),
            self.chance.choice(("a summary", "")),
            Facets(artifacts=(Artifact("a.txt"),)),
            groups,
            self.verdict(children),
            self.key("part"),
        )

    def disordered(self, children: list[PartDraft]) -> list[PartDraft]:
        """The children with one missing, twice, invented or in the wrong place."""
        if not self.is_wrong():
            return children
        place = self.chance.randrange(len(children))
        one, rest = children[place], children[:place] + children[place + 1 :]
        return self.chance.choice(
            (
                rest,
                [*children, one],
                [one, *rest],
                [*children, LeafDraft(self.count + 7)],
                [LeafDraft(0), *children],
                [],
            )
        )

    def groups(self, children: list[PartDraft]) -> tuple[GroupDraft, ...]:
        found: list[GroupDraft] = []
        place = 0
        while place < len(children) - 1:
            size = self.chance.choice((1, 1, 2, 3))
            some = children[place : place + size]
            place += size
            if len(some) < 2:
                continue
            first, last = _actions(some)[0], _actions(some)[-1]
            if self.is_wrong():
                first, last = self.chance.choice(((first, first), (first, last + 1), (last, first), (0, 99), (1, 1)))
            key = self.key("group")
            issue = IssueDraft("left open", key=f"issue of {key}") if self.chance.random() < 0.3 else None
            if issue is not None:
                self.open[issue.key] = _actions(some)[-1]
            found.append(
                GroupDraft(first, last, "tried", "failed", "worked", "partial", issue, self.some(some), key=key)
            )
        return tuple(found)

    def verdict(self, children: list[PartDraft]) -> VerdictDraft:
        actions = _actions(children)
        later = [key for key, shown in self.open.items() if actions[0] <= shown < actions[-1]]
        resolved = {key: (leaf_reference(actions[-1]),) for key in later if self.chance.random() < 0.5}
        if self.is_wrong():
            resolved |= self.chance.choice(
                ({"nobody": ("n0",)}, dict.fromkeys(later, ("n0",)), dict.fromkeys(later, ()))
            )
        for key in resolved:
            self.open.pop(key, None)
        issues: list[IssueDraft] = []
        for severity in ("serious", "fatal"):
            if self.chance.random() < 0.3:
                issue = IssueDraft(
                    " " if self.is_wrong() else "wrong", self.some(children), severity, key=self.key("issue")
                )
                self.open[issue.key] = actions[-1]
                issues.append(issue)
        return VerdictDraft(
            self.chance.choice(("coherent", "inconsistent", "insufficient_evidence")),
            self.chance.choice(("complete", "incomplete", "failed", "unknown")),
            self.chance.choice(("what came of it", "")),
            tuple(issues),
            resolved,
            self.some([child for child in children if isinstance(child, LeafDraft)]),
        )

    def some(self, parts: list[PartDraft]) -> tuple[str, ...]:
        """References to one or two of these parts."""
        known = [leaf_reference(part.action) if isinstance(part, LeafDraft) else part.key for part in parts]
        found = self.chance.sample(known, min(len(known), 2))
        if self.is_wrong():
            found.append(self.chance.choice(("n999", "shortcut_0", "issue_0", "", "n0", f"n{self.count}")))
        return tuple(found)

    def is_wrong(self) -> bool:
        return self.chance.random() < self.damage

    def key(self, kind: str) -> str:
        self.keys += 1
        return f"{kind} {self.keys}"


def _actions(parts: list[PartDraft]) -> list[int]:
    found: list[int] = []
    for part in parts:
        found += [part.action] if isinstance(part, LeafDraft) else _actions(list(part.children))
    return found or [1]
