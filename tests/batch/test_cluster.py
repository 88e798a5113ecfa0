"""Batches on Ray and over S3, both on this machine: `make test-batch` installs what is needed."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import fsspec  # pyright: ignore[reportMissingTypeStubs]
import pytest
from made_traces import made_trace, ran_batch, rows, write_traces

from dense.batch.engines.local import LocalEngine
from dense.batch.queries.summary import summary
from dense.batch.queries.table import BatchTable
from dense.batch.run import BatchRequest, run_batch
from dense.batch.spec import BatchSpec
from dense.cli.session.version import code_commit

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


def on_ray(tmp_path: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """In a process of its own: Ray leaves connections open in the one that uses it."""
    command = [sys.executable, "-m", "dense", "batch", str(tmp_path / "in"), "--out", str(tmp_path / "ray")]
    environment = {**os.environ, "RAY_AUTH_MODE": "disabled", "PYTHONPATH": str(Path(__file__).parent)}
    words = [*command, "--engine", "ray", "--workers", "2", *options]
    return subprocess.run(words, capture_output=True, text=True, env=environment, timeout=280, check=False)


def test_ray_makes_the_same_rows(tmp_path: Path) -> None:
    """On Ray of this machine; two nodes and a killed worker are in `bench/batch.py --only engines`."""
    write_traces(tmp_path / "in", 300)
    done = on_ray(tmp_path)
    assert (done.returncode, "300 new rows" in done.stdout) == (0, True), done.stderr
    write_traces(tmp_path / "in" / "copies", 5)
    again = on_ray(tmp_path)
    assert "5 new rows" in again.stdout and "5 of them are copies" in again.stdout, again.stderr
    ran_batch(tmp_path / "local", tmp_path / "in", spec=BatchSpec(commit=code_commit()))
    assert rows(tmp_path / "ray") == rows(tmp_path / "local")


def test_a_trace_that_kills_its_process_costs_one_row_on_ray(tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 2)
    (tmp_path / "in" / "bad.json").write_text(json.dumps(made_trace("kill me")))
    assert on_ray(tmp_path, "--format", "hostile_reader:Hostile").returncode == 1
    assert [row["error"] for row in rows(tmp_path / "ray")] == ["the processes that analysed it died", "", ""]
    assert not list((tmp_path / "ray").glob("_attempt*"))


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    from moto.server import ThreadedMotoServer  # pyright: ignore[reportMissingImports]

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    host, port = server.get_host_and_port()
    settings = {"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"}
    for name, value in {**settings, "AWS_ENDPOINT_URL": f"http://{host}:{port}"}.items():
        monkeypatch.setenv(name, value)
    fsspec.filesystem("s3").mkdir("bucket")
    yield "s3://bucket"
    server.stop()


def test_a_bucket_as_source_and_target(bucket: str, tmp_path: Path) -> None:
    write_traces(tmp_path / "in", 20)
    ran_batch(tmp_path / "local", tmp_path / "in")
    fsspec.filesystem("s3").put(f"{tmp_path}/in/", "bucket/in/", recursive=True)
    request = BatchRequest((f"{bucket}/in",), f"{bucket}/table", BatchSpec())
    assert run_batch(request, LocalEngine(1)).rows == 20
    assert run_batch(request, LocalEngine(1)).skipped == 20
    found = [row["message"] for row in rows(f"{bucket}/table")]
    assert found == [row["message"] for row in rows(tmp_path / "local")]
    states = next(table for table in summary(BatchTable(f"{bucket}/table")) if table.name == "states")
    assert sum(row[1] for row in states.rows) == 20
    assert rows(f"{bucket}/table")[0]["source"] == f"{bucket}/in/trace-0000.json"
