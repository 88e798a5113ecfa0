"""The packed set of planted secrets: the goals of `bench/redact.py` hold."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    yield importlib.import_module("redact")
    sys.modules.pop("redact", None)


def test_the_goals_are_met(bench: Any) -> None:
    table, wrong = bench.measure_recall()
    assert {name: cells["documents"].count for name, cells in table.items()}.keys() == {
        "shape", "context", "password", "private key", "encoded", "keep",
    }  # fmt: skip
    right, count = bench.total(row for name, row in table.items() if name != "keep")
    assert count >= 600
    assert right / count >= 0.97, [item["name"] for item in wrong]
    for name, row in table.items():
        right, count = bench.total([row])
        assert right / count >= (1.0 if name == "keep" else 0.95), (name, [item["text"][:80] for item in wrong])


def test_the_set_is_what_its_script_writes(tmp_path: Path) -> None:
    """And the packed file has nothing that a scanner would take for a key."""
    script = (ROOT / "bench" / "redaction" / "make_set.py").read_text()
    copy = tmp_path / "make_set.py"
    copy.write_text(script)
    subprocess.run([sys.executable, str(copy)], check=True, capture_output=True)
    packed = (ROOT / "bench" / "redaction" / "set.json.zst").read_bytes()
    assert (tmp_path / "set.json.zst").read_bytes() == packed
    assert b"ghp_" not in packed
