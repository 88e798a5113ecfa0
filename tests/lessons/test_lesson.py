"""Lessons: at least three tasks, none that later evidence contradicts, and never from the task they are given to."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from dense.errors import DenseError
from dense.lessons.files import encode_evidence, read_evidence
from dense.lessons.lesson import LessonEvidence, lessons_for, lessons_of, task_hash
from dense.lessons.project import project_of
from dense.lessons.text import MAX_MESSAGE_BYTES, MAX_PAGE_BYTES, lesson_items, lesson_text, lessons_page
from dense.trajectory import Source, Step, Task, ToolCall, Trajectory

PROJECT = "sympy__sympy"


def evidence(
    task: str, *, worked: bool = True, way: str = "bin/test", started: str = "", **fields: str
) -> LessonEvidence:
    given = {"project": PROJECT, "signature": "not installed: pytest", "kind": "use", **fields}
    return LessonEvidence(
        given["signature"], "pytest", given["kind"], way, worked, task, task_hash(Task(task)), given["project"],
        f"run of {task}", f"{task}.json", 3, 5, "pytest: command not found", "pytest tests", started,
    )  # fmt: skip


def trajectory(task: str) -> Trajectory:
    return Trajectory("messages", f"{PROJECT}-1", Source("x.json"), task=Task(task))


def test_three_tasks_make_a_lesson() -> None:
    assert lessons_of([evidence("a"), evidence("b"), evidence("b")]) == []
    (lesson,) = lessons_of([evidence("a"), evidence("b", started="2026-01-02"), evidence("c"), evidence("c")])
    assert (lesson.tasks, lesson.runs, lesson.project, lesson.last_seen) == (3, 3, PROJECT, "2026-01-02")
    assert lesson.evidence[0].task == "b" and len(lesson.evidence) == 3
    assert lesson_text(lesson) == (
        "in `sympy__sympy`, `pytest` was not installed. `bin/test` ran on the same file instead"
        " (3 tasks, 3 runs, last 2026-01-02)."
    )


def test_a_contradicted_lesson_is_dropped() -> None:
    three = [evidence(name, started="2026-01-02") for name in "abc"]
    earlier, later = (evidence("d", worked=False, started=date) for date in ("2026-01-01", "2026-01-03"))
    assert lessons_of([*three, earlier])[0].failed_tasks == 1
    assert lessons_of([*three, later]) == []  # what was seen last speaks against it
    assert lessons_of([*three, earlier, replace(earlier, task_hash="e")]) == []  # it helps too seldom
    assert lessons_of([*three, evidence("a", worked=False, started="2026-01-03")]) != []  # it worked in the same task


def test_a_file_of_a_project_is_a_lesson_there_alone() -> None:
    assert lessons_of([evidence(name, project="") for name in "abc"]) == []
    mixed = [evidence("a"), evidence("b"), evidence("c", project="django__django")]
    assert lessons_of(mixed) == []
    anywhere = [replace(piece, way="pip install pytest", kind="install") for piece in mixed]
    assert [lesson.project for lesson in lessons_of(anywhere)] == [""]
    three = [evidence(name) for name in "abc"]
    assert lessons_for(three, trajectory("d"), PROJECT) and not lessons_for(three, trajectory("d"), "django__django")


TASKS = st.sampled_from(["Fix a.", "Fix b.", "Fix c.", "Fix d.", "Fix  a."])
PIECES = st.lists(
    st.builds(evidence, TASKS, worked=st.booleans(), way=st.sampled_from(["bin/test", "nose"])), max_size=30
)


@given(PIECES, TASKS)
def test_no_task_sees_what_was_learned_on_itself(pieces: list[LessonEvidence], task: str) -> None:
    """Whatever the evidence: without that of the task, the lessons are the same and hold in three other tasks."""
    own = task_hash(Task(task))
    found = lessons_for(pieces, trajectory(task), PROJECT)
    assert found == lessons_of([piece for piece in pieces if piece.task_hash != own])
    assert all(piece.task_hash != own for lesson in found for piece in lesson.evidence)
    assert all(lesson.tasks >= 3 for lesson in found)


def test_a_task_is_known_by_its_name_and_its_beginning_too() -> None:
    three = [evidence(name) for name in "abc"]
    named = [*three[:2], replace(three[2], task="owner__repo-7")]
    own = Trajectory("messages", "x", Source("x.json"), task=Task("Another text.", "owner__repo-7"))
    assert lessons_for(named, own, PROJECT) == []
    begins = [*three[:2], replace(three[2], task="Fix the parser")]
    assert lessons_for(begins, trajectory("fix  the parser"), PROJECT) == []
    assert lessons_for(three, replace(own, task=None), PROJECT) == []  # nobody knows which task it is


def test_the_page_and_the_message_are_bounded_and_safe() -> None:
    hostile = [
        replace(
            evidence(f"task {n}\n# forged", started="2026-01-01"),
            way=f"./run-{way}\n## forged {'x' * 60}",
            line="`\n" * 400,
        )
        for way in range(200)
        for n in range(3)
    ]
    lessons = lessons_of(hostile)
    page = lessons_page(lessons, 600, "out\n# forged")
    assert len(page.encode()) <= MAX_PAGE_BYTES + 100 and "further lessons" in page
    assert all(line.startswith(("# Lessons", "Dead ends", "## In `", "- ", "")) for line in page.splitlines())
    assert not any(line.startswith(("# forged", "## forged")) for line in page.splitlines())
    items = lesson_items(lessons, 10_000)
    assert items and sum(item.size for item in items) <= MAX_MESSAGE_BYTES
    assert lesson_items(lessons, 10) == []
    assert "No dead end had the same way out" in lessons_page([], 0, "out")


def test_the_evidence_is_read_back(tmp_path: Path) -> None:
    pieces = (evidence("a"), evidence("b", worked=False))
    (tmp_path / "lessons.jsonl").write_bytes(encode_evidence(pieces))
    assert read_evidence(tmp_path / "lessons.md") == read_evidence(tmp_path / "lessons.jsonl") == pieces
    with pytest.raises(DenseError, match="cannot be read"):
        read_evidence(tmp_path / "other.md")
    (tmp_path / "bad.jsonl").write_text("[1]")
    with pytest.raises(DenseError, match="not the evidence"):
        read_evidence(tmp_path / "bad.jsonl")


@pytest.mark.parametrize(
    ("path", "project"),
    [
        ("x/sympy__sympy-123.traj.json", "sympy__sympy"),
        ("/h/.claude/projects/-home-me-app/s.jsonl", "-home-me-app"),
        ("x/y.json", ""),
    ],
)
def test_which_project_a_trace_is_about(path: str, project: str) -> None:
    assert project_of(Trajectory("messages", "id", Source(path))) == project


def test_a_lesson_on_a_tool_is_for_agents_that_have_it() -> None:
    three = [
        replace(evidence(name, way="payment_id", kind="argument", project=""), program="book", signature="Error: none")
        for name in "abc"
    ]
    assert lessons_for(three, trajectory("d"), "") == []
    step = Step(Source("x.json"), calls=(ToolCall("book"),))
    (lesson,) = lessons_for(three, replace(trajectory("d"), steps=(step,)), "")
    assert lesson_text(lesson) == (
        "`book` failed with `Error: none`. It was accepted with another `payment_id`, all else equal (3 tasks, 3 runs)."
    )
    refused = [
        replace(evidence(name, kind="form", way="one call", signature="One action, please."), program="mini-swe-agent")
        for name in "abc"
    ]
    assert lessons_for(refused, trajectory("d"), PROJECT) == []
    (lesson,) = lessons_for(refused, replace(trajectory("d"), agent="mini-swe-agent"), PROJECT)
    assert "refused a message" in lesson_text(lesson) and "A message with one call was accepted" in lesson_text(lesson)


def test_attempts_with_one_name_are_one_task() -> None:
    """A simulated user words one task in three ways."""
    worded = [replace(evidence(text), task="task 23") for text in ("Hello.", "Hi.", "Good morning.")]
    assert lessons_of(worded) == []
    assert len(lessons_of([*worded, evidence("b"), evidence("c")])) == 1
