"""Accept an analyst's draft: coverage, references, later evidence, numbers, states.

Whatever a draft holds, the trees that come out are sound: every action is there exactly once and in order, every
reference is known, every resolution has later evidence, every state follows from the four-way rule. A piece that is not
valid is dropped alone, with a note, and the paper's fallback takes its place: children stay as they are, a subtask gets
a title and a summary of its own actions, a verdict `insufficient_evidence` and `unknown`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct

from dense.analysis.actions.action import Actions
from dense.analysis.analyst import Analysis
from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.trees.assembly import Assembly, Retention, by_height, with_children
from dense.analysis.trees.fallback_text import fallback_summary, fallback_title, task_title
from dense.analysis.trees.validate import valid_groups, valid_verdict
from dense.draft import GroupDraft, LeafDraft, PartDraft, SubtaskDraft, TreeDraft, VerdictDraft
from dense.trajectory import Trajectory
from dense.tree import (
    Leaf,
    NextStep,
    Node,
    Product,
    ReconciledTree,
    RequirementStatus,
    SourceTree,
    Subtask,
    leaves,
)


class Accepted(Struct, frozen=True):
    """The trees that came of a draft."""

    source: SourceTree
    """The dense source tree."""
    reconciled: ReconciledTree
    """The shortcut tree with verdicts and issues, and what of the draft was dropped."""
    assessment: TraceAssessment
    """What the trace shows by itself: the evidence of the analysis, or for a model's, which has none, that of the rules
    if anybody asks for it."""


def accept(trajectory: Trajectory, analysis: Analysis, redacted: str = "") -> Accepted:
    """The trees of an analysis. The same draft of the same trajectory gives the same trees.

    `redacted` says in words what was taken out of the trajectory before the analyst saw it."""
    draft, assessment = analysis.draft, analysis.assessment or TraceAssessment(trajectory)
    problems: list[str] = []
    whole = _Coverage(len(trajectory.steps), problems).covered(draft.root)
    names = _identifiers(whole, len(trajectory.steps))
    root = _source(whole, trajectory, names)
    pieces = {names[id(piece)]: piece for piece in _subtasks(whole)}
    acceptance = _Acceptance(pieces, root, assessment.actions, problems)
    reconciled = acceptance.reconciled(root)
    issues = tuple(acceptance.assembly.issues.values())
    requirements, next_steps, products = _overview(draft, len(trajectory.steps), problems)
    return Accepted(
        SourceTree(trajectory.id, trajectory.task, root),
        ReconciledTree(
            trajectory=trajectory.id,
            task=trajectory.task,
            root=reconciled,
            issues=issues,
            redacted=redacted,
            problems=tuple(problems),
            requirements=requirements,
            next_steps=next_steps,
            products=products,
            last_checks=tuple(check for check in draft.last_checks if 1 <= check.action <= len(trajectory.steps)),
            remarks=draft.remarks,
        ),
        assessment,
    )


def _overview(
    draft: TreeDraft, count: int, problems: list[str]
) -> tuple[tuple[RequirementStatus, ...], tuple[NextStep, ...], tuple[Product, ...]]:
    """Requirements, next steps and products that refer to actions of the trajectory. A requirement that is met by no
    action is unchecked, a step that rests on none is untested."""
    names = {f"a{number}" for number in range(1, count + 1)}

    def known(evidence: Iterable[str], place: str) -> tuple[str, ...]:
        if unknown := [name for name in evidence if name not in names]:
            problems.append(f"{place}: no such action: {', '.join(unknown)}")
        return tuple(name for name in evidence if name in names)

    requirements = [msgspec.structs.replace(one, evidence=known(one.evidence, one.text)) for one in draft.requirements]
    steps = [msgspec.structs.replace(one, evidence=known(one.evidence, one.text)) for one in draft.next_steps]
    products = [one for one in draft.products if 1 <= one.action <= count]
    return (
        tuple(
            msgspec.structs.replace(one, met="unchecked") if one.met == "yes" and not one.evidence else one
            for one in requirements
            if one.text.strip()
        ),
        tuple(
            msgspec.structs.replace(one, is_untested=one.is_untested or not one.evidence)
            for one in steps
            if one.text.strip()
        ),
        tuple(
            one if one.check is None or one.action <= one.check <= count else msgspec.structs.replace(one, check=None)
            for one in products
        ),
    )


# Coverage and numbering


class _Coverage:
    """Makes every action appear exactly once and in order."""

    def __init__(self, count: int, problems: list[str]) -> None:
        self._count, self._problems = count, problems
        self._next = 1

    def covered(self, root: SubtaskDraft) -> SubtaskDraft:
        children = [*self._children(root), *self._missing(self._count + 1)]
        return msgspec.structs.replace(root, children=tuple(children), level=0)

    def _children(self, parent: SubtaskDraft) -> Iterator[PartDraft]:
        for child in parent.children:
            actions = [child.action] if isinstance(child, LeafDraft) else _actions(child)
            first = next((action for action in actions if self._next <= action <= self._count), None)
            if first is None:
                self._problems.append(f"{_name(child)}: its actions do not exist or are elsewhere already")
                continue
            yield from self._missing(first)
            if isinstance(child, LeafDraft):
                self._next += 1
                yield child
            else:
                inner = tuple(self._children(child))
                level = max([child.level, 1, *(one.level + 1 for one in inner if isinstance(one, SubtaskDraft))])
                yield msgspec.structs.replace(child, children=inner, level=level)

    def _missing(self, end: int) -> Iterator[LeafDraft]:
        """The actions before `end` that the draft left out, as leaves of their own."""
        if self._next < end:
            self._problems.append(f"a{self._next} to a{end - 1} are in no subtask")
        while self._next < end:
            self._next += 1
            yield LeafDraft(self._next - 1)


def _actions(draft: SubtaskDraft) -> Iterator[int]:
    for child in draft.children:
        if isinstance(child, LeafDraft):
            yield child.action
        else:
            yield from _actions(child)


def _name(piece: PartDraft) -> str:
    return f"a{piece.action}" if isinstance(piece, LeafDraft) else f"subtask {piece.key or piece.title!r}"


def _subtasks(draft: SubtaskDraft) -> Iterator[SubtaskDraft]:
    yield draft
    for child in draft.children:
        if isinstance(child, SubtaskDraft):
            yield from _subtasks(child)


def _identifiers(root: SubtaskDraft, count: int) -> dict[int, str]:
    """The identifier of each subtask, by identity: the root's, then by level and in the order of the trajectory."""
    _, *rest = _subtasks(root)
    rest.sort(key=lambda piece: (piece.level, piece.first))
    return {id(piece): f"n{count + number}" for number, piece in enumerate([root, *rest])}


def _source(piece: SubtaskDraft, trajectory: Trajectory, names: Mapping[int, str]) -> Subtask:
    children: list[Node] = []
    for child in piece.children:
        if isinstance(child, LeafDraft):
            number, step = child.action, trajectory.steps[child.action - 1]
            children.append(Leaf(f"n{number - 1}", number, step, child.label, child.reason))
        else:
            children.append(_source(child, trajectory, names))
    is_root = piece.level == 0
    title = piece.title.strip() and piece.title
    summary = piece.summary.strip() and piece.summary
    return Subtask(
        id=names[id(piece)],
        level=piece.level,
        title=title or (task_title(trajectory.task) if is_root else fallback_title(children)),
        summary=summary or ("" if is_root else fallback_summary(children)),
        children=tuple(children),
        facets=piece.facets,
    )


# Shortcuts, verdicts, issues


class _Acceptance:
    """Puts the valid pieces of a draft onto the source tree, bottom-up, with identifiers in the place of keys."""

    def __init__(
        self, pieces: Mapping[str, SubtaskDraft], root: Subtask, actions: Actions, problems: list[str]
    ) -> None:
        self.assembly = Assembly(Retention(leaves(root), actions))
        self._pieces, self._problems = pieces, problems
        self._nodes = {piece.key: name for name, piece in pieces.items() if piece.key}
        self._nodes |= {leaf.id: leaf.id for leaf in leaves(root)}

    def reconciled(self, root: Subtask) -> Subtask:
        done: dict[str, Subtask] = {}
        for parents in by_height(root):
            ready = [with_children(parent, done) for parent in parents]
            compressed = [self._compressed(parent) for parent in ready]
            done |= {before.id: self._judged(before, after) for before, after in zip(ready, compressed, strict=True)}
        return done[root.id]

    def _compressed(self, parent: Subtask) -> Subtask:
        given = [self._translated_group(group) for group in self._pieces[parent.id].groups]
        if not given:
            return parent
        groups, problems = valid_groups(given, self.assembly.known(parent))
        self._note(parent, problems)
        return self.assembly.compressed(parent, groups)

    def _judged(self, parent: Subtask, compressed: Subtask) -> Subtask:
        """The verdict of a parent. A child that a shortcut hides may still be named as a key action."""
        known = self.assembly.known(compressed)
        retained = known.retained | self.assembly.known(parent).retained if compressed is not parent else known.retained
        verdict = self._translated_verdict(self._pieces[parent.id].verdict)
        verdict, problems = valid_verdict(verdict, msgspec.structs.replace(known, retained=retained))
        self._note(parent, problems)
        return self.assembly.reconciled(compressed, verdict)

    def _translated_group(self, group: GroupDraft) -> GroupDraft:
        return msgspec.structs.replace(
            group, evidence=self._translated(group.evidence), key_actions=self._translated(group.key_actions)
        )

    def _translated_verdict(self, verdict: VerdictDraft) -> VerdictDraft:
        names = self.assembly.issue_names
        issues = [
            msgspec.structs.replace(
                one,
                evidence=self._translated(one.evidence),
                resolution=self._translated(one.resolution),
                restates=names.get(one.restates, f"?{one.restates}") if one.restates else "",
            )
            for one in verdict.issues
        ]
        resolved = {names.get(key, f"?{key}"): self._translated(found) for key, found in verdict.resolved.items()}
        keys = self._translated(verdict.key_actions)
        return msgspec.structs.replace(verdict, issues=tuple(issues), resolved=resolved, key_actions=keys)

    def _translated(self, references: Iterable[str]) -> tuple[str, ...]:
        """Identifiers in the place of keys; an unknown one is marked, for validation to find."""
        names = self._nodes, self.assembly.shortcut_names
        return tuple([next((by[one] for by in names if one in by), f"?{one}") for one in references])

    def _note(self, parent: Subtask, problems: Iterable[str]) -> None:
        self._problems += [f"{parent.id}: {problem}" for problem in problems]
