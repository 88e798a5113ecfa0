"""What `accept` makes of any draft is sound; what is right in a draft survives what is wrong beside it."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from liars import Liar
from made_draft import DraftMaker
from made_trajectory import trajectory
from msgspec.structs import replace

from dense.analysis.analyst import Analysis, Analyst
from dense.analysis.asking.asker import Asker
from dense.analysis.one_call import OneCallAnalyst
from dense.analysis.paper import PaperAnalyst, drafted
from dense.analysis.trees.accept import Accepted, accept
from dense.analysis.trees.assembly import state_of
from dense.draft import GroupDraft, IssueDraft, LeafDraft, SubtaskDraft, TreeDraft, VerdictDraft
from dense.errors import DenseError
from dense.options import Profile
from dense.service import distill_sync
from dense.tree import Leaf, ReconciledTree, Severity, Shortcut, SourceTree, Subtask, last_action, leaves, nodes

cases = st.tuples(st.integers(1, 40), st.integers(0, 10**6), st.sampled_from((0.0, 0.1, 0.4)))


def trees(of: Accepted) -> tuple[SourceTree, ReconciledTree]:
    return of.source, of.reconciled


def accepted(count: int, draft: TreeDraft, seed: int = 1) -> Accepted:
    return accept(trajectory(count, seed), Analysis(draft))


def made(case: tuple[int, int, float]) -> Accepted:
    count, seed, damage = case
    return accepted(count, DraftMaker(count, seed, damage).draft(), seed)


def again(found: Accepted, count: int, seed: int = 1) -> Accepted:
    """What comes of the draft of trees that were accepted before."""
    issues = {issue.id: issue for issue in found.reconciled.issues}
    return accepted(count, TreeDraft(drafted(found.source.root, found.reconciled.root, issues)), seed)


@given(cases)
@settings(max_examples=200)
def test_every_action_is_there_once_and_in_order(case: tuple[int, int, float]) -> None:
    count, found = case[0], made(case)
    for root in (found.source.root, found.reconciled.root):
        assert [(leaf.id, leaf.action) for leaf in leaves(root)] == [(f"n{n}", n + 1) for n in range(count)]
        below = [node for node in nodes(root)[1:] if isinstance(node, Subtask)]
        assert (root.id, root.level) == (f"n{count}", 0)
        numbered = sorted(below, key=lambda node: int(node.id[1:]))
        assert [node.id for node in numbered] == [f"n{count + 1 + n}" for n in range(len(below))]
        order = [(node.level, leaves(node)[0].action) for node in numbered]
        assert order == sorted(order)
        for node in [root, *below]:
            assert all(last_action(a) < leaves(b)[0].action for a, b in pairwise(node.children))
            assert all(
                node is root or child.level < node.level for child in node.children if isinstance(child, Subtask)
            )


@given(cases)
@settings(max_examples=200)
def test_every_reference_is_known_and_every_resolution_later(case: tuple[int, int, float]) -> None:
    tree = made(case).reconciled
    known = {node.id: node for node in nodes(tree.root)}
    issues = {issue.id: issue for issue in tree.issues}
    assert list(issues) == [f"issue_{number}" for number in range(len(issues))]
    shortcuts = [node for node in known.values() if isinstance(node, Shortcut)]
    assert {node.id for node in shortcuts} == {f"shortcut_{number}" for number in range(len(shortcuts))}
    for node in shortcuts:
        assert len(node.children) > 1
        assert set(node.evidence) <= set(known)
        assert node.issue is None or issues[node.issue].raised_at == node.id
    for issue in issues.values():
        assert issue.text.strip()
        assert {issue.raised_at, *issue.evidence, *issue.resolution} <= set(known)
        if issue.resolved_at is not None:
            own = max((last_action(known[e]) for e in issue.evidence), default=last_action(known[issue.raised_at]))
            assert max(last_action(known[e]) for e in issue.resolution) > own
            assert issue.raised_at in {node.id for node in nodes(known[issue.resolved_at])}


@given(cases)
@settings(max_examples=100)
def test_every_state_follows_from_the_rule(case: tuple[int, int, float]) -> None:
    tree = made(case).reconciled
    severities: dict[str, Severity] = {issue.id: issue.severity for issue in tree.issues}
    for node in nodes(tree.root):
        if isinstance(node, Subtask):
            verdict = node.verdict
            assert verdict is not None
            raised: set[Severity] = {severities[issue] for issue in verdict.issues}
            assert verdict.state == state_of(verdict.coherence, verdict.completion, raised)


@given(cases)
@settings(max_examples=100)
def test_the_same_draft_gives_the_same_trees_and_their_draft_gives_them_again(case: tuple[int, int, float]) -> None:
    count, seed, _ = case
    found = made(case)
    assert trees(made(case)) == trees(found)
    assert trees(again(found, count, seed)) == (found.source, replace(found.reconciled, problems=()))


@given(st.integers(1, 40), st.integers(0, 10**6))
@settings(max_examples=100)
def test_a_right_draft_is_accepted_whole(count: int, seed: int) -> None:
    draft = DraftMaker(count, seed).draft()
    tree = accepted(count, draft, seed).reconciled
    assert tree.problems == ()
    groups, issues, resolved = _counted(draft.root)
    assert sum(isinstance(node, Shortcut) for node in nodes(tree.root)) == groups
    assert len(tree.issues) == issues
    assert sum(issue.resolved_at is not None for issue in tree.issues) == resolved


def _counted(part: SubtaskDraft) -> tuple[int, int, int]:
    """How many groups, issues and resolutions a draft has."""
    below = [_counted(child) for child in part.children if isinstance(child, SubtaskDraft)]
    own_issues = len(part.verdict.issues) + sum(group.open_issue is not None for group in part.groups)
    own = (len(part.groups), own_issues, len(part.verdict.resolved))
    return tuple(map(sum, zip(own, *below, strict=True)))  # pyright: ignore[reportReturnType]


@pytest.mark.parametrize("profile", ["paper", "fast"])
@given(st.integers(1, 30), st.integers(0, 10**6))
@settings(max_examples=40)
def test_the_draft_of_a_profile_is_accepted_whole(profile: Profile, count: int, seed: int) -> None:
    asker = Asker(Liar(seed))
    analyst: Analyst = PaperAnalyst(asker) if profile == "paper" else OneCallAnalyst(asker, 4_000)
    draft = asyncio.run(analyst.analyse(trajectory(count, seed))).draft
    tree = accepted(count, draft, seed).reconciled
    assert tree.problems == ()
    if profile == "paper":
        assert {node.id for node in nodes(tree.root) if isinstance(node, Subtask)} == _keys(draft.root)


def _keys(part: SubtaskDraft) -> set[str]:
    return {part.key}.union(*[_keys(child) for child in part.children if isinstance(child, SubtaskDraft)])


# One wrong piece at a time

FIRST = SubtaskDraft(
    1,
    (LeafDraft(1), LeafDraft(2), LeafDraft(3)),
    "first",
    "what it did",
    groups=(GroupDraft(1, 2, "tried", evidence=("n0",)),),
    verdict=VerdictDraft("coherent", "incomplete", issues=(IssueDraft("missing", ("n1",), key="missing"),)),
)
SECOND = SubtaskDraft(1, (LeafDraft(4), LeafDraft(5)), "second", "what came next")
CLOSING = VerdictDraft("coherent", "complete", resolved={"missing": ("n4",)}, key_actions=("n4",))


def tree_of(first: SubtaskDraft = FIRST, verdict: VerdictDraft = CLOSING, **changes: object) -> Accepted:
    root = SubtaskDraft(0, (first, SECOND), verdict=verdict)
    return accepted(5, TreeDraft(replace(root, **changes)))


def test_a_right_draft() -> None:
    tree = tree_of().reconciled
    assert tree.problems == ()
    (issue,) = tree.issues
    assert (issue.id, issue.raised_at, issue.resolved_at, issue.resolution) == ("issue_0", "n6", "n5", ("n4",))
    first, second = tree.root.children
    assert isinstance(first, Subtask) and isinstance(second, Subtask)
    assert [child.id for child in first.children] == ["shortcut_0", "n2"]
    states = [node.verdict.state for node in (first, second, tree.root) if node.verdict is not None]
    assert states == ["incomplete", "unknown", "complete"]


@pytest.mark.parametrize(
    ("group", "problem"),
    [
        (GroupDraft(1, 1), "not two or more whole children"),
        (GroupDraft(2, 1), "not two or more whole children"),
        (GroupDraft(0, 3), "not two or more whole children"),
        (GroupDraft(2, 4), "not two or more whole children"),
        (GroupDraft(2, 3), "partly in the group before it"),
    ],
)
def test_a_wrong_group_is_dropped_alone(group: GroupDraft, problem: str) -> None:
    tree = tree_of(replace(FIRST, groups=(FIRST.groups[0], group))).reconciled
    (found,) = tree.problems
    assert problem in found
    right = tree_of().reconciled
    assert (tree.root, tree.issues) == (right.root, right.issues)


@pytest.mark.parametrize(
    ("verdict", "problem"),
    [
        (replace(CLOSING, resolved={"missing": ("n1",)}), "must lie later"),
        (replace(CLOSING, resolved={"missing": ()}), "nothing is given"),
        (replace(CLOSING, resolved={"missing": ("n9",)}), "not among"),
        (replace(CLOSING, resolved={"nobody": ("n4",)}), "none of the inherited"),
    ],
)
def test_a_wrong_resolution_leaves_the_issue_open(verdict: VerdictDraft, problem: str) -> None:
    tree = tree_of(verdict=verdict).reconciled
    (found,) = tree.problems
    assert problem in found
    assert tree.issues[0].resolved_at is None
    assert tree.root.verdict is not None
    assert (tree.root.verdict.completion, tree.root.verdict.key_actions) == ("complete", ("n4",))


def test_wrong_references_go_and_the_rest_of_the_piece_stays() -> None:
    issue = IssueDraft("also missing", ("n4", "n77"))
    verdict = replace(CLOSING, issues=(issue, IssueDraft("  ")), key_actions=("n4", "n5"))
    tree = tree_of(verdict=verdict).reconciled
    assert len(tree.problems) == 3
    assert [(one.text, one.evidence) for one in tree.issues] == [("missing", ("n1",)), ("also missing", ("n4",))]
    assert tree.root.verdict is not None
    assert tree.root.verdict.key_actions == ("n4",)
    assert tree.issues[0].resolved_at == "n5"


def test_actions_that_are_missing_come_back_where_they_belong() -> None:
    tree = tree_of(replace(FIRST, children=(LeafDraft(1), LeafDraft(3), LeafDraft(3)), groups=()))
    first, second = tree.source.root.children
    assert [leaf.action for leaf in leaves(first)] == [1, 2, 3]
    assert isinstance(first, Subtask) and isinstance(second, Subtask)
    assert (first.title, second.title) == ("first", "second")
    assert any("a2 to a2 are in no subtask" in problem for problem in tree.reconciled.problems)


def test_an_empty_draft_is_the_actions_alone() -> None:
    tree = accepted(5, TreeDraft(SubtaskDraft(0, ())))
    assert all(isinstance(child, Leaf) for child in tree.source.root.children)
    assert tree.reconciled.root.verdict is not None
    assert tree.reconciled.root.verdict.state == "unknown"
    assert tree.reconciled.root.summary


def test_a_subtask_without_words_gets_its_own() -> None:
    first, _ = tree_of(replace(FIRST, title=" ", summary="")).source.root.children
    assert isinstance(first, Subtask)
    assert first.title.endswith("3 actions")
    assert first.summary


# An analyst of the caller's own


class OneCall:
    """Returns a whole draft at once, as one call to a model would."""

    name = "one-call"

    async def analyse(self, trajectory: object, *, with_verdicts: bool = True) -> Analysis:
        return Analysis(TreeDraft(SubtaskDraft(0, (FIRST, SECOND), verdict=CLOSING)))


class OldAnalyst:
    """Returns what analysts once returned."""

    name = "old"

    async def analyse(self, trajectory: object, *, with_verdicts: bool = True) -> TreeDraft:
        return TreeDraft(SubtaskDraft(0, (FIRST, SECOND)))


def test_an_analyst_that_returns_no_analysis_is_refused() -> None:
    old: Any = OldAnalyst()
    with pytest.raises(DenseError, match=r"the analyst old must return an `Analysis`.*, not TreeDraft"):
        distill_sync(trajectory(5, 1), old)


def test_any_analyst_serves_the_pipeline() -> None:
    done = distill_sync(trajectory(5, 1), OneCall())
    assert done.reconciled.problems == ()
    assert done.record.analyst == "one-call"
    assert "first. what it did" in done.feedback.report
