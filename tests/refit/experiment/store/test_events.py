"""The store and the lock: append-only, one writer, and refusing to mix two experiments."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import gettempdir
from typing import Any

import pytest
from made_experiment import made_plan, opened, run_all
from made_harness import MadeHarness
from msgspec.structs import replace

from dense.errors import DenseError, ExperimentChanged, ExperimentLocked
from dense.trajectory import Usage
from refit.experiment.experiment import experiment_of, import_table, reopen_invalid, start_session
from refit.experiment.identity import facts_of, identity_of
from refit.experiment.plan import Plan
from refit.experiment.results_table.files import ResultTable
from refit.experiment.store.events import CellGivenUp, EventStore, ExecutionEnded, ExecutionStarted, ExperimentOpened
from refit.experiment.store.lock import holder_of, writing
from refit.experiment.store.state import fold_events, load_state
from refit.harness import AttemptOrder, AttemptResult
from refit.results import RUN0, Cell, Result

CELL = Cell("r", "t", 0, 0, RUN0)


def test_events_come_back_as_they_went_in(tmp_path: Path) -> None:
    events = [
        ExecutionStarted(1),
        ExecutionEnded(1, AttemptResult(trial="trial", exception="X")),
        ExecutionStarted(2),
        ExecutionEnded(2, AttemptResult(trial="t", reward=0.5)),
    ]
    with EventStore(tmp_path) as store:
        for event in events:
            store.append(event, CELL)
        assert [entry.event for entry in store] == events
    with EventStore(tmp_path) as again:
        assert [(entry.event, entry.cell) for entry in again] == [(event, CELL) for event in events]


@pytest.mark.parametrize(
    "change", ["UPDATE events SET kind = 'x'", "DELETE FROM events", "REPLACE INTO events SELECT * FROM events"]
)
def test_nothing_can_be_changed_or_deleted(tmp_path: Path, change: str) -> None:
    with EventStore(tmp_path) as store:
        store.append(ExecutionStarted(1), CELL)
        connection = sqlite3.connect(store.path)
        connection.execute("PRAGMA recursive_triggers = ON")
        with pytest.raises(sqlite3.Error):
            connection.execute(change)
        connection.close()
        assert len(list(store)) == 1


def test_the_first_score_stands(tmp_path: Path) -> None:
    with EventStore(tmp_path) as store:
        store.append(ExecutionStarted(1), CELL)
        store.append(ExecutionEnded(1, AttemptResult(trial="a", reward=0.0)), CELL)
        store.append(ExecutionEnded(2, AttemptResult(trial="b", reward=1.0)), CELL)
        store.append(CellGivenUp("late"), CELL)
        (result,) = fold_events(store).results
    assert result.attempt.reward == 0.0 and result.attempt.ending == ""


def test_a_damaged_store_is_reported_by_name(tmp_path: Path) -> None:
    (tmp_path / "store.sqlite").write_bytes(b"no database at all, by any means" * 40)
    with pytest.raises(DenseError, match=r"store\.sqlite: the store is damaged .*Nothing in it can be read"):
        EventStore(tmp_path)
    assert load_state(tmp_path / "elsewhere") is None


def test_what_can_be_read_of_a_damaged_store_is_saved(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with EventStore(tmp_path) as store:
        store.extend([(ExecutionStarted(number), CELL) for number in range(3000)])
    content = bytearray(path.read_bytes())
    middle = len(content) // 8192 * 4096
    content[middle : middle + 4096] = b"x" * 4096
    path.write_bytes(content)
    with EventStore(tmp_path) as store, pytest.raises(DenseError, match=r"saved in .*store\.saved\.sqlite"):
        list(store)
    (tmp_path / "store.saved.sqlite").replace(path)
    with EventStore(tmp_path) as store:
        assert 2800 < len(list(store)) < 3000
        store.append(ExecutionStarted(1), CELL)
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO events (at, kind, data) VALUES ('now', 'x', '{\"type\": 1')")
    connection.commit()
    connection.close()
    with EventStore(tmp_path) as store, pytest.raises(DenseError, match=r"event \d+ is damaged"):
        list(store)


def held(folder: Path, ready: Connection) -> None:
    with writing(folder, "dense refit run x.yaml"):
        ready.send(None)
        ready.recv()


def test_a_second_writer_learns_who_holds_it(tmp_path: Path) -> None:
    ours, theirs = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=held, args=(tmp_path, theirs))
    process.start()
    ours.recv()
    try:
        reported = rf"process {process.pid} on .* since .*dense refit run x\.yaml"
        with pytest.raises(ExperimentLocked, match=reported), writing(tmp_path, "another"):
            pass
        assert f"process {process.pid}" in (holder_of(tmp_path) or "")
    finally:
        process.kill()
        process.join()
        ours.close()
    assert holder_of(tmp_path) is None
    with writing(tmp_path, "a dead process holds nothing"):
        pass


@pytest.mark.parametrize(
    ("changes", "reported"),
    [
        ({"rounds": 2}, "rounds: 1 before, 2 now"),
        ({"methods": ["none", "dense"]}, "methods: advisor is gone"),
        ({"budget": 1000}, "budget: None before, 1000 now"),
        ({"recipients": [{"name": "r", "agent": "oracle"}]}, "recipients: r changed"),
        ({"analyst": "gemini/gemini-3-flash-preview"}, "analyst: model changed"),
        ({"tasks": {"path": "tasks", "limit": 1}}, "tasks: task-2 is gone"),
    ],
)
def test_a_changed_experiment_is_not_mixed_in(tmp_path: Path, changes: dict[str, Any], reported: str) -> None:
    run_all(made_plan(tmp_path), MadeHarness())
    with pytest.raises(ExperimentChanged) as error:
        run_all(made_plan(tmp_path, **changes), MadeHarness())
    assert reported in str(error.value) and "--out" in str(error.value)


def test_a_changed_task_is_not_mixed_in(tmp_path: Path) -> None:
    run_all(made_plan(tmp_path), MadeHarness())
    (tmp_path / "tasks" / "task-1" / "tests" / "test.sh").write_text("true\n")
    with pytest.raises(ExperimentChanged, match="tasks: task-1 changed"):
        run_all(made_plan(tmp_path), MadeHarness())


def test_how_fast_it_is_run_is_no_change(tmp_path: Path) -> None:
    before = run_all(made_plan(tmp_path), MadeHarness())
    assert run_all(made_plan(tmp_path, concurrency=9, retries=0), MadeHarness()) == before


def test_what_only_adds_cells_can_be_taken_in(tmp_path: Path) -> None:
    small = made_plan(tmp_path, methods=["none"], repetitions=1)
    before = run_all(small, MadeHarness())
    large = made_plan(tmp_path, methods=["none", "dense"], repetitions=2)
    with pytest.raises(ExperimentChanged, match="--extend"):
        run_all(large, MadeHarness())
    with EventStore(large.folder) as store:
        tasks = tuple(large.tasks.values())
        facts = facts_of(large.config, tasks, "made")
        start_session(store, "made", identity_of(large.config, tasks, large.base), facts, extend=True)
    harness = MadeHarness()
    results = run_all(large, harness)
    assert set(before) < set(results)
    assert len(harness.orders) == len(large.cells) - len(before)


def test_an_experiment_as_one_noun(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, repetitions=1)
    with opened(plan):
        pass
    empty = experiment_of(plan.folder)
    assert empty.results == () and empty.planned == plan.cells
    run_all(plan, MadeHarness())
    whole = experiment_of(plan.folder)
    assert [result.cell for result in whole.results] == list(plan.cells)
    assert whole.privileged == {"verifier-feedback"} and any("sandbox" in note for note in whole.notes)
    for result in whole.results:
        for path in filter(None, (result.attempt.trace, result.feedback_folder, result.message)):
            assert (plan.folder / path).exists(), path


def test_imported_results_are_apart_and_reported_once(tmp_path: Path) -> None:
    table = ResultTable(
        (Result(CELL, AttemptResult(reward=1.0)), Result(Cell("r", "t", 0, 1, "dense"), AttemptResult(reward=0.0))), ()
    )
    with EventStore(tmp_path / "in") as store:
        assert import_table(store, "x", table, "a.csv") == (2, 0)
        assert import_table(store, "x", table, "a.csv") == (0, 2)
        with pytest.raises(DenseError, match="another result of this cell"):
            import_table(store, "x", ResultTable((Result(CELL, AttemptResult(reward=0.0)),), ()), "b.csv")
    found = experiment_of(tmp_path / "in")
    assert found.methods == ("dense",) and found.results == table.results
    with EventStore(tmp_path / "run") as store:
        store.append(ExperimentOpened("y", {"tasks": {}}))
        with pytest.raises(ExperimentChanged, match="import into another folder"):
            import_table(store, "x", table, "a.csv")


def test_a_changed_server_is_not_mixed_in(tmp_path: Path) -> None:
    """The recipient's model is part of the experiment, with the modules beside it."""
    (tmp_path / "parts").mkdir()
    for name in ("model.py", "parts/__init__.py", "parts/mind.py"):
        (tmp_path / name).write_text("x = 1\n")
    recipients = [{"name": "r", "agent": "nop", "server": ["python", "model.py", "--port", "{port}"]}]
    run_all(made_plan(tmp_path, recipients=recipients), MadeHarness())
    (tmp_path / "parts" / "mind.py").write_text("x = 2\n")
    with pytest.raises(ExperimentChanged, match="recipients: r changed"):
        run_all(made_plan(tmp_path, recipients=recipients), MadeHarness())


def test_an_experiment_that_never_began_can_be_fixed(tmp_path: Path) -> None:
    """Nothing was run, so there is nothing to mix."""
    with opened(made_plan(tmp_path, methods=["none"])):
        pass
    assert len(run_all(made_plan(tmp_path, methods=["dense"], repetitions=1), MadeHarness())) == 4


def test_a_task_of_which_nothing_was_scored_can_be_fixed(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, methods=["none"], retries=0, stop_after=50)
    run_all(plan, MadeHarness(fails=lambda order: "the verifier crashed" if "task-1" in order.name else None))
    (tmp_path / "tasks" / "task-1" / "tests" / "test.sh").write_text("echo mended\n")
    fixed = made_plan(tmp_path, methods=["none"], retries=0)
    with opened(fixed) as store:
        reopen_invalid(store, fold_events(store))
    assert all(result.attempt.reward is not None for result in run_all(fixed, MadeHarness()))
    (tmp_path / "tasks" / "task-1" / "tests" / "test.sh").write_text("echo again\n")
    with pytest.raises(ExperimentChanged, match="task-1 changed"):
        run_all(made_plan(tmp_path, methods=["none"]), MadeHarness())


def test_a_new_key_makes_no_other_experiment_and_new_code_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    method = 'from refit.baselines.task_only import NoFeedback\nclass Mine(NoFeedback):\n    name = "mine"  # {}\n'
    (tmp_path / "own_method_for_identity.py").write_text(method.format("one"))
    methods = ["own_method_for_identity:Mine"]

    def plan(key: str) -> Plan:
        options = {"api_key": key, "headers": {"X-Auth-Token": key}}
        return made_plan(tmp_path, methods=methods, recipients=[{"name": "r", "agent": "nop", "options": options}])

    before = run_all(plan("sk-0123456789abcdef"), MadeHarness())
    assert run_all(plan("sk-fedcba9876543210"), MadeHarness()) == before
    assert b"sk-0123456789abcdef" not in (tmp_path / "experiment" / "store.sqlite").read_bytes()
    (tmp_path / "own_method_for_identity.py").write_text(method.format("another"))
    with pytest.raises(ExperimentChanged, match="own_method_for_identity:Mine changed"):
        run_all(plan("sk-0123456789abcdef"), MadeHarness())
    # What was recorded can be reported without the method's code.
    (tmp_path / "own_method_for_identity.py").unlink()
    assert experiment_of(tmp_path / "experiment").methods == tuple(methods)


def test_all_that_was_spent_is_counted(tmp_path: Path) -> None:
    """An execution without a score costs as much as one with."""

    class Paid(MadeHarness):
        async def attempt(self, order: AttemptOrder) -> AttemptResult:
            made = await super().attempt(order)
            return replace(made, reward=None, exception="Broken") if order.name.endswith("--try-1") else made

    plan = made_plan(tmp_path, methods=["none"], repetitions=1, count=1, stop_after=9)
    run_all(plan, Paid())
    state = load_state(plan.folder)
    assert state is not None and state.running == frozenset()
    assert str(state.spent) == "0.0400 USD for attempts, 0.00 USD for feedback"


def test_a_reader_without_permission_reads(tmp_path: Path) -> None:
    plan = made_plan(tmp_path, methods=["none"], repetitions=1, count=1)
    run_all(plan, MadeHarness())
    program = (
        "import os, sys; from pathlib import Path\n"
        "from refit.experiment.store.state import load_state; from refit.experiment.store.lock import holder_of\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "print(len(load_state(Path(sys.argv[1])).results), holder_of(Path(sys.argv[1])))\n"
    )
    if os.geteuid():
        pytest.skip("only root can become somebody without permission")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == 0 and folder != Path("/") and str(folder).startswith(gettempdir() + "/"):
            folder.chmod(0o755)
    for path in plan.folder.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)
    done = subprocess.run(
        [sys.executable, "-c", program, str(plan.folder)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "2 None\n", done.stderr


def test_a_store_of_the_first_version_is_read_and_continued(tmp_path: Path) -> None:
    """Version 1 wrote what came of an imported attempt beside its cell."""
    cell = '{"recipient":"r","task":"t","repetition":0,"round":0,"method":"run0"}'
    rows = [
        ("opened", None, '{"type":"opened","name":"old","identity":{"imported":true}}'),
        ("session", None, '{"type":"session","facts":{"notes":[],"privileged":[],"source":"a.csv"}}'),
        (
            "imported",
            cell,
            f'{{"type":"imported","result":{{"cell":{cell},"reward":0.5,"exception":"AgentTimeoutError",'
            '"usage":{"input":10,"output":20},"feedback":{"input":7,"output":1},"tool_calls":3,"tries":2},'
            '"source":"a.csv"}',
        ),
    ]
    with EventStore(tmp_path) as store:
        path = store.path
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("PRAGMA user_version = 1")
        connection.executemany("INSERT INTO events (at, kind, cell, data) VALUES ('now', ?, ?, ?)", rows)
    attempt = AttemptResult(reward=0.5, exception="AgentTimeoutError", usage=Usage(10, output=20), tool_calls=3)
    known = Result(CELL, attempt, feedback=Usage(7, output=1), tries=2)
    assert experiment_of(tmp_path).results == (known,)
    assert connection.execute("PRAGMA user_version").fetchone() == (1,), "reading changes nothing"
    fresh = Result(Cell("r", "t", 0, 1, "dense"), AttemptResult(reward=1.0))
    with EventStore(tmp_path) as store:
        assert import_table(store, "old", ResultTable((known, fresh)), "b.csv") == (1, 1)
    assert experiment_of(tmp_path).results == (known, fresh)
    assert connection.execute("PRAGMA user_version").fetchone() == (2,), "an older program must not read half of it"
    connection.close()


def test_a_store_of_a_later_version_is_refused(tmp_path: Path) -> None:
    with EventStore(tmp_path) as store:
        path = store.path
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 3")
    with pytest.raises(DenseError, match=r"of version 3, and this program reads 1 to 2: use the release of dense"):
        EventStore(tmp_path)
