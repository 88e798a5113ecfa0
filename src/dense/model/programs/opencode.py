"""opencode: how it is started, and what its events say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from dense.model.chat import Finish
from dense.model.programs.jsonc import read_jsonc
from dense.model.programs.program import (
    SYSTEM_TEXT,
    ProcessEnding,
    Start,
    Workplace,
    count_of,
    failure,
    json_lines,
    member,
    no_answer,
    text_of,
    usd_of,
)
from dense.model.wires.wire import WireFailure, WireReply
from dense.trajectory import Usage

AGENT: dict[str, Any] = {
    "mode": "primary",
    "prompt": SYSTEM_TEXT.strip(),
    "tools": {"*": False},
    "permission": {"*": "deny"},
}
SETTINGS: dict[str, Any] = {"agent": {"analyst": AGENT}, "share": "disabled", "snapshot": False, "autoupdate": False}
KEPT = ("provider", "model", "disabled_providers", "enabled_providers")
"""What is taken over of the user's configuration."""
DISABLED = (
    "PROJECT_CONFIG",
    "CLAUDE_CODE",
    "EXTERNAL_SKILLS",
    "LSP_DOWNLOAD",
    "SHARE",
    "AUTOUPDATE",
    "MODELS_FETCH",
)
FINISHES: dict[str, Finish] = {"length": "length", "content-filter": "refusal"}


def start(model: str, workplace: Workplace, environment: Mapping[str, str]) -> Start:
    """The user's plugins, MCP servers and AGENTS.md go with the folder of settings, sessions with the database. With a
    title given, no second request asks for one."""
    settings = {**SETTINGS, **_own_providers(environment)}
    command = ("opencode", "run", "--pure", "--format", "json", "--title", "dense-analyst", "--agent", "analyst")
    return Start(
        (*command, *(("-m", model) if model else ())),
        {
            "OPENCODE_DB": ":memory:",
            "OPENCODE_CONFIG_CONTENT": json.dumps(settings),
            "XDG_CONFIG_HOME": str(workplace.settings),
            **{f"OPENCODE_DISABLE_{name}": "1" for name in DISABLED},
        },
        ("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_PERMISSION"),
    )


def _own_providers(environment: Mapping[str, str]) -> dict[str, Any]:
    base = environment.get("XDG_CONFIG_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".config")
    named = environment.get("OPENCODE_CONFIG")
    files = [Path(base) / "opencode" / name for name in ("config.json", "opencode.json", "opencode.jsonc")]
    own: dict[str, Any] = {}
    for path in [*files, *([Path(named)] if named else [])]:
        own |= {key: value for key, value in read_jsonc(path).items() if key in KEPT}
    return own


def read(ending: ProcessEnding) -> WireReply | WireFailure:
    """An answer is there if a step has finished; several texts are pieces of it."""
    texts: list[str] = []
    usage: Usage | None = None
    finish, problem = "", dict[str, Any]()
    for event in json_lines(ending.output):
        match event.get("type"):
            case "text":
                texts.append(text_of(member(event, "part", "text")))
            case "step_finish":
                usage = (usage or Usage()) + _usage(member(event, "part"))
                finish = text_of(member(event, "part", "reason"))
            case "error":
                problem = cast("dict[str, Any]", member(event, "error") or {"name": "error"})
            case _:
                pass
    if problem:
        status = member(problem, "data", "statusCode")
        words = text_of(member(problem, "data", "message")) or text_of(problem.get("name")) or "it reported an error"
        return failure(words, status if isinstance(status, int) else None, usage=usage)
    if usage is None or ending.code != 0:
        return no_answer(ending)
    return WireReply("".join(texts), FINISHES.get(finish, "stop"), usage)


def _usage(part: object) -> Usage:
    tokens = member(part, "tokens")
    written, thought = count_of(member(tokens, "output")), count_of(member(tokens, "reasoning")) or 0
    return Usage(
        input=count_of(member(tokens, "input")),
        cache_read=count_of(member(tokens, "cache", "read")),
        cache_write=count_of(member(tokens, "cache", "write")),
        output=None if written is None else written + thought,
        cost_usd=usd_of(member(part, "cost")),
    )
