"""From checked pieces to a tree draft: subtasks nested, shortcuts on whole siblings, issues where they belong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from dense.analysis.one_call.answer import IssuePiece, NodePiece, Pieces, ShortcutPiece
from dense.draft import (
    Asked,
    GroupDraft,
    IssueDraft,
    LeafDraft,
    SubtaskDraft,
    TreeDraft,
    VerdictDraft,
    leaf_reference,
)
from dense.facets import Artifact, DeadEnd, Facets, KeyValue, Mechanism, Order
from dense.tree import Completion, NextStep, Product, RequirementStatus

ROOT_LEVEL = 0
CODE_SPAN = re.compile(r"`([^`]+)`")


def tree_draft(pieces: Pieces, asked: tuple[Asked, ...] = ()) -> TreeDraft:
    """The draft that the pieces of one answer make."""
    root = _without_lone_part(pieces.root)
    places = _Places(root, pieces)
    return TreeDraft(
        root=places.subtask(root, ROOT_LEVEL),
        asked=asked,
        requirements=tuple(
            RequirementStatus(one.text, one.met, _names(one.by), code_names(one.text)) for one in pieces.requirements
        ),
        next_steps=tuple(NextStep(one.text, _names(one.because), one.is_untested) for one in pieces.next_steps),
        products=tuple(Product(one.path, one.action, one.check) for one in pieces.products),
    )


def code_names(answer: str) -> tuple[str, ...]:
    """What a model puts in backticks: the files, commands and values that its answer is about."""
    return tuple(CODE_SPAN.findall(answer))


def _names(actions: Iterable[int]) -> tuple[str, ...]:
    return tuple(f"a{number}" for number in actions)


def _without_lone_part(root: NodePiece) -> NodePiece:
    """A single subtask over everything is the root itself: its parts become the root's."""
    if len(root.parts) != 1:
        return root
    (only,) = root.parts
    return replace(
        root,
        parts=only.parts,
        summary=root.summary or only.summary,
        mechanisms=only.mechanisms,
        order=only.order,
        values=only.values,
    )


class _Places:
    """Puts each shortcut, issue and key action at the node that it belongs to."""

    def __init__(self, root: NodePiece, pieces: Pieces) -> None:
        self._pieces = pieces
        self._labels = {one.action: one for one in pieces.labels}
        self._raised: dict[int, list[int]] = {}
        """The issues that each node raises, by the node's identity and the issue's number."""
        self._resolved: dict[int, list[int]] = {}
        self._shortcuts: dict[int, list[ShortcutPiece]] = {}
        self._dead_ends: dict[int, list[DeadEnd]] = {}
        self._keys: dict[int, list[int]] = {}
        for number, issue in enumerate(pieces.issues):
            raised_at = _smallest(root, issue.evidence)
            self._raised.setdefault(id(raised_at), []).append(number)
            closed_at = _smallest(root, (*issue.evidence, *issue.fixed_by))
            if issue.fixed_by and closed_at is not raised_at:
                self._resolved.setdefault(id(closed_at), []).append(number)
        for shortcut in pieces.shortcuts:
            self._place_shortcut(root, shortcut)
        for action in pieces.key_actions:
            self._keys.setdefault(id(_smallest(root, (action,))), []).append(action)

    def _place_shortcut(self, root: NodePiece, piece: ShortcutPiece) -> None:
        """At the smallest node that holds it, widened to whole children; a single child keeps it as a dead end."""
        node = _smallest(root, (piece.first, piece.last))
        first, last = _widened(node, piece.first, piece.last)
        taken = self._shortcuts.setdefault(id(node), [])
        is_free = all(last < other.first or other.last < first for other in taken)
        if is_free and _count(node, first, last) > 1:
            taken.append(ShortcutPiece(first, last, piece.dead_end, piece.working_path, piece.outcome))
            return
        self._dead_ends.setdefault(id(node), []).append(
            DeadEnd(
                kind="tries",
                tried=piece.dead_end,
                instead=piece.working_path,
                first=piece.first,
                last=piece.last,
                outcome=piece.outcome,
            )
        )

    def subtask(self, node: NodePiece, level: int) -> SubtaskDraft:
        """The node and everything below it."""
        height = _height(node)
        children = (
            tuple(self.subtask(part, _height(part)) for part in node.parts)
            if node.parts
            else tuple(self._leaf(action) for action in range(node.first, node.last + 1))
        )
        return SubtaskDraft(
            level=level if level == ROOT_LEVEL else height,
            children=children,
            title=node.title,
            summary=node.summary,
            facets=self._facets(node),
            groups=tuple(
                GroupDraft(
                    first=one.first,
                    last=one.last,
                    title=f"a{one.first} to a{one.last}",
                    dead_end=one.dead_end,
                    working_path=one.working_path,
                    outcome=one.outcome,
                    evidence=(leaf_reference(one.first), leaf_reference(one.last)),
                )
                for one in sorted(self._shortcuts.get(id(node), []), key=lambda one: one.first)
            ),
            verdict=self._verdict(node),
        )

    def _leaf(self, action: int) -> LeafDraft:
        label = self._labels.get(action)
        return LeafDraft(action, label.label, label.why) if label is not None else LeafDraft(action, 0)

    def _facets(self, node: NodePiece) -> Facets:
        products = [one for one in self._pieces.products if node.first <= one.action <= node.last and not node.parts]
        return Facets(
            artifacts=tuple([Artifact(product.path, action=product.action) for product in products]),
            key_values=tuple(
                [KeyValue(value.text, check=value.check, is_claim=value.check is None) for value in node.values]
            ),
            key_mechanisms=tuple(map(Mechanism, node.mechanisms)),
            critical_order=tuple(map(Order, node.order)),
            dead_ends=tuple(self._dead_ends.get(id(node), [])),
        )

    def _verdict(self, node: NodePiece) -> VerdictDraft:
        raised = sorted(
            self._raised.get(id(node), []), key=lambda number: self._pieces.issues[number].severity == "fatal"
        )
        return VerdictDraft(
            coherence=node.coherence,
            completion=self._completion(node),
            summary=node.summary,
            issues=tuple(self._issue(number) for number in raised),
            resolved={
                f"i{number}": _leaves(self._pieces.issues[number].fixed_by)
                for number in self._resolved.get(id(node), [])
            },
            key_actions=_leaves(self._keys.get(id(node), [])),
        )

    def _completion(self, node: NodePiece) -> Completion:
        """The verdict, lowered if an issue whose evidence lies in the node is still open at its end."""
        still_open = [
            issue
            for issue in self._pieces.issues
            if node.first <= min(issue.evidence)
            and max(issue.evidence) <= node.last
            and not any(node.first <= action <= node.last for action in issue.fixed_by)
        ]
        if any(issue.severity == "fatal" for issue in still_open):
            return "failed"
        return "incomplete" if still_open and node.completion == "complete" else node.completion

    def _issue(self, number: int) -> IssueDraft:
        issue: IssuePiece = self._pieces.issues[number]
        elsewhere = any(number in numbers for numbers in self._resolved.values())
        return IssueDraft(
            text=issue.text,
            evidence=_leaves(issue.evidence),
            severity=issue.severity,
            key=f"i{number}",
            quote=issue.quote,
            names=code_names(issue.text),
            resolution=() if elsewhere else _leaves(issue.fixed_by),
        )


def _leaves(actions: Iterable[int]) -> tuple[str, ...]:
    return tuple(leaf_reference(action) for action in actions)


def _smallest(root: NodePiece, actions: Sequence[int]) -> NodePiece:
    """The smallest node that holds all of these actions."""
    first, last = min(actions), max(actions)
    node = root
    while True:
        inner = next((part for part in node.parts if part.first <= first and last <= part.last), None)
        if inner is None:
            return node
        node = inner


def _widened(node: NodePiece, first: int, last: int) -> tuple[int, int]:
    """The range, widened to whole parts of the node."""
    touched = [part for part in node.parts if part.first <= last and first <= part.last]
    return (touched[0].first, touched[-1].last) if touched else (first, last)


def _count(node: NodePiece, first: int, last: int) -> int:
    """How many children of the node a range covers."""
    if not node.parts:
        return last - first + 1
    return sum(first <= part.first and part.last <= last for part in node.parts)


def _height(node: NodePiece) -> int:
    return 1 + max((_height(part) for part in node.parts), default=0)
