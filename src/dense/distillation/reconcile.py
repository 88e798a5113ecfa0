"""From the source tree to the shortcut tree with verdicts, bottom-up (paper, algorithm 3).

Subtasks of one height do not depend on each other: their calls run together, and a height is complete before the next
one reads it. Shortcuts and issues are numbered when a height is complete, in the order of the trajectory, so no
identifier depends on which reply came first."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import msgspec

from dense.analyst.answers import BadAnswer, CompressionAnswer, Group, ReconciliationAnswer, SettlementAnswer
from dense.analyst.questions import Compression, Reconciliation, Settlement
from dense.distillation.panel import Panel
from dense.distillation.retained import Reach, Retention
from dense.distillation.state import state_of
from dense.distillation.validate import Known, check_groups, check_verdict, completed
from dense.distillation.words import own_summary
from dense.trajectory import Task
from dense.tree import NONE, Issue, Leaf, Node, Shortcut, Subtask, Verdict

UNKNOWN = ReconciliationAnswer(coherence="insufficient_evidence", completion="unknown")
"""The verdict where no reply could be used."""


class Reconciler(ABC):
    """What both profiles share: numbering, compiling groups, attaching verdicts."""

    def __init__(self, panel: Panel, task: Task | None, retention: Retention) -> None:
        self.panel, self.task, self.retention = panel, task, retention
        self.shortcuts = 0
        self.issues: dict[str, Issue] = {}
        self.raised: dict[str, list[int]] = {}
        """The numbers of the issues that each node raised."""

    async def reconcile(self, root: Subtask) -> tuple[Subtask, tuple[Issue, ...]]:
        """The reconciled tree and all issues."""
        done: dict[str, Subtask] = {}
        for parents in _by_height(root):
            ready = [_with_children(parent, done) for parent in parents]
            done |= {node.id: node for node in await self.settle(ready)}
        return done[root.id], tuple(self.issues.values())

    @abstractmethod
    async def settle(self, parents: list[Subtask]) -> list[Subtask]:
        """All parents of one height."""

    def inherited(self, reach: Reach) -> tuple[Issue, ...]:
        """The open issues that were raised below a parent, in the order in which they were raised."""
        below, raised = reach.nodes, self.raised
        if not raised:
            return ()
        nodes = [node for node in below if node in raised] if len(below) < len(raised) else [*filter(below.get, raised)]
        numbers = sorted([number for node in nodes for number in raised[node]])
        issues = [self.issues[f"issue_{number}"] for number in numbers]
        return tuple([issue for issue in issues if issue.resolved_at is None])

    def known(self, parent: Subtask) -> tuple[Known, tuple[str, ...]]:
        """What a reply about this parent may refer to, and the actions below it that are kept by rule."""
        reach = self.retention.reach(parent)
        return Known(parent.children, reach.retained, self.inherited(reach), reach.nodes), reach.key_actions

    def compile(self, parent: Subtask, groups: Sequence[Group] | None) -> Subtask:
        """The parent with each shortcut group in the place of its siblings."""
        if not groups:
            return parent
        children = {child.id: child for child in parent.children}
        compiled: list[Node] = []
        for group in groups:
            sources = tuple([children[identifier] for identifier in group.source_node_ids])
            compiled.append(sources[0] if group.mode == "keep" else self.shortcut(group, sources))
        return msgspec.structs.replace(parent, children=tuple(compiled))

    def shortcut(self, group: Group, sources: tuple[Node, ...]) -> Shortcut:
        identifier, self.shortcuts = f"shortcut_{self.shortcuts}", self.shortcuts + 1
        evidence = _each_once(group.evidence_node_ids)
        issue = None
        if _says_something(group.open_issue):
            issue = self.raise_issue(group.open_issue, identifier, evidence, is_fatal=False)
        return Shortcut(
            identifier,
            group.title.strip() or f"attempts {sources[0].id} to {sources[-1].id}",
            sources,
            group.outcome,
            group.dead_end if _says_something(group.dead_end) else "",
            group.working_path if _says_something(group.working_path) else "",
            issue,
            evidence,
            _each_once(group.key_action_ids),
        )

    def raise_issue(self, text: str, raised_at: str, evidence: Sequence[str], *, is_fatal: bool) -> str:
        identifier = f"issue_{len(self.issues)}"
        self.raised.setdefault(raised_at, []).append(len(self.issues))
        self.issues[identifier] = Issue(identifier, text.strip(), raised_at, _each_once(evidence), is_fatal)
        return identifier

    def attach(self, parent: Subtask, answer: ReconciliationAnswer) -> Subtask:
        """The parent with its verdict: its state derived, its issues numbered, what it resolved closed."""
        raised: list[str] = []
        for issues, is_fatal in ((answer.open_issues, False), (answer.fatal_issues, True)):
            for issue in issues:
                raised.append(self.raise_issue(issue.issue, parent.id, issue.evidence_node_ids, is_fatal=is_fatal))
        resolved = _each_once(answer.resolved_issue_ids)
        for identifier in resolved:
            evidence = _each_once(answer.resolution_evidence[identifier])
            closed = msgspec.structs.replace(self.issues[identifier], resolved_at=parent.id, resolution=evidence)
            self.issues[identifier] = closed
        state = state_of(
            answer.coherence,
            answer.completion,
            open_issues=bool(answer.open_issues),
            fatal_issues=bool(answer.fatal_issues),
        )
        keys = _each_once(answer.key_action_ids)
        verdict = Verdict(answer.coherence, answer.completion, state, tuple(raised), resolved, keys)
        summary = answer.summary.strip() or parent.summary or own_summary(parent.children)
        return msgspec.structs.replace(parent, summary=summary, verdict=verdict)


class PaperReconciler(Reconciler):
    """Compression, then reconciliation, a call each and a corrective one where needed."""

    async def settle(self, parents: list[Subtask]) -> list[Subtask]:
        groups = await self.panel.together(self.compress(parent) for parent in parents)
        compressed = [self.compile(parent, found) for parent, found in zip(parents, groups, strict=True)]
        verdicts = await self.panel.together(self.judge(parent) for parent in compressed)
        return [self.attach(parent, verdict) for parent, verdict in zip(compressed, verdicts, strict=True)]

    async def compress(self, parent: Subtask) -> list[Group] | None:
        if len(parent.children) < 2:
            return None
        known, keys = self.known(parent)
        question = Compression(task=self.task, parent=parent, issues=tuple(known.inherited.values()), key_actions=keys)
        answer = await self.panel.ask(question, CompressionAnswer, lambda a: check_groups(a.groups, known), tries=2)
        return answer.groups if answer is not None else None

    async def judge(self, parent: Subtask) -> ReconciliationAnswer:
        known, keys = self.known(parent)
        question = Reconciliation(
            task=self.task, subtree=parent, issues=tuple(known.inherited.values()), key_actions=keys
        )
        answer = await self.panel.ask(question, ReconciliationAnswer, lambda a: check_verdict(a, known), tries=2)
        return answer or UNKNOWN


class FastReconciler(Reconciler):
    """Both in one call. If a part of the reply stays unusable, the other part counts."""

    async def settle(self, parents: list[Subtask]) -> list[Subtask]:
        answers = await self.panel.together(self.ask(parent) for parent in parents)
        compiled = [self.compile(parent, groups) for parent, (groups, _) in zip(parents, answers, strict=True)]
        return [self.attach(parent, verdict) for parent, (_, verdict) in zip(compiled, answers, strict=True)]

    async def ask(self, parent: Subtask) -> tuple[list[Group] | None, ReconciliationAnswer]:
        known, keys = self.known(parent)
        is_single = len(parent.children) < 2
        usable: dict[str, list[Group] | ReconciliationAnswer] = {}

        def check(answer: SettlementAnswer) -> None:
            problems: list[BadAnswer] = []
            usable.clear()
            try:
                groups = completed(answer.groups, known)
                if groups and not is_single:
                    check_groups(groups, known)
                usable["groups"] = groups
            except BadAnswer as problem:
                problems.append(problem)
            try:
                check_verdict(answer.verdict, known)
                usable["verdict"] = answer.verdict
            except BadAnswer as problem:
                problems.append(problem)
            if problems:
                raise BadAnswer("; ".join(map(str, problems)))

        question = Settlement(task=self.task, parent=parent, issues=tuple(known.inherited.values()), key_actions=keys)
        await self.panel.ask(question, SettlementAnswer, check, tries=2)
        groups, verdict = usable.get("groups"), usable.get("verdict")
        return (
            groups if isinstance(groups, list) and not is_single else None,
            verdict if isinstance(verdict, ReconciliationAnswer) else UNKNOWN,
        )


def _says_something(text: str) -> bool:
    return text.strip().lower() not in ("", NONE, "n/a", "-")


def _each_once(identifiers: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(identifiers)) if len(identifiers) > 1 else tuple(identifiers)


def _with_children(parent: Subtask, done: dict[str, Subtask]) -> Subtask:
    if not done:
        return parent
    return msgspec.structs.replace(parent, children=tuple([done.get(child.id, child) for child in parent.children]))


def _by_height(root: Subtask) -> list[list[Subtask]]:
    """The subtasks, lowest first; those of a height in the order of the trajectory."""
    heights: list[list[Subtask]] = []

    def visit(node: Subtask | Shortcut) -> int:
        below = [visit(child) for child in node.children if type(child) is not Leaf]
        height = 1 + max(below) if below else 1
        if type(node) is Subtask:
            while len(heights) < height:
                heights.append([])
            heights[height - 1].append(node)
        return height

    visit(root)
    return heights
