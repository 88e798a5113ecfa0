"""Every trace of a known format is read, with as many steps as an independent count finds."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dense
from dense.errors import NoTrajectory

HERE = Path(__file__).parent
FIXTURES = HERE.parent / "fixtures"
CORPUS = HERE.parents[2] / "shared" / "corpus"

FORMATS = {
    "harbor-atif": "atif",
    "claude-code-jsonl": "claude-code",
    "codex-rollout-jsonl": "codex",
    "mini-swe-agent-traj": "mini-swe-agent",
    "swe-agent-traj": "swe-agent",
    "openhands": "openhands",
    "inspect-eval": "inspect",
    "pi-session-jsonl": "pi",
    "trail-otel": "otel",
    "tau-bench": "tau-bench",
    "who-and-when": "who-and-when",
    "agentrx": "agentrx",
}
"""The corpus's names of the formats that we read, and ours."""

NAMES = (".json", ".jsonl", ".traj", ".eval", ".zst", ".db", ".vscdb", ".parquet", ".cast", "agent", "agent-logs")


def counter(format: str) -> Callable[[Path], list[int]]:
    path = HERE / "counting" / f"{format.replace('-', '_')}.py"
    spec = importlib.util.spec_from_file_location(f"counting_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.count


def corpus_traces() -> list[tuple[str, str]]:
    if not CORPUS.is_dir():
        return []
    rows = map(json.loads, (CORPUS / "MANIFEST.jsonl").read_text().splitlines())
    return [(row["path"], FORMATS[row["format"]]) for row in rows if row["format"] in FORMATS]


def fixture_traces() -> list[tuple[str, str]]:
    """Each fixture that the reader finds by itself when it walks the folder of its format."""
    found: list[tuple[str, str]] = []
    for folder in sorted(
        path for path in FIXTURES.iterdir() if path.is_dir() and path.name not in ("make", "test-runners")
    ):
        for file in dense_files(folder):
            found.append((str(file.relative_to(FIXTURES)), folder.name))
    return found


def dense_files(folder: Path) -> list[Path]:
    from dense.readers import files_of

    return [
        file.path
        for file in files_of(folder)
        if file.path.name.endswith((*NAMES, "events")) and "cut-file" not in str(file.path)
    ]


def steps_of(path: Path, format: str) -> list[int]:
    try:
        trajectories = list(dense.read(path))
    except NoTrajectory:
        return []
    assert {trajectory.format for trajectory in trajectories} == {format}
    return [len(trajectory.steps) for trajectory in trajectories]


@pytest.mark.parametrize(
    ("path", "format"), corpus_traces() or [pytest.param("", "", marks=pytest.mark.skip("no corpus"))]
)
def test_corpus(path: str, format: str) -> None:
    counted = counter(format)(CORPUS / path)
    assert counted, "the count itself finds nothing"
    assert steps_of(CORPUS / path, format) == counted


@pytest.mark.parametrize(("path", "format"), fixture_traces())
def test_fixtures(path: str, format: str) -> None:
    trace = FIXTURES / path
    assert steps_of(trace, format) == counter(format)(trace)


def test_all_formats_have_fixtures() -> None:
    from dense.readers import READERS

    have = {format for _, format in fixture_traces()}
    assert set(READERS) - have <= {"dense", "openclaw"}
