"""A new format is a module with a reader and a row in `READERS`: files of it are then recognised and read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.readers.detect import READERS
from dense.readers.files import TraceRecord
from dense.readers.reader import TraceLocation
from dense.readers.stream import StepBuilder, Stream
from dense.trajectory import Task


class AcmeReader:
    """Reads `{"acme": 1, "task": …, "said": […]}`."""

    name = "acme"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(isinstance(record, dict) and "acme" in record for record in head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        for record in records:
            steps = [StepBuilder(record.source, message=[text]).build() for text in record.value["said"]]
            task = Task(record.value["task"])
            yield Stream(self.name, "run-1", record.source, location.notices, iter(steps), task=task)


def test_a_row_in_the_table_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(READERS, "acme", f"{__name__}:AcmeReader")
    path = tmp_path / "run.json"
    path.write_text('{"acme": 1, "task": "Count to two.", "said": ["one", "two"]}')
    (found,) = dense.read(path)
    assert found.format == "acme" and found.task is not None and found.task.instruction == "Count to two."
    assert [step.message for step in found.steps] == ["one", "two"]
