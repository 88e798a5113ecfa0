"""What is left where there is little room: something of everything, most important first, and a word on what went."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_feedback import made_feedback

from dense.deliver import markup
from dense.deliver.budget import Budgets
from dense.deliver.markup import MarkupBlock
from dense.evidence.actions import effects
from dense.methods.baselines.replay import OUTPUT, grade
from dense.methods.source_report import source_report
from dense.outcome import Outcome
from dense.service import FeedbackRun
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory
from dense.tree import Facets, Leaf, SourceTree, Subtask

type Making = Callable[..., FeedbackRun]


def step(number: int) -> Step:
    commands = [
        "ls -la src",
        f"echo {number} > part{number // 20}.txt",
        "pytest -q",
        f"cd /tmp/w{number // 100} && make",
    ]
    seen = Observation("1 failed\n", exit_code=1) if number % 7 == 3 else Observation("3 passed\n" * 4, exit_code=0)
    call = ToolCall("bash", {"command": commands[number % 4]})
    return Step(Source("x"), f"step {number}", calls=(call,), observations=(seen,))


def trace(count: int) -> Trajectory:
    task = Task("Write part1.txt and make the tests pass.")
    return Trajectory("test", "t", Source("x"), task=task, steps=tuple(step(number) for number in range(count)))


def reported(name: str, of: Trajectory, budget: int, outcome: Outcome | None = None) -> str:
    return made_feedback(name, of, outcome=outcome, budgets=Budgets(budget, budget)).feedback.report


def named(report: MarkupBlock, name: str) -> list[MarkupBlock]:
    return [block for block, _ in markup.walk(report) if block.name == name]


def nested(groups: int, each: int, summary: str = "It was done. ", facet: str = "out.txt") -> SourceTree:
    """A root of so many tasks, each of two tasks with so many actions."""
    leaves = [Leaf(f"n{number}", number + 1, step(number), 0, "It helped.") for number in range(groups * 2 * each)]
    root = len(leaves)

    def task(number: int, level: int, below: list[Leaf] | list[Subtask]) -> Subtask:
        return Subtask(f"n{number}", level, "a part", f"{summary}{number}", tuple(below), Facets(artifacts=facet))

    small = [task(root + 1 + n, 1, leaves[n * each : (n + 1) * each]) for n in range(groups * 2)]
    large = [task(root + 1 + 2 * groups + n, 2, small[2 * n : 2 * n + 2]) for n in range(groups)]
    return SourceTree("t", Task("do"), Subtask(f"n{root}", 0, "all", "", tuple(large)))


@pytest.mark.parametrize("budget", [4_000, 20_000, 180 * 1024])
def test_a_long_attempt_fills_its_report(budget: int) -> None:
    report = reported("dense-no-shortcuts", trace(2_000), budget)
    assert len(report.encode()) > budget // 2
    assert report.count("<summary") > 2
    assert "state=" not in report


@pytest.mark.parametrize("budget", [2_500, 5_000, 8_000])
def test_an_example_fills_its_report(budget: int, made: Making) -> None:
    report = made("dense-no-shortcuts", budgets=Budgets(budget, budget)).feedback.report
    assert len(report.encode()) > budget // 2
    assert report.count("<summary") == 5  # of all its parts


def test_facets_and_labels_of_the_deepest_go_first_then_quotes_then_tasks() -> None:
    fit = source_report(nested(3, 4, facet="out.txt " * 40), effects=effects)
    whole, _ = fit(10**6)
    size = markup.size(whole)
    count = {name: len(named(whole, name)) for name in ("task", "labels", "artifacts", "key-action")}
    some, dropped = fit(size - 100)
    assert len(named(some, "labels")) + len(named(some, "artifacts")) < count["labels"] + count["artifacts"]
    assert len(named(some, "task")) == count["task"]
    assert any("left out or shortened" in text for text in dropped)
    upper = [depth for block, depth in markup.walk(some) if block.name == "artifacts"]
    assert upper.count(3) == 3  # nothing of the upper tasks went
    assert len(named(some, "key-action")) == count["key-action"]
    bare, _ = fit(2_600)
    assert len(named(bare, "task")) == count["task"]
    assert len(named(bare, "key-action")) < count["key-action"]
    few, dropped = fit(1_500)
    assert 1 < len(named(few, "task")) < 10
    (*_, note) = named(few, "left-out")
    assert re.fullmatch(r"a\d+ to a\d+ left out here for length: \d+ parts?", str(note.content))
    assert note.content in dropped


def test_every_task_is_shown_or_stands_in_a_note() -> None:
    tree = nested(30, 3)
    report, _ = source_report(tree, effects=effects)(6_000)
    shown = {block.attributes["id"]: block for block in named(report, "task")}
    notes = [re.findall(r"\d+", str(block.content)) for block in named(report, "left-out")]
    missing = set(chain.from_iterable(range(int(first), int(last) + 1) for first, last, _ in notes))
    for part in tree.root.children:
        assert isinstance(part, Subtask)
        own = {leaf.action for child in part.children if isinstance(child, Subtask) for leaf in child.children}  # type: ignore[union-attr]
        assert part.id in shown or own <= missing
    last = tree.root.children[-1]
    assert last.id in shown  # how it ended stays


def test_a_compact_record_has_summaries_and_no_state() -> None:
    report, dropped = source_report(nested(9, 2), effects=effects)(500)
    (task,) = named(report, "task")
    assert list(task.attributes) == ["id", "left-out"]
    assert len(named(report, "summary")) > 1
    assert markup.size(report) <= 500
    assert dropped == ("all but the summaries of the root's parts",)


def test_a_giant_summary_leaves_room_for_others() -> None:
    report, _ = source_report(nested(3, 2, summary="wörd " * 2_000), effects=effects)(9_000)
    assert 4_500 < markup.size(report) <= 9_000
    assert len(named(report, "summary")) > 1


def test_of_too_many_labels_the_worst_stay() -> None:
    labels = {5: -2, 77: -1}
    leaves = [Leaf(f"n{n}", n + 1, step(n), labels.get(n, 0), "As it was.") for n in range(400)]  # type: ignore[arg-type]
    report, _ = source_report(SourceTree("t", None, Subtask("n400", 0, "all", "", tuple(leaves))), effects=effects)(
        3_000
    )
    (block,) = named(report, "labels")
    assert {"a6 -2: As it was.", "a78 -1: As it was."} <= set(str(block.content).splitlines())
    assert 1_500 < markup.size(report) <= 3_000


@given(st.integers(1, 12), st.integers(1, 4), st.sampled_from(["", "x ", "é\n" * 300]), st.integers(200, 12_000))
@settings(deadline=None, max_examples=40)
def test_any_tree_in_any_room(groups: int, each: int, text: str, room: int) -> None:
    fit = source_report(nested(groups, each, text, text), effects=effects)
    assert markup.size(fit(room)[0]) <= room
    assert fit(room) == fit(room)


LINES = "".join(f"line {number} of what the verifier printed\n" for number in range(3_000))


@pytest.mark.parametrize("output", ["x" * 60_000, "é" * 60_000, LINES, ""])
@pytest.mark.parametrize("budget", [512, 900, 2_000, 5_000, 60_000, 180 * 1024])
def test_the_grade_is_always_there(output: str, budget: int) -> None:
    outcome = Outcome("x", 0.25, {"reward": 0.25, "a": 1.0}, output, exception="AgentTimeoutError")
    report = reported("verifier-feedback", trace(40), budget, outcome)
    assert re.search(r"<reward end=[^>]*>0\.25<", report)
    if budget >= 2_000 and output:
        assert ("x" * 60 in report) or ("é" * 60 in report) or ("line 2999 of" in report)
        assert re.search(r'omitted="\d+ bytes"', report)


def test_one_giant_row_does_not_push_the_grade_out() -> None:
    giant = Step(Source("x"), "", calls=tuple(ToolCall(f"tool{n}" * 9, {"a": "b"}) for n in range(400)))
    of = Trajectory("test", "t", Source("x"), task=Task("do"), steps=(giant,))
    report = reported("verifier-feedback", of, 3_000, Outcome("x", 0.0, {}, LINES))
    assert re.search(r"<reward end=[^>]*>0<", report)
    assert "a1 left out here for length" in report
    assert len(report.encode()) > 1_500


@pytest.mark.parametrize("output", ["x" * 60_000, "é" * 60_000, LINES, "a\n" + "y" * 90_000 + "\nthe end\n"])
def test_what_is_clipped_adds_up(output: str) -> None:
    first, gap, last = named(grade(Outcome("x", 1.0, {}, output), 10**6), "verifier-output")
    (omitted,) = re.findall(r"\d+", gap.attributes["omitted"])
    assert output.startswith(str(first.content))
    assert output.endswith(str(last.content))
    sizes = [markup.byte_size(str(block.content)) for block in (first, last)]
    assert sum(sizes) + int(omitted) == markup.byte_size(output)
    assert OUTPUT // 2 < sum(sizes) <= OUTPUT


def test_lines_stay_whole_where_they_can() -> None:
    first, _, last = named(grade(Outcome("x", 1.0, {}, LINES), 4_000), "verifier-output")
    assert set((str(first.content) + str(last.content)).splitlines()) <= set(LINES.splitlines())


@given(st.text(max_size=400), st.integers(0, 2_000))
@settings(deadline=None)
def test_a_grade_keeps_its_room(output: str, room: int) -> None:
    block = grade(Outcome("x", None, {"b\n": 2.0}, output * 5, "E" * 9), room)
    assert named(block, "reward")[0].content == "not graded"
    assert markup.size(block, 1) <= max(room, 130)
