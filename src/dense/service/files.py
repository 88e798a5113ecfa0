"""The folder of a run: `feedback.txt`, `message.txt`, the files of the method, and `run.json`, written last.

A run that failed leaves only its record, `failed.json`. If there is a `run.json`, all other files are complete."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from dense.errors import DenseError
from dense.service.feedback import FeedbackRun
from dense.service.light_trees import light
from dense.service.record import RunRecord
from dense.tree import ReconciledTree, SourceTree

RUN, FAILED, REPORT, MESSAGE = "run.json", "failed.json", "feedback.txt", "message.txt"
TREE, RECONCILED = "tree.json", "reconciled.json"
METHOD_FILES: dict[str, type[Struct]] = {TREE: SourceTree, RECONCILED: ReconciledTree}
"""Files that several methods write, and what they hold. An earlier method's are removed."""
RESERVED_FILES = (REPORT, MESSAGE, RUN, FAILED, "answers.jsonl", "answers.sqlite")
"""Names that no method may use for its own files."""
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}(?<!\.)")
"""A file name that is valid on every system and stays in its folder."""


def write_run(folder: Path, run: FeedbackRun) -> None:
    """Write all files of a run. A method's file that cannot be written is an error before anything is written."""
    own = _encoded(run.files, run.method)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (RUN, FAILED, *METHOD_FILES):
        (folder / name).unlink(missing_ok=True)
    (folder / REPORT).write_text(run.feedback.report, encoding="utf-8", newline="")
    (folder / MESSAGE).write_text(run.feedback.message, encoding="utf-8", newline="")
    for name, data in (*own.items(), (RUN, _json(run.record))):
        (folder / name).write_bytes(data)


def write_failure(folder: Path, record: RunRecord) -> None:
    """Write the record of a failed run. Feedback that an earlier run left in the folder stays."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FAILED).write_bytes(_json(record))


def read_record(path: Path) -> RunRecord:
    """The record in a `run.json` or a `failed.json`."""
    return msgspec.json.decode(path.read_bytes(), type=RunRecord)


def read_tree(path: Path) -> SourceTree:
    """The source tree in a `tree.json`."""
    return msgspec.json.decode(path.read_bytes(), type=SourceTree)


def read_reconciled(path: Path) -> ReconciledTree:
    """The reconciled tree in a `reconciled.json`: rendering it gives the same feedback again."""
    return msgspec.json.decode(path.read_bytes(), type=ReconciledTree)


def _encoded(files: Mapping[str, Struct], method: str) -> dict[str, bytes]:
    """A method's files as JSON, by name: plain names, and no name of ours unless the content is what ours holds."""
    found: dict[str, bytes] = {}
    for name, value in files.items():
        if not PLAIN_NAME.fullmatch(str(name)):
            raise DenseError(f"{method} returns a file {str(name)[:80]!r}: use a plain name (letters, digits, _ - .)")
        if name.lower() in RESERVED_FILES or not isinstance(value, METHOD_FILES.get(name.lower(), Struct)):
            raise DenseError(f"{method} returns a file {name!r}: the name is reserved, or its content is no Struct")
        try:
            found[name] = _tree(value) if isinstance(value, SourceTree | ReconciledTree) else _json(value)
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise DenseError(f"{method} returns a file {name!r} that cannot be JSON: {error}") from None
    return found


def _tree(tree: SourceTree | ReconciledTree) -> bytes:
    """Indented for people, unless it is so large that it was shortened."""
    short = light(tree)
    return _json(tree) if short is tree else msgspec.json.encode(short)


def _json(value: Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n"
