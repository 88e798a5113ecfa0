"""Installs the hooks into a coding agent, and removes them: files in folders that the agents load by themselves.

No settings file of the user is edited by us. Codex alone needs a command of its own, which registers the plugin."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

from msgspec import Struct

from dense.errors import DenseError
from dense.integrations.state import now, read_json, state_folder, write_json
from dense.readers.json_value import obj

PLUGINS = Path(__file__).parent / "plugins"
HOOK_FILE = "hooks/dense-hook"
ABOUT = "Feedback on the last session for the next one."
MARKETPLACE = {
    "name": "dense",
    "owner": {"name": "DENSE"},
    "description": ABOUT,
    "plugins": [{"name": "dense", "source": "./plugins/dense", "description": ABOUT}],
}
COMMAND_SECONDS = 60


class SetupPlan(Struct, frozen=True):
    """What installing would write and run."""

    agent: str
    files: tuple[tuple[Path, str, int], ...]
    """Path, content, mode."""
    commands: tuple[tuple[str, ...], ...] = ()
    undo_commands: tuple[tuple[str, ...], ...] = ()

    def lines(self) -> list[str]:
        """For a person who is asked whether to go on."""
        return [
            *(f"write {path} ({len(text.encode())} bytes)" for path, text, _ in self.files),
            *(f"run {shlex.join(command)}" for command in self.commands),
        ]


def hook_script() -> str:
    """The program that hooks call: this very installation, wherever the agent runs."""
    python = shlex.quote(sys.executable)
    return f'#!/bin/sh\n# Calls DENSE; `dense setup AGENT` wrote it.\nexec {python} -m dense hook "$@"\n'


def plan_setup(agent: str) -> SetupPlan:
    """What `dense setup AGENT` would do."""
    if agent not in AGENTS:
        raise DenseError(f"dense setup knows {', '.join(AGENTS)}, not {agent!r}")
    return AGENTS[agent]()


def install(plan: SetupPlan) -> None:
    """Write the files, then run the commands. A file of the user's own in the way is an error before that."""
    for program in {command[0] for command in plan.commands}:
        if shutil.which(program) is None:
            raise DenseError(f"{program} is not on the PATH: install it, then run this again; nothing was written")
    record = _record_path(plan.agent)
    own = obj(read_json(record).get("files"))
    for path, text, _ in plan.files:
        if path.exists() and path.read_text(encoding="utf-8", errors="replace") != text and str(path) not in own:
            raise DenseError(f"{path} exists and is not ours: move it away, then run this again")
    files = {str(path): _digest(text) for path, text, _ in plan.files}
    write_json(
        record,
        {"agent": plan.agent, "at": now(), "files": files, "undo": [list(command) for command in plan.undo_commands]},
    )
    for path, text, mode in plan.files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
    for command in plan.commands:
        _run(command)


def undo(agent: str) -> list[str]:
    """Remove what `install` wrote; gives a line for each thing. A file that was changed since stays."""
    record = _record_path(agent)
    known = read_json(record)
    if not known:
        raise DenseError(f"dense is not set up for {agent}: nothing to undo")
    lines: list[str] = []
    for command in known.get("undo", []):
        lines.append(_run(tuple(str(word) for word in command), is_needed=False))
    for name, digest in known.get("files", {}).items():
        path = Path(name)
        if not path.is_file():
            continue
        if _digest(path.read_text(encoding="utf-8", errors="replace")) != digest:
            lines.append(f"kept {path}: it was changed since")
            continue
        path.unlink()
        lines.append(f"removed {path}")
        _remove_empty(path.parent)
    record.unlink()
    return lines


def _remove_empty(folder: Path) -> None:
    """Remove folders that our file left empty, up to the agent's own."""
    while folder.name and not folder.name.startswith(".") and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
    if folder.name in (".claude-plugin", ".codex-plugin") and not any(folder.iterdir()):
        folder.rmdir()
        _remove_empty(folder.parent)


def _run(command: tuple[str, ...], *, is_needed: bool = True) -> str:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=COMMAND_SECONDS, stdin=subprocess.DEVNULL, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        if is_needed:
            raise DenseError(f"{shlex.join(command)} could not run: {error}") from None
        return f"could not run {shlex.join(command)}: {error}"
    if done.returncode and is_needed:
        raise DenseError(f"{shlex.join(command)} failed: {(done.stderr or done.stdout).strip()[-400:]}")
    return f"ran {shlex.join(command)}"


def _record_path(agent: str) -> Path:
    return state_folder() / "setup" / f"{agent}.json"


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _plugin_files(source: str, target: Path) -> list[tuple[Path, str, int]]:
    """The files of a plugin folder of ours, at a place of the user's, with the script that hooks call."""
    folder = PLUGINS / source
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    copies = [(target / path.relative_to(folder), path.read_text(encoding="utf-8"), 0o644) for path in files]
    return [*copies, (target / HOOK_FILE, hook_script(), 0o755)]


def _home(variable: str, *parts: str) -> Path:
    return Path(os.environ[variable]) if os.environ.get(variable) else Path.home().joinpath(*parts)


def _claude_code() -> SetupPlan:
    # Claude Code loads plugin folders from its skills folder at the start of a session.
    target = _home("CLAUDE_CONFIG_DIR", ".claude") / "skills" / "dense"
    return SetupPlan("claude-code", tuple(_plugin_files("claude-codex", target)))


def _codex() -> SetupPlan:
    market = state_folder() / "codex-marketplace"
    files = _plugin_files("claude-codex", market / "plugins" / "dense")
    program = shutil.which("codex") or "codex"
    return SetupPlan(
        "codex",
        (*files, (market / ".claude-plugin" / "marketplace.json", json.dumps(MARKETPLACE, indent=2) + "\n", 0o644)),
        ((program, "plugin", "marketplace", "add", str(market)), (program, "plugin", "add", "dense@dense")),
        ((program, "plugin", "remove", "dense@dense"), (program, "plugin", "marketplace", "remove", "dense")),
    )


def _gemini_cli() -> SetupPlan:
    target = Path.home() / ".gemini" / "extensions" / "dense"
    skill = (PLUGINS / "claude-codex" / "skills" / "dense-feedback" / "SKILL.md").read_text(encoding="utf-8")
    skills = (target / "skills" / "dense-feedback" / "SKILL.md", skill, 0o644)
    return SetupPlan("gemini-cli", (*_plugin_files("gemini-cli", target), skills))


def _opencode() -> SetupPlan:
    base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "opencode"
    hook = state_folder() / "opencode-hook"
    plugin = (PLUGINS / "opencode" / "dense.ts").read_text(encoding="utf-8").replace("@HOOK@", str(hook))
    skill = (PLUGINS / "claude-codex" / "skills" / "dense-feedback" / "SKILL.md").read_text(encoding="utf-8")
    files = (
        (hook, hook_script(), 0o755),
        (base / "plugins" / "dense.ts", plugin, 0o644),
        (base / "skills" / "dense-feedback" / "SKILL.md", skill, 0o644),
    )
    return SetupPlan("opencode", files)


AGENTS: dict[str, Callable[[], SetupPlan]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini-cli": _gemini_cli,
    "opencode": _opencode,
}
