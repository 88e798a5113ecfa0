"""Shortcuts, verdicts and issues put onto a source tree, bottom-up (paper, algorithm 3): the part without questions.

Subtasks of one height do not depend on each other. Shortcuts and issues are numbered when a height is complete, in the
order of the trajectory, so no identifier depends on which reply came first. Both profiles and
`dense.analysis.trees.accept` go through here, so the same pieces get the same identifiers and the same states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import msgspec
from msgspec import Struct

from dense.analysis.actions.action import Actions
from dense.analysis.trees.fallback_text import fallback_summary
from dense.analysis.trees.validate import Known
from dense.draft import GroupDraft, IssueDraft, VerdictDraft
from dense.tree import (
    Coherence,
    Completion,
    Issue,
    Leaf,
    Node,
    Severity,
    Shortcut,
    State,
    Subtask,
    Verdict,
    first_action,
    last_action,
    nodes,
)


class Reach(Struct, frozen=True):
    """What lies below a parent."""

    nodes: Mapping[str, Node]
    """All nodes but the parent itself, by identifier, parents first, in the order of the trajectory."""
    kept: Set[str]
    """The actions that are kept by rule: writes and edits, commands that change files or test, and the last action
    under each parent."""
    retained: Set[str]
    """The actions that its children put forward: a child that is an action itself; of any other child what is kept by
    rule, or was named by an analyst before."""

    @property
    def key_actions(self) -> tuple[str, ...]:
        """What is kept by rule, in order."""
        return tuple([identifier for identifier in self.nodes if identifier in self.kept])


class Retention:
    """Which actions of a trajectory are kept by rule, and which an analyst may name."""

    def __init__(self, all_leaves: Iterable[Leaf], actions: Actions) -> None:
        self.keys = frozenset([leaf.id for leaf in all_leaves if actions.effects(leaf.action).is_key])

    def reach(self, parent: Subtask) -> Reach:
        """What pieces about a parent may refer to."""
        under = nodes(parent)[1:]
        below = {node.id: node for node in under}
        kept = {*self.keys.intersection(below), _last(parent)}
        retained = [child.id for child in parent.children if isinstance(child, Leaf)]
        for node in under:
            if not isinstance(node, Leaf):
                kept.add(_last(node))
                retained += _selected(node)
        return Reach(below, kept, kept.union(retained))


class Assembly:
    """The reconciled tree while it is being made. Pieces that come in are valid already."""

    def __init__(self, retention: Retention) -> None:
        self.issues: dict[str, Issue] = {}
        """All issues so far, by identifier, in the order in which they were raised."""
        self._retention = retention
        self._count = 0
        self.issue_names: dict[str, str] = {}
        """The identifiers of issues, by the keys of their drafts."""
        self.shortcut_names: dict[str, str] = {}
        """The identifiers of shortcuts, by the keys of their drafts."""
        self._raised: dict[str, list[str]] = {}
        """The issues that each node raised."""

    def known(self, parent: Subtask) -> Known:
        """What pieces about this parent may refer to."""
        reach = self._retention.reach(parent)
        return Known(parent.children, reach.nodes, reach.retained, self._inherited(reach))

    def key_actions(self, parent: Subtask) -> tuple[str, ...]:
        """The actions below a parent that are kept by rule."""
        return self._retention.reach(parent).key_actions

    def _inherited(self, reach: Reach) -> dict[str, Issue]:
        """The open issues that were raised below a parent, in the order in which they were raised."""
        raised = [name for node in reach.nodes for name in self._raised.get(node, ())]
        issues = [self.issues[name] for name in sorted(raised, key=_issue_number)]
        return {issue.id: issue for issue in issues if issue.resolved_at is None}

    def compressed(self, parent: Subtask, groups: Sequence[GroupDraft]) -> Subtask:
        """The parent with a shortcut in the place of the children of each group."""
        if not groups:
            return parent
        by_first = {group.first: group for group in groups}
        children: list[Node] = []
        sources: list[Node] = []
        for child in parent.children:
            group = by_first.get(first_action(sources[0] if sources else child))
            if group is None:
                children.append(child)
                continue
            sources.append(child)
            if last_action(child) == group.last:
                children.append(self._shortcut(group, tuple(sources)))
                sources = []
        return msgspec.structs.replace(parent, children=tuple(children))

    def _shortcut(self, group: GroupDraft, sources: tuple[Node, ...]) -> Shortcut:
        identifier, self._count = f"shortcut_{self._count}", self._count + 1
        self.shortcut_names[group.key] = identifier
        issue = group.open_issue
        return Shortcut(
            id=identifier,
            title=group.title.strip() or f"attempts {sources[0].id} to {sources[-1].id}",
            children=sources,
            outcome=group.outcome,
            dead_end=said(group.dead_end),
            working_path=said(group.working_path),
            issue=self._raise(issue, identifier, group.evidence) if issue is not None and said(issue.text) else None,
            evidence=group.evidence,
            key_actions=group.key_actions,
        )

    def _raise(self, issue: IssueDraft, raised_at: str, evidence: tuple[str, ...]) -> str:
        identifier = f"issue_{len(self.issues)}"
        self.issue_names[issue.key] = identifier
        self._raised.setdefault(raised_at, []).append(identifier)
        closed_at = raised_at if issue.resolution else None
        self.issues[identifier] = Issue(
            id=identifier,
            text=issue.text.strip(),
            raised_at=raised_at,
            evidence=evidence,
            severity=issue.severity,
            resolved_at=closed_at,
            resolution=issue.resolution,
            code=issue.code,
            quote=issue.quote,
            names=issue.names,
            claim=issue.claim,
        )
        return identifier

    def reconciled(self, parent: Subtask, verdict: VerdictDraft) -> Subtask:
        """The parent with its verdict: its state derived, its issues numbered, what it resolves closed."""
        own = [issue for issue in verdict.issues if not issue.restates]
        restated = [issue for issue in verdict.issues if issue.restates]
        raised = tuple([self._raise(issue, parent.id, issue.evidence) for issue in own])
        for identifier, evidence in verdict.resolved.items():
            issue = self.issues[identifier]
            self.issues[identifier] = msgspec.structs.replace(issue, resolved_at=parent.id, resolution=evidence)
        severities: set[Severity] = {issue.severity for issue in verdict.issues if not issue.resolution}
        state = state_of(verdict.coherence, verdict.completion, severities)
        resolved = tuple(verdict.resolved)
        found = Verdict(
            coherence=verdict.coherence,
            completion=verdict.completion,
            state=state,
            issues=raised,
            resolved=resolved,
            key_actions=verdict.key_actions,
            restated=tuple(dict.fromkeys(issue.restates for issue in restated)),
            restated_fatal=tuple(dict.fromkeys(issue.restates for issue in restated if issue.severity == "fatal")),
        )
        summary = verdict.summary.strip() or parent.summary or fallback_summary(parent.children)
        return msgspec.structs.replace(parent, summary=summary, verdict=found)


def said(text: str) -> str:
    """A text, or nothing if it says that there is nothing to say."""
    return "" if text.strip().lower() in ("", "none", "n/a", "-") else text


def state_of(coherence: Coherence, completion: Completion, severities: Set[Severity]) -> State:
    """The state of a subtask by the severities of its open issues: the first rule that applies (paper, equation 2). No
    analyst is asked for it, and a doubt changes nothing."""
    if coherence == "inconsistent" or completion == "failed" or "fatal" in severities:
        return "broken"
    if completion == "incomplete" or "serious" in severities:
        return "incomplete"
    if coherence == "insufficient_evidence" or completion == "unknown":
        return "unknown"
    return "complete"


def by_height(root: Subtask) -> list[list[Subtask]]:
    """The subtasks, lowest first; those of one height in the order of the trajectory."""
    heights: list[list[Subtask]] = []

    def visit(node: Subtask) -> int:
        height = 1 + max([visit(child) for child in node.children if isinstance(child, Subtask)], default=0)
        while len(heights) < height:
            heights.append([])
        heights[height - 1].append(node)
        return height

    visit(root)
    return heights


def with_children(parent: Subtask, done: Mapping[str, Subtask]) -> Subtask:
    """The parent with the children that are done in the place of those that were not."""
    return msgspec.structs.replace(parent, children=tuple([done.get(child.id, child) for child in parent.children]))


def _issue_number(name: str) -> int:
    return int(name.removeprefix("issue_"))


def _last(node: Node) -> str:
    while not isinstance(node, Leaf):
        node = node.children[-1]
    return node.id


def _selected(node: Subtask | Shortcut) -> tuple[str, ...]:
    if isinstance(node, Shortcut):
        return node.key_actions
    return node.verdict.key_actions if node.verdict is not None else ()
