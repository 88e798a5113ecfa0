"""The profile `paper`: boundaries by their index alone, scores of what is seen, one ledger of issues."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from made_trajectory import trajectory
from test_profiles import Told, first_level, group, run

from dense.analysis.asking.prompt import render
from dense.analysis.asking.questions import Compression, Reconciliation, Score
from dense.analysis.asking.views import FULL, subtask_view
from dense.errors import AnalystFailed
from dense.message.paper_report import paper_report
from dense.options import FeedbackOptions
from dense.service import Distillation, distill
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from dense.tree import Leaf, Shortcut, Subtask, Verdict, nodes

ALL = {"action_index": 99}


@pytest.mark.parametrize("reasoning", [None, ["a", {"b": 1}], {"why": "x"}, 7, True, "", "words"])
def test_paper_only_the_index_decides_about_a_boundary(reasoning: Any) -> None:
    analyst = Told(boundary__level__1=lambda q, _: {"reasoning": reasoning, "action_index": 5, "more": []})
    assert first_level(run(analyst, 10))[0] == [1, 2, 3, 4, 5]
    bare = Told(boundary__level__1={"action_index": "5"})
    assert first_level(run(bare, 10))[0] == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("reply", "first"),
    [
        ('{"reasoning": "the "first" part", "action_index": 5}', [1, 2, 3, 4, 5]),
        ('```json\n{"reasoning": "a " b",\n "action_index": "5" }\n```', [1, 2, 3, 4, 5]),
        ('{"reasoning": "say "action_index": 5 or so", "action_index": ?}', [2, 3]),
    ],
)
def test_paper_a_reasoning_that_breaks_the_json_costs_no_boundary(reply: str, first: list[int]) -> None:
    analyst = Told(boundary__level__1=lambda q, _: reply if q.head == 1 else {"action_index": q.head + 1})
    assert first_level(run(analyst, 10))[0] == first


def test_paper_a_parent_that_scores_again_sees_the_action() -> None:
    """The score of a2 fails in its own subtask; the subtask above is asked, and shows the action."""
    analyst = Told(
        boundary__level__1=lambda q, _: {"action_index": q.head + 2},
        boundary__level__2=ALL,
        toplevel={"can_mount_all": False},
        score__n1=lambda q, _: "?" if q.subtask == "n7" else {"reasoning": "", "label": -1},
    )
    done = run(analyst, 6)
    asked = [question for question in analyst.of(Score) if question.target.id == "n1"]
    assert [question.subtask for question in asked] == ["n7", "n9"]
    for question in asked:
        prompt = "\n".join(message.text for message in render(question).messages)
        assert prompt.count('<action id="n1" focus="TARGET">') == 1
    leaf = next(node for node in nodes(done.source.root) if node.id == "n1")
    assert isinstance(leaf, Leaf) and leaf.label == -1


def test_paper_a_target_is_shown_however_deep_it_is() -> None:
    steps = trajectory(3, 1).steps
    target = Leaf("n1", 2, steps[1])
    inner = Subtask("n5", 1, "in", "", (Leaf("n0", 1, steps[0]), target))
    outer = Subtask("n6", 2, "out", "", (inner, Leaf("n2", 3, steps[2])))
    view = subtask_view("n7", (outer,), target, FULL)
    assert 'id="n7" focus="current-subtask"' in view
    assert view.count('focus="TARGET"') == 1
    assert view.index('id="n6"') < view.index('id="n5"') < view.index('focus="TARGET"')


# The ledger: two subtasks of three actions each, under one root


def verdict(coherence: str = "coherent", completion: str = "complete", **fields: Any) -> dict[str, Any]:
    return {"coherence": coherence, "completion": completion, "summary": "s", **fields}


def ledger(root: Any, second: Any = None, **more: Any) -> Distillation:
    """n7 (a1-a3) raises issue_0; n8 (a4-a6) and then the root n6 answer as given."""
    raised = verdict(open_issues=[{"issue": "out.txt is missing", "evidence_node_ids": ["n1"]}])
    return run(
        Told(
            boundary__level__1=lambda q, _: {"action_index": q.head + 2},
            toplevel={"can_mount_all": True},
            compression=lambda q, _: {"groups": [group("keep", child.id) for child in q.parent.children]},
            reconciliation__n7=raised,
            reconciliation__n8=second or verdict(),
            reconciliation__n6=root,
            **more,
        ),
        6,
    )


def root_verdict(done: Distillation) -> Verdict:
    assert done.reconciled.root.verdict is not None
    return done.reconciled.root.verdict


def test_paper_an_inherited_issue_that_is_not_mentioned_stays_open_at_the_parent() -> None:
    done = ledger(verdict())
    assert root_verdict(done).state == "incomplete"
    assert root_verdict(done).restated == ("issue_0",)
    assert [(issue.id, issue.resolved_at) for issue in done.reconciled.issues] == [("issue_0", None)]


def test_paper_a_restated_issue_is_no_new_one() -> None:
    restated = {"issue": "issue_0: out.txt is still missing", "evidence_node_ids": ["n5"]}
    done = ledger(verdict(open_issues=[restated]))
    assert (root_verdict(done).state, root_verdict(done).issues) == ("incomplete", ())
    assert root_verdict(done).restated == ("issue_0",)
    fatal = ledger(verdict(fatal_issues=[restated]))
    assert (root_verdict(fatal).state, root_verdict(fatal).restated_fatal) == ("broken", ("issue_0",))
    assert len(fatal.reconciled.issues) == 1
    page = paper_report(fatal.reconciled)(10**6)
    assert "issue_0: out.txt is missing (fatal) [a2]" in [item.text for item in page.items]


def test_paper_a_resolved_issue_is_closed_and_counts_no_more() -> None:
    done = ledger(verdict(resolved_issue_ids=["issue_0"], resolution_evidence={"issue_0": ["n4"]}))
    assert root_verdict(done).state == "complete"
    (issue,) = done.reconciled.issues
    assert (issue.resolved_at, issue.resolution) == ("n6", ("n4",))


def test_paper_what_is_resolved_and_restated_is_open() -> None:
    both = verdict(
        open_issues=[{"issue": "issue_0 is open", "evidence_node_ids": []}],
        resolved_issue_ids=["issue_0"],
        resolution_evidence={"issue_0": ["n4"]},
    )
    assert root_verdict(ledger(both)).state == "incomplete"


def test_paper_without_a_verdict_inherited_issues_are_still_open() -> None:
    found = root_verdict(ledger("no JSON"))
    assert (found.coherence, found.completion, found.state) == ("insufficient_evidence", "unknown", "incomplete")


def test_paper_an_unknown_issue_is_a_new_one() -> None:
    done = ledger(verdict(open_issues=[{"issue": "issue_9: something else", "evidence_node_ids": ["n5"]}]))
    assert [issue.text for issue in done.reconciled.issues] == ["out.txt is missing", "issue_9: something else"]


def test_paper_the_prompt_asks_to_restate_and_lists_what_is_inherited() -> None:
    analyst_prompt = ""

    def root(question: Reconciliation, _: object) -> Any:
        nonlocal analyst_prompt
        request = render(question)
        analyst_prompt = request.system + "\n".join(message.text for message in request.messages)
        return verdict()

    ledger(root)
    assert "list it again" in analyst_prompt
    assert '<issue id="issue_0" raised-at="n7" evidence="n1">out.txt is missing</issue>' in analyst_prompt
    assert "which of issue_0 are resolved by later evidence" in analyst_prompt


def test_paper_open_issues_of_a_summary_reach_the_critic_and_not_the_report() -> None:
    seen: list[str] = []

    def second(question: Reconciliation, _: object) -> Any:
        seen.append("\n".join(message.text for message in render(question).messages))
        return verdict(completion="unknown")

    facets = {"subtitle": "t", "summary": "s", "open_issues": "unverified result: FACET"}
    done = ledger(verdict(), second, summary=facets)
    assert "<open-issues>unverified result: FACET</open-issues>" in seen[0]
    page = paper_report(done.reconciled)(10**6)
    assert "FACET" not in json.dumps([(item.label, item.text) for item in page.items])
    assert "FACET" not in done.feedback.report


# Order of calls, labels, keys, shortcuts


def test_paper_scores_come_before_the_summary() -> None:
    analyst = Told(boundary__level__1=lambda q, _: {"action_index": q.head + 2}, boundary__level__2=ALL)
    run(analyst, 6)
    kinds = [(question.kind, question.subject) for question, _ in analyst.asked]
    for subtask in ("n7", "n8"):
        scored = [
            place for place, (kind, about) in enumerate(kinds) if kind == "score" and about.endswith(f" {subtask}")
        ]
        assert len(scored) == 3
        assert max(scored) < kinds.index(("summary", subtask))


@pytest.mark.parametrize(
    ("given", "label"),
    [
        (0, 0),
        (-1, -1),
        (-2, -2),
        ("-1", -1),
        (-2.0, -2),
        (1, None),
        (-3, None),
        ("bad", None),
        (True, None),
        (None, None),
    ],
)
def test_paper_labels(given: Any, label: int | None) -> None:
    done = run(Told(score__n2={"reasoning": ["free"], "label": given}), 6)
    leaf = next(node for node in nodes(done.source.root) if node.id == "n2")
    assert isinstance(leaf, Leaf) and leaf.label == label


def test_paper_one_child_is_not_compressed() -> None:
    analyst = Told(boundary=ALL)
    run(analyst, 4)
    assert [question.parent.id for question in analyst.of(Compression)] == ["n5"]  # the root n4 has one child
    assert [question.subtree.id for question in analyst.of(Reconciliation)] == ["n5", "n4"]


def test_paper_a_failed_call_is_a_failed_attempt() -> None:
    tries: list[object] = []

    def dead_once(question: Compression, correction: object) -> Any:
        tries.append(correction)
        if correction is None:
            return AnalystFailed("no answer")
        return {"groups": [group("shortcut", *[child.id for child in question.parent.children], title="all")]}

    done = run(Told(boundary=ALL, compression=dead_once), 4)
    assert len(tries) == 2
    assert [node.id for node in nodes(done.reconciled.root) if isinstance(node, Shortcut)] == ["shortcut_0"]


def test_paper_key_actions_by_rule() -> None:
    """Writes, tests, builds and installs, and the last action under each parent, are put before the cleaner."""
    steps = [
        Step(Source("t"), calls=(ToolCall("bash", {"command": command}, "c"),), observations=(Observation("ok", "c"),))
        for command in ("ls", "echo 1 > a", "cat a", "pip install x", "make", "ls -la")
    ]
    whole = Trajectory("test", "t", Source("t"), task=Task("x"), steps=tuple(steps))
    analyst = Told(boundary__level__1=lambda q, _: {"action_index": q.head + 2}, toplevel={"can_mount_all": True})
    asyncio.run(distill(whole, analyst, options=FeedbackOptions(profile="paper", redact=False)))
    keys = {question.parent.id: question.key_actions for question in analyst.of(Compression)}
    assert keys == {"n7": ("n1", "n2"), "n8": ("n3", "n4", "n5"), "n6": ("n1", "n2", "n3", "n4", "n5")}


def test_paper_a_shortcut_s_issue_is_inherited() -> None:
    """An issue that the cleaner leaves open is the critic's, who may resolve it or has it open too."""
    seen: list[tuple[str, ...]] = []

    def critic(question: Reconciliation, _: object) -> Any:
        seen.append(tuple(issue.id for issue in question.issues))
        return verdict()

    def cleaner(question: Compression, _: object) -> Any:
        first, second, *rest = [child.id for child in question.parent.children]
        made = group("shortcut", first, second, title="t", open_issue="left", evidence_node_ids=[first])
        return {"groups": [made, *[group("keep", child) for child in rest]]}

    done = run(Told(boundary=ALL, compression=cleaner, reconciliation=critic), 4)
    assert seen == [("issue_0",), ("issue_0",)]
    states = [node.verdict.state for node in nodes(done.reconciled.root) if isinstance(node, Subtask) and node.verdict]
    assert states == ["incomplete", "incomplete"]


def test_paper_an_empty_summary_keeps_the_prior_one() -> None:
    facets = {"subtitle": "t", "summary": "prior"}
    found = {
        text: run(Told(boundary=ALL, summary=facets, reconciliation__n5={**verdict(), "summary": text}), 4)
        for text in ("", "later")
    }
    kept = {text: next(n for n in nodes(done.reconciled.root) if n.id == "n5") for text, done in found.items()}
    assert [node.summary for node in kept.values() if isinstance(node, Subtask)] == ["prior", "later"]
