"""What a method leaves on disk: `feedback.txt`, `message.txt`, what it made on the way; `run.json` is written last.

Where it failed, only the record of that is written, `failed.json`: where `run.json` is, the others are whole."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec
from msgspec import Struct

from dense.analyst.prompt import prompt_hashes as dense_hashes
from dense.distillation.record import Run
from dense.errors import DenseError
from dense.methods.prompting import prompt_hashes as method_hashes
from dense.methods.runner import Made
from dense.tree import ReconciledTree, SourceTree

OPTIONAL: dict[str, type[Struct]] = {"tree.json": SourceTree, "reconciled.json": ReconciledTree}
"""Files that some methods write, and what is in them: where another one ran before, they are of that one."""
FAILED = "failed.json"
OURS = ("feedback.txt", "message.txt", "run.json", FAILED, "answers.jsonl", "answers.sqlite")
"""Files that no method may give."""
PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}(?<!\.)")
"""A name that is one on every system and leads out of no folder."""


def write(folder: Path, made: Made, run: Run) -> None:
    """All files. What a method gives that cannot be written is told before anything is."""
    own = _encoded(made.files, made.method)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("run.json", FAILED, *OPTIONAL):
        (folder / name).unlink(missing_ok=True)
    (folder / "feedback.txt").write_text(made.feedback.report, encoding="utf-8", newline="")
    (folder / "message.txt").write_text(made.feedback.message, encoding="utf-8", newline="")
    for name, data in (*own.items(), ("run.json", _json(run))):
        (folder / name).write_bytes(data)


def write_failure(folder: Path, run: Run, name: str = FAILED) -> None:
    """The record of a run that came to nothing. Feedback that an earlier one left there stays."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(_json(run))


def _encoded(files: Mapping[str, Struct], method: str) -> dict[str, bytes]:
    """What a method gives, by file name: plain names, none of ours unless it holds what ours does."""
    found: dict[str, bytes] = {}
    for name, value in files.items():
        if not PLAIN.fullmatch(str(name)):
            raise DenseError(f"{method} gives a file {str(name)[:80]!r}: take a plain name (letters, digits, _ - .)")
        if name.lower() in OURS or not isinstance(value, OPTIONAL.get(name.lower(), Struct)):
            raise DenseError(f"{method} gives a file {name!r}: that name is taken, or its content is no Struct for it")
        try:
            found[name] = _json(value)
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise DenseError(f"{method} gives a file {name!r} that is no JSON: {error}") from None
    return found


def _json(value: Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"


def prompt_hashes() -> dict[str, str]:
    """A hash of each prompt template, DENSE's and the baselines'."""
    return dict(_hashes())


@cache
def _hashes() -> dict[str, str]:
    """Templates do not change while we run, and parsing them takes longer than distilling by rules."""
    return dense_hashes() | method_hashes()
