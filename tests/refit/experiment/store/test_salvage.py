"""A damaged store: its readable rows are saved, the advice works as it is printed, nothing scored runs again."""

from __future__ import annotations

import random
import re
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from made_experiment import made_plan, run_all
from made_harness import MadeHarness

from dense.errors import DenseError
from refit.experiment.plan import Plan
from refit.experiment.store.events import EventStore, ExecutionEnded, ExecutionStarted, StoreSalvaged
from refit.harness import AttemptResult
from refit.results import RUN0, Cell, Result

PAGE = 4096
CELL = Cell("r", "t", 0, 0, RUN0)


def follow(advice: str) -> None:
    """Do what the error says, in a shell."""
    (command,) = re.findall(r"`(rm .*?)`", advice)
    subprocess.run(["sh", "-ec", command], check=True)


def problem_of(work: Callable[[], object]) -> str | None:
    try:
        work()
    except DenseError as error:
        return str(error)
    return None


def stored(folder: Path, count: int) -> Path:
    """A store of so many events, every tenth longer than a page."""
    with EventStore(folder) as store:
        store.extend(
            [
                (ExecutionEnded(n, AttemptResult(trial="x" * (9000 if n % 10 == 0 else 200), reward=1.0)), CELL)
                for n in range(1, count + 1)
            ]
        )
    return folder / "store.sqlite"


def test_every_page_but_the_damaged_ones_is_saved(tmp_path: Path) -> None:
    """Of two damaged pages: what lies between them counts too."""
    path = stored(tmp_path, 900)
    content = bytearray(path.read_bytes())
    leaves = [
        at for at in range(PAGE, len(content), PAGE) if content[at] == 0x0D and content[at + 3 : at + 5] > b"\0\4"
    ]
    lost = 0
    for at in (leaves[len(leaves) // 4], leaves[3 * len(leaves) // 4]):
        lost += int.from_bytes(content[at + 3 : at + 5])
        content[at : at + PAGE] = b"\xa5" * PAGE
    path.write_bytes(content)
    with EventStore(tmp_path) as store:
        advice = problem_of(lambda: list(store))
    assert advice and f"{900 - lost} of its records" in advice and f"{lost} are damaged and left out" in advice
    follow(advice)
    with EventStore(tmp_path) as store:
        *events, mark = list(store)
        assert len(events) == 900 - lost and mark.event == StoreSalvaged(lost)
        store.append(ExecutionStarted(1), CELL)


@pytest.mark.parametrize("seed", range(8))
def test_random_damage_never_gives_a_file_that_does_not_open(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    path = stored(tmp_path, 300)
    content = bytearray(path.read_bytes())
    for _ in range(chance.choice((1, 5, 200))):
        at, size = chance.randrange(len(content)), chance.choice((1, 8, 700, PAGE))
        content[at : at + size] = chance.randbytes(len(content[at : at + size]))
    path.write_bytes(content)

    def read() -> None:
        with EventStore(tmp_path) as store:
            list(store)

    advice = problem_of(read)
    if advice is None or "Nothing in it" in advice:
        return
    follow(advice)
    read()


def test_a_log_beside_the_file_counts_and_does_not_come_back(tmp_path: Path) -> None:
    path, log = stored(tmp_path, 300), tmp_path / "store.sqlite-wal"
    store = EventStore(tmp_path)
    store.extend([(ExecutionStarted(number), CELL) for number in range(600)])
    live = tmp_path / "live"
    live.mkdir()
    for file in (path, log):  # as a kill leaves them
        shutil.copy(file, live / file.name)
    store.close()
    content = bytearray((live / "store.sqlite").read_bytes())
    leaf = next(at for at in range(4 * PAGE, len(content), PAGE) if content[at] == 0x0D)
    lost = int.from_bytes(content[leaf + 3 : leaf + 5])
    content[leaf : leaf + PAGE] = b"\xa5" * PAGE
    (live / "store.sqlite").write_bytes(content)

    def read() -> None:
        with EventStore(live) as saved:
            assert len(list(saved)) == 901 - lost

    advice = problem_of(read)
    assert advice and f"{900 - lost} of its records" in advice
    follow(advice)
    read()


@pytest.mark.parametrize("text", ["CAST(x'ff' AS TEXT)", "'{\"type\": 1'", "replace(hex(zeroblob(2000)), '00', '[')"])
def test_a_damaged_event_is_left_out(tmp_path: Path, text: str) -> None:
    path = stored(tmp_path, 3)
    connection = sqlite3.connect(path)
    connection.execute(f"INSERT INTO events (at, kind, data) VALUES ('now', 'x', {text})")
    connection.commit()
    connection.close()
    with EventStore(tmp_path) as store:
        advice = problem_of(lambda: list(store))
    assert advice and "event 4 is damaged" in advice and "1 is damaged and left out" in advice
    follow(advice)
    with EventStore(tmp_path) as store:
        assert len(list(store)) == 4


def scores(results: tuple[Result, ...]) -> list[tuple[Cell, float | None, str, str]]:
    return [
        (result.cell, result.attempt.reward, result.attempt.trace, result.attempt.message_sha256) for result in results
    ]


@pytest.mark.parametrize("damage", [b"\0", b"\xa5"])
def test_whatever_page_is_damaged_nothing_scored_runs_again(tmp_path: Path, damage: bytes) -> None:
    """Each page of the store in turn."""

    def plan(folder: Path) -> Plan:
        return made_plan(folder, methods=["none", "dense"], repetitions=2, rounds=2)

    whole = tmp_path / "whole"
    expected = run_all(plan(whole), MadeHarness())
    size = (whole / "experiment" / "store.sqlite").stat().st_size
    assert size >= 8 * PAGE
    for page in range(size // PAGE):
        folder = tmp_path / f"page-{page}"
        shutil.copytree(whole, folder)
        path = folder / "experiment" / "store.sqlite"
        content = bytearray(path.read_bytes())
        content[page * PAGE : (page + 1) * PAGE] = damage * PAGE
        path.write_bytes(content)
        made = plan(folder)
        harness = MadeHarness()
        advice = problem_of(lambda made=made, harness=harness: run_all(made, harness))
        if advice is not None:
            assert "saved in" in advice, page
            follow(advice)
            assert scores(run_all(made, harness)) == scores(expected), page
        assert harness.orders == [], (page, advice)
        shutil.rmtree(folder)


def test_a_store_that_is_moved_away_begins_anew(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, methods=["none"], repetitions=1, count=1)
    run_all(plan, MadeHarness())
    (plan.folder / "store.sqlite").rename(tmp_path / "moved")
    harness = MadeHarness()
    run_all(plan, harness)
    assert len(harness.orders) == 2
