"""Sandboxes for tests: as root, and by a user namespace. A machine that forbids them says why it skips."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import pytest

from dense.errors import DenseError
from refit.harness.sandbox import Sandbox, SandboxSettings, preflight_now

type InSandbox = Callable[[Callable[[Sandbox], Awaitable[None]]], None]


@pytest.fixture(scope="session")
def able() -> None:
    """That this machine can make sandboxes."""
    try:
        preflight_now()
    except DenseError as error:
        pytest.skip(str(error))


@pytest.fixture(params=["root", "rootless"])
def is_rootless(request: pytest.FixtureRequest, able: None) -> bool:
    if request.param == "root" and os.geteuid() != 0:
        pytest.skip("we are not root")
    return request.param == "rootless"


@pytest.fixture
def states(tmp_path: Path) -> Iterator[Path]:
    """Where sandboxes of a test keep their state; empty again at its end."""
    folder = tmp_path / "states"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


@pytest.fixture
def in_sandbox(is_rootless: bool, states: Path) -> InSandbox:
    """Does something in a fresh sandbox of either kind, then stops it."""
    return _in_sandbox(SandboxSettings(is_rootless=is_rootless, parent=states))


@pytest.fixture
def in_one(able: None, states: Path) -> InSandbox:
    """The same in the kind that is usual for who we are."""
    return _in_sandbox(SandboxSettings(parent=states))


def _in_sandbox(settings: SandboxSettings) -> InSandbox:
    def do(what: Callable[[Sandbox], Awaitable[None]]) -> None:
        async def main() -> None:
            sandbox = await Sandbox.start(settings)
            try:
                await what(sandbox)
            finally:
                await sandbox.stop()

        asyncio.run(main())

    return do
