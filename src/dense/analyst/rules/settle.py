"""Compression and reconciliation: the analysis of the whole trace, put onto one parent of the tree."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from dense.analyst.answers import Group, IssueAnswer, ReconciliationAnswer
from dense.detectors.finding import Finding
from dense.detectors.findings import Analysis
from dense.evidence.links.attempts import Attempt
from dense.narrate.action_traits import is_change
from dense.narrate.actions import NarratedAction
from dense.narrate.narrator import Narrator
from dense.narrate.quoting import paths_told
from dense.narrate.shortcuts import dead_end, working_path
from dense.tree import Completion, Issue, Leaf, Node, ShortcutOutcome, Subtask, first_action, last_action

AT_ROOT = frozenset({"lost", "refused", "broken_off", "admitted", "empty"})
"""Kinds that concern the task as a whole: the root raises them. What is asked for and was never even tried, too."""
ELSEWHERE = frozenset(
    "no_such_command no_such_module no_such_file permission usage connection http port_in_use disk_full killed "
    "tool".split()
)
"""Families of errors that say something of where it ran or how it was called, and nothing of what was changed."""
FARTHEST = 8
"""So many actions before a failure it is looked for what it put to the test."""

BESIDE = frozenset({"failed_deed", "unanswered", "unmade", "taken_away", "only_new", "planned"})
"""Kinds beside which the summary tells what failed all the same: what the agent claims must not be all it tells."""


def groups(parent: Subtask, analysis: Analysis, teller: Narrator) -> list[Group]:
    """The children in order; those that one attempt covers together are one shortcut."""
    drawn = {group.source_node_ids[0]: group for group in shortcuts(parent, analysis, teller)}
    inner = {source for group in drawn.values() for source in group.source_node_ids[1:]}
    return [drawn.get(child.id) or _keep(child) for child in parent.children if child.id not in inner]


def shortcuts(parent: Subtask, analysis: Analysis, teller: Narrator) -> list[Group]:
    """The children that one attempt covers together, for each such attempt. All others are kept."""
    attempts = analysis.attempts_in(first_action(parent), last_action(parent))
    if not attempts:
        return []
    firsts = [first_action(child) for child in parent.children]
    lasts = [last_action(child) for child in parent.children]
    found: list[Group] = []
    place = 0
    for attempt in attempts:
        start = max(place, bisect_left(lasts, attempt.first))
        end = bisect_right(firsts, attempt.last)
        covered = [i for i in range(start, end) if _is_mostly(attempt, firsts[i], lasts[i])]
        if len(covered) < 2 or covered[-1] - covered[0] >= len(covered):
            continue
        found.append(_shortcut(attempt, parent.children[covered[0] : covered[-1] + 1], analysis, teller))
        place = covered[-1] + 1
    return found


def verdict(
    parent: Subtask, analysis: Analysis, teller: Narrator, issues: Sequence[Issue], key_actions: Sequence[str]
) -> ReconciliationAnswer:
    """What the parent reports, closes and leaves open, by the actions that lie in it."""
    first, last = first_action(parent), last_action(parent)
    is_root = parent.level == 0
    inside = analysis.findings if is_root else [f for f in analysis.findings_in(first, last) if not _is_of_root(f)]
    still_open = [one for one in inside if one.closed is None or one.closed > last]
    resolved = _resolved(issues, analysis.closed, last)
    known = {issue.text for issue in issues}
    # What is only doubtful leaves the whole unknown: the root, whose own open issues make it incomplete, raises it not.
    raised = [one for one in still_open if one.text not in known and (one.is_serious or not is_root)]
    completion = _completion((first, last), analysis, still_open, is_root)
    return ReconciliationAnswer(
        coherence="coherent",
        completion=completion,
        summary=teller.final(parent, tells_left=all(one.kind in BESIDE for one in still_open)),
        open_issues=[_issue(one) for one in raised if not one.is_fatal],
        fatal_issues=[_issue(one) for one in raised if one.is_fatal],
        resolved_issue_ids=list(resolved),
        resolution_evidence={identifier: [leaf(action)] for identifier, action in resolved.items()},
        key_action_ids=_key_actions(parent, (first, last), analysis, key_actions),
    )


def leaf(action: int) -> str:
    """The leaf of an action."""
    return f"n{action - 1}"


def _is_mostly(attempt: Attempt, first: int, last: int) -> bool:
    """Whether an attempt makes up the better part of a node: a subtask that only begins in it has an end of its own."""
    return 2 * (min(last, attempt.last) - max(first, attempt.first) + 1) > last - first + 1


def _keep(child: Node) -> Group:
    return Group(mode="keep", source_node_ids=[child.id])


def _shortcut(attempt: Attempt, children: Sequence[Node], analysis: Analysis, teller: Narrator) -> Group:
    first, last = first_action(children[0]), last_action(children[-1])
    failed = [action for action in attempt.failed if first <= action <= last]
    recovery = attempt.recovery if attempt.recovery is not None and attempt.recovery <= last else None
    worked = recovery or _last_that_worked(analysis, failed, last)
    shown = [*failed[-2:], *([recovery] if recovery else [])]
    return Group(
        mode="shortcut",
        source_node_ids=[child.id for child in children],
        title=teller.attempt_title(attempt),
        dead_end=dead_end(
            [teller.deed(action) for action in failed], analysis.wrong, lambda deed: _tried(deed, teller)
        ),
        working_path=_working_path(attempt.first, recovery, failed, analysis, teller) if recovery else "",
        outcome=_outcome(recovery, worked, analysis, failed),
        evidence_node_ids=[leaf(action) for action in shown],
        key_action_ids=[],
    )


def _tried(failed: NarratedAction, teller: Narrator) -> list[NarratedAction]:
    """The changes of files that an action put to the test: those since the last check or run before it."""
    found: list[NarratedAction] = []
    seen = failed.facts.result
    if not seen.tests and any(failure.family in ELSEWHERE for failure in seen.failures):
        return found
    for action in range(failed.action - 1, max(0, failed.action - 1 - FARTHEST), -1):
        deed = teller.deed(action)
        if deed.facts.effects.writes and is_change(deed) and not deed.has_failed:
            found.append(deed)
        if deed.is_check or deed.phase == "run":
            break
    return found[::-1]


def _outcome(recovery: int | None, worked: int | None, analysis: Analysis, failed: Sequence[int]) -> ShortcutOutcome:
    """Something works again: that is no success as long as a check that failed before has not passed, and none where
    the check itself was changed."""
    if recovery is None:
        return "partial" if worked else "failed"
    if analysis.changed_tests(failed, recovery):
        return "partial"
    earlier = analysis.findings_in(1, recovery)[-20:]
    is_open = any(one.kind == "failed_check" and one.is_serious and one.closed is None for one in earlier)
    return "partial" if is_open else "succeeded"


def _last_that_worked(analysis: Analysis, failed: Sequence[int], last: int) -> int | None:
    """An action after the last failure that changed something and did not fail."""
    after = (failed[-1] if failed else last) + 1
    return next((n for n in range(last, after - 1, -1) if analysis.of(n).effects.changes_files), None)


def _working_path(first: int, recovery: int, failed: Sequence[int], analysis: Analysis, teller: Narrator) -> str:
    """The way from the first failure to the recovery."""
    changes = [
        teller.deed(n)
        for n in range(first, recovery)
        if analysis.of(n).effects.changes_files and not analysis.of(n).has_failed
    ]
    before = [action for action in failed if action < recovery]
    told = working_path(changes, teller.deed(before[-1]) if before else None, teller.deed(recovery))
    tests = analysis.changed_tests(failed, recovery)
    return f"made to pass by changing the test itself ({paths_told(tests)}): {told}" if tests else told


def _is_of_root(one: Finding) -> bool:
    return one.kind in AT_ROOT or (one.kind == "unmet" and not one.is_tried)


def _resolved(issues: Sequence[Issue], closed: Mapping[str, int], last: int) -> dict[str, int]:
    """The inherited issues that an action up to here closed."""
    return {issue.id: action for issue in issues if (action := closed.get(issue.text, last + 1)) <= last}


def _issue(one: Finding) -> IssueAnswer:
    return IssueAnswer(issue=one.text, evidence_node_ids=[leaf(action) for action in one.evidence])


def _completion(span: tuple[int, int], analysis: Analysis, still_open: Sequence[Finding], is_root: bool) -> Completion:
    if still_open:
        return "incomplete" if any(one.is_serious for one in still_open) else "unknown"
    is_shown = analysis.is_shown_done if is_root else analysis.is_shown_within(*span)
    return "complete" if is_shown else "unknown"


def _key_actions(parent: Subtask, span: tuple[int, int], analysis: Analysis, allowed: Sequence[str]) -> list[str]:
    """The telling actions in it, as far as they may be named: kept by rule, or direct children."""
    telling = analysis.telling
    inside = telling[bisect_left(telling, span[0]) : bisect_right(telling, span[1])]
    if not inside:
        return []
    may = {*allowed, *[child.id for child in parent.children if isinstance(child, Leaf)]}
    return [name for name in map(leaf, inside) if name in may]
