"""The checks on shortcuts and verdicts (paper, table "Deterministic checks").

Each function takes a piece of a draft with final identifiers as references, and returns what of it is valid together
with the problems of the rest. `dense.analysis.trees.accept` keeps the valid part; a corrective call names the problems
(`require`)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence, Set

import msgspec
from msgspec import Struct

from dense.analysis.answers import BadAnswer
from dense.draft import GroupDraft, IssueDraft, VerdictDraft
from dense.tree import Issue, Node, first_action, last_action, nodes

MAX_LISTED = 40


class Known(Struct, frozen=True):
    """What pieces about one subtask may refer to."""

    children: tuple[Node, ...]
    """Its children."""
    nodes: Mapping[str, Node]
    """Everything below it, by identifier."""
    retained: Set[str]
    """The leaves that may be named as key actions."""
    inherited: Mapping[str, Issue] = {}
    """The open issues that were raised below it, by identifier."""

    def position(self, identifiers: Iterable[str]) -> int:
        """The number of the latest action that these nodes reach to; 0 for none."""
        return max((last_action(self.nodes[i]) for i in identifiers if i in self.nodes), default=0)


def require(problems: Sequence[str]) -> None:
    """Raise `BadAnswer` if there are problems."""
    if problems:
        raise BadAnswer("; ".join(problems))


def valid_groups(groups: Iterable[GroupDraft], known: Known) -> tuple[list[GroupDraft], list[str]]:
    """The groups that cover two or more whole neighbouring children, none of them twice, with known references."""
    firsts = {first_action(child): position for position, child in enumerate(known.children)}
    lasts = {last_action(child): position for position, child in enumerate(known.children)}
    valid: list[GroupDraft] = []
    problems: list[str] = []
    end = -1
    for number, group in enumerate(sorted(groups, key=lambda group: group.first), 1):
        first, last = firsts.get(group.first), lasts.get(group.last)
        if first is None or last is None or first >= last:
            problems.append(f"group {number}: a{group.first} to a{group.last} are not two or more whole children")
        elif first <= end:
            problems.append(f"group {number}: a{group.first} to a{group.last} are partly in the group before it")
        else:
            end = last
            valid.append(_referring(group, known.children[first : last + 1], known, f"group {number}", problems))
    return valid, problems


def _referring(group: GroupDraft, sources: Sequence[Node], known: Known, name: str, problems: list[str]) -> GroupDraft:
    own = {node.id for source in sources for node in nodes(source)} & known.retained
    return msgspec.structs.replace(
        group,
        evidence=_references(group.evidence, known.nodes, f"{name}: evidence_node_ids", problems),
        key_actions=_references(group.key_actions, own, f"{name}: key_action_ids (of its own sources)", problems),
    )


def valid_verdict(verdict: VerdictDraft, known: Known) -> tuple[VerdictDraft, list[str]]:
    """The verdict with known references only, with issues that have a text, and with resolutions whose evidence is
    later than that of the issue."""
    problems: list[str] = []
    resolved: dict[str, tuple[str, ...]] = {}
    restated = {issue.restates for issue in verdict.issues if issue.restates}
    issues = tuple(_valid_issues(verdict.issues, known, problems))
    keys = _references(verdict.key_actions, known.retained, "key_action_ids", problems)
    for identifier, evidence in verdict.resolved.items():
        if identifier in restated:  # what is said to be open is open
            continue
        before = len(problems)
        if identifier not in known.inherited:
            names = _listed(known.inherited)
            problems.append(f"resolved_issue_ids: {identifier!r} is none of the inherited {names}")
        elif not evidence:
            problems.append(f"resolution_evidence: nothing is given for {identifier!r}")
        else:
            evidence = _references(evidence, known.nodes, f"resolution_evidence of {identifier!r}", problems)
            if known.position(evidence) > issue_position(known.inherited[identifier], known):
                resolved[identifier] = evidence
            elif len(problems) == before:
                problems.append(f"resolution_evidence of {identifier!r} must lie later than the issue's own evidence")
    return msgspec.structs.replace(verdict, issues=issues, resolved=resolved, key_actions=keys), problems


def issue_position(issue: Issue, known: Known) -> int:
    """The action at which an issue is located: its latest evidence, or without any the end of what raised it."""
    return known.position(issue.evidence) or known.position([issue.raised_at])


def _valid_issues(issues: Iterable[IssueDraft], known: Known, problems: list[str]) -> Iterable[IssueDraft]:
    count = {False: 0, True: 0}
    for issue in issues:
        is_fatal = issue.severity == "fatal"
        count[is_fatal] += 1
        name = f"{'fatal' if is_fatal else 'open'}_issues {count[is_fatal]}"
        if issue.restates and issue.restates not in known.inherited:
            problems.append(f"{name}: {issue.restates!r} is none of the inherited {_listed(known.inherited)}")
            continue
        if not issue.text.strip():
            problems.append(f"{name}: the issue has no description")
            continue
        evidence = _references(issue.evidence, known.nodes, f"{name}: evidence_node_ids", problems)
        resolution = _references(issue.resolution, known.nodes, f"{name}: resolution", problems)
        if resolution and known.position(resolution) <= known.position(evidence):
            problems.append(f"{name}: its resolution must lie later than its evidence")
            resolution = ()
        yield msgspec.structs.replace(issue, evidence=evidence, resolution=resolution)


def _references(given: Iterable[str], allowed: Collection[str], name: str, problems: list[str]) -> tuple[str, ...]:
    """The references that are allowed, each once."""
    listed = dict.fromkeys(given)
    if unknown := [identifier for identifier in listed if identifier not in allowed]:
        problems.append(f"{name}: {_listed(unknown)} not among {_listed(sorted(allowed))}")
    return tuple([identifier for identifier in listed if identifier in allowed])


def _listed(identifiers: Iterable[str]) -> str:
    listed = list(identifiers)
    more = f", … ({len(listed)} in all)" if len(listed) > MAX_LISTED else ""
    return ", ".join(listed[:MAX_LISTED]) + more or "nothing"
