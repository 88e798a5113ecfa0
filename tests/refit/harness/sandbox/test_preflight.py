"""Whether a machine can, and what is said where it cannot: on kernels that really refuse."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dense.errors import DenseError
from refit.harness.sandbox import SandboxSettings, SandboxSupport, namespaces, preflight, preflight_now

TRY = """
from refit.harness.sandbox import SandboxSettings, preflight_now
try: print(preflight_now(settings=SandboxSettings(is_rootless=ROOTLESS)))
except Exception as error: print(type(error).__name__, error)
"""


def refused(*limits: str, is_rootless: bool) -> str:
    """What it says in a process to which the kernel gives less."""
    command = [*limits, sys.executable, "-c", TRY.replace("ROOTLESS", str(is_rootless))]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_it_can_here(is_rootless: bool, states: Path) -> None:
    found = asyncio.run(preflight(("tar", "python3"), SandboxSettings(is_rootless=is_rootless, parent=states)))
    assert found == SandboxSupport(is_rootless, found.store)
    assert found.store in {"disk", "memory"}


def test_a_command_that_is_missing_inside(able: None) -> None:
    with pytest.raises(DenseError, match=r"no-such-tool cannot be found in the sandbox.*install no-such-tool"):
        preflight_now(("tar", "no-such-tool"))


def test_missing_tools(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(namespaces, "PATH", str(tmp_path))
    with pytest.raises(DenseError, match=r"needs setpriv, unshare, .*install bash and tar and util-linux"):
        preflight_now()


def test_no_user_namespaces(is_rootless: bool) -> None:
    """Root needs them as well: without one, root inside is root of the machine."""
    if os.geteuid() != 0:
        pytest.skip("it takes root to limit what namespaces there may be")
    lock = 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"'
    said = refused("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", lock, "sh", is_rootless=is_rootless)
    assert said.startswith("DenseError the sandbox did not start (unshare): ")
    assert "As root: sysctl user.max_user_namespaces=15000, or use `environment: docker`." in said


def test_a_root_without_rights(able: None) -> None:
    """As in most containers; there a user namespace may still work, and then it says so."""
    if os.geteuid() != 0:
        pytest.skip("we are not root")
    said = refused("setpriv", "--bounding-set=-sys_admin", is_rootless=False)
    assert said.startswith("DenseError the sandbox did not start (unshare): ")
    assert "a rootless sandbox works: set its option `rootless: true`" in said


def test_no_new_proc(able: None) -> None:
    """A container covers parts of /proc, and the kernel then refuses a new one in a user namespace."""
    if os.geteuid() != 0:
        pytest.skip("it takes root to cover parts of /proc")
    cover = 'mount -t tmpfs tmpfs /proc/sys && exec "$@"'
    said = refused("unshare", "--mount", "sh", "-c", cover, "sh", is_rootless=True)
    assert said.startswith("DenseError the sandbox did not start (proc): ")
    assert "inside most containers" in said
