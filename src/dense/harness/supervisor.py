"""Runs a command for as long as its starter lives: ends it, with all its children, when standard input closes.

A program of its own with nothing but the standard library, because it must outlive whoever started it by a moment: a
process that is killed with SIGKILL closes its pipes and can do nothing else.

    python supervisor.py COMMAND …      exits as the command does; killed by a signal, as shells put it
"""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import sys

GRACE = 2.0
"""Seconds between asking and killing."""


def main(command: list[str]) -> int:
    """Runs the command in a process group of its own until it ends, or until standard input does."""
    for number in (signal.SIGINT, signal.SIGHUP):  # a key in the terminal is for the starter, who closes the pipe
        signal.signal(number, signal.SIG_IGN)
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0)
    except OSError as error:
        sys.stderr.write(f"{command[0]}: cannot be started ({error.strerror})\n")
        return 127
    try:
        _wait(child)
    finally:
        _end(child)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


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
    sys.exit(main(sys.argv[1:]))
