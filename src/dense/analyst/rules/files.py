"""Names of files, as they are written in commands and tasks."""

from __future__ import annotations


def base_name(path: str) -> str:
    """The last part of a path, whatever slashes it is written with."""
    return path.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]


def is_passing(path: str) -> bool:
    """Whether a file is not meant to stay: in a folder for such things, a device, a log, something that a program
    leaves behind."""
    parts = path.replace("\\", "/").split("/")
    return "tmp" in parts or parts[:2] == ["", "dev"] or parts[-1].endswith((".log", ".pyc", ".tmp", ".bak", ".orig"))
