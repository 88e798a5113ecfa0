"""Which project a trace is about: lessons that name a file of a project hold nowhere else."""

from __future__ import annotations

import re
from pathlib import PurePath

from dense.trajectory import Trajectory

INSTANCE = re.compile(r"([\w.-]{1,80}__[\w.-]{1,80}?)-\d{1,8}")
"""How SWE-bench and its kin name a task: owner, repository, number."""
STORES = ("projects",)
"""Folders of agents' stores that hold a folder for each project."""


def project_of(trajectory: Trajectory) -> str:
    """The repository of a benchmark's task, or the folder of a session's store; empty if nothing names it."""
    path = PurePath(trajectory.source.path)
    names = [trajectory.task.name if trajectory.task else None, trajectory.id, path.name.partition(".traj")[0]]
    for name in names:
        if name and (match := INSTANCE.fullmatch(name)):
            return match[1]
    folders = path.parts[:-1]
    return folders[-1] if len(folders) > 1 and folders[-2] in STORES else ""
