"""An environment for Harbor that needs no Docker: namespaces and overlays over this machine's own system.

    environment     what Harbor sees: `IMPORT_PATH`
    build           runs a Dockerfile in a sandbox; `dockerfile` parses the supported part of its language
    namespaces      starts, enters and stops a sandbox (`init.sh` is its first process)
    visible_paths   what of this machine is visible inside; `transfer` copies files in and out
    command         runs commands; `state_folder` keeps what belongs to one sandbox
    preflight       tries whether this machine can run it, and says what to do if it cannot

In: a task's environment folder. Out: a running sandbox and the results of commands in it. It is a convenience for
demos, tests and small tasks: resource limits of a task are not enforced, and `LABEL` is shown wherever its results are.
Never imports Harbor, except in `environment`, which only Harbor imports.

bubblewrap would take the place of `init.sh` alone. It was tried (0.8.0) and left: whoever is not root cannot install
it; it has overlays only from 0.11 on (Debian 12 has 0.8), so that the mounts of `init.sh` stay; and
it maps one user, so that `USER`, `useradd`, `chown` and `apt-get` fail for root as well."""

from __future__ import annotations

from refit.harness.sandbox.namespaces import Sandbox, SandboxSettings
from refit.harness.sandbox.preflight import SandboxSupport, preflight, preflight_now
from refit.harness.sandbox.state_folder import sweep

IMPORT_PATH = "refit.harness.sandbox.environment:SandboxEnvironment"
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
