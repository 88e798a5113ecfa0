"""Lessons of one project's own sessions: evidence kept with each result, and the lines that the next session gets.

The same rule as `dense lessons`: the way out of a dead end must have worked in at least three tasks of this project."""

from __future__ import annotations

from pathlib import Path

from dense.analysis.detectors.assessment import TraceAssessment
from dense.batch.observed import failures_of
from dense.errors import DenseError
from dense.integrations.queue import LESSONS, project_folder
from dense.integrations.state import now, project_root, write_atomically
from dense.lessons.files import encode_evidence, read_evidence
from dense.lessons.lesson import LessonEvidence, lessons_of, task_hash
from dense.lessons.text import lesson_items
from dense.redact import clean_line

FOLDER = "lessons"
MAX_BYTES = 1_500
MAX_SESSIONS = 200
"""So many sessions' evidence counts, the newest ones."""
MAX_TASK = 200


def keep_evidence(name: str, folder: str, assessment: TraceAssessment) -> None:
    """Keep what a session shows about dead ends, and write the project's lessons anew."""
    target = project_folder(folder)
    pieces = _session_evidence(name, clean_line(str(project_root(folder))), assessment)
    if not pieces:
        return
    write_atomically(target / FOLDER / f"{name}.jsonl", encode_evidence(pieces).decode("utf-8"))
    files = sorted((target / FOLDER).glob("*.jsonl"), key=lambda path: path.stat().st_mtime)[-MAX_SESSIONS:]
    lessons = lessons_of(piece for path in files for piece in _readable_evidence(path))
    write_atomically(target / LESSONS, "\n".join(item.text for item in lesson_items(lessons, MAX_BYTES)))


def _readable_evidence(path: Path) -> tuple[LessonEvidence, ...]:
    """The evidence of one session; none if its file is damaged, because that must not cost the feedback of another."""
    try:
        return read_evidence(path)
    except DenseError:
        return ()


def _session_evidence(name: str, project: str, assessment: TraceAssessment) -> list[LessonEvidence]:
    cleaned = assessment.trajectory
    task = " ".join((cleaned.task.instruction if cleaned.task else "").split())[:MAX_TASK]
    if not task:
        return []
    return [
        LessonEvidence(
            signature=failure.signature,
            program=failure.program or cleaned.agent or "",
            kind=way.kind,
            way=way.text,
            has_worked=way.has_worked,
            task=task,
            task_hash=task_hash(cleaned.task),
            project=project,
            run=name,
            source=name,
            failed=failure.action,
            shown=way.action,
            line=failure.line,
            command=failure.command,
            started=now()[:10],
        )
        for failure in failures_of(assessment)
        for way in failure.ways
    ]
