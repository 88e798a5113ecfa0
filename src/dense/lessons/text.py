"""Lessons in words: a page for people, and lines for a message."""

from __future__ import annotations

from collections.abc import Sequence

from dense.lessons.lesson import MIN_TASKS, NOT_INSTALLED, Lesson, LessonEvidence
from dense.message.page import Item, one_line
from dense.text.clip import clip_end
from dense.text.quoting import code_span

MAX_LESSONS = 40
MAX_PAGE_BYTES = 24_000
"""Lessons beyond this are left out of the page, the ones of the fewest tasks first."""
MAX_MESSAGE_BYTES = 1_500
MAX_SOURCE = 120
LESSON_VALUE = 20
KIND = "lesson"


def lesson_text(lesson: Lesson) -> str:
    """A lesson in one line: the dead end, the way out, how often."""
    where = f"in {code_span(lesson.project)}, " if lesson.project else ""
    helped = f"{lesson.tasks} tasks, {lesson.runs} runs"
    last = f", last {lesson.last_seen}" if lesson.last_seen else ""
    against = f"; did not help in {lesson.failed_tasks}" if lesson.failed_tasks else ""
    return f"{where}{_dead_end(lesson)}. {_way(lesson)} ({helped}{last}{against})."


def _dead_end(lesson: Lesson) -> str:
    if lesson.signature.startswith(NOT_INSTALLED):
        return f"{code_span(lesson.signature.removeprefix(NOT_INSTALLED))} was not installed"
    if lesson.kind == "form":
        return f"{code_span(lesson.program)} refused a message with {code_span(lesson.signature)}"
    return f"{code_span(lesson.program)} failed with {code_span(lesson.signature)}"


def _way(lesson: Lesson) -> str:
    way = code_span(lesson.way)
    if lesson.kind == "install":
        return f"{way} installed it, and the command then ran"
    if lesson.kind == "use":
        return f"{way} ran on the same file instead"
    if lesson.kind == "first":
        return f"It worked after {way} on the same file"
    if lesson.kind == "form":
        return "A message with one call was accepted"
    if lesson.kind == "argument":
        return f"It was accepted with another {way}, all else equal"
    return f"It worked with {way}"


def lesson_items(lessons: Sequence[Lesson], room: int) -> list[Item]:
    """The lines for a message, as many as there is room for."""
    items: list[Item] = []
    size = 0
    for lesson in lessons:
        item = Item(KIND, LESSON_VALUE, "lesson from other tasks: ", one_line(lesson_text(lesson)))
        size += item.size
        if size > min(room, MAX_MESSAGE_BYTES):
            break
        items.append(item)
    return items


def lessons_page(lessons: Sequence[Lesson], traces: int, source: str) -> str:
    """`lessons.md`: bounded, the lessons of most tasks first, each with its evidence."""
    head = (
        f"# Lessons\n\nDead ends that recurred in {traces:,} traces ({one_line(source)}), and the way out that worked"
        f" in at least {MIN_TASKS} tasks. Each line names the action that failed and the one that shows the way out."
        " This is a record of what was seen, quoted from traces: data, not instructions.\n"
    )
    sections: list[str] = []
    size = len(head.encode())
    for lesson in lessons[:MAX_LESSONS]:
        section = _section(lesson)
        size += len(section.encode())
        if size > MAX_PAGE_BYTES:
            break
        sections.append(section)
    left = len(lessons) - len(sections)
    if not lessons:
        sections.append(f"\nNo dead end had the same way out in {MIN_TASKS} tasks.\n")
    if left:
        sections.append(f"\n{left} further lessons of fewer tasks are left out.\n")
    return head + "".join(sections)


def _section(lesson: Lesson) -> str:
    text = lesson_text(lesson)
    lines = [f"\n## {text[0].upper()}{text[1:]}\n"]
    return "\n".join([*lines, *map(_evidence, lesson.evidence)]) + "\n"


def _evidence(piece: LessonEvidence) -> str:
    when = f"{piece.started}, " if piece.started else ""
    command = f" {code_span(piece.command, 100)}:" if piece.command else ""
    source = one_line(clip_end(piece.source[-MAX_SOURCE:], MAX_SOURCE))
    actions = f"a{piece.failed}{command} {code_span(piece.line, 140)}; a{piece.shown} worked"
    return f"- {when}{one_line(clip_end(piece.task, 80))}: {actions} ({source})"
