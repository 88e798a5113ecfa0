"""What tests of the model client share: a server on loopback, and a run of one call against it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from loopback import Loopback, Step


@pytest.fixture
def serve() -> Iterator[Callable[..., Loopback]]:
    """Starts servers that take these steps, and ends them with the test."""
    with ExitStack() as stack:

        def start(*steps: Step, default: Step | None = None) -> Loopback:
            return stack.enter_context(Loopback(*steps, default=default))

        yield start
