"""From evidence to lessons: the same error, the same program, the same way out, in at least three tasks.

`lessons_for` is the only way to the lessons of a message. It leaves out all evidence of the task that the message is
about, and everything that does not hold without it: no task ever gets what was learned on itself."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence

from msgspec import Struct

from dense.knowledge.tools import own_name
from dense.trajectory import Task, Trajectory

MIN_TASKS = 3
MAX_FAILED_SHARE = 1 / 3
"""A way that did not help in more tasks than this, for each in which it did, is no lesson."""
MAX_EVIDENCE = 5
"""So many pieces of evidence a lesson shows, the newest ones, from different tasks first."""
PREFIX_CHARS = 80
NOT_INSTALLED = "not installed: "
TOOL_KINDS = frozenset({"first", "argument"})
"""Ways out that are about a tool: they say nothing to an agent that does not have it."""


class LessonEvidence(Struct, frozen=True, tag_field="schema", tag="dense.lessons/1"):
    """In one run, after one failure, one way out was tried."""

    signature: str
    """The error without what varies."""
    program: str
    """The program or tool that failed; the agent's program, if it refused a message."""
    kind: str
    """`install`, `use`, `with`, `first`, `argument`, `form`: see `WayCell` in `dense.batch.rows`."""
    way: str
    has_worked: bool
    task: str
    """The name or the beginning of the task."""
    task_hash: str
    project: str
    run: str
    """The key of the trace's row."""
    source: str
    """Where the trace is."""
    failed: int
    """The action that failed."""
    shown: int
    """The action that shows whether the way works."""
    line: str
    """The line that says what went wrong."""
    command: str = ""
    """What was run when it failed."""
    started: str = ""
    """When the run began, as a date; empty if unknown."""


class Lesson(Struct, frozen=True):
    """A dead end, and the way out that worked."""

    signature: str
    program: str
    kind: str
    way: str
    project: str
    """The only project that it holds for; empty if it is about a program anywhere."""
    tasks: int
    """In how many tasks the way worked."""
    runs: int
    """In how many runs."""
    failed_tasks: int
    """In how many other tasks it was tried and did not help."""
    last_seen: str
    """The date of the newest run; empty if unknown."""
    evidence: tuple[LessonEvidence, ...]


def task_hash(task: Task | None) -> str:
    """A hash of an instruction, however its blanks are set; empty without one."""
    if task is None:
        return ""
    return hashlib.sha256(" ".join(task.instruction.split()).encode("utf-8", "replace")).hexdigest()[:16]


def lessons_of(evidence: Iterable[LessonEvidence]) -> list[Lesson]:
    """The lessons that hold, those of most tasks first."""
    groups: defaultdict[tuple[str, ...], list[LessonEvidence]] = defaultdict(list)
    for piece in evidence:
        is_local = piece.kind == "use" and "/" in piece.way
        if is_local and not piece.project:
            continue  # a file of a project, and nobody knows which
        program = "" if piece.signature.startswith(NOT_INSTALLED) else piece.program
        groups[piece.signature, program, piece.kind, piece.way, piece.project if is_local else ""].append(piece)
    lessons = [lesson for key, pieces in groups.items() if (lesson := _lesson(key, pieces)) is not None]
    return sorted(
        lessons, key=lambda ranked: (-ranked.tasks, -ranked.runs, ranked.signature, ranked.way, ranked.project)
    )


def lessons_for(
    evidence: Sequence[LessonEvidence], trajectory: Trajectory, project: str, task: Task | None = None
) -> list[Lesson]:
    """The lessons for a message on this trajectory: from other tasks alone, and none of another project. `task` is its
    task as the trace has it, if something was removed from the trajectory's own."""
    own = [known for known in (trajectory.task, task) if known is not None]
    others = evidence_without(evidence, *own) if own else ()
    names = {own_name(call.name) for step in trajectory.steps for call in step.calls}
    return [
        lesson
        for lesson in lessons_of(others)
        if lesson.project in ("", project) and _concerns(lesson, trajectory, names)
    ]


def evidence_without(evidence: Sequence[LessonEvidence], *tasks: Task) -> tuple[LessonEvidence, ...]:
    """The evidence of other tasks than these."""
    return tuple([piece for piece in evidence if not any(_is_of(piece, task) for task in tasks)])


def _concerns(lesson: Lesson, trajectory: Trajectory, tools: set[str]) -> bool:
    """Whether a lesson is about something that the agent of a trajectory has."""
    if lesson.kind == "form":
        return lesson.program == trajectory.agent
    return lesson.kind not in TOOL_KINDS or lesson.program in tools


def _is_of(piece: LessonEvidence, task: Task) -> bool:
    """Whether evidence is of this task: by its hash, its name, or the beginning of its instruction."""
    if piece.task_hash == task_hash(task) or not piece.task or piece.task == task.name:
        return True
    first, second = (" ".join(text.split())[:PREFIX_CHARS].casefold() for text in (piece.task, task.instruction))
    return first == second


def _lesson(key: tuple[str, ...], pieces: Sequence[LessonEvidence]) -> Lesson | None:
    worked = [piece for piece in pieces if piece.has_worked]
    # Two with one name, or with one instruction, may be one task: the least that can be said for it, the most against.
    tasks = min(len(_hashes(worked)), len({piece.task for piece in worked}))
    solved = {name for piece in worked for name in (piece.task_hash, piece.task)}
    failed = [piece for piece in pieces if not piece.has_worked and solved.isdisjoint({piece.task_hash, piece.task})]
    failed_tasks = len(_hashes(failed))
    if tasks < MIN_TASKS or failed_tasks > MAX_FAILED_SHARE * tasks:
        return None
    last_seen = max(piece.started for piece in worked)
    if max((piece.started for piece in failed), default="") > last_seen:
        return None  # what was seen last speaks against it
    signature, program, kind, way, project = key
    return Lesson(
        signature=signature,
        program=program,
        kind=kind,
        way=way,
        project=project,
        tasks=tasks,
        runs=len({piece.run for piece in worked}),
        failed_tasks=failed_tasks,
        last_seen=last_seen,
        evidence=_examples(worked),
    )


def _hashes(pieces: Sequence[LessonEvidence]) -> set[str]:
    return {piece.task_hash or piece.task for piece in pieces}


def _examples(worked: Sequence[LessonEvidence]) -> tuple[LessonEvidence, ...]:
    """The newest pieces, one of each task first."""
    ordered = sorted(worked, key=lambda piece: (piece.source, piece.failed))
    ordered.sort(key=lambda piece: piece.started, reverse=True)
    first: dict[str, LessonEvidence] = {}
    for piece in ordered:
        first.setdefault(piece.task, piece)
    firsts = list(first.values())
    return tuple([*firsts, *(piece for piece in ordered if piece not in firsts)][:MAX_EVIDENCE])
