"""What goes with a run, however it ends: one folder for all its temporary files, and the containers of its trials.

A process that is killed removes nothing. So a small process outside of the run's group waits for the run's end and then
ends the containers that the folder names and removes the folder. Should that one be killed too, the next run removes
the folder (`sweep`), and the containers of a cell when it runs the cell again (`end_containers`)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path

from refit.harness.sandbox.state_folder import RUN_PREFIX, StateFolder, sweep

ENGINES = ("docker", "podman")
"""Environments of Harbor's that run containers on this machine; the engine's program has the same name."""
_CONTAINERS = "containers"
"""A folder in the run's: for each engine a folder with an empty file for each trial that may have containers."""
_PROJECT = "com.docker.compose.project"
_LEFTOVERS = (
    (
        ["container", "ls", "--all"],
        ["container", "inspect"],
        "{{.Id}}",
        ".Config.Labels",
        ["rm", "--force", "--volumes"],
    ),
    (["network", "ls"], ["network", "inspect"], "{{.Name}}", ".Labels", ["network", "rm"]),
)
"""How to list, look at and remove what a compose project leaves."""
_SETTLING_SECONDS = 1.0
"""A daemon may finish what a client asked for after the client was killed."""

_KEEPER = """
trap '' INT HUP TERM
cat >/dev/null
[ ! -d "$1/containers" ] || "$2" -m refit.harness.run_folder "$1" 2>/dev/null
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
        ["/bin/sh", "-c", _KEEPER, "dense-keeper", str(state.folder), sys.executable],
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


def note_containers(folder: Path, engine: str, trial: str) -> Path:
    """A file that says that the trial may have containers; removing it says that they are gone."""
    mark = folder / _CONTAINERS / engine / trial
    mark.parent.mkdir(parents=True, exist_ok=True)
    mark.touch()
    return mark


def end_containers(engine: str, trials: Iterable[str]) -> None:
    """Ends the compose projects of killed trials: clients that still run, containers, networks."""
    # Harbor calls a trial's projects TRIAL__env and TRIAL__verifier__KEY, in the letters that compose allows.
    names = tuple(re.sub(r"[^a-z0-9_-]", "-", f"{trial}__".lower()) for trial in trials)
    prefixes = tuple(name if name[0].isalnum() else f"0{name}" for name in names)
    if not prefixes:
        return
    try:
        _end_clients(prefixes)
        if _removed(engine, prefixes):
            time.sleep(_SETTLING_SECONDS)
            _removed(engine, prefixes)
    except (OSError, subprocess.TimeoutExpired):
        return


def _end_clients(prefixes: tuple[str, ...]) -> None:
    """Kills `docker compose` processes that outlived the run, before they start what we remove."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode(errors="replace").split("\0")
            if "--project-name" in words and words[words.index("--project-name") + 1].startswith(prefixes):
                os.kill(int(entry.parent.name), signal.SIGKILL)
        except (OSError, IndexError):
            continue


def _removed(engine: str, prefixes: tuple[str, ...]) -> bool:
    """Removes what the projects left; whether there was anything."""
    removed = False
    for listing, looking, key, labels, removing in _LEFTOVERS:
        names = _lines([engine, *listing, "--quiet", "--filter", f"label={_PROJECT}"])
        shown = f'{key} {{{{index {labels} "{_PROJECT}"}}}}'
        described = _lines([engine, *looking, "--format", shown, *names]) if names else []
        left = [
            name for name, _, project in (line.partition(" ") for line in described) if project.startswith(prefixes)
        ]
        if left:
            removed = True
            subprocess.run([engine, *removing, *left], capture_output=True, timeout=60, check=False)
    return removed


def _lines(command: list[str]) -> list[str]:
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False).stdout.splitlines()


def main(folder: Path) -> None:
    """Ends the containers that a run's folder names."""
    for engine in ENGINES:
        marks = folder / _CONTAINERS / engine
        end_containers(engine, sorted(mark.name for mark in marks.iterdir()) if marks.is_dir() else ())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
