"""Kingfisher's rules on top of ours, by its real program. It comes with the extra `redact`."""

from __future__ import annotations

import importlib.util
import json
import random
import re
import shutil
import stat
import string
from pathlib import Path

import pytest
from typer.testing import CliRunner

import dense
from dense.cli.app import app
from dense.errors import DenseError, install_hint
from dense.redact import kingfisher, redact, redact_text

EXAMPLES = Path(__file__).parents[2] / "examples"
needs_kingfisher = pytest.mark.skipif(
    importlib.util.find_spec("kingfisher") is None and shutil.which("kingfisher") is None,
    reason="the extra `redact` is not installed",
)


def lichess() -> str:
    return "li" + "p_" + "".join(random.Random(11).choices(string.ascii_letters + string.digits, k=40))


@needs_kingfisher
def test_a_format_that_only_kingfisher_knows() -> None:
    secret = lichess()
    commit = "".join(random.Random(12).choices("0123456789abcdef", k=40))
    text = f"commit {commit}\nchecksum 8XDR7K2MQ9T\ntoken {secret} and again {secret}\n"
    assert redact_text(text, environment={})[0] == text
    redacted, redactions = redact_text(text, engine="kingfisher", environment={})
    assert redactions.places == 2
    (kind,) = redactions.counts
    assert redacted == text.replace(secret, f"[redacted: {kind} 1]")
    assert redact_text(redacted, engine="kingfisher", environment={})[0] == redacted


@needs_kingfisher
def test_it_leaves_the_recovered_password() -> None:
    (trajectory,) = dense.read(EXAMPLES / "password-recovery")
    assert redact(trajectory, engine="kingfisher", environment={})[0] is trajectory


def program(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Puts a program of ours in Kingfisher's place."""
    path = folder / "kingfisher"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(kingfisher, "_program", lambda: path)


def test_it_does_not_use_the_network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its default is to try out each key that it finds."""
    program(tmp_path, monkeypatch, f'cat > /dev/null; echo "$@" > {tmp_path}/given')
    redact_text("anything", engine="kingfisher", environment={})
    given = (tmp_path / "given").read_text().split()
    assert {"--no-validate", "--no-update-check"} <= set(given)


def test_its_failure_is_reported_without_the_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path, monkeypatch, "cat >&2; exit 3")
    with pytest.raises(DenseError, match="kingfisher ended with 3") as raised:
        redact_text("a text that is nobody's business", engine="kingfisher", environment={})
    assert "business" not in str(raised.value)


def test_without_it_there_is_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(DenseError, match=re.escape(install_hint("redact"))):
        redact_text("anything", engine="kingfisher", environment={})


@needs_kingfisher
@pytest.mark.parametrize("place", ["option", "settings"])
def test_the_command_takes_it_from_its_option_and_from_the_settings(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = lichess()
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "env"}'}}
    messages = [
        {"role": "user", "content": "Show the environment."},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": f"token {secret}"},
        {"role": "assistant", "content": f"It is {secret}."},
    ]
    (tmp_path / "trace.json").write_text(json.dumps({"messages": messages}))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)
    plain = CliRunner().invoke(app, ["distill", "trace.json"])
    assert secret in plain.stdout
    (tmp_path / "config" / "dense").mkdir(parents=True)
    if place == "settings":
        (tmp_path / "config" / "dense" / "dense.toml").write_text('redact = "kingfisher"\n')
    option = ["--redact", "kingfisher"] if place == "option" else []
    done = CliRunner().invoke(app, ["distill", "trace.json", *option])
    assert done.exit_code == 0, done.output
    assert secret not in done.stdout
    assert "[redacted: " in done.stdout
