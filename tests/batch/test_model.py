"""Batches with a language model: calls are counted, paid for once, limited, and tried again when they failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback import Loopback, failing, ok
from made_traces import ran_batch, rows, write_traces

from dense.batch.queries.table import BatchTable
from dense.batch.spec import BatchSpec, WorkLimits
from dense.cli.batch.run import progress_text, summary_lines


def test_calls_are_counted_and_made_once(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 3)
    limits = WorkLimits(cache=str(tmp_path / "answers.sqlite"))
    with Loopback(default=ok("no JSON")) as server:
        spec = BatchSpec(model=f"{server.url}#m")
        assert ran_batch(tmp_path / "out", tmp_path / "in", spec=spec, limits=limits).rows == 3
        asked = len(server.received)
        assert ran_batch(tmp_path / "out", tmp_path / "in", spec=spec, limits=limits).skipped == 3
        assert len(server.received) == asked > 0
    found = rows(tmp_path / "out")
    assert all(row["analyst_tokens"] > 0 and row["analyst"].endswith("#m") and not row["error"] for row in found)


def test_a_spending_limit_stops_and_the_next_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    write_traces(tmp_path / "in", 4)
    with Loopback(default=ok("no JSON")) as server:
        spec = BatchSpec(model="openai/gpt-5.5", base_url=server.url)
        stopped = ran_batch(tmp_path / "out", tmp_path / "in", spec=spec, limits=WorkLimits(max_usd=1e-9))
        assert stopped.stop and stopped.rows == 0 and not server.received
        done = ran_batch(tmp_path / "out", tmp_path / "in", spec=spec, limits=WorkLimits(max_usd=100))
    assert (done.rows, done.stop) == (4, "") and done.usd > 0
    assert f"{done.usd:.4f} USD spent" in summary_lines(done, "out")


def test_calls_that_failed_are_made_again_by_the_next_run(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    target = tmp_path / "out"
    with Loopback(failing(400), failing(400), default=ok("no JSON")) as server:
        spec = BatchSpec(model=f"{server.url}#m")
        first = ran_batch(target, tmp_path / "in", spec=spec)
        assert (first.rows, first.failed, first.done) == (2, 2, 0)
        second = ran_batch(target, tmp_path / "in", spec=spec)
    assert (second.failed, second.errors) == (0, 0)
    table = BatchTable(str(target))
    assert table.ask("SELECT count(*), count(*) FILTER (WHERE error <> '') FROM traces") == [(2, 0)]
    table.close()


def test_the_progress_says_rate_and_time_left(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    progress = ran_batch(tmp_path / "out", tmp_path / "in")
    progress.done, progress.listed, progress.seconds = 300, 1_500, 10.0
    assert progress_text(progress) == "300 of 1,500 inputs · 2 rows · 30.0 inputs/s · 40 s left"
    progress.is_listed, progress.failed = False, 1
    assert progress_text(progress) == "300 of 1,500+ inputs · 2 rows · 30.0 inputs/s · 1 failed"
