"""Batches on Ray and over S3, both on this machine: `make test-batch` installs what is needed."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import fsspec  # pyright: ignore[reportMissingTypeStubs]
import pytest
from made_traces import ran_batch, rows, write_traces

from dense.batch.engines.local import LocalEngine
from dense.batch.engines.ray import RayEngine
from dense.batch.questions.summary import summary
from dense.batch.questions.table import BatchTable
from dense.batch.run import BatchRequest, run_batch
from dense.batch.spec import BatchSpec

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


def test_ray_makes_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On Ray of this machine; two nodes and a killed worker are in `bench/batch.py --only engines`."""
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    write_traces(tmp_path / "in", 300)
    ran_batch(tmp_path / "local", tmp_path / "in")
    request = BatchRequest((str(tmp_path / "in"),), str(tmp_path / "ray"), BatchSpec())
    assert run_batch(request, RayEngine(2)).rows == 300
    assert rows(tmp_path / "ray") == rows(tmp_path / "local")
    assert run_batch(request, RayEngine(2)).skipped == 300


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    from moto.server import ThreadedMotoServer

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
    assert os.path.basename(rows(f"{bucket}/table")[0]["source"]) == "trace-0000.json"  # noqa: PTH119 - a URI
