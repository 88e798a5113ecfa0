"""Hooks as agents call them: real processes, JSON on standard input, a state folder of their own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import dense
from dense.errors import DenseError
from dense.integrations import hooks, queue, settings, state, worker
from dense.integrations.setup import install, plan_setup, undo
from dense.model.programs import GUARD
from dense.options import FeedbackOptions
from dense.trajectory import Trajectory

EXAMPLES = Path(__file__).parents[2] / "examples"
SESSION = EXAMPLES / "looks-successful"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home and a state folder of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("DENSE_STATE_DIR", str(tmp_path / "state"))
    for name in ("XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR", "DENSE_HOOKS"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "home").mkdir()
    (tmp_path / "project" / ".git").mkdir(parents=True)
    return tmp_path


def trace(place: Path, name: str = "s1") -> Path:
    """A session that failed at something, in the messages format."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "pytest -q"}'}}
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "Make the tests pass and write /app/result.txt."},
        {"role": "assistant", "content": "I run the tests.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "E   assert 1 == 2\n1 failed, 2 passed in 0.1s"},
        {"role": "assistant", "content": "One test still fails."},
    ]
    path = place / f"{name}.json"
    path.write_text(json.dumps({"messages": messages}))
    return path


def call(command: str, event: dict[str, Any]) -> tuple[str, float]:
    """What a hook prints, and its CPU seconds."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "dense", "hook", command], input=json.dumps(event), capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    after = os.times()
    assert done.returncode == 0
    assert done.stderr == ""
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, spent


def ended(place: Path, session: str, folder: Path) -> dict[str, str]:
    return {"session_id": session, "cwd": str(folder), "transcript_path": str(trace(place, session))}


def settled() -> None:
    end = time.monotonic() + 60
    while queue.pending() and time.monotonic() < end:
        time.sleep(0.02)
    assert queue.pending() == []


def test_the_next_session_of_the_project_gets_the_feedback_once(place: Path) -> None:
    project = place / "project"
    call("session-end", ended(place, "s1", project))
    settled()
    (project / "deep").mkdir()
    text, _ = call(
        "session-start", {"session_id": "s2", "cwd": str(project / "deep"), "hook_event_name": "SessionStart"}
    )
    output = json.loads(text)["hookSpecificOutput"]
    assert output["hookEventName"] == "SessionStart"
    context = output["additionalContext"]
    assert len(context) <= hooks.MAX_CHARACTERS
    assert context.startswith("dense: feedback on the last")
    assert "1 failed, 2 passed" in context
    assert context.endswith("| end")
    assert "asked: Make the tests pass" in context
    assert context.count("Make the tests pass") == 1, "the task is not repeated behind the report"
    whole = context.split("The whole message: ")[1].splitlines()[0]
    assert "Make the tests pass" in Path(whole).read_text()
    assert call("session-start", {"session_id": "s3", "cwd": str(project)})[0] == "", "injected once"
    assert "into s2 from s1" in "\n".join(hooks.status_lines())


def test_nothing_crosses_projects_or_comes_back_to_the_same_session(place: Path) -> None:
    project, other = place / "project", place / "other"
    other.mkdir()
    call("session-end", ended(place, "s1", project))
    settled()
    assert call("session-start", {"session_id": "s9", "cwd": str(other)})[0] == ""
    assert call("session-start", {"session_id": "s1", "cwd": str(project)})[0] == ""
    assert call("session-start", {"session_id": "s2", "cwd": str(project)})[0] != ""


def test_a_session_with_nothing_open_gives_nothing(place: Path) -> None:
    path = next((EXAMPLES / "clean-success").rglob("*.jsonl"))
    event = {"session_id": "done", "cwd": str(place / "project"), "transcript_path": str(path)}
    queue.enqueue(event)
    assert worker.work() == 1
    result = state.read_json(queue.project_folder(str(place / "project")) / "done.json")
    assert (result["context"] == "") == (result["open"] == [] or result["state"] == "complete")


def test_a_session_that_takes_too_long_is_given_up(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the next one is distilled."""

    def read(path: str) -> list[Trajectory]:
        while "slow" in path:
            time.sleep(0.01)
        return list(dense.read(path))

    monkeypatch.setattr(worker, "read", read)
    monkeypatch.setattr(worker, "MAX_SECONDS", 1)
    for name in ("slow", "s1"):
        queue.enqueue(ended(place, name, place / "project"))
    assert worker.work() == 2
    assert "failed: slow: TookTooLong: given up after 1 s" in hooks.status_lines()
    assert hooks.start_session("s2", str(place / "project"))


def test_an_analysis_is_not_analysed(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert hooks.ANALYST == GUARD
    monkeypatch.setenv(GUARD, "1")
    call("session-start", {"session_id": "s1", "cwd": str(place / "project")})
    call("session-end", ended(place, "s1", place / "project"))
    assert not (place / "state").exists()


@pytest.mark.parametrize("program", ["echo nonsense", "false", "is-not-there"])
def test_the_rules_answer_in_the_background_and_say_so(
    place: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = settings.user_file()
    own.parent.mkdir(parents=True)
    own.write_text(f'model = "exec:{program}"\n[hooks]\nmax_usd_per_day = 0\n')
    queue.enqueue(ended(place, "s0", place / "project"))
    worker.work()
    assert "in the place of" not in context_of(place, "s0"), "nothing may be spent, so no model is asked"
    own.write_text('model = "codex"\n[hooks]\nmax_usd_per_day = 9\n')
    programs = place / "bin"
    programs.mkdir()
    (programs / "codex").write_text(f"#!/bin/sh\n{program}\n")
    (programs / "codex").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    queue.enqueue(ended(place, "s1", place / "project"))
    worker.work()
    assert "in the place of a language model, which gave no answer" in context_of(place, "s1")
    assert "the rules were used" in "\n".join(hooks.status_lines())


def context_of(place: Path, session: str) -> str:
    return str(state.read_json(queue.project_folder(str(place / "project")) / f"{session}.json")["context"])


def test_hooks_that_are_off_do_nothing(place: Path) -> None:
    hooks.turn(is_on=False)
    call("session-end", ended(place, "s1", place / "project"))
    assert queue.pending() == []
    hooks.turn(is_on=True)
    call("session-end", ended(place, "s1", place / "project"))
    settled()
    assert hooks.start_session("s2", str(place / "project"))


@pytest.mark.parametrize("event", [b"", b"{", b"[]", b'{"session_id": 3}', b"\xff\xfe", b'{"session_id": "../../x"}'])
def test_bad_input_never_disturbs_the_agent(place: Path, event: bytes) -> None:
    for command in ("session-start", "session-end"):
        done = subprocess.run(
            [sys.executable, "-m", "dense", "hook", command], input=event, capture_output=True, timeout=60, check=False,
            cwd=place,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout == b""
    assert {path.parent.name for path in (place / "state").rglob("*.json")} <= {"queue", "failed"}
    assert not (place / "x.json").exists()


def test_a_killed_worker_loses_nothing_and_repeats_nothing(place: Path) -> None:
    project = place / "project"
    for number in range(5):
        queue.enqueue(ended(place, f"s{number}", project) | {"ended": f"2026-01-0{number + 1}T00:00:00Z"})
    process = subprocess.Popen([sys.executable, "-m", "dense", "hook", "work"])
    while len(queue.pending()) == 5 and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    worker.work()
    assert queue.pending() == []
    results = sorted(path.stem for path in queue.project_folder(str(project)).glob("*.json"))
    assert results == [f"s{number}" for number in range(5)]
    assert hooks.start_session("next", str(project))
    assert hooks.start_session("after", str(project)) == ""


def test_a_session_whose_agent_was_killed_is_found_by_the_next_one(place: Path) -> None:
    project = place / "project"
    start = [sys.executable, "-m", "dense", "hook", "session-start"]
    event = json.dumps(ended(place, "killed", project))
    agent = subprocess.Popen(  # a process in the agent's place: it runs the hook, then goes on working
        [sys.executable, "-c", f"import subprocess, time; subprocess.run({start}, input={event!r}, text=True);"
         "print('started', flush=True); time.sleep(60)"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert agent.stdout is not None
    assert agent.stdout.readline() == "started\n"
    assert call("session-start", {"session_id": "beside", "cwd": str(project)})[0] == ""
    assert queue.pending() == []  # its agent is alive
    agent.kill()
    agent.wait()
    agent.stdout.close()
    given = [call("session-start", {"session_id": f"after{n}", "cwd": str(project)})[0] for n in range(1)]
    settled()
    given += [call("session-start", {"session_id": f"later{n}", "cwd": str(project)})[0] for n in range(2)]
    assert sum("1 failed, 2 passed" in text for text in given) == 1


def installing(place: Path, number: int, *, works: bool = True) -> dict[str, str]:
    """A session that finds a program missing, installs it, and goes on."""
    commands = [
        ("shellcheck run.sh", "bash: line 1: shellcheck: command not found"),
        ("apt-get install -y shellcheck", "Setting up shellcheck (0.9.0-1) ..." if works else "E: Unable to locate"),
        ("shellcheck run.sh", "" if works else "bash: line 1: shellcheck: command not found"),
    ]
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Check script number {number}: run.sh."}]
    for index, (command, output) in enumerate(commands):
        arguments = json.dumps({"command": command})
        call = {"id": f"c{index}", "type": "function", "function": {"name": "bash", "arguments": arguments}}
        messages += [
            {"role": "assistant", "content": "", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"c{index}", "content": output},
        ]
    messages.append({"role": "assistant", "content": "The script has no problem."})
    path = place / f"install{number}.json"
    path.write_text(json.dumps({"messages": messages}))
    return {"session_id": f"i{number}", "cwd": str(place / "project"), "transcript_path": str(path)}


def test_a_lesson_needs_three_sessions_of_the_project(place: Path) -> None:
    for number in range(3):
        queue.enqueue(installing(place, number))
        worker.work()
        text = hooks.start_session(f"next{number}", str(place / "project"))
        assert ("`shellcheck` was not installed" in text) == (number == 2)
    assert "apt-get install shellcheck" in hooks.start_session("again", str(place / "project"))
    assert hooks.start_session("elsewhere", str(place)) == ""
    (queue.project_folder(str(place / "project")) / "lessons" / "damaged.jsonl").write_text("{")
    for number in range(3, 6):  # later evidence contradicts it
        queue.enqueue(installing(place, number, works=False))
    worker.work()
    assert "shellcheck" not in hooks.lessons_text(str(place / "project"))
    assert not any(line.startswith("failed: ") for line in hooks.status_lines())


def test_two_workers_share_the_queue(place: Path) -> None:
    for number in range(6):
        queue.enqueue(ended(place, f"s{number}", place / "project"))
    workers = [subprocess.Popen([sys.executable, "-m", "dense", "hook", "work"]) for _ in range(3)]
    assert [one.wait(60) for one in workers] == [0, 0, 0]
    assert queue.pending() == []


def test_a_session_that_cannot_be_read_is_reported(place: Path) -> None:
    queue.enqueue({"session_id": "gone", "cwd": str(place), "transcript_path": str(place / "no.jsonl")})
    worker.work()
    assert queue.pending() == []
    assert any(line.startswith("failed: gone: ") for line in hooks.status_lines())


def test_hooks_are_quick(place: Path) -> None:
    """CPU time, because a loaded machine says nothing: 0.3 s and 0.5 s are what agents allow in all."""
    spent = min(call("session-start", {"session_id": "x", "cwd": str(place)})[1] for _ in range(3))
    assert spent < 0.3


def test_state_files_are_the_users_alone(place: Path) -> None:
    queue.enqueue(ended(place, "s1", place / "project"))
    worker.work()
    files = [path for path in (place / "state").rglob("*") if path.is_file() and path.suffix != ".lock"]
    assert files
    assert {path.stat().st_mode & 0o077 for path in files} == {0}


# ---- setup


@pytest.mark.parametrize("agent", ["claude-code", "gemini-cli", "opencode"])
def test_setup_can_be_undone_to_the_byte(place: Path, agent: str) -> None:
    home = place / "home"
    own = {
        home / ".claude" / "settings.json": '{"hooks":  {"SessionStart": []}, // mine\n}',
        home / ".gemini" / "settings.json": '{ "a" : 1 }\n',
        home / ".config" / "opencode" / "opencode.json": "{}",
        home / ".config" / "opencode" / "plugins" / "mine.ts": "export {}",
    }
    for path, text in own.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    before = snapshot(home)
    plan = plan_setup(agent)
    install(plan)
    assert all(path.is_file() for path, _, _ in plan.files)
    install(plan_setup(agent))  # again is no error
    assert f"installed: {agent}" in "\n".join(hooks.status_lines()) and hooks.status_lines()[0].startswith("hooks: on")
    undo(agent)
    assert snapshot(home) == before
    assert hooks.status_lines()[0].startswith("hooks: not set up")
    with pytest.raises(DenseError, match="nothing to undo"):
        undo(agent)


def test_setup_without_the_agent_writes_nothing(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(place))
    with pytest.raises(DenseError, match="codex is not on the PATH"):
        install(plan_setup("codex"))
    assert hooks.status_lines()[0].startswith("hooks: not set up")


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def test_a_file_of_the_user_is_never_overwritten_or_removed(place: Path) -> None:
    plan = plan_setup("claude-code")
    mine = plan.files[0][0]
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    with pytest.raises(DenseError, match="not ours"):
        install(plan)
    assert mine.read_text() == "mine"
    mine.unlink()
    install(plan)
    mine.write_text("changed")
    assert any("changed since" in line for line in undo("claude-code"))
    assert mine.read_text() == "changed"


def test_the_installed_script_runs_this_installation(place: Path) -> None:
    install(plan_setup("claude-code"))
    script = place / "home" / ".claude" / "skills" / "dense" / "hooks" / "dense-hook"
    done = subprocess.run([script, "status"], capture_output=True, text=True, check=True, timeout=60)
    assert "installed: claude-code" in done.stdout


# ---- settings


def test_settings_come_from_the_nearest_file(place: Path) -> None:
    user = place / "home" / ".config" / "dense" / "dense.toml"
    user.parent.mkdir(parents=True)
    user.write_text('model = "openai/a"\nbudget = 4000\nredact = false\n[hooks]\nmax_usd_per_day = 2\n')
    project = place / "project"
    (project / "pyproject.toml").write_text("[tool.dense]\nbudget = 5000\n")
    (project / "deep").mkdir()
    found = settings.load_settings(project / "deep")
    assert found.options == FeedbackOptions(model="openai/a", budget=5000, redact=False)
    assert found.hook_max_usd_per_day == 2.0
    assert dict(found.origins)["budget"] == str(project / "pyproject.toml")
    assert settings.load_settings(project, trusts_project=False).options.budget == 4000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("colour = 1", "colour: unknown option; known are budget, environment, turn"),
        ("budget = true", "budget: True is neither a number of bytes nor `paper`"),
        ("model = [", "cannot be read"),
        (f"budget = {'9' * 5_000}", "cannot be read"),
        (f"max_usd = {'[' * 3_000}", "cannot be read"),
        ("[hooks]\nx = 1", "hooks: known is only hooks.max_usd_per_day"),
        ("[hooks]\nmax_usd_per_day = 9", "hooks.max_usd_per_day: a project's file cannot set it"),
    ],
)
def test_a_wrong_or_hostile_project_file_is_refused(place: Path, text: str, words: str) -> None:
    (place / "project" / "dense.toml").write_text(text)
    with pytest.raises(DenseError, match=words):
        settings.load_settings(place / "project")


def test_a_number_of_too_many_digits_in_another_programs_file_is_no_error(place: Path) -> None:
    (place / "project" / "pyproject.toml").write_text(f"[tool.other]\nx = {'9' * 5_000}\n")
    assert settings.load_settings(place / "project").options == FeedbackOptions()


def test_the_search_for_settings_ends_at_the_repository(place: Path) -> None:
    (place / "dense.toml").write_text("budget = 5000\n")
    (place / "project" / "deep").mkdir()
    (place / "alone").mkdir()
    for folder in ("project", "project/deep", "alone"):
        assert settings.load_settings(place / folder).options == FeedbackOptions()
    (place / "project" / "dense.toml").write_text("budget = 6000\n")
    assert settings.load_settings(place / "project" / "deep").options.budget == 6000


def test_settings_of_another_user_are_not_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "project" / "dense.toml").write_text("budget = 5000\n")
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert settings.load_settings(place / "project").options == FeedbackOptions()
