"""A browser, and attempts to look at."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "refit" / "report" / "page"))  # the driver of the browser is there


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a real browser."""
    import chromium

    if chromium.installed() is None:
        pytest.skip(f"no browser: install one of {', '.join(chromium.NAMES)}")
    with chromium.browser(tmp_path_factory.mktemp("profile")) as found:
        yield found
