"""The table of findings: rows, witnesses, hits by outcome, and the page that holds it."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dense.analysis.detectors.registry import codes

ROOT = Path(__file__).parents[2]
TRACES = {"looks-successful/rollout.jsonl": 0, "clean-success": 1}


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(ROOT / "bench"))
    yield importlib.import_module("detectors")
    for name in ("detectors", "agreement"):
        sys.modules.pop(name, None)


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    """A manifest of two examples: one that failed, one that passed."""
    path = tmp_path / "MANIFEST.jsonl"
    rows = [{"path": str(ROOT / "examples" / name), "outcome": outcome} for name, outcome in TRACES.items()]
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def test_every_code_has_a_row_and_hits_are_counted_by_outcome(
    bench: Any, manifest: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bench.main([str(manifest)])
    text = capsys.readouterr().out
    assert all(f"| `{name}` |" in text for name in codes())
    assert "| `required_check_failed` | serious | 1 | 0 | 0 | `looks-successful/rollout.jsonl` |" in text


def test_the_tables_go_between_the_marks(bench: Any, manifest: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{bench.BEGIN}\nold\n{bench.END}\nafter\n")
    bench.main([str(manifest), "--write", str(page)])
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("after\n") and "old" not in text
    page.write_text("no marks")
    with pytest.raises(SystemExit, match="lacks the lines"):
        bench.main([str(manifest), "--write", str(page)])


def test_the_page_in_the_docs_knows_every_code_and_its_witness() -> None:
    text = (ROOT / "docs" / "detectors.md").read_text()
    assert all(f"| `{name}` |" in text for name in codes())
    assert "**none**" not in text
