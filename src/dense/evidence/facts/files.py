"""Names of files, as they are written in commands and tasks."""

from __future__ import annotations

from functools import lru_cache

from dense.evidence.actions.tests import is_test_file


@lru_cache(4096)
def base_name(path: str) -> str:
    """The last part of a path, whatever slashes it is written with."""
    return path.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]


FOLDERS = frozenset({"tmp", ".git", "__pycache__", "node_modules", ".venv", "venv", ".cache"})
"""Folders whose contents nobody asked for."""


@lru_cache(4096)
def is_temporary(path: str) -> bool:
    """Whether a file is not meant to stay, or is no one file: in a folder for such things, a device, a log, something
    that a program leaves behind, a name with a placeholder in it."""
    parts = path.replace("\\", "/").split("/")
    if not FOLDERS.isdisjoint(parts) or parts[:2] == ["", "dev"] or not set(path).isdisjoint("{}$*<>"):
        return True
    return parts[-1].endswith((".log", ".pyc", ".tmp", ".bak", ".orig"))


PROGRAMS = (".py", ".js", ".ts", ".c", ".cpp", ".go", ".rs", ".java", ".rb", ".sh", ".php", ".cs", ".pl", ".r", ".jl")
"""Ends of the names of programs."""
TRIALS = ("repro", "debug", "demo", "try_", "tmp", "temp", "scratch")


@lru_cache(4096)
def is_trial_file(name: str) -> bool:
    """Whether a file is named as what agents write to try something out: a test, a reproduction."""
    return is_test_file(name) or name.lower().startswith(TRIALS)
