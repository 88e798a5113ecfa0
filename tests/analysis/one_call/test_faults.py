"""Lying, lazy and broken answers: the laws hold, valid pieces survive, one corrective call names what is wrong."""

from __future__ import annotations

import asyncio
import copy
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from outline_answerer import OutlineAnswerer

from dense.analysis.asking.asker import Asker
from dense.analysis.asking.questions import Correction, Question
from dense.analysis.one_call import OneCallAnalyst
from dense.analysis.trees.accept import accept
from dense.errors import AnalystFailed, CallFailed, UnansweredCalls
from dense.options import FeedbackOptions
from dense.service import Distillation, distill
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from dense.tree import ReconciledTree, Subtask, last_action, leaves, nodes

BENCH = Path(__file__).parents[3] / "bench"


@pytest.fixture(scope="module")
def faults() -> Iterator[Any]:
    sys.path.insert(0, str(BENCH))
    yield importlib.import_module("faults")
    sys.path.remove(str(BENCH))


def check_laws(tree: ReconciledTree, count: int) -> None:
    """Every action once and in order, references known, resolutions later, one open issue makes a node incomplete."""
    assert [leaf.action for leaf in leaves(tree.root)] == list(range(1, count + 1))
    known = {node.id: node for node in nodes(tree.root)}
    actions = {f"a{number}" for number in range(1, count + 1)}
    for issue in tree.issues:
        assert {issue.raised_at, *issue.evidence, *issue.resolution} <= set(known)
        if issue.resolved_at is not None:
            shown = max(last_action(known[name]) for name in issue.evidence)
            assert max(last_action(known[name]) for name in issue.resolution) > shown
    for node in known.values():
        if isinstance(node, Subtask):
            assert node.verdict is not None
            below = {one.id for one in nodes(node)}
            is_open = any(one.raised_at in below and one.resolved_at not in below for one in tree.issues)
            assert not (is_open and node.verdict.state == "complete")
    for item in (*tree.requirements, *tree.next_steps):
        assert set(item.evidence) <= actions
    for requirement in tree.requirements:
        assert requirement.met != "yes" or requirement.evidence
    for product in tree.products:
        assert 1 <= product.action <= (product.check or count) <= count


def test_the_table_of_faults(faults: Any, capsys: pytest.CaptureFixture[str]) -> None:
    rows = faults.table()
    whole = rows["nothing"]
    for lenient in ("prose and a fence around it", "thoughts with JSON before it", "numbers as text, `a7`"):
        assert rows[lenient] == whole
    for kind in ("shortcuts", "issues", "products", "next_steps", "labels"):
        assert rows["overlapping cuts"][kind] == rows["no subtasks"][kind] == whole[kind]
    assert rows["a quote that is in no action"] == {**whole, "quotes": 1, "named": 1}
    assert rows["fixed before it was seen"] == {**whole, "closed": 0, "named": 1}
    assert rows["a shortcut of unknown actions"] == {**whole, "shortcuts": 2, "named": 1}
    assert rows["cut off after nine tenths"]["issues"] == whole["issues"]
    harmless = ("nothing", "prose", "thoughts", "numbers as text", "labels", "a list instead", "a cut behind")
    assert [name for name, row in rows.items() if not row["named"] and not name.startswith(harmless)] == []
    sys.argv = ["faults"]
    faults.main()
    assert "cut off in the middle" in capsys.readouterr().out


def test_every_fault_keeps_the_laws(faults: Any) -> None:
    trajectory, answer = faults.example()
    for spoil in faults.FAULTS.values():
        done, _ = faults.distilled(trajectory, spoil(copy.deepcopy(answer)))
        check_laws(done.reconciled, len(trajectory.steps))


async def drafted(trajectory: Trajectory, reply: str, answerer: Any) -> ReconciledTree:
    analysis = await OneCallAnalyst(Asker(answerer(reply))).analyse(trajectory)
    return accept(trajectory, analysis).reconciled


def test_every_prefix_of_a_good_answer(faults: Any) -> None:
    """A cut answer keeps its complete pieces: with a longer prefix there are never fewer requirements."""
    trajectory, answer = faults.example()
    text = json.dumps(answer, ensure_ascii=False)
    found: list[int] = []

    async def run() -> None:
        for end in [*range(0, len(text), 23), len(text)]:
            tree = await drafted(trajectory, text[:end], faults.Spoiled)
            check_laws(tree, len(trajectory.steps))
            found.append(len(tree.requirements))

    asyncio.run(run())
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, 4)


FIELDS = st.sampled_from(
    "to title parts values value check completion coherence text evidence quote fixed_by fatal from dead_end outcome"
    " do because action label met by path summary why id same_as".split()
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.sampled_from(["a3", "i1", "s2"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(FIELDS, inner, max_size=5),
    max_leaves=20,
)
PLACES = st.sampled_from(
    "requirements subtasks shortcuts issues products root next_steps key_actions labels phases known_issues".split()
)


@settings(max_examples=150)
@given(st.dictionaries(PLACES, json_values))
def test_wrong_types_everywhere(changes: dict[str, Any]) -> None:
    sys.path.insert(0, str(BENCH))
    faults = importlib.import_module("faults")
    sys.path.remove(str(BENCH))
    trajectory, answer = faults.example()
    tree = asyncio.run(drafted(trajectory, json.dumps({**answer, **changes}), faults.Spoiled))
    check_laws(tree, len(trajectory.steps))
    if "requirements" not in changes:
        assert len(tree.requirements) == 4


@pytest.mark.parametrize("deep", [100, 400, 3_000])
def test_depth_does_no_harm(faults: Any, deep: int) -> None:
    trajectory, answer = faults.example()
    for opening, closing in (("[", "]"), ('{"parts": [', "]}")):
        nested = opening * deep + closing * deep
        text = json.dumps(answer).replace('"next_steps": [', f'"next_steps": [{nested}, ', 1)
        check_laws(asyncio.run(drafted(trajectory, text, faults.Spoiled)), len(trajectory.steps))


def test_one_corrective_call_names_everything_and_fixes_are_put_in(faults: Any) -> None:
    trajectory, answer = faults.example()
    good = copy.deepcopy(answer)
    answer["issues"][0]["fixed_by"] = [2]
    answer["issues"][1]["quote"] = "not a line of it"
    answer["subtasks"][0]["completion"] = "mostly"
    answer["requirements"][0]["by"] = [99]
    seen: list[str] = []

    class Corrected:
        name = "corrected"

        async def ask(self, question: Question, correction: Correction | None = None) -> str:
            if correction is None:
                return json.dumps(answer)
            seen.append(correction.error)
            places = ("issues[0].fixed_by", "issues[1].quote", "subtasks[0].completion", "requirements[0].by")
            values = (
                good["issues"][0]["fixed_by"],
                good["issues"][1]["quote"],
                good["subtasks"][0]["completion"],
                good["requirements"][0]["by"],
            )
            fixes = [{"at": at, "value": value} for at, value in zip(places, values, strict=True)]
            return json.dumps({"fixes": [*fixes, {"at": "nowhere[3].x", "value": 1}]})

    done = asyncio.run(distill(trajectory, Corrected()))
    (error,) = seen
    for place in ("issues[0].fixed_by", "issues[1].quote", "subtasks[0].completion", "requirements[0].by"):
        assert f"- {place}:" in error
    wanted = asyncio.run(distill(trajectory, faults.Spoiled(good)))
    assert done.reconciled == wanted.reconciled


# Windows and the closing call


def long_trajectory(count: int) -> Trajectory:
    steps = [
        Step(
            Source("t", line=number),
            f"Step {number}: look at part {number}.",
            calls=(ToolCall("bash", {"command": f"make part-{number}"}, "c"),),
            observations=(Observation("\n".join(f"part {number} line {line}" for line in range(20)), "c"),),
        )
        for number in range(1, count + 1)
    ]
    return Trajectory("test", "t", Source("t"), task=Task("Build all parts."), steps=tuple(steps))


class InWindows(OutlineAnswerer):
    """Outlines, with the closing answer and failures as told."""

    def __init__(self, closing: dict[str, Any] | None = None, fails: Callable[[str], bool] | None = None) -> None:
        self.closing, self.fails = closing or {}, fails or (lambda key: False)
        self.keys: list[str] = []

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        self.keys.append(question.key)
        if self.fails(question.key):
            raise AnalystFailed(f"{question.key}: gone") from CallFailed("dead")
        answer = json.loads(await super().ask(question, correction))
        return json.dumps({**answer, **self.closing} if question.kind == "closing" else answer)


def in_windows(answerer: InWindows, count: int = 60) -> Distillation:
    return asyncio.run(distill(long_trajectory(count), answerer, options=FeedbackOptions(look=4_000)))


@pytest.mark.parametrize(
    "known",
    [
        [{"id": "i1", "same_as": "i2"}, {"id": "i2", "same_as": "i1"}],
        [{"id": "i1", "same_as": "i2"}, {"id": "i2", "same_as": "i3"}, {"id": "i3", "same_as": "i1"}],
        [{"id": "i1", "same_as": "i1"}],
        [{"id": "i1", "fixed_by": [1]}, {"id": "i99"}, {"same_as": "i1"}, None, 7],
    ],
)
def test_circles_of_same_issues_lose_none(known: list[Any]) -> None:
    tree = in_windows(InWindows({"known_issues": known})).reconciled
    check_laws(tree, 60)
    assert tree.issues
    assert all(issue.evidence for issue in tree.issues)


@pytest.mark.parametrize("phases", [None, [], [{"to": "s2"}, {"to": "s1"}], [{"to": "s999", "title": "all"}], "x"])
def test_phases_keep_every_subtask(phases: Any) -> None:
    tree = in_windows(InWindows({"phases": phases})).reconciled
    check_laws(tree, 60)
    titles = [node.title for node in nodes(tree.root) if isinstance(node, Subtask)]
    assert len([title for title in titles if title.startswith("What the record shows")]) >= 9


@pytest.mark.parametrize("kind", ["window", "closing"])
def test_a_dead_call_fails_the_run(kind: str) -> None:
    dead: list[str] = []

    def fails(key: str) -> bool:
        if key.startswith(kind) and not dead:
            dead.append(key)
        return key in dead

    with pytest.raises(UnansweredCalls):
        in_windows(InWindows(fails=fails))
    assert len(dead) == 1


def test_an_unusable_window_costs_only_its_own_pieces() -> None:
    answerer = InWindows()
    ask = answerer.ask

    async def broken(question: Question, correction: Correction | None = None) -> str:
        return "no JSON" if question.key.startswith("window a1 ") else await ask(question, correction)

    answerer.ask = broken  # type: ignore[method-assign]
    done = in_windows(answerer)
    check_laws(done.reconciled, 60)
    (unusable,) = [asked.key for asked in done.record.asked if asked.fell_back]
    assert unusable.startswith("window a1 ")


# Round trips


class Chain(OutlineAnswerer):
    """Counts the round trips in a row: questions that are asked while another one waits belong to the same one."""

    def __init__(self) -> None:
        self.trips = 0
        self.waiting = 0

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        self.trips += self.waiting == 0
        self.waiting += 1
        await asyncio.sleep(0.001)
        self.waiting -= 1
        return await super().ask(question, correction)


@pytest.mark.parametrize(("count", "trips"), [(60, 1), (900, 2), (20_000, 3)])
def test_round_trips_in_a_row(count: int, trips: int) -> None:
    chain = Chain()
    trajectory = long_trajectory(count)
    draft = asyncio.run(OneCallAnalyst(Asker(chain)).analyse(trajectory)).draft
    assert chain.trips <= trips
    assert [asked.attempts for asked in draft.asked] == [1] * len(draft.asked)
