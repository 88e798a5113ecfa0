"""Batches with a language model: calls are counted, paid for once, limited, and tried again when they failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from loopback import USABLE, Loopback, failing, ok
from made_traces import ran_batch, rows, write_traces
from msgspec.structs import replace

from dense.batch.queries.table import BatchTable
from dense.batch.spec import BatchSpec
from dense.cli.batch.run import progress_text, summary_lines
from dense.options import FeedbackOptions


def test_calls_are_counted_and_made_once(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 3)
    with Loopback(default=ok(USABLE)) as server:
        options = FeedbackOptions(model=f"{server.url}#m", cache=tmp_path / "answers.sqlite")
        spec = BatchSpec(options=options)
        assert ran_batch(tmp_path / "out", tmp_path / "in", spec=spec).rows == 3
        asked = len(server.received)
        assert ran_batch(tmp_path / "out", tmp_path / "in", spec=spec).skipped == 3
        assert len(server.received) == asked > 0
    found = rows(tmp_path / "out")
    assert all(row["analyst_tokens"] > 0 and row["analyst"].endswith("#m") and not row["error"] for row in found)


def test_a_spending_limit_stops_and_the_next_run_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    write_traces(tmp_path / "in", 4)
    with Loopback(default=ok(USABLE)) as server:
        options = FeedbackOptions(model="openai/gpt-5.5", base_url=server.url, max_usd=1e-9)
        stopped = ran_batch(tmp_path / "out", tmp_path / "in", spec=BatchSpec(options=options))
        assert stopped.stop and stopped.rows == 0 and not server.received
        spec = BatchSpec(options=replace(options, max_usd=100.0))
        done = ran_batch(tmp_path / "out", tmp_path / "in", spec=spec)
    assert (done.rows, done.stop) == (4, "") and done.usd > 0
    assert f"{done.usd:.4f} USD spent" in summary_lines(done, "out")


def test_calls_that_failed_are_made_again_by_the_next_run(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    target = tmp_path / "out"
    with Loopback(failing(400), failing(400), default=ok(USABLE)) as server:
        spec = BatchSpec(options=FeedbackOptions(model=f"{server.url}#m"))
        first = ran_batch(target, tmp_path / "in", spec=spec)
        assert (first.rows, first.failed, first.done) == (2, 2, 0)
        second = ran_batch(target, tmp_path / "in", spec=spec)
    assert (second.failed, second.errors) == (0, 0)
    table = BatchTable(str(target))
    assert table.ask("SELECT count(*), count(*) FILTER (WHERE error <> '') FROM traces") == [(2, 0)]
    table.close()


def test_an_unusable_answer_is_no_row_of_the_rules_and_is_asked_again(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 1)
    with Loopback(ok("no JSON"), ok("no JSON"), default=ok(USABLE)) as server:
        options = FeedbackOptions(model=f"{server.url}#m", cache=tmp_path / "answers.sqlite")
        first = ran_batch(tmp_path / "out", tmp_path / "in", spec=BatchSpec(options=options))
        assert (first.failed, first.done) == (1, 0)
        (row,) = rows(tmp_path / "out")
        assert "could be used" in row["error"]
        assert (row["state"], row["message"]) == ("", "")
        second = ran_batch(tmp_path / "out", tmp_path / "in", spec=BatchSpec(options=options))
    assert (second.failed, second.errors) == (0, 0)


def test_a_command_analyses_and_its_arguments_are_in_no_row(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    script = tmp_path / "ask"
    script.write_text(f"#!/bin/sh\ncat >/dev/null\necho '{USABLE}'\n")
    script.chmod(0o755)
    spec = BatchSpec(options=FeedbackOptions(model=f"exec:{script} --key=s3cret"))
    assert ran_batch(tmp_path / "out", tmp_path / "in", spec=spec).failed == 0
    found = rows(tmp_path / "out")
    assert [(row["analyst"], row["error"], row["analyst_usd"]) for row in found] == [("exec:ask", "", None)] * 2


def test_the_progress_says_rate_and_time_left(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    progress = ran_batch(tmp_path / "out", tmp_path / "in")
    progress.done, progress.listed, progress.seconds = 300, 1_500, 10.0
    assert progress_text(progress) == "300 of 1,500 inputs · 2 rows · 30.0 inputs/s · 40 s left"
    progress.is_listed, progress.failed = False, 1
    assert progress_text(progress) == "300 of 1,500+ inputs · 2 rows · 30.0 inputs/s · 1 failed"
