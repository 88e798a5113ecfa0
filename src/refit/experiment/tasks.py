"""Which tasks an experiment has, and where they lie."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from dense.errors import DenseError
from refit.experiment.config import TasksConfig
from refit.harness.derived_task import digest, instruction_of

DEFINITION = "task.toml"


class TaskFolder(Struct, frozen=True):
    """One task."""

    name: str
    """Its folder's name: pairs are made by it."""
    folder: Path
    """Where it lies."""
    instruction: str
    """What the agent is asked, without the lines that mark a benchmark's files."""
    digest: str
    """A hash of all its files."""


def resolve_tasks(tasks: TasksConfig, base: Path) -> tuple[TaskFolder, ...]:
    """The tasks that the experiment names, in the order of their names; `base` is the folder of its file."""
    folders = _of_dataset(tasks, base) if tasks.dataset is not None else _of_folder(base / (tasks.path or ""))
    chosen = [(name, folder) for name, folder in sorted(folders.items()) if _is_wanted(name, folder, tasks)]
    missing = [name for name in tasks.names if not any(fnmatchcase(folder, name) for folder in folders)]
    where = tasks.dataset or str(tasks.path)
    if missing:
        raise DenseError(f"{where}: no task {missing[0]!r}; there are {_listed(folders)}")
    if not chosen:
        raise DenseError(f"{where}: no task is left after `names` and `difficulty`; there are {_listed(folders)}")
    return tuple(
        TaskFolder(name, folder, instruction_of(folder), digest(folder)) for name, folder in chosen[: tasks.limit]
    )


def _of_folder(path: Path) -> Mapping[str, Path]:
    """The task folders in a folder, or the folder itself where it is one."""
    path = path.expanduser().resolve()
    if not path.is_dir():
        raise DenseError(f"{path}: no such folder of tasks")
    if (path / DEFINITION).is_file():
        return {path.name: path}
    tasks = {entry.name: entry for entry in path.iterdir() if (entry / DEFINITION).is_file()}
    if not tasks:
        raise DenseError(f"{path}: no task in it (a task is a folder with {DEFINITION} and instruction.md)")
    return tasks


def _of_dataset(tasks: TasksConfig, base: Path) -> Mapping[str, Path]:
    from refit.harness.datasets import resolve_dataset

    registry = tasks.registry
    if registry is not None and "://" not in registry:
        registry = str((base / registry).resolve())
    return dict(asyncio.run(resolve_dataset(tasks.dataset or "", registry)))


def _is_wanted(name: str, folder: Path, tasks: TasksConfig) -> bool:
    if tasks.names and not any(fnmatchcase(name, wanted) for wanted in tasks.names):
        return False
    return not tasks.difficulty or _difficulty(folder) in tasks.difficulty


def _difficulty(folder: Path) -> str:
    file = folder / DEFINITION
    try:
        read = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DenseError(f"{file}: cannot be read ({error})") from None
    metadata = read.get("metadata")
    return str(cast("dict[str, Any]", metadata).get("difficulty", "")) if isinstance(metadata, dict) else ""


def _listed(names: Iterable[str], most: int = 8) -> str:
    known = sorted(names)
    return ", ".join(known[:most]) + (f" and {len(known) - most} more" if len(known) > most else "")
