"""What lies around a Harbor trajectory: the trial's configuration and the task's own files.

Only what holds the task is read here. `result.json` and `verifier/` hold grades and are never opened.
"""

from __future__ import annotations

from pathlib import Path

from dense.errors import NoTrajectory
from dense.readers.files import TraceFile
from dense.readers.json_value import obj, string
from dense.trajectory import Task

INSTRUCTION = "instruction.md"


def task_beside(trajectory: Path) -> Task | None:
    """The instruction in a file beside the trajectory, in its trial, or in the task's folder that the trial names."""
    trial = trajectory.parent.parent if trajectory.parent.name == "agent" else trajectory.parent
    task_path = _task_path(trial)
    name = task_name(trajectory)
    folders = [trajectory.parent, trial, trial / "task"]
    if task_path is not None:
        folders.append(task_path)
        # A job that was moved to another machine often takes its tasks along.
        folders += [base / task_path.name for parent in trial.parents[:3] for base in (parent / "tasks", parent)]
    for folder in folders:
        try:
            text = (folder / INSTRUCTION).read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            continue
        if text.strip():
            return Task(text, name, origin="file")
    return None


def task_name(trajectory: Path) -> str | None:
    """The task's name by the trial's configuration, else by the trial's folder, `<task>__<id>`."""
    trial = trajectory.parent.parent if trajectory.parent.name == "agent" else trajectory.parent
    if (path := _task_path(trial)) is not None:
        return path.name
    return trial.name.rpartition("__")[0] or None


def _task_path(trial: Path) -> Path | None:
    config = trial / "config.json"
    if not config.is_file():
        return None
    try:
        task = obj(obj(TraceFile(config, str(config)).document().value).get("task"))
    except (NoTrajectory, OSError):
        return None
    path = string(task.get("path")) or string(task.get("name"))
    return Path(path) if path and "\0" not in path else None
