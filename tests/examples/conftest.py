"""What tests of the examples share: sandboxes, and the scripted model as a real server."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from scripted_client import Model, served

from dense.errors import DenseError
from refit.harness.sandbox import preflight_now


@pytest.fixture(scope="session")
def able() -> None:
    """That this machine can make sandboxes, and has what the tasks need in them."""
    try:
        preflight_now(("python3", "tmux"))
    except DenseError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def model() -> Iterator[Model]:
    with served() as model:
        yield model
