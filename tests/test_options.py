"""One bearer of options: each entry knows the fields that may be set there, with the same defaults and errors, and
nobody but the user chooses a model, a program, an address or an answers file."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import pytest
import typer
from loopback import USABLE, Loopback, ok
from pydantic import ValidationError
from typer.testing import CliRunner

from dense.cli.app import app
from dense.cli.option_fields import flag, with_fields
from dense.errors import DenseError, WrongUsage
from dense.integrations.harbor_plugin import DensePlugin
from dense.integrations.settings import load_settings, user_file
from dense.options import OPTIONS, Entry, FeedbackOptions, options_at, set_options
from refit.experiment.config import ANALYST_KEYS, OWN_KEYS, ExperimentConfig

ROOT = Path(__file__).parents[1]
TRACE = ROOT / "examples" / "csv-report" / "trial" / "agent" / "trajectory.json"
BAD = {
    "environment": "mars",
    "model": "",
    "or_rules": "maybe",
    "base_url": "",
    "answers": "",
    "method": "",
    "profile": "slow",
    "max_usd": "-1",
    "redact": "maybe",
    "small": "maybe",
    "concurrency": "0",
    "context": "10",
    "look": "10",
    "cache": "",
    "budget": "3",
    "lessons": "",
    "turn": "0",
}
"""For each option a text that it cannot have."""
GOOD = {
    "environment": "same",
    "model": "openai/m",
    "or_rules": "true",
    "base_url": "http://127.0.0.1:1/v1",
    "answers": "/answers.json",
    "method": "advisor",
    "profile": "paper",
    "max_usd": "2.5",
    "redact": "kingfisher",
    "small": "true",
    "concurrency": "3",
    "context": "9000",
    "look": "5000",
    "cache": "/answers.sqlite",
    "budget": "4 KiB",
    "lessons": "/lessons.md",
    "turn": "1",
}
"""For each option a text that it can have, and that is not its default."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, a state folder and a working folder of the test's own."""
    for name in ("home", "project"):
        (tmp_path / name).mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DENSE_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def parameters(*names: str) -> set[str]:
    """The parameters of a command."""
    command: Any = typer.main.get_command(app)
    for name in names:
        command = command.commands[name]
    return {parameter.name for parameter in command.params}


def tools() -> dict[str, set[str]]:
    """The arguments of each tool that an agent is offered."""
    pytest.importorskip("mcp")
    from dense.integrations.mcp_server import make_server

    return {tool.name: set(tool.input_schema["properties"]) for tool in asyncio.run(make_server().list_tools())}


def by_command(values: dict[str, str], entry: Entry = Entry.COMMAND) -> FeedbackOptions:
    """What a command is handed. A switch is given without a value."""
    handed: list[FeedbackOptions] = []
    commands = typer.Typer()

    @commands.command()
    @with_fields(entry)
    def keep(options: FeedbackOptions) -> None:  # pyright: ignore[reportUnusedFunction]
        handed.append(options)

    words = [
        word
        for name, value in values.items()
        for word in (flag(name), *([value] if name not in ("small", "or_rules") else []))
    ]
    done = CliRunner().invoke(commands, words)
    if isinstance(done.exception, DenseError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return handed[0]


def by_user(values: dict[str, str]) -> FeedbackOptions:
    written(user_file(), "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    return load_settings().options


def by_project(values: dict[str, str]) -> FeedbackOptions:
    written(Path("dense.toml"), "".join(f"{name} = {json.dumps(value)}\n" for name, value in values.items()))
    return load_settings().options


def by_experiment(values: dict[str, str]) -> FeedbackOptions:
    own = {name: value for name, value in values.items() if name in OWN_KEYS}
    method = "dense+lessons" if "lessons" in values else "dense"
    data = {
        "name": "x",
        "tasks": "tasks",
        "recipients": [{"name": "r", "agent": "nop"}],
        "methods": [method],
        "analyst": {name: value for name, value in values.items() if name not in own},
    }
    config = ExperimentConfig.model_validate({**data, **own})
    return msgspec.structs.replace(config.options_of(config.arms[method]), method="dense")


def by_agent(values: dict[str, str]) -> FeedbackOptions:
    pytest.importorskip("mcp")
    from mcp.server.mcpserver.exceptions import ToolError

    from dense.integrations.mcp_server import make_server

    try:
        asyncio.run(make_server().call_tool("distill", {"path": str(TRACE), **values}))
    except ToolError as error:
        raise WrongUsage(str(error)) from None
    return set_options(values, Entry.MCP)


WAYS: dict[Entry, Callable[[dict[str, str]], FeedbackOptions]] = {
    Entry.COMMAND: by_command,
    Entry.PYTHON: lambda values: FeedbackOptions(**cast("dict[str, Any]", values)),
    Entry.USER: by_user,
    Entry.PROJECT: by_project,
    Entry.MCP: by_agent,
    Entry.BATCH: lambda values: by_command(values, Entry.BATCH),
    Entry.EXPERIMENT: by_experiment,
}
ALL = [(entry, name) for entry in Entry for name in options_at(entry)]


def test_every_entry_offers_its_options_and_no_other() -> None:
    names = set(OPTIONS)
    assert set(options_at(Entry.PYTHON)) == names == set(BAD) == set(GOOD)
    for command in ("distill", "last", "show", "view"):
        assert parameters(command) & names == set(options_at(Entry.COMMAND)), command
    assert set(inspect.signature(DensePlugin.__init__).parameters) & names == set(options_at(Entry.COMMAND))
    assert parameters("batch", "run") & names == set(options_at(Entry.BATCH))
    for tool, arguments in tools().items():
        assert arguments & names == set(options_at(Entry.MCP)), tool
    assert {*ANALYST_KEYS, *OWN_KEYS} == set(options_at(Entry.EXPERIMENT))
    assert set(OWN_KEYS) <= set(ExperimentConfig.model_fields)


@pytest.mark.parametrize("entry", list(Entry))
def test_every_entry_has_the_same_defaults(home: Path, entry: Entry) -> None:
    assert WAYS[entry]({}) == FeedbackOptions()


@pytest.mark.parametrize(("entry", "name"), ALL, ids=str)
def test_every_entry_reads_a_value_alike(home: Path, entry: Entry, name: str) -> None:
    expected = FeedbackOptions(**cast("dict[str, Any]", {name: GOOD[name]}))
    assert WAYS[entry]({name: GOOD[name]}) == expected != FeedbackOptions()


@pytest.mark.parametrize(("entry", "name"), ALL, ids=str)
def test_every_entry_refuses_a_value_in_the_same_words(home: Path, entry: Entry, name: str) -> None:
    if name in ("small", "or_rules") and entry in (Entry.COMMAND, Entry.BATCH):
        pytest.skip("a switch has no value on the command line")
    with pytest.raises(WrongUsage) as expected:
        FeedbackOptions(**cast("dict[str, Any]", {name: BAD[name]}))
    _, _, words = str(expected.value).partition(": ")
    with pytest.raises((DenseError, ValidationError)) as error:
        WAYS[entry]({name: BAD[name]})
    assert words in str(error.value)
    assert name in str(error.value) or flag(name) in str(error.value)


REFUSED = [(entry, name) for entry in (Entry.PROJECT, Entry.MCP) for name in OPTIONS if name not in options_at(entry)]


def test_nobody_else_chooses_who_analyses_what_runs_and_what_is_sent() -> None:
    own = {"model", "base_url", "answers", "method", "lessons", "cache", "redact", "max_usd"}
    assert own <= {name for entry, name in REFUSED if entry is Entry.PROJECT}
    assert own <= {name for entry, name in REFUSED if entry is Entry.MCP}


@pytest.mark.parametrize(("entry", "name"), REFUSED, ids=str)
def test_what_somebody_else_may_not_set_is_refused_with_the_place_to_set_it(
    home: Path, entry: Entry, name: str
) -> None:
    with pytest.raises(WrongUsage) as error:
        WAYS[entry]({name: GOOD[name]})
    who = "a project's file" if entry is Entry.PROJECT else "an agent"
    assert f"{name}: {who} cannot set it: set it in your own settings, {user_file()}, or give it on" in str(error.value)


def test_later_entries_win_and_what_excludes_each_other_gives_way(home: Path) -> None:
    by_user({"model": "openai/m", "budget": "5000", "lessons": "l.md"})
    written(Path("dense.toml"), "budget = 6000\n")
    assert by_command({}).budget == 6000
    assert by_command({"budget": "7000"}).budget == 7000
    assert by_command({}).lessons == user_file().parent / "l.md"
    assert by_command({"answers": "/a"}).model is None
    assert by_command({"method": "advisor"}).lessons is None
    with pytest.raises(WrongUsage, match="model and answers exclude each other"):
        by_command({"answers": "/a", "model": "openai/m"})
    with pytest.raises(WrongUsage, match="lessons goes with the method dense"):
        by_command({"lessons": "/l.md", "method": "advisor"})


class Extras(msgspec.Struct):
    """Options of one command."""

    depth: Annotated[int, typer.Option("--depth", help="How deep.")] = 3


def test_a_field_of_a_struct_is_a_flag() -> None:
    commands, seen = typer.Typer(), list[int]()

    @commands.command()
    @with_fields()
    def look(extras: Extras) -> None:  # pyright: ignore[reportUnusedFunction]
        seen.append(extras.depth)

    assert "--depth" in CliRunner().invoke(commands, ["--help"]).output
    for words in ([], ["--depth", "5"]):
        assert CliRunner().invoke(commands, words).exit_code == 0
    assert seen == [3, 5]


def test_redaction_is_turned_off_by_its_short_form(home: Path) -> None:
    done = CliRunner().invoke(app, ["distill", str(TRACE), "--no-redact", "--redact", "true"])
    assert "--no-redact and --redact exclude each other" in str(done.exception)


def test_a_spec_is_the_same_in_another_process() -> None:
    """What is left out of it is compared by identity: a copy must have the default itself."""
    options = FeedbackOptions(method="".join(["den", "se"]), redact=True, look=24_000)
    copy = pickle.loads(pickle.dumps(options))
    assert msgspec.json.encode(copy) == msgspec.json.encode(options) == b"{}"


def test_limits_make_no_other_result() -> None:
    options = FeedbackOptions(model="openai/m", max_usd=1.0, concurrency=2, cache=Path("c"), budget=5_000)
    assert options.without_limits() == FeedbackOptions(model="openai/m", budget=5_000)


# ---- a repository that is hostile


@pytest.fixture
def hostile(home: Path) -> Path:
    """A real repository, with a session of a coding agent stored for it."""
    project = home / "project"
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    store = home / "home" / ".claude" / "projects" / "".join(c if c.isalnum() else "-" for c in str(project))
    store.mkdir(parents=True)
    (source,) = (ROOT / "examples" / "looks-successful").rglob("*.jsonl")
    lines = [json.loads(line) for line in source.read_text().splitlines()]
    session = "".join(json.dumps({**line, "cwd": str(project)}) + "\n" for line in lines)
    written(store / source.name, session)
    return project


def dense(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dense", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "dumb"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


def message_of_hooks(state: Path) -> str:
    """What the worker that a hook started makes of the only session."""
    end = time.monotonic() + 60
    while not (found := list((state / "projects").rglob("s.message.txt"))):
        assert time.monotonic() < end, [path.read_text() for path in state.rglob("*.json*")]
        time.sleep(0.05)
    return found[0].read_text()


@pytest.mark.parametrize("file", ["dense.toml", "pyproject.toml"])
def test_a_repository_names_no_model(hostile: Path, file: str) -> None:
    with Loopback(default=ok(USABLE)) as server:
        setting = f'model = "{server.url}#m"\n'
        path = written(hostile / file, setting if file == "dense.toml" else f"[tool.dense]\n{setting}")
        for arguments in (("distill", TRACE), ("last",), ("show", "--last"), ("view", "--last"), ("config",)):
            done = dense(*arguments)
            assert done.returncode == 2, arguments
            assert done.stderr.startswith(f"error: {path}: model: a project's file cannot set it: set it in your own")
        # Hooks, MCP and batches do not read a project's file.
        event = json.dumps({"session_id": "s", "cwd": str(hostile), "transcript_path": str(TRACE)})
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        words = [sys.executable, "-m", "dense", "hook", "session-end"]
        subprocess.run(words, input=event, text=True, env=environment, check=True, capture_output=True)
        assert message_of_hooks(hostile.parent / "state").startswith("[dense-feedback-")
        assert by_agent({}) == FeedbackOptions()
        table = dense("batch", TRACE, "--out", hostile.parent / "table", "--quiet")
        assert (table.returncode, table.stderr) == (0, "")
        assert not server.received


def test_the_user_s_own_settings_name_a_model(hostile: Path) -> None:
    with Loopback(default=ok(USABLE)) as server:
        written(user_file(), f'model = "{server.url}#m"\n')
        done = dense("last", "--yes")
        assert done.returncode == 0, done.stderr
        assert server.received
