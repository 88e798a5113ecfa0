"""What lies around a Harbor trajectory: the trial's configuration and the task's own files.

Only what holds the task is read here. `result.json` is looked at for the trial's name alone; `verifier/` holds grades
and is never opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.files import TraceFile
from dense.readers.json_value import obj, string
from dense.trajectory import Task

INSTRUCTION = "instruction.md"
TRIAL_FOLDERS = ("agent", "artifacts", "verifier")
"""What a trial keeps: the agent's files, files that the task wants to be kept, the verifier's."""
MAX_DEPTH = 6
"""How far above a trajectory its trial is looked for."""


def is_harbor_trial(folder: Path) -> bool:
    """Whether this is the folder of one Harbor trial: by its parts, and by what its own files say.

    Trials are passed on without their settings, too: then the agent's trajectory or the verifier's folder shows it."""
    try:
        agent, artifacts, verifier = ((folder / name).is_dir() for name in TRIAL_FOLDERS)
        if not (agent or artifacts or verifier):
            return False
        if (agent and (folder / "agent" / "trajectory.json").is_file()) or (verifier and (agent or artifacts)):
            return True
        return any("trial_name" in obj(_value(folder / name)) for name in ("config.json", "result.json"))
    except OSError:
        return False


def is_terminal_bench_trial(folder: Path) -> bool:
    """Whether this is the folder of one trial of Terminal-Bench 1."""
    try:
        results = folder / "results.json"
        has_logs = (folder / "agent-logs").is_dir() or (folder / "sessions").is_dir()
        return has_logs and results.is_file() and "trial_name" in obj(_value(results))
    except OSError:
        return False


def trial_of(trajectory: Path) -> Path:
    """The folder of the trial that a trajectory is in; its own folder if there is none."""
    if trajectory.parent.name == "agent":
        return trajectory.parent.parent
    trials = (folder for folder in trajectory.parents[:MAX_DEPTH] if is_harbor_trial(folder))
    return next(trials, trajectory.parent)


def task_beside(trajectory: Path) -> Task | None:
    """The instruction in a file beside the trajectory, in its trial, or in the task's folder that the trial names."""
    trial = trial_of(trajectory)
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
    trial = trial_of(trajectory)
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


def _value(path: Path) -> Any:
    """A small JSON file, None if there is none."""
    try:
        return TraceFile(path, path.name).document().value if path.is_file() else None
    except NoTrajectory:
        return None
