"""Real coding agents from npm, each in a clean home, talking to a scripted model on 127.0.0.1."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import wire_anthropic
import wire_gemini
import wire_openai_chat
import wire_openai_responses
from install import npm_packages
from scripted_model import Call, Script, Turn, serve

FAILING = "echo '1 failed, 2 passed in 0.10s'; exit 1"
TASK = "Run the tests and make them pass. Write the result to result.txt."
LAST_WORDS = "The tests still fail. I could not fix them, and result.txt is not written."


@dataclass
class Agent:
    """One program: how it is installed, started and pointed at the model."""

    name: str
    pin: str
    wire: Any
    call: Call
    command: Callable[[str], list[str]]
    prepare: Callable[[Path, str], dict[str, str]]
    """Writes its settings into a home for a model's address; gives its environment."""
    program: str = ""
    home: Path = field(default_factory=Path)

    def environment(self, url: str) -> dict[str, str]:
        folder = npm_packages(f"agent-{self.name}", self.pin) / "node_modules" / ".bin"
        base = {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(self.home), "LANG": "C.UTF-8"}
        return {**base, **self.prepare(self.home, url)}

    def dense(self, *arguments: str, url: str = "http://127.0.0.1:9") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "dense", *arguments], env=self.environment(url), text=True,
            capture_output=True, timeout=120, check=False,
        )  # fmt: skip

    def session(self, folder: Path, prompt: str, turns: Sequence[Turn]) -> list[dict[str, Any]]:
        """Run one session; gives the requests that the model got."""
        folder.mkdir(parents=True, exist_ok=True)
        script = Script(turns)
        with serve(script, self.wire) as url:
            done = subprocess.run(
                self.command(prompt), cwd=folder, env=self.environment(url), capture_output=True, text=True,
                timeout=240, stdin=subprocess.DEVNULL, check=False,
            )  # fmt: skip
        assert script.requests, f"{self.name} asked nothing: {done.stdout[-800:]} {done.stderr[-800:]}"
        return script.requests

    def failing_session(self, folder: Path) -> list[dict[str, Any]]:
        return self.session(folder, TASK, [Turn("I run the tests.", [self.call]), Turn(LAST_WORDS)])

    def killed_session(self, folder: Path) -> None:
        """A session whose tests fail, and which is killed with all its processes at its second command."""
        folder.mkdir(parents=True, exist_ok=True)
        script = Script([Turn("I run the tests.", [self.call]), Turn("I run them again.", [self.call])])
        with serve(script, self.wire) as url:
            process = subprocess.Popen(
                self.command(TASK), cwd=folder, env=self.environment(url), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            end = time.monotonic() + 120
            while len(script.requests) < 4 and time.monotonic() < end and process.poll() is None:
                time.sleep(0.02)
            assert process.poll() is None, f"{self.name} ended by itself"
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def settled(self, url: str = "http://127.0.0.1:9") -> str:
        """What `dense hook status` says once nothing waits. `url` is the model's that a worker asks."""
        text = ""
        for _ in range(200):
            text = self.dense("hook", "status", url=url).stdout
            if "waiting: 0" in text:
                return text
            time.sleep(0.1)
        raise AssertionError(f"still waiting: {text}")


def _claude(home: Path, url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "x",
        "ANTHROPIC_MODEL": "scripted",
        "ANTHROPIC_SMALL_FAST_MODEL": "scripted",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }


CODEX_CONFIG = """# the user's own comment
model = "scripted"
model_provider = "scripted"
web_search = "disabled"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[features]
enable_request_compression = false
"""


def _codex(home: Path, url: str) -> dict[str, str]:
    config = home / ".codex" / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    if not config.exists():
        config.write_text(CODEX_CONFIG.format(url=url))
    config.write_text(re.sub(r"http://127\.0\.0\.1:\d+", url, config.read_text()))
    return {"SCRIPTED_KEY": "x"}


def _gemini(home: Path, url: str) -> dict[str, str]:
    settings = home / ".gemini" / "settings.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    if not settings.exists():
        values: dict[str, Any] = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"enableAutoUpdate": False},
        }
        settings.write_text(json.dumps(values, indent=3))
    return {
        "GEMINI_API_KEY": "x",
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
        "GEMINI_CLI_NO_RELAUNCH": "1",
    }


def _opencode(home: Path, url: str) -> dict[str, str]:
    config = home / ".config" / "opencode" / "opencode.json"
    config.parent.mkdir(parents=True, exist_ok=True)
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1", "apiKey": "x"},
        "models": {"scripted": {"name": "scripted", "tool_call": True}},
    }
    values: dict[str, Any] = {"provider": {"scripted": provider}, "model": "scripted/scripted", "autoupdate": False}
    config.write_text(json.dumps(values))
    return {
        "OPENCODE_DISABLE_AUTOUPDATE": "1",
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "OPENCODE_PERMISSION": '{"*":"allow"}',
    }


def bash(name: str, key: str) -> Call:
    return Call(name, {key: FAILING, "description": "Run the tests"} if key == "command" else {key: FAILING})


def claude_code() -> Agent:
    def command(prompt: str) -> list[str]:
        return ["claude", "-p", prompt, "--dangerously-skip-permissions"]

    return Agent(
        "claude-code", "@anthropic-ai/claude-code@2.1.325", wire_anthropic, bash("Bash", "command"), command, _claude
    )


def codex() -> Agent:
    def command(prompt: str) -> list[str]:
        flags = [
            "--skip-git-repo-check",
            "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust",
        ]
        return ["codex", "exec", *flags, prompt]

    return Agent("codex", "@openai/codex@0.169.0", wire_openai_responses, bash("exec_command", "cmd"), command, _codex)


def gemini_cli() -> Agent:
    def command(prompt: str) -> list[str]:
        return ["gemini", "--yolo", "--skip-trust", "-m", "gemini-3-flash-preview", "-p", prompt]

    return Agent(
        "gemini-cli", "@google/gemini-cli@0.61.0", wire_gemini, bash("run_shell_command", "command"), command, _gemini
    )


def opencode() -> Agent:
    def command(prompt: str) -> list[str]:
        return ["opencode", "run", prompt]

    return Agent("opencode", "opencode-ai@1.18.33", ChatWithTitles, bash("bash", "command"), command, _opencode)


class ChatWithTitles:
    """OpenAI's chat, with requests without tools (opencode asks for a title) as no turn."""

    PATHS = wire_openai_chat.PATHS
    respond = staticmethod(wire_openai_chat.respond)

    @staticmethod
    def aside(request: dict[str, Any], path: str) -> tuple[str, bytes] | None:
        return None if request.get("tools") else wire_openai_chat.respond(Turn("A title"), request, path)


AGENTS = {"claude-code": claude_code, "codex": codex, "gemini-cli": gemini_cli, "opencode": opencode}
