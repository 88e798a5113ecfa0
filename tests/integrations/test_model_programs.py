"""The four real programs as models, from npm, against a scripted server on 127.0.0.1: what they send, what they leave,
and how they fail. Run with `make test-agents`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from agents import AGENTS, Agent
from programs import ANSWER, MODELS, SECRET, ModelServer, model_server, trap_trace, traps
from scripted_model import Call

from dense.model.programs.prompt import without_escape

pytestmark = [
    pytest.mark.agents,
    pytest.mark.timeout(900),
    pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed"),
]


def agent_in(name: str, tmp_path: Path) -> Agent:
    agent = AGENTS[name]()
    agent.home = tmp_path / "home"
    agent.home.mkdir()
    return agent


def environment(agent: Agent, url: str, **more: str) -> dict[str, str]:
    return {**agent.environment(url), "DENSE_STATE_DIR": str(agent.home / "dense-state"), **more}


def dense(
    agent: Agent, server: ModelServer, folder: Path, *words: str, **more: str
) -> subprocess.CompletedProcess[str]:
    with model_server(server) as url:
        return subprocess.run(
            [sys.executable, "-m", "dense", *words], cwd=folder, env=environment(agent, url, **more), text=True,
            capture_output=True, timeout=240, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip


def left(folder: Path) -> list[Path]:
    """Files below a folder that hold a piece of the prompt."""
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and (b"Replace the owner" in (content := path.read_bytes()) or b"ann@exa" in content)
    ]


@pytest.mark.parametrize("name", MODELS)
def test_a_program_gets_the_whole_prompt_and_nothing_of_planted_files(name: str, tmp_path: Path) -> None:
    agent, server = agent_in(name, tmp_path), ModelServer(name)
    folder = tmp_path / "project"
    trace = trap_trace(folder)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    for file in ("CLAUDE.md", "AGENTS.md", "GEMINI.md"):  # beside the private folder, and in the project
        for place in (temporary, folder):
            (place / file).write_text(SECRET)
    done = dense(agent, server, folder, "distill", str(trace), "--model", MODELS[name], TMPDIR=str(temporary))
    assert done.returncode == 0, done.stderr
    assert "Replace the owner in notes.txt" in done.stdout
    assert "ann@example.org" in done.stdout  # the quote holds, though the answer repeated the escape
    assert len(server.requests) == 1
    assert not any(SECRET in body for body in server.bodies)
    (prompt,) = server.prompts()
    assert traps(folder).split("\n")[1] not in prompt
    for line in traps(folder).splitlines():
        assert line in without_escape(prompt)
    assert without_escape(prompt).rstrip().endswith("Answer with the JSON object.")
    assert left(agent.home) == []
    assert [path.name for path in temporary.iterdir() if not path.name.endswith(".md")] == []
    tokens = "1,200 tokens in, 80 out"
    assert tokens in done.stderr


@pytest.mark.parametrize("name", MODELS)
def test_what_the_user_installed_does_not_run(name: str, tmp_path: Path) -> None:
    """With our hooks installed, the session of an analysis is neither analysed nor given feedback."""
    agent, server = agent_in(name, tmp_path), ModelServer(name)
    agent.environment("http://127.0.0.1:9")
    assert agent.dense("setup", name, "--yes").returncode == 0
    agent.failing_session(tmp_path / "project")
    agent.settled()
    more = {"DENSE_STATE_DIR": ""}
    before = sorted(path.name for path in (agent.home / ".local/state/dense").rglob("*"))
    done = dense(agent, server, tmp_path / "project", "last", "--agent", name, "--model", MODELS[name], **more)
    assert done.returncode in (0, 3), done.stderr
    assert len(server.requests) in (1, 2)
    assert "1 failed, 2 passed" in without_escape(server.prompts()[0])
    assert "1 failed" not in json.dumps(server.requests[0]).split("In this request")[0]
    assert sorted(path.name for path in (agent.home / ".local/state/dense").rglob("*")) == before
    assert left(agent.home / ".codex" / "sessions") == []


@pytest.mark.parametrize("name", MODELS)
def test_after_a_session_the_worker_asks_the_agent_once(name: str, tmp_path: Path) -> None:
    """The session itself and its analysis are answered by the same server; the analysis is no session of its own."""
    agent = agent_in(name, tmp_path)
    server = ModelServer(name, call=agent.call)
    agent.environment("http://127.0.0.1:9")
    assert agent.dense("setup", name, "--yes").returncode == 0
    own = agent.home / ".config" / "dense" / "dense.toml"
    own.parent.mkdir(parents=True)
    own.write_text(f'model = "{MODELS[name]}"\n[hooks]\nmax_usd_per_day = 9\n')
    project = tmp_path / "project"
    project.mkdir()
    with model_server(server) as url:
        subprocess.run(
            agent.command("Run the tests and make them pass."), cwd=project, env=agent.environment(url), text=True,
            capture_output=True, timeout=240, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        status = agent.settled(url)
    asked = [prompt for prompt in server.prompts() if prompt.startswith("In this request, ")]
    (result,) = (agent.home / ".local/state/dense/projects").rglob("*.message.txt")
    if name == "opencode":  # its scripted model has no price, and the worker keeps a limit
        assert (asked, "in the place of a language model" in result.read_text()) == ([], True)
        assert "its prices are unknown" in status
        return
    assert len(asked) in (1, 2)  # an answer about another trace is corrected once
    assert all("1 failed, 2 passed" in without_escape(prompt) for prompt in asked)
    assert "Replace the owner in notes.txt" in result.read_text()
    assert "in the place of a language model" not in result.read_text()
    assert json.loads((agent.home / ".local/state/dense/spent.jsonl").read_text().splitlines()[0])["usd"] > 0


@pytest.mark.parametrize("name", MODELS)
def test_a_forced_tool_call_has_no_effect(name: str, tmp_path: Path) -> None:
    agent = agent_in(name, tmp_path)
    target = tmp_path / "touched"
    calls = {
        "claude-code": Call("Bash", {"command": f"touch {target}"}),
        "codex": Call("exec_command", {"cmd": f"touch {target}"}),
        "gemini-cli": Call("run_shell_command", {"command": f"touch {target}"}),
        "opencode": Call("bash", {"command": f"touch {target}", "description": "touch"}),
    }
    server = ModelServer(name, call=calls[name])
    trace = trap_trace(tmp_path / "project")
    done = dense(agent, server, tmp_path, "distill", str(trace), "--model", MODELS[name])
    assert done.returncode in (0, 1, 3)
    assert not target.exists()


@pytest.mark.parametrize("name", MODELS)
def test_a_slow_program_is_ended(name: str, tmp_path: Path) -> None:
    agent, server = agent_in(name, tmp_path), ModelServer(name, wait=60)
    trace = trap_trace(tmp_path / "project")
    start = time.monotonic()
    words = ("distill", str(trace), "--model", MODELS[name])
    done = dense(agent, server, tmp_path, *words, DENSE_PROGRAM_SECONDS="12")
    assert time.monotonic() - start < 40
    assert (done.returncode, done.stdout) == (1, "")
    assert "no answer within 12 s" in done.stderr
    assert running(agent) == []


@pytest.mark.parametrize("name", MODELS)
def test_a_server_that_fails_is_no_answer(name: str, tmp_path: Path) -> None:
    agent, server = agent_in(name, tmp_path), ModelServer(name, status=500)
    trace = trap_trace(tmp_path / "project")
    words = ("distill", str(trace), "--model", MODELS[name])
    done = dense(agent, server, tmp_path, *words, DENSE_PROGRAM_SECONDS="40")
    assert (done.returncode, done.stdout) == (1, "")
    assert [line[:6] for line in done.stderr.splitlines() if "error" in line] == ["error:"]
    assert server.requests
    by_rules = dense(agent, server, tmp_path, *words, "--or-rules", DENSE_PROGRAM_SECONDS="5")
    assert by_rules.returncode == 0
    assert "in the place of a language model, which gave no answer" in by_rules.stdout.partition("\n")[0]


@pytest.mark.parametrize("name", MODELS)
def test_without_a_login_there_is_one_clear_line(name: str, tmp_path: Path) -> None:
    agent = agent_in(name, tmp_path)
    server = ModelServer(name, status=401, error="invalid api key")
    trace = trap_trace(tmp_path / "project")
    secrets = {"ANTHROPIC_API_KEY": "", "GEMINI_API_KEY": "", "SCRIPTED_KEY": ""}
    words = ("distill", str(trace), "--model", MODELS[name])
    done = dense(agent, server, tmp_path, *words, DENSE_PROGRAM_SECONDS="60", **secrets)
    assert (done.returncode, done.stdout) == (1, ""), done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    assert "log in" in line or "login" in line
    assert left(agent.home) == [], "no report of the failure keeps the prompt"


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("who", ["program", "dense"])
def test_an_interrupted_program_is_no_answer(name: str, who: str, tmp_path: Path) -> None:
    agent, server = agent_in(name, tmp_path), ModelServer(name, wait=30)
    trace = trap_trace(tmp_path / "project")
    with model_server(server) as url:
        process = subprocess.Popen(
            [sys.executable, "-m", "dense", "distill", str(trace), "--model", MODELS[name]], cwd=tmp_path,
            env=environment(agent, url), text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
        end = time.monotonic() + 60
        while not server.requests and time.monotonic() < end:
            time.sleep(0.05)
        assert server.requests
        if who == "dense":
            process.send_signal(signal.SIGINT)
        else:
            for number in running(agent):
                os.kill(number, signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    assert output == ""
    assert process.returncode == (130 if who == "dense" else 1), errors
    assert running(agent) == []


def running(agent: Agent) -> list[int]:
    """The processes that were started for an analysis in this home."""
    numbers: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            variables = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"DENSE_ANALYST=1" in variables and f"HOME={agent.home}".encode() in variables:
            numbers.append(int(folder.name))
    return numbers


def test_the_answer_is_about_the_trace(tmp_path: Path) -> None:
    """The scripted answer ends where the trace ends, or the tests above would show corrections."""
    from dense.readers import read

    (trajectory,) = read(trap_trace(tmp_path))
    assert len(trajectory.steps) == ANSWER["subtasks"][0]["to"]  # pyright: ignore[reportIndexIssue, reportArgumentType]
