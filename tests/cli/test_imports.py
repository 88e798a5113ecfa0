"""A command waits only for what it needs: how many of our modules are loaded, counted in a process of its own."""

from __future__ import annotations

import subprocess
import sys

import pytest

MOST_MODULES = 80
COUNT = """
import atexit, sys
OURS = ("dense", "refit")
atexit.register(lambda: print(*[name for name in sys.modules if name.partition(".")[0] in OURS], file=sys.stderr))
from dense.__main__ import main
main()
"""


def loaded(*arguments: str) -> set[str]:
    """Our modules that a command loads."""
    done = subprocess.run([sys.executable, "-c", COUNT, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("methods",), ("sessions", "--help"), ("distill", "--help"), ("batch", "--help")],
)
def test_who_asks_for_help_waits_for_no_analysis(arguments: tuple[str, ...]) -> None:
    modules = loaded(*arguments)
    assert "dense.cli" in modules
    assert len(modules) < MOST_MODULES
    assert not [name for name in modules if name.startswith("dense.model")]
    assert "dense.analysis.analyst" not in modules


def test_the_formats_are_loaded_where_they_are_named() -> None:
    assert {"dense.readers", "dense.readers.detect"} <= loaded("read", "--help")


def test_a_module_of_the_commands_is_loaded_without_the_program() -> None:
    done = subprocess.run([sys.executable, "-c", "import refit.cli.run"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
