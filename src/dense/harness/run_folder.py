"""One folder for all temporary files of a run, which goes with the run, however it ends.

A process that is killed removes nothing. So a small process outside of the run's group waits for the run's end and then
removes the folder; should that one be killed too, the next run does (`sweep`)."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from dense.harness.sandbox.state_folder import RUN_PREFIX, StateFolder, sweep

_KEEPER = """
trap '' INT HUP TERM
cat >/dev/null
tries=0
while [ -e "$1" ] && [ $tries -lt 50 ]; do
    rm -rf --one-file-system -- "$1" 2>/dev/null || { chmod -R u+rwX -- "$1"; sleep 0.2; } 2>/dev/null
    tries=$((tries + 1))
done
"""
"""Reads until the run is gone; then what ran in the run's sandboxes may need a moment to end."""


@contextmanager
def run_folder() -> Generator[Path]:
    """Directs temporary files of this process and of those that it starts into a folder of their own."""
    sweep()
    state = StateFolder(prefix=RUN_PREFIX)
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", _KEEPER, "dense-keeper", str(state.folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    before, variable = tempfile.tempdir, os.environ.get("TMPDIR")
    tempfile.tempdir = os.environ["TMPDIR"] = str(state.folder)
    try:
        yield state.folder
    finally:
        tempfile.tempdir = before
        if variable is None:
            os.environ.pop("TMPDIR", None)
        else:
            os.environ["TMPDIR"] = variable
        keeper.communicate()
        state.remove()
