"""What holds for any trajectory and any analyst, lying ones included."""

from __future__ import annotations

import asyncio
import random
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from liars import Liar
from made_trajectory import trajectory

from dense.analysis.trees.assembly import state_of
from dense.message.paper_report import paper_report
from dense.message.report import tree_report
from dense.options import DEFAULT_LOOK_TOKENS, FeedbackOptions, Profile
from dense.service import Distillation, distill
from dense.trajectory import Source, Step, Task, ToolCall, Trajectory
from dense.tree import Leaf, ReconciledTree, Severity, Shortcut, SourceTree, Subtask, last_action, leaves, nodes

SMALL_LOOK = 4_000
PROFILES: tuple[Profile, ...] = ("fast", "paper")


def run(count: int, seed: int, profile: Profile, *, honesty: float = 0.6, budget: int | None = None) -> Distillation:
    """Every other trajectory is shown in windows, where there are enough actions for several."""
    liar = Liar(seed, honesty=honesty)
    look = SMALL_LOOK if seed % 2 else DEFAULT_LOOK_TOKENS
    options = FeedbackOptions(profile=profile, look=look, budget=budget, redact=False)
    return asyncio.run(distill(trajectory(count, seed), liar, options=options))


cases = st.tuples(
    st.integers(1, 40), st.integers(0, 10**6), st.sampled_from(PROFILES), st.sampled_from((0.2, 0.6, 1.0))
)


@given(cases)
@settings(max_examples=120, deadline=None)
def test_every_action_is_there_once_and_in_order(case: tuple[int, int, Profile, float]) -> None:
    count, seed, profile, honesty = case
    done = run(count, seed, profile, honesty=honesty)
    for root in (done.source.root, done.reconciled.root):
        assert [leaf.action for leaf in leaves(root)] == list(range(1, count + 1))
        assert [leaf.id for leaf in leaves(root)] == [f"n{index}" for index in range(count)]
        assert root.id == f"n{count}"
        identifiers = [node.id for node in nodes(root)]
        assert len(identifiers) == len(set(identifiers))
        for node in nodes(root):
            if isinstance(node, Subtask | Shortcut):
                assert len(node.children) >= (1 if node is root else 2) or isinstance(node, Subtask)
                assert all(last_action(a) < leaves(b)[0].action for a, b in pairwise(node.children))


@given(cases)
@settings(max_examples=120, deadline=None)
def test_every_reference_resolves(case: tuple[int, int, Profile, float]) -> None:
    count, seed, profile, honesty = case
    tree = run(count, seed, profile, honesty=honesty).reconciled
    known = {node.id: node for node in nodes(tree.root)}
    issues = {issue.id: issue for issue in tree.issues}
    assert list(issues) == [f"issue_{number}" for number in range(len(issues))]
    shortcuts = [node for node in nodes(tree.root) if isinstance(node, Shortcut)]
    assert sorted(node.id for node in shortcuts) == sorted(f"shortcut_{number}" for number in range(len(shortcuts)))
    for node in known.values():
        if isinstance(node, Shortcut):
            assert set(node.evidence) <= set(known)
            assert all(isinstance(known[key], Leaf) for key in node.key_actions)
            assert node.issue is None or issues[node.issue].raised_at == node.id
        if isinstance(node, Subtask):
            assert node.verdict is not None
            assert all(isinstance(known[key], Leaf) for key in node.verdict.key_actions)
            assert set(node.verdict.issues) | set(node.verdict.resolved) <= set(issues)
    for issue in issues.values():
        assert {issue.raised_at, *issue.evidence, *issue.resolution} <= set(known)
        if issue.resolved_at is not None:
            own = max((last_action(known[e]) for e in issue.evidence), default=last_action(known[issue.raised_at]))
            assert max(last_action(known[e]) for e in issue.resolution) > own


@given(cases)
@settings(max_examples=120, deadline=None)
def test_every_state_follows_from_verdict_and_open_issues(case: tuple[int, int, Profile, float]) -> None:
    count, seed, profile, honesty = case
    tree = run(count, seed, profile, honesty=honesty).reconciled
    for node in nodes(tree.root):
        if not isinstance(node, Subtask) or node.verdict is None:
            continue
        verdict = node.verdict
        own = [issue for issue in tree.issues if issue.raised_at == node.id and issue.resolved_at != node.id]
        severities: set[Severity] = {issue.severity for issue in own}
        severities |= {"fatal"} if verdict.restated_fatal else set()
        severities |= {"serious"} if set(verdict.restated) > set(verdict.restated_fatal) else set()
        expected = state_of(verdict.coherence, verdict.completion, severities)
        assert verdict.state == expected
        below = {one.id for one in nodes(node)}
        still_open = [issue for issue in tree.issues if issue.raised_at in below and issue.resolved_at not in below]
        allowed = {"incomplete", "broken"} if profile == "paper" else {"incomplete", "broken", "unknown"}
        assert not still_open or verdict.state in allowed
        if profile == "paper":  # none is lost: each is raised here or restated
            assert {issue.id for issue in still_open} <= {*verdict.issues, *verdict.restated}


@given(cases, st.integers(512, 40_000))
@settings(max_examples=120, deadline=None)
def test_the_budget_holds_for_any_analyst(case: tuple[int, int, Profile, float], budget: int) -> None:
    count, seed, profile, honesty = case
    done = run(count, seed, profile, honesty=honesty, budget=budget)
    assert len(done.feedback.report.encode()) < budget
    task = trajectory(count, seed).task
    assert task is not None
    assert done.feedback.message.endswith(task.instruction)
    assert len(done.feedback.message.encode()) <= budget + len(task.instruction.encode())


@given(cases, st.integers(0, 30_000))
@settings(max_examples=60, deadline=None)
def test_paper_report_of_any_analyst_keeps_its_room(case: tuple[int, int, Profile, float], room: int) -> None:
    count, seed, profile, honesty = case
    fit = paper_report(run(count, seed, profile, honesty=honesty).reconciled)
    page, whole = fit(room), fit(10**7)
    assert page.size <= room
    assert whole.dropped == ()
    blocks = [item for item in whole.items if item.quotes]
    shown = [item for item in page.items if item.quotes]
    assert all(item in blocks for item in shown)


@given(cases)
@settings(max_examples=60, deadline=None)
def test_the_result_does_not_depend_on_timing(case: tuple[int, int, Profile, float]) -> None:
    count, seed, profile, honesty = case
    run_ = trajectory(count, seed)
    results: list[tuple[SourceTree, ReconciledTree, str]] = []
    for dawdle in (None, random.Random(1), random.Random(2)):
        liar = Liar(seed, honesty=honesty, dawdle=dawdle)
        done = asyncio.run(distill(run_, liar, options=FeedbackOptions(profile=profile, redact=False)))
        results.append((done.source, done.reconciled, done.feedback.message))
    assert results[0] == results[1] == results[2]


@given(cases)
@settings(max_examples=40, deadline=None)
def test_a_tree_that_was_read_back_renders_to_the_same_bytes(case: tuple[int, int, Profile, float]) -> None:
    count, seed, profile, honesty = case
    done = run(count, seed, profile, honesty=honesty)
    again = msgspec.json.decode(msgspec.json.encode(done.reconciled), type=ReconciledTree)
    assert again == done.reconciled
    assert tree_report(again)(5_000) == tree_report(done.reconciled)(5_000)
    assert msgspec.json.decode(msgspec.json.encode(done.source), type=SourceTree) == done.source


def test_a_trace_beyond_one_look_is_asked_in_windows() -> None:
    liar = Liar(5, honesty=1.0)
    done = asyncio.run(distill(trajectory(200, 5), liar, options=FeedbackOptions(look=SMALL_LOOK, redact=False)))
    assert len([key for key in liar.asked if key.startswith("window")]) > 2
    assert liar.asked[-1].startswith("closing")
    assert [leaf.action for leaf in leaves(done.reconciled.root)] == list(range(1, 201))


def test_what_was_redacted_is_said_and_nothing_else_changes() -> None:
    token = "gh" + "p_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    step = Step(Source("t"), calls=(ToolCall("bash", {"command": f"curl -H 'X: {token}' localhost > out.txt"}, "c"),))
    run_ = Trajectory("test", "t", Source("t"), task=Task(f"Use {token}."), steps=(step, *trajectory(3, 1).steps))
    done = asyncio.run(distill(run_, Liar(1, honesty=1.0)))
    everything = msgspec.json.encode((done.source, done.reconciled, done.feedback)).decode()
    assert token not in everything
    assert "redacted: 1 GitHub token" in done.feedback.report
    open_ = asyncio.run(distill(run_, Liar(1, honesty=1.0), options=FeedbackOptions(redact=False)))
    assert token in open_.feedback.message


@pytest.mark.parametrize("profile", PROFILES)
def test_a_long_trajectory_is_split_without_loss(profile: Profile) -> None:
    done = run(1500, 3, profile, honesty=1.0)
    assert [leaf.action for leaf in leaves(done.reconciled.root)] == list(range(1, 1501))
