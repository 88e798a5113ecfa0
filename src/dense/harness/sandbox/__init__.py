"""An environment for Harbor that needs no Docker: namespaces and overlays over this machine's own system.

    environment   what Harbor sees: `IMPORT_PATH`
    build         carries out a Dockerfile in a sandbox;  dockerfile  the part of its language that can be
    namespaces    starts, enters and stops a sandbox (`init.sh` is its first process)
    view          what of this machine shows inside;  transfer  files in and out;  running  commands;  state  its folder
    preflight     whether this machine can, tried out, and in words what to do where it cannot

It is a convenience for demos, tests and small tasks. Resource limits of a task are not enforced. `LABEL` stands
wherever its results do. Nothing here imports Harbor but `environment`, which only Harbor imports."""

from __future__ import annotations

from dense.harness.sandbox.namespaces import Sandbox, SandboxSettings
from dense.harness.sandbox.preflight import SandboxSupport, preflight, preflight_now
from dense.harness.sandbox.state_folder import sweep

IMPORT_PATH = "dense.harness.sandbox.environment:SandboxEnvironment"
"""By which Harbor finds it."""
LABEL = (
    "sandbox: no security boundary, no resource limits, this machine's own system as the image; "
    "results are not comparable with Terminal-Bench numbers"
)
"""What must be said wherever a number is shown that was made in it."""

__all__ = [
    "IMPORT_PATH",
    "LABEL",
    "Sandbox",
    "SandboxSettings",
    "SandboxSupport",
    "preflight",
    "preflight_now",
    "sweep",
]
