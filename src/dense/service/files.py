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
from dense.service.private_files import write_files
from dense.service.record import RunRecord
from dense.service.stored_trees import restored_tree, shortened_tree, trace_hash
from dense.stored import decode_stored
from dense.text.terminal import plain_json
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree, SourceTree, leaves

RUN, FAILED, REPORT, MESSAGE = "run.json", "failed.json", "feedback.txt", "message.txt"
TREE, RECONCILED = "tree.json", "reconciled.json"
METHOD_FILES: dict[str, type[Struct]] = {TREE: SourceTree, RECONCILED: ReconciledTree}
"""Files that several methods write, and what they hold. An earlier method's are removed."""
RESERVED_FILES = (REPORT, MESSAGE, RUN, FAILED, "answers.jsonl", "answers.sqlite")
"""Names that no method may use for its own files."""
MAX_INDENTED_LEAVES = 300
"""A tree of more actions is written without indentation, which would be a third of it."""
PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,79}(?<!\.)")
"""A file name that is valid on every system and stays in its folder."""


def write_run(folder: Path, run: FeedbackRun) -> None:
    """Write all files of a run. A method's file that cannot be written is an error before anything is written."""
    report = run.feedback.report
    own = _encoded({name: _stored(value, report) for name, value in run.files.items()}, run.method)
    texts = {REPORT: report.encode(), MESSAGE: run.feedback.message.encode()}
    outdated = [name for name in (FAILED, *METHOD_FILES) if name not in own]
    write_files(folder, {**texts, **own, RUN: _json(run.record)}, outdated=outdated)


def write_failure(folder: Path, record: RunRecord) -> None:
    """Write the record of a failed run. Feedback that an earlier run left in the folder stays."""
    write_files(folder, {FAILED: _json(record)})


def read_record(path: Path) -> RunRecord:
    """The record in a `run.json` or a `failed.json`."""
    return _decoded(path, RunRecord)


def read_tree(path: Path, trajectory: Trajectory | None = None) -> SourceTree:
    """The source tree in a `tree.json`; with the cleaned trajectory of its trace, with the whole steps."""
    tree = _decoded(path, SourceTree)
    return tree if trajectory is None else restored_tree(tree, _checked(path, trajectory))


def read_reconciled(path: Path, trajectory: Trajectory | None = None) -> ReconciledTree:
    """The reconciled tree in a `reconciled.json`. Its steps are shortened; with the cleaned trajectory of its trace
    they are whole, and rendering it gives the same feedback again.

    Raises `DenseError` if the trajectory is not the one that the run saw."""
    tree = _decoded(path, ReconciledTree)
    return tree if trajectory is None else restored_tree(tree, _checked(path, trajectory))


def _decoded[T: Struct](path: Path, kind: type[T]) -> T:
    return decode_stored(path.read_bytes(), kind, path, "distill the trace again")


def _checked(path: Path, trajectory: Trajectory) -> Trajectory:
    """The trajectory, if it is the one that the record beside a tree names."""
    if read_record(path.with_name(RUN)).trace != trace_hash(trajectory):
        raise DenseError(
            f"{path}: made of another trace than {trajectory.source}, or that has changed: distill it again"
        )
    return trajectory


def _stored(value: Struct, report: str) -> Struct:
    if isinstance(value, SourceTree):
        return shortened_tree(value, report)
    return shortened_tree(value, report) if isinstance(value, ReconciledTree) else value


def _encoded(files: Mapping[str, Struct], method: str) -> dict[str, bytes]:
    """A method's files as JSON, by name: plain names, and no name of ours unless the content is what ours holds."""
    encoded: dict[str, bytes] = {}
    for name, value in files.items():
        if not PLAIN_NAME.fullmatch(str(name)):
            raise DenseError(f"{method} returns a file {str(name)[:80]!r}: use a plain name (letters, digits, _ - .)")
        if name.lower() in RESERVED_FILES or not isinstance(value, METHOD_FILES.get(name.lower(), Struct)):
            raise DenseError(f"{method} returns a file {name!r}: the name is reserved, or its content is no Struct")
        try:
            encoded[name] = _tree(value) if isinstance(value, SourceTree | ReconciledTree) else _json(value)
        except (TypeError, ValueError, msgspec.MsgspecError) as error:
            raise DenseError(f"{method} returns a file {name!r} that cannot be JSON: {error}") from None
    return encoded


def _tree(tree: SourceTree | ReconciledTree) -> bytes:
    """Indented for people, unless it is so large that nobody reads it."""
    return _json(tree) if len(leaves(tree.root)) <= MAX_INDENTED_LEAVES else plain_json(msgspec.json.encode(tree))


def _json(value: Struct) -> bytes:
    return plain_json(msgspec.json.format(msgspec.json.encode(value), indent=1)) + b"\n"
