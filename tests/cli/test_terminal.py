"""What a terminal gets: a real one, for every command that prints anything out of a trace, errors included."""

from __future__ import annotations

import ast
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from hostile import (
    ACTING,
    FORGED_COLOUR,
    OWN_SEQUENCES,
    UNSAFE,
    acting,
    hostile_trajectory,
    write_claude_session,
    write_hostile_trace,
)
from typer.core import TyperGroup
from typer.main import get_command

from dense import __file__ as package_file
from dense.cli.app import app, main
from dense.trajectory import Trajectory

SOURCES = Path(package_file).parents[1]
"""The folder of both packages."""
PRINTED_NOTHING = {"mcp", "hook work", "hook session-end"}
"""Commands that print nothing for people: a protocol, a worker, a hook of an agent."""
RED = "x\x1b[38;5;213m"
KNOWN = {"dense/analysis/actions/effects.py"}
"""Knows `/dev/tty` as a file of a trace."""
OTHERS = {"dense/integrations/hooks.py", "refit/harness/supervisor.py"}
"""Print though they are no commands: `dense hook`, behind the guard, and a program of its own, into a pipe."""
WAYS = {"sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "click.echo", "typer.echo"}
NAME = f"na{ACTING.replace(chr(0), '')}me".replace("/", "")
"""As part of a file's name: no NUL and no slash."""


def command_names(group: Any = None, before: str = "") -> Iterator[str]:
    """Every command of the program, those of groups with the group's name in front."""
    for name, command in (group or cast("TyperGroup", get_command(app))).commands.items():
        if isinstance(command, TyperGroup):
            yield from command_names(command, f"{before}{name} ")
        else:
            yield f"{before}{name}"


class Place:
    """A folder with hostile traces, a home with hostile sessions, and what commands make of them."""

    def __init__(self, base: Path) -> None:
        self.base = base
        self.project, self.home = base / "project", base / "home"
        (self.project / ".git").mkdir(parents=True)
        self.home.mkdir()
        self.trace = write_hostile_trace(base / "trace.json")
        self.named = write_hostile_trace(base / f"{NAME}.json")
        self.damaged = base / f"damaged {NAME}.jsonl"
        self.damaged.write_bytes(b'{"a": 1}\n{"b"\n\xff\n' + ACTING.encode())
        self.many = base / "many"
        self.many.mkdir()
        for number in range(3):
            write_hostile_trace(self.many / f"{NAME}{number}.json")
        (self.many / f"broken {NAME}.jsonl").write_text("{" + ACTING)
        write_claude_session(self.home, self.project)
        item = {"session_id": acting("s x"), "cwd": acting("/x x"), "error": acting("Error: x"), "at": acting("at x")}
        (base / "state" / "failed").mkdir(parents=True)
        (base / "state" / "failed" / "s.json").write_text(json.dumps(item))
        lines = {
            "injected.jsonl": {"at": "x", "source": acting("s x"), "target": acting("t x"), "project": acting("p x")}
        }
        lines |= {"log.jsonl": {"at": acting("at x"), "hook": "work", "error": acting("error x")}}
        for name, line in lines.items():
            (base / "state" / name).write_text(json.dumps(line) + "\n")
        row = {"recipient": acting("r x"), "task": acting("t x"), "method": acting("m x"), "reward": 0}
        row |= {"experiment_note": acting("note x"), "exception": acting("Error: x")}
        first = row | {"round": 0, "repetition": 0}
        rows = [
            first,
            first | {"round": 1, "method": acting("m x")},
            first | {"round": 1, "method": "other", "reward": 1},
        ]
        self.table = base / "results.jsonl"
        self.table.write_text("".join(json.dumps(line) + "\n" for line in rows))
        self.bad_table = base / "bad.jsonl"
        self.bad_table.write_text(json.dumps(first | {"reward": acting("x")}) + "\n")
        self.exp, self.distilled = base / "exp", base / "distilled"
        self.config = base / "experiment.yaml"
        self.config.write_text(json.dumps({"name": "x", acting("key x"): acting("value"), "methods": [acting("m x")]}))

    def on_terminal(self, *arguments: str) -> str:
        """What a terminal gets from a command: both streams."""
        number, terminal = pty.fork()
        if number == 0:
            _run_child(list(arguments), self)
        text = b""
        while True:
            try:
                data = os.read(terminal, 1 << 16)
            except OSError:  # the child has ended
                break
            if not data:
                break
            text += data
        os.close(terminal)
        os.waitpid(number, 0)
        return text.decode("utf-8", errors="surrogateescape")


def _run_child(arguments: list[str], place: Place) -> None:
    """The command in the child of a fork, at the terminal; never returns."""
    try:
        sys.stdin, sys.stdout, sys.stderr = (os.fdopen(number, mode) for number, mode in enumerate("rww"))
        os.chdir(place.project)
        os.environ |= {"HOME": str(place.home), "DENSE_STATE_DIR": str(place.base / "state"), "TERM": "xterm-256color"}
        for name in ("NO_COLOR", "CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
            os.environ.pop(name, None)
        sys.argv = ["dense", *arguments]
        main()
    except SystemExit:
        pass
    except BaseException as error:  # shown, and found by the test
        print(f"CRASHED by {type(error).__name__}: {error}", file=sys.__stderr__)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("terminal"))


CASES: dict[str, list[tuple[str, ...]]] = {
    "read": [("{trace}",), ("{named}",), ("{many}",), ("{trace}", "--json"), ("{damaged}",), (f"/none/{NAME[:20]}",)],
    "distill": [
        ("{trace}",),
        ("{named}", "--report"),
        ("{many}",),
        ("{trace}", "--out", "{base}/out"),
        ("{many}", "--out", "{base}/out-many"),
        ("{many}", "--out", "{base}/out-many", "--json"),
        ("{trace}", "--estimate"),
        ("{damaged}",),
        ("{trace}", "--turn", f"9{ACTING[:5]}"),
        ("{trace}", "--method", "verifier-feedback"),
    ],
    "convert": [("{trace}", "--to", form) for form in ("atif", "messages", "dense")] + [("{damaged}", "--to", "atif")],
    "show": [("{trace}",), ("--last",), ("{many}",), ("{damaged}",)],
    "view": [("{trace}", "--out", "{base}/view.html"), ("--last", "--out", "{base}/last.html"), ("{many}",)],
    "last": [(), ("--report",), ("--agent", RED)],
    "sessions": [(), ("--json",), ("--limit", "1")],
    "config": [()],
    "methods": [()],
    "setup": [("claude-code", "--yes"), ("claude-code", "--undo"), (RED,)],
    "hook": [("status",), (RED,)],
    "mcp": [],
    "lessons": [("{base}/batch",), ("{base}/batch", "--out", "{base}/lessons.md"), ("{base}/none" + NAME[:20],)],
    "batch run": [("{many}", "--out", "{base}/batch", "--workers", "1"), ("{damaged}", "--out", "{base}/batch-2")],
    "batch summary": [("{base}/batch",), ("{base}/batch", "--json")],
    "batch search": [("{base}/batch", "FORGED"), ("{base}/batch", "FORGED", "--json")],
    "batch diff": [("{base}/batch", "{base}/batch"), ("{base}/batch", "{base}/batch", "--json")],
    "refit plan": [("{config}",)],
    "refit run": [("{config}",)],
    "refit import": [("{table}", "--out", "{exp}"), ("{bad_table}", "--out", "{base}/exp-2")],
    "refit status": [("{exp}",)],
    "refit report": [("{exp}",)],
    "refit compare": [("{exp}#other", "{exp}#other"), ("{exp}#other", "{exp}#other", "--json"), ("{exp}", "{exp}")],
    "refit export": [("{exp}", "{base}/table.csv"), ("{exp}", "{base}/" + NAME[:20])],
}  # fmt: skip
"""For each command, how it is called; `{name}` is something of the place."""


def test_every_command_is_tried() -> None:
    assert set(CASES) == set(command_names())


def test_errors_of_settings_are_escaped(place: Place) -> None:
    settings = place.project / "dense.toml"
    settings.write_text(f"model = {json.dumps(acting('x y'))}\n{json.dumps(acting('key a'))} = 1\n")
    try:
        for command in ("config", "distill x"):
            assert_plain(place.on_terminal(*command.split()))
    finally:
        settings.unlink()


def assert_plain(text: str) -> None:
    """Only text and what commands themselves write."""
    assert text.strip()
    assert "CRASHED" not in text
    assert FORGED_COLOUR not in text
    assert UNSAFE.search(OWN_SEQUENCES.sub("", text)) is None


@pytest.mark.parametrize("command", [name for name in CASES if CASES[name]])
def test_a_terminal_shows_text_and_does_nothing_else(command: str, place: Place) -> None:
    for arguments in CASES[command]:
        values = [text.format_map(vars(place)) if "{" in text else text for text in arguments]
        text = place.on_terminal(*command.split(), *values)
        try:
            assert_plain(text)
        except AssertionError as error:
            raise AssertionError(f"dense {command} {arguments} prints {text!r}") from error


def test_a_pipe_gets_the_bytes(place: Place) -> None:
    """The message's task as it is, and normalised JSON that is read back."""
    trajectory = hostile_trajectory(str(place.trace))
    assert trajectory.task is not None
    assert trajectory.task.instruction.encode() in piped(place, "distill", str(place.trace))
    data = piped(place, "read", "--json", str(place.trace))
    assert msgspec.json.decode(data, type=Trajectory).steps == trajectory.steps
    assert ACTING.encode() in piped(place, "last")


def piped(place: Place, *arguments: str) -> bytes:
    """What a command writes to a pipe."""
    environment = {**os.environ, "HOME": str(place.home), "DENSE_STATE_DIR": str(place.base / "state")}
    command = [sys.executable, "-m", "dense", *arguments]
    return subprocess.run(command, cwd=place.project, env=environment, stdout=subprocess.PIPE, check=True).stdout


def writers(path: Path) -> set[str]:
    """What a module uses to write to the terminal."""
    tree = ast.parse(path.read_text())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} & {"print"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            dotted = f"{node.value.id}.{node.attr}"
            names |= {dotted} & {
                "sys.stdout",
                "sys.stderr",
                "sys.__stdout__",
                "sys.__stderr__",
                "click.echo",
            }
            names |= {dotted} & {"typer.echo", "typer.secho", "pty.spawn"}
        if isinstance(node, ast.Attribute) and node.attr in ("screen", "rich_proxied_file"):
            names.add("the screen")
        if isinstance(node, ast.Call) and re.match(r"os\.write\([12],", ast.unparse(node)):
            names.add("print")
        if isinstance(node, ast.ImportFrom) and node.module == "rich.console":
            names |= {alias.name for alias in node.names} & {"Console"}
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value == "/dev/tty":
            names.add(node.value)
    return names


def test_only_the_door_writes_past_the_guard() -> None:
    """Commands print; one module makes the console, one knows the terminal behind the guard."""
    found = {path.relative_to(SOURCES).as_posix(): writers(path) for path in SOURCES.rglob("*.py")}
    assert {name for name, uses in found.items() if "the screen" in uses} == {
        "dense/cli/text.py",
        "dense/text/terminal.py",
    }
    assert {name for name, uses in found.items() if "Console" in uses} == {"dense/cli/text.py"}
    assert not {name for name, uses in found.items() if uses & {"sys.__stdout__", "sys.__stderr__", "/dev/tty"}} - KNOWN
    plain = {name for name, uses in found.items() if uses - {"the screen", "Console", "/dev/tty"}}
    assert {name for name in plain if "/cli/" not in name} - {"dense/text/terminal.py"} == OTHERS
