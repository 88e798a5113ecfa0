"""Gemini CLI: how it is started, and what its JSON says."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from dense.model.programs.jsonc import read_jsonc
from dense.model.programs.program import (
    ProcessEnding,
    Start,
    Workplace,
    count_of,
    failure,
    json_object,
    member,
    no_answer,
    text_of,
)
from dense.model.wires.wire import WireFailure, WireReply
from dense.trajectory import Usage

DEFAULT_MODEL = "pro"
"""With no model named, a second request with the whole prompt asks which model to take."""
SETTINGS: dict[str, Any] = {
    "tools": {"core": []},
    "hooksConfig": {"enabled": False},
    "skills": {"enabled": False},
    "context": {"includeDirectoryTree": False},
    "model": {"maxSessionTurns": 1},
    "general": {"enableAutoUpdate": False},
    "privacy": {"usageStatisticsEnabled": False},
}
NO_TOOLS = '[[rule]]\ntoolName = "*"\ndecision = "deny"\npriority = 999\n'
NOT_LINKED = frozenset({"settings.json", "projects.json", "trustedFolders.json", "state.json", "keybindings.json"})
"""Files of the user's that are no login."""
ERROR = re.compile(rb'\{\s*"(session_id|error)".*\}', re.DOTALL)


def start(model: str, workplace: Workplace, environment: Mapping[str, str]) -> Start:
    """It works in a home of its own, because it stores every session and sends the user's GEMINI.md: of the user's home
    only the login is there, as links."""
    home = Path(environment.get("GEMINI_CLI_HOME") or environment.get("HOME") or Path.home())
    own, used = home / ".gemini", workplace.settings / ".gemini"
    used.mkdir(mode=0o700)
    _link_login(own, used)
    auth = member(read_jsonc(own / "settings.json"), "security", "auth")
    security: dict[str, object] = {"folderTrust": {"enabled": False}, **({"auth": auth} if auth else {})}
    (used / "settings.json").write_text(json.dumps({**SETTINGS, "security": security}), encoding="utf-8")
    policy = workplace.settings / "no-tools.toml"
    policy.write_text(NO_TOOLS, encoding="utf-8")
    command = ("gemini", "-o", "json", "-m", model or DEFAULT_MODEL, "-e", "none")
    return Start(
        (*command, "--allowed-mcp-server-names", "none", "--policy", str(policy)),
        {
            "GEMINI_CLI_HOME": str(workplace.settings),
            "GEMINI_SYSTEM_MD": str(workplace.system_text),
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "1",
        },
        ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"),
    )


def _link_login(own: Path, used: Path) -> None:
    with suppress(OSError):  # there is no such folder: a key in the environment may do
        for file in own.iterdir():
            if file.is_file() and file.suffix != ".md" and file.name not in NOT_LINKED:
                (used / file.name).symlink_to(file.absolute())


def read(ending: ProcessEnding) -> WireReply | WireFailure:
    """An answer is on the output; errors are JSON on the error stream, behind what the program prints there anyway."""
    result = json_object(ending.output)
    said = result.get("response")
    if ending.code == 0 and isinstance(said, str):
        name, usage = _usage(member(result, "stats", "models"))
        return WireReply(said, "stop", usage, name) if name else failure(f"it sent no request: {said}")
    printed = ERROR.search(ending.errors)
    error = member(json_object(printed[0]) if printed else result, "error")
    words = text_of(member(error, "message"))
    status = member(error, "code")
    return failure(words, status if isinstance(status, int) else None) if words else no_answer(ending)


def _usage(models: object) -> tuple[str, Usage]:
    """The model that answered, and the tokens of all."""
    total, name, most = Usage(), "", -1
    for model, about in cast("dict[str, Any]", models).items() if isinstance(models, dict) else ():
        tokens = member(about, "tokens")
        prompt, cached = count_of(member(tokens, "prompt")), count_of(member(tokens, "cached")) or 0
        written = count_of(member(tokens, "candidates"))
        output = None if written is None else written + (count_of(member(tokens, "thoughts")) or 0)
        fresh = None if prompt is None else max(0, prompt - cached)
        total += Usage(input=fresh, cache_read=cached or None, output=output)
        if (output or 0) > most:
            name, most = str(model), output or 0
    return name, total
