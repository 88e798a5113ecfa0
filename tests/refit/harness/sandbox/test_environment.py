"""Harbor's own trials in sandboxes: both supported Harbors, as root and rootless."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from dense.errors import install_hint
from refit.harness.sandbox import LABEL

SECOND = Path(sys.prefix) / "harbor-0.25"
"""Where `scripts/setup` puts the other Harbor that we support."""


def trials(tmp_path: Path, states: Path, is_rootless: bool, harbor: Path | None = None) -> dict[str, Any]:
    options = {"rootless": is_rootless, "state": str(states)}
    command = [sys.executable, str(Path(__file__).with_name("trials.py")), str(tmp_path), json.dumps(options)]
    env = {**os.environ, "PYTHONPATH": str(harbor)} if harbor else dict(os.environ)
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=env, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def check(tmp_path: Path, found: dict[str, Any], is_rootless: bool) -> None:
    nothing = {"exception": None, "message": None}
    assert found["oracle"] == {"reward": 1.0, **nothing}
    assert found["nop"] == {"reward": 0.0, **nothing}
    assert found["looker"] == {"reward": 1.0, **nothing}, "a removed working folder does not keep it from being graded"
    folder = tmp_path / "trials" / "looker"
    user = "root" if is_rootless else "tester"
    assert (folder / "agent" / "seen.txt").read_text() == f"{user}\n/logs/agent\nunset image task\n"
    assert (folder / "agent" / "timeout.txt").read_text() == "Command timed out after 1 seconds"
    assert {path.name for path in (folder / "agent").iterdir()} >= {"seen.txt", "timeout.txt"}
    assert not os.path.lexists(folder / "agent" / "leak")
    log = (folder / "trial.log").read_text()
    assert LABEL in log
    assert "not enforced: cpus 1, memory_mb 512" in log
    assert "written for debian:12; runs on this machine's own system" in log
    assert "left out 2 entries, such as ./" in log
    assert found["broken"]["reward"] is None
    assert found["broken"]["exception"] == "DenseError"
    assert "Dockerfile, line 2: RUN: exit 3\nended with 3: no output" in found["broken"]["message"]
    assert found["prebuilt"]["raised"] == "DenseError"
    assert "org/image:1 is prebuilt" in found["prebuilt"]["message"]


def test_the_installed_harbor(tmp_path: Path, states: Path, is_rootless: bool) -> None:
    check(tmp_path, trials(tmp_path, states, is_rootless), is_rootless)


def test_the_other_harbor(able: None, tmp_path: Path, states: Path) -> None:
    if not SECOND.is_dir():
        pytest.skip(f"Harbor 0.25 is not installed beside {version('harbor')}; scripts/setup installs it where it can")
    check(tmp_path, trials(tmp_path, states, is_rootless=False, harbor=SECOND), is_rootless=False)


def test_importing_the_package_does_not_import_harbor() -> None:
    script = "import sys, refit.harness.sandbox; print([name for name in sys.modules if name.startswith('harbor')])"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_without_harbor_it_says_what_to_install() -> None:
    script = "import sys; sys.modules['harbor'] = None\nimport refit.harness.sandbox.environment"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "dense.errors.DenseError: Harbor is not installed" in done.stderr
    assert install_hint("harbor") in done.stderr
