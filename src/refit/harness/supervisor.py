"""Runs a command for as long as its starter lives: ends it, with all its children, when standard input closes.

A program of its own with nothing but the standard library, because it must outlive whoever started it by a moment: a
process that is killed with SIGKILL closes its pipes and can do nothing else.

    python supervisor.py RECORD COMMAND …      exits as the command does; killed by a signal, as shells put it

It is started in a session of its own, so that a signal for the starter's group does not end it first. Should it be
killed itself, the command dies with it, and RECORD says which processes may be left for the next run to end: those of
the group and the session in it, since the start of the machine in it (`end_recorded`)."""

from __future__ import annotations

import ctypes
import os
import selectors
import signal
import subprocess
import sys
from pathlib import Path

GRACE = 2.0
"""Seconds between asking and killing."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_PR_SET_PDEATHSIG = 1


def main(record: str, command: list[str]) -> int:
    """Runs the command in a process group of its own until it ends, or until standard input does."""
    for number in (signal.SIGINT, signal.SIGHUP):  # a key in the terminal is for the starter, who closes the pipe
        signal.signal(number, signal.SIG_IGN)
    parent = os.getpid()
    try:
        child = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            process_group=0,
            preexec_fn=lambda: _die_with(parent),  # noqa: PLW1509  (this program has one thread)
        )
    except OSError as error:
        sys.stderr.write(f"{command[0]}: cannot be started ({error.strerror})\n")
        return 127
    try:
        Path(record).write_text(f"{child.pid} {os.getsid(0)} {boot_id()}\n")
        _wait(child)
    finally:
        _end(child)
        Path(record).unlink(missing_ok=True)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def end_recorded(record: Path) -> None:
    """Kills what is left of a command whose supervisor was killed; nothing if the record is of another start of this
    machine, or if no process has both the group and the session in it."""
    try:
        group, session, boot = record.read_text().split()
    except (OSError, ValueError):
        return
    if boot == boot_id():
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
                if fields[2:4] == [group, session]:
                    os.kill(int(stat.parent.name), signal.SIGKILL)
            except OSError:
                continue
    record.unlink(missing_ok=True)


def boot_id() -> str:
    """Which start of this machine this is."""
    try:
        return _BOOT.read_text().strip()
    except OSError:  # no Linux: nothing that a record could be compared with
        return "unknown"


def _die_with(parent: int) -> None:
    """In the child: if the supervisor is killed, Linux kills the command."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # killed before it was asked for
            os._exit(1)


def _wait(child: subprocess.Popen[bytes]) -> None:
    """Until the child has ended or standard input is closed."""
    with selectors.DefaultSelector() as selector:
        selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        while child.poll() is None:
            if selector.select(0.2) and not os.read(sys.stdin.fileno(), 4096):
                return


def _end(child: subprocess.Popen[bytes]) -> None:
    """The whole group, also what the command left behind when it ended by itself."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, number)
        except (ProcessLookupError, PermissionError):
            return
        try:
            child.wait(GRACE)
        except subprocess.TimeoutExpired:
            continue


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
