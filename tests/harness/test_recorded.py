"""Attempts served from records."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

from dense.errors import DenseError
from dense.harness import AttemptOrder, Harness, Recipient
from dense.harness.recorded import RecordedHarness
from dense.trajectory import Usage


@pytest.fixture
def trial(fixtures: Path) -> Path:
    (found,) = (path.parent for path in (fixtures / "atif" / "jobs" / "basic").glob("*/result.json"))
    return found


def order(task: Path, folder: Path, name: str = "one", message: str | None = None) -> AttemptOrder:
    return AttemptOrder(name, Recipient("r", "terminus-2"), task, folder, message)


def test_by_name(trial: Path, task: Path, tmp_path: Path) -> None:
    harness: Harness = RecordedHarness({"one": trial})
    asked = order(task, tmp_path / "cell")
    assert harness.name == "recorded"
    assert harness.finished(asked) is None
    found = asyncio.run(harness.attempt(asked))
    assert (found.reward, found.usage) == (1.0, Usage(8400, 2000, None, 380))
    assert (tmp_path / "cell" / found.trace).is_file()
    assert harness.finished(asked) == found


def test_by_folder_and_again(trial: Path, task: Path, tmp_path: Path) -> None:
    """What one experiment left is what the next one is served, to the last field."""
    first, again = order(task, tmp_path / "a" / "one"), order(task, tmp_path / "b" / "one")
    found = asyncio.run(RecordedHarness({"one": trial}).attempt(first))
    assert asyncio.run(RecordedHarness(tmp_path / "a").attempt(again)) == found


def test_the_message_is_compared(trial: Path, task: Path, tmp_path: Path) -> None:
    found = asyncio.run(RecordedHarness({"one": trial}).attempt(order(task, tmp_path / "c", message="else")))
    assert (found.delivered, found.received) == ("instruction", "different")
    assert len(found.message_sha256) == 64


def test_what_lay_there_goes(trial: Path, task: Path, tmp_path: Path) -> None:
    (tmp_path / "cell" / "old__1").mkdir(parents=True)
    asyncio.run(RecordedHarness({"one": trial}).attempt(order(task, tmp_path / "cell")))
    assert [path.name for path in (tmp_path / "cell").iterdir()] == [trial.name]


def test_a_copy_that_was_cut_off_is_not_finished(trial: Path, task: Path, tmp_path: Path) -> None:
    asked = order(task, tmp_path / "cell")
    harness = RecordedHarness({"one": trial})
    asyncio.run(harness.attempt(asked))
    (tmp_path / "cell" / trial.name / "result.json").unlink()
    assert harness.finished(asked) is None


def test_delays_overlap(trial: Path, task: Path, tmp_path: Path) -> None:
    harness = RecordedHarness({"one": trial}, delay=1)

    async def both() -> None:
        await asyncio.gather(*(harness.attempt(order(task, tmp_path / str(number))) for number in range(4)))

    start = time.monotonic()
    asyncio.run(both())
    assert 1 <= time.monotonic() - start < 4, "four of one second each, one after another, would take 4"


def test_what_was_not_recorded_is_reported(trial: Path, task: Path, tmp_path: Path) -> None:
    for trials in ({"two": trial}, {"one": tmp_path / "nowhere"}, tmp_path):
        with pytest.raises(DenseError, match="nothing was recorded for the attempt 'one'"):
            asyncio.run(RecordedHarness(trials).attempt(order(task, tmp_path / "cell")))
