"""Each stored form names its version, and a file of an older or newer one is refused with one sentence."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import dense
from dense.batch.spec import BatchSpec
from dense.batch.store import Target
from dense.errors import DenseError
from dense.lessons.files import encode_evidence, read_evidence
from dense.lessons.lesson import LessonEvidence
from dense.model.cache import AnswerStore
from dense.service.feedback import FeedbackRun
from dense.service.files import read_reconciled, read_record, read_tree, write_run
from dense.service.result_folders import IndexRow, ResultFolders, read_index
from refit.experiment.store.events import EventStore

EXAMPLE = Path(__file__).parents[1] / "examples" / "csv-report" / "trial" / "agent" / "trajectory.json"


def write_distilled(folder: Path) -> None:
    (trajectory,) = dense.read(EXAMPLE)
    made = dense.distill_sync(trajectory)
    files = {"tree.json": made.source, "reconciled.json": made.reconciled}
    write_run(folder, FeedbackRun("dense", made.feedback, made.record, files=files))


def write_index(folder: Path) -> None:
    with ResultFolders(folder) as folders:
        folders.update_index([IndexRow(input="trace", folder="a", state="complete")])


def write_lessons(folder: Path) -> None:
    evidence = LessonEvidence(
        signature="No module named …",
        program="python3",
        kind="install",
        way="pip install numpy",
        has_worked=True,
        task="count",
        task_hash="0",
        project="",
        run="0",
        source="trace",
        failed=1,
        shown=2,
        line="No module named 'numpy'",
    )
    (folder / "lessons.jsonl").write_bytes(encode_evidence([evidence]))


FORMS: dict[str, tuple[Callable[[Path], object], Callable[[Path], object]]] = {
    "tree.json": (write_distilled, read_tree),
    "reconciled.json": (write_distilled, read_reconciled),
    "run.json": (write_distilled, read_record),
    "index.jsonl": (write_index, lambda path: read_index(path.parent)),
    "_spec.json": (
        lambda folder: Target(str(folder)).write_spec(BatchSpec()),
        lambda path: Target(str(path.parent)).spec(),
    ),
    "lessons.jsonl": (write_lessons, read_evidence),
}


@pytest.mark.parametrize("version", ["0", "99"])
@pytest.mark.parametrize("name", FORMS)
def test_json_of_another_version(name: str, version: str, tmp_path: Path) -> None:
    write, read = FORMS[name]
    write(tmp_path)
    path = tmp_path / name
    read(path)
    changed, count = re.subn(r'("schema":\s*"dense\.\w+/)\d+', rf"\g<1>{version}", path.read_text(), count=1)
    assert count == 1
    path.write_text(changed)
    with pytest.raises(DenseError) as raised:
        read(path)
    assert re.search(rf"has the schema dense\.\w+/{version}, this version reads dense\.\w+/\d+: ", str(raised.value))


async def open_cache(path: Path) -> None:
    store = AnswerStore(path)
    try:
        await store.open()
    finally:
        await store.close()


STORES: dict[str, Callable[[Path], object]] = {
    "answers.sqlite": lambda path: asyncio.run(open_cache(path)),
    "store.sqlite": lambda path: EventStore(path.parent).__enter__().__exit__(None, None, None),
}


@pytest.mark.parametrize("name", STORES)
def test_a_store_of_a_newer_version(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    STORES[name](path)
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] > 0
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(DenseError, match=r"layout is 99|of version 99"):
        STORES[name](path)
    assert [other.name for other in tmp_path.iterdir() if "saved" in other.name] == []
