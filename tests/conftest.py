"""What all tests share: where fixtures, examples and the corpus of real traces are, and goldens."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
EXAMPLES = ROOT / "examples"
CORPUS = ROOT.parent / "shared" / "corpus"
GOLDENS = ROOT / "tests" / "goldens"


@pytest.fixture
def fixtures() -> Path:
    return FIXTURES


@pytest.fixture
def corpus() -> Path:
    """Real traces of other people, which are not part of the repository."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real traces is not here")
    return CORPUS


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with the golden of this name; `make golden` writes it anew."""

    def compare(name: str, text: str) -> None:
        path = GOLDENS / name
        if os.environ.get("DENSE_WRITE_GOLDENS"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"no golden {name}; write it with `make golden`"
        expected = path.read_text(encoding="utf-8")
        if text != expected:
            diff = difflib.unified_diff(expected.splitlines(), text.splitlines(), "golden", "now", lineterm="")
            pytest.fail(
                f"{name} differs from its golden; if that is right, `make golden`:\n" + "\n".join(list(diff)[:60])
            )

    return compare
