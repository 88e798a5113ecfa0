"""Each input that broke a target once, and the beginnings of a run of `make fuzz`."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FUZZ = Path(__file__).parent
SAVED = sorted((FUZZ / "corpus").glob("*-*"))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.syspath_prepend(str(FUZZ))
    yield importlib.import_module("run")
    for name in ("run", "targets"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.name)
def test_an_input_that_broke_it_once(run: Any, path: Path, tmp_path: Path) -> None:
    assert run.problem_of(path.name.partition("-")[0], path.read_bytes(), tmp_path) is None


@pytest.mark.parametrize("name", ["reader", "answers", "settings", "table", "redaction"])
def test_some_inputs(run: Any, name: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    pool = run.seeds_of(name)
    for data in [*pool[-7:], *(run.mutated(chance.choice(pool), chance) for _ in range(8))]:
        assert run.problem_of(name, data, tmp_path) is None, data[:300]
