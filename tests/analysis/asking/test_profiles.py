"""Every rule of section 3 and 4 of the specification, each made to happen."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from made_trajectory import trajectory
from outline_answerer import OutlineAnswerer

from dense.analysis import paper
from dense.analysis.answers import BadAnswer
from dense.analysis.asking.questions import Boundary, Correction, Question, Score
from dense.analysis.asking.questions.paper import Group, ReconciliationAnswer
from dense.analysis.paper import group_drafts, verdict_draft
from dense.analysis.trees.assembly import state_of
from dense.analysis.trees.validate import Known, require, valid_groups, valid_verdict
from dense.errors import AnalystFailed, KeyRefused
from dense.facets import Facets
from dense.options import FeedbackOptions, Profile
from dense.service import Distillation, distill
from dense.trajectory import Source, Step
from dense.tree import Issue, Leaf, Shortcut, Subtask, leaves, nodes


class Told:
    """Answers some questions as told, by the beginning of their key; the rest by outline."""

    name = "given"

    def __init__(self, **answers: Any) -> None:
        self.answers = {key.replace("__", " "): value for key, value in answers.items()}
        self.asked: list[tuple[Question, Correction | None]] = []
        self._outline = OutlineAnswerer()

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        self.asked.append((question, correction))
        for start, answer in self.answers.items():
            if question.key.startswith(start):
                found = answer(question, correction) if callable(answer) else answer
                if isinstance(found, Exception):
                    raise found
                if found is not None:
                    return found if isinstance(found, str) else json.dumps(found)
        return await self._outline.ask(question, correction)

    def of(self, kind: type) -> list[Any]:
        return [question for question, _ in self.asked if isinstance(question, kind)]


def run(analyst: Told, count: int = 12, profile: Profile = "paper") -> Distillation:
    return asyncio.run(distill(trajectory(count, 1), analyst, options=FeedbackOptions(profile=profile, redact=False)))


def first_level(done: Distillation) -> list[list[int]]:
    """The actions of each subtask of the first round."""
    subtasks = [node for node in nodes(done.source.root) if isinstance(node, Subtask) and node.level == 1]
    return [[leaf.action for leaf in leaves(node)] for node in subtasks]


def fell_back(done: Distillation, kind: str) -> list[str]:
    return [asked.key for asked in done.record.asked if asked.fell_back and asked.key.startswith(kind)]


# Boundaries


@pytest.mark.parametrize("reply", ["nonsense", '{"action_index": "many"}', "{}", AnalystFailed("dead")])
def test_an_unusable_boundary_takes_the_head_alone(reply: object) -> None:
    analyst = Told(boundary__level__1=lambda q, _: reply if q.head == 1 else None)
    done = run(analyst)
    assert analyst.of(Boundary)[1].head == 2
    assert fell_back(done, "boundary") == ["boundary level 1 from 1 to 12"]
    assert isinstance(done.source.root.children[0], Leaf) or first_level(done)[0][0] != 1


@pytest.mark.parametrize(("said", "end"), [(0, 1), (99, 12), (-1, 12), (-7, 1), (4, 4)])
def test_ordinals_are_clamped_and_waiting_at_the_end_takes_all(said: int, end: int) -> None:
    analyst = Told(boundary__level__1=lambda q, _: {"action_index": said} if q.head == 1 else None)
    done = run(analyst)
    heads = [question.head for question in analyst.of(Boundary) if question.level == 1]
    assert heads[1:2] == ([] if end == 12 else [end + 1])
    assert end == 1 or first_level(done)[0] == list(range(1, end + 1))


def test_waiting_brings_the_next_chunk_and_other_chunks_give_one_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "CHUNK_NODES", 5)
    replies = iter([{"action_index": -1}, {"action_index": 3}])
    analyst = Told(boundary__level__1=lambda q, _: next(replies, None))
    run(analyst)
    views = [(q.head, len(q.queue), q.is_last) for q in analyst.of(Boundary) if q.level == 1]
    assert views[:3] == [(1, 5, False), (1, 10, False), (4, 9, True)]


def test_a_level_that_changes_nothing_ends_the_building() -> None:
    analyst = Told(boundary={"action_index": 0})
    done = run(analyst)
    assert [question.level for question in analyst.of(Boundary)] == [1] * 12
    assert len(done.source.root.children) == 12


def test_one_node_left_ends_the_building_without_a_check() -> None:
    analyst = Told(boundary=lambda q, _: {"action_index": q.head + len(q.queue) - 1}, toplevel=AssertionError("asked"))
    done = run(analyst)
    assert [child.id for child in done.source.root.children] == ["n13"]


def test_an_unusable_check_means_not_yet() -> None:
    analyst = Told(toplevel="?", boundary=lambda q, _: {"action_index": q.head + 1})
    done = run(analyst, 8)
    assert fell_back(done, "toplevel")
    assert max(node.level for node in nodes(done.source.root) if isinstance(node, Subtask)) == 3


def test_rounds_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paper, "MAX_ROUNDS", 2)
    analyst = Told(toplevel={"can_mount_all": False}, boundary=lambda q, _: {"action_index": q.head + 1})
    done = run(analyst, 16)
    assert max(node.level for node in nodes(done.source.root) if isinstance(node, Subtask)) == 2


# Labels and summaries


def test_an_unusable_score_leaves_the_action_unscored_and_it_is_asked_alone_at_the_end() -> None:
    analyst = Told(score__n2="?")
    done = run(analyst)
    leaf = next(leaf for leaf in leaves(done.source.root) if leaf.id == "n2")
    assert leaf.label is None
    contexts = [question.subtask for question in analyst.of(Score) if question.target.id == "n2"]
    assert contexts[-1] == "n2"
    assert len(contexts) == 2


def test_leaves_that_were_scored_keep_their_label() -> None:
    analyst = Told()
    run(analyst, 30)
    targets = [question.target.id for question in analyst.of(Score)]
    assert len(targets) == len(set(targets)) == 30


def test_an_unusable_summary_is_made_from_the_actions() -> None:
    done = run(Told(summary="?"))
    subtask = next(node for node in nodes(done.source.root) if isinstance(node, Subtask) and node.level == 1)
    assert subtask.title.endswith("actions")
    assert subtask.summary
    assert subtask.facets == Facets()


# Compression and reconciliation


def group(mode: str, *sources: str, **fields: Any) -> dict[str, Any]:
    return {"mode": mode, "source_node_ids": list(sources), "outcome": "unknown", **fields}


def test_an_invalid_partition_is_corrected_once() -> None:
    seen: list[Correction | None] = []

    def reply(question: Any, correction: Correction | None) -> Any:
        children = [child.id for child in question.parent.children]
        seen.append(correction)
        if correction is None:
            return {"groups": [group("keep", children[0])]}
        return {"groups": [group("shortcut", *children, title="all of it")]}

    done = run(Told(boundary=lambda q, _: {"action_index": 99}, compression=reply), 4)
    first, second = seen[0], seen[1]
    assert first is None
    assert second is not None
    assert "exactly once, in this order" in second.error
    assert '"groups"' in second.reply
    shortcut = next(node for node in nodes(done.reconciled.root) if isinstance(node, Shortcut))
    assert (shortcut.id, shortcut.title, len(shortcut.children)) == ("shortcut_0", "all of it", 4)
    asked = next(asked for asked in done.record.asked if asked.key == "compression n5")
    assert (asked.attempts, asked.fell_back, len(asked.problems)) == (2, False, 1)


@pytest.mark.parametrize("profile", ["paper", "fast"])
def test_after_two_unusable_replies_the_children_stay_and_the_verdict_is_unknown(profile: Profile) -> None:
    analyst = Told(compression="{}", reconciliation="{}", whole="{}")
    done = run(analyst, profile=profile)
    assert not [node for node in nodes(done.reconciled.root) if isinstance(node, Shortcut)]
    for node in nodes(done.reconciled.root):
        if isinstance(node, Subtask):
            assert node.verdict is not None
            assert (node.verdict.coherence, node.verdict.completion) == ("insufficient_evidence", "unknown")
            assert node.verdict.state == "unknown"
    before = {node.id: node.summary for node in nodes(done.source.root) if isinstance(node, Subtask) and node.level}
    after = {node.id: node.summary for node in nodes(done.reconciled.root) if isinstance(node, Subtask) and node.level}
    assert before == after
    assert done.reconciled.root.summary


def test_a_refused_key_ends_the_run() -> None:
    for profile in ("paper", "fast"):
        with pytest.raises(KeyRefused, match="no entry"):
            run(Told(score=KeyRefused("no entry"), whole=KeyRefused("no entry")), profile=profile)


LEAVES = tuple(Leaf(f"n{index}", index + 1, Step(Source("x"))) for index in range(4))
ISSUE = Issue("issue_0", "missing", "n1", evidence=("n1",))
PARENT = Subtask("n4", 1, "all", "", LEAVES)
KNOWN = Known(LEAVES, {leaf.id: leaf for leaf in LEAVES}, {leaf.id for leaf in LEAVES}, {"issue_0": ISSUE})


@pytest.mark.parametrize(
    ("groups", "problem"),
    [
        ([], "exactly once"),
        ([group("keep", "n0"), group("shortcut", "n2", "n1"), group("keep", "n3")], "in this order"),
        ([group("keep", "n0"), group("keep", "n0"), group("shortcut", "n1", "n2", "n3")], "exactly once"),
        ([group("keep", "n0", "n1"), group("shortcut", "n2", "n3")], "keep has exactly one"),
        ([group("shortcut", "n0"), group("shortcut", "n1", "n2", "n3")], "shortcut two or more"),
        ([group("shortcut"), group("shortcut", "n0", "n1", "n2", "n3")], "shortcut with 0 sources"),
        ([group("shortcut", "n0", "n1", "n2", "n3", evidence_node_ids=["n7"])], "evidence_node_ids: n7 not among"),
        ([group("shortcut", "n0", "n1", key_action_ids=["n2"]), group("shortcut", "n2", "n3")], "key_action_ids"),
    ],
)
def test_checks_of_a_partition(groups: list[dict[str, Any]], problem: str) -> None:
    with pytest.raises(BadAnswer, match=problem):
        require(valid_groups(group_drafts([Group.validated(g) for g in groups], PARENT), KNOWN)[1])


def verdict(**fields: Any) -> ReconciliationAnswer:
    return ReconciliationAnswer.validated({"coherence": "coherent", "completion": "complete", **fields})


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"open_issues": [{"issue": " "}]}, "no description"),
        ({"fatal_issues": [{"issue": "x", "evidence_node_ids": ["n9"]}]}, "n9 not among"),
        ({"key_action_ids": ["shortcut_3"]}, "key_action_ids: shortcut_3"),
        ({"resolved_issue_ids": ["issue_4"]}, "none of the inherited issue_0"),
        ({"resolved_issue_ids": ["issue_0"]}, "nothing is given"),
        ({"resolved_issue_ids": ["issue_0"], "resolution_evidence": {"issue_0": ["n8"]}}, "n8 not among"),
        ({"resolved_issue_ids": ["issue_0"], "resolution_evidence": {"issue_0": ["n1"]}}, "must lie later"),
        ({"resolved_issue_ids": ["issue_0"], "resolution_evidence": {"issue_0": ["n0"]}}, "must lie later"),
    ],
)
def test_checks_of_a_verdict(fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(BadAnswer, match=problem):
        require(valid_verdict(verdict_draft(verdict(**fields)), KNOWN)[1])


def test_later_evidence_closes_an_issue() -> None:
    answer = verdict(resolved_issue_ids=["issue_0"], resolution_evidence={"issue_0": ["n2"]})
    assert valid_verdict(verdict_draft(answer), KNOWN) == (verdict_draft(answer), [])


@pytest.mark.parametrize(
    ("coherence", "completion", "severities", "state"),
    [
        ("inconsistent", "complete", (), "broken"),
        ("coherent", "failed", (), "broken"),
        ("coherent", "complete", ("fatal",), "broken"),
        ("inconsistent", "incomplete", ("serious",), "broken"),
        ("coherent", "incomplete", ("doubt",), "incomplete"),
        ("coherent", "complete", ("doubt", "serious"), "incomplete"),
        ("insufficient_evidence", "unknown", ("serious",), "incomplete"),
        ("insufficient_evidence", "complete", ("doubt",), "unknown"),
        ("coherent", "unknown", (), "unknown"),
        ("coherent", "complete", (), "complete"),
        ("coherent", "complete", ("doubt",), "complete"),
    ],
)
def test_the_state_is_the_first_rule_that_applies(coherence: Any, completion: Any, severities: Any, state: str) -> None:
    assert state_of(coherence, completion, set(severities)) == state


def test_profiles_make_their_calls() -> None:
    paper, fast = Told(), Told()
    run(paper, 20, "paper")
    run(fast, 20, "fast")
    kinds = {question.kind for question, _ in paper.asked}
    assert kinds == {"boundary", "score", "summary", "toplevel", "compression", "reconciliation"}
    assert [question.key for question, _ in fast.asked] == ["whole a1 to a20"]
