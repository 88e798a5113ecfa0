"""The checks on compression and reconciliation (paper, table "Deterministic checks"). Each raises `BadAnswer` with the
reason."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set

from dense.analyst.answers import BadAnswer, Group, IssueAnswer, ReconciliationAnswer
from dense.tree import Issue, Node, last_action, nodes


class Known:
    """What a reply about a subtree may refer to."""

    def __init__(
        self,
        children: Sequence[Node],
        retained: Set[str],
        inherited: Iterable[Issue] = (),
        below: Mapping[str, Node] | None = None,
    ) -> None:
        """`below` are the nodes at and below the children, where somebody has looked already."""
        self.children = [child.id for child in children]
        self.nodes = {node.id: node for child in children for node in nodes(child)} if below is None else below
        self.retained = retained
        self.inherited = {issue.id: issue for issue in inherited}

    def below(self, sources: Sequence[str]) -> set[str]:
        """The identifiers at and below some of the children."""
        return {node.id for source in sources for node in nodes(self.nodes[source])}

    def position(self, identifiers: Iterable[str]) -> int:
        """The number of the latest action that these nodes reach to; 0 for none."""
        return max((last_action(self.nodes[i]) for i in identifiers if i in self.nodes), default=0)


def completed(groups: Sequence[Group], known: Known) -> list[Group]:
    """The groups in the order of the children, with those children that none of them names, each kept; without any
    there is nothing to do. Whatever else is wrong with them is left for `check_groups` to find."""
    if not groups:
        return []
    order = {child: number for number, child in enumerate(known.children)}
    named = {source for group in groups for source in group.source_node_ids}
    kept = [Group(mode="keep", source_node_ids=[child]) for child in known.children if child not in named]
    return sorted([*groups, *kept], key=lambda group: order.get(next(iter(group.source_node_ids), ""), len(order)))


def check_groups(groups: Sequence[Group], known: Known) -> None:
    """A complete, ordered partition of the children; known references only."""
    order = [source for group in groups for source in group.source_node_ids]
    if order != known.children:
        raise BadAnswer(
            f"the groups must list each of {_some(known.children)} exactly once, in this order; got {_some(order)}"
        )
    for number, group in enumerate(groups, 1):
        count = len(group.source_node_ids)
        if (group.mode == "keep") != (count == 1):
            raise BadAnswer(
                f"group {number}: {group.mode} with {count} sources; keep has exactly one, shortcut two or more"
            )
        if group.evidence_node_ids:
            _check_references(group.evidence_node_ids, known.nodes, f"group {number}: evidence_node_ids")
        if group.key_action_ids:
            own = known.below(group.source_node_ids) & known.retained
            _check_references(group.key_action_ids, own, f"group {number}: key_action_ids (of its own sources)")


def check_verdict(verdict: ReconciliationAnswer, known: Known) -> None:
    """Known references only, issues with words, and each resolution later than what it resolves."""
    if verdict.open_issues or verdict.fatal_issues:
        _check_issues(verdict.open_issues, known, "open_issues")
        _check_issues(verdict.fatal_issues, known, "fatal_issues")
    _check_references(verdict.key_action_ids, known.retained, "key_action_ids")
    for identifier in verdict.resolved_issue_ids:
        issue = known.inherited.get(identifier)
        if issue is None:
            raise BadAnswer(f"resolved_issue_ids: {identifier!r} is none of the inherited {_some(known.inherited)}")
        evidence = verdict.resolution_evidence.get(identifier) or []
        if not evidence:
            raise BadAnswer(f"resolution_evidence: nothing is given for {identifier!r}")
        _check_references(evidence, known.nodes, f"resolution_evidence of {identifier!r}")
        if known.position(evidence) <= issue_position(issue, known):
            raise BadAnswer(f"resolution_evidence of {identifier!r} must lie later than the issue's own evidence")


def issue_position(issue: Issue, known: Known) -> int:
    """Where an issue stands in the trajectory: at its evidence, or where it has none, at the end of what reported
    it."""
    return known.position(issue.evidence) or known.position([issue.raised_at])


def _check_issues(issues: Sequence[IssueAnswer], known: Known, name: str) -> None:
    for number, issue in enumerate(issues, 1):
        if not issue.issue.strip():
            raise BadAnswer(f"{name} {number}: the issue has no description")
        _check_references(issue.evidence_node_ids, known.nodes, f"{name} {number}: evidence_node_ids")


def _check_references(given: Iterable[str], allowed: Collection[str], name: str) -> None:
    if unknown := [identifier for identifier in given if identifier not in allowed]:
        raise BadAnswer(f"{name}: {_some(unknown)} not among {_some(sorted(allowed))}")


def _some(identifiers: Iterable[str], most: int = 40) -> str:
    shown = list(identifiers)
    return ", ".join(shown[:most]) + (f", … ({len(shown)} in all)" if len(shown) > most else "") or "nothing"
