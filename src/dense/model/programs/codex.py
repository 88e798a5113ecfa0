"""Codex: how it is started, and what its JSON lines say."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from dense.model.programs.program import (
    ProcessEnding,
    Start,
    Workplace,
    count_of,
    failure,
    json_lines,
    member,
    no_answer,
    text_of,
)
from dense.model.wires.wire import WireFailure, WireReply
from dense.trajectory import Usage

ASIDE = ("hooks", "plugins", "apps", "multi_agent", "shell_tool", "unified_exec", "goals", "view_image")
OFF = (*ASIDE, "image_generation", "tool_suggest", "skill_search", "enable_request_compression")
"""Features that an answer does not need. `apply_patch`, or `exec` with some models, cannot be switched off: the
read-only sandbox refuses what it would do."""
UNINCLUDED = ("permissions_instructions", "environment_context", "apps_instructions", "collaboration_mode_instructions")
SETTINGS = {
    "project_doc_max_bytes": 0,
    "web_search": "disabled",
    "agents.enabled": False,
    "skills.include_instructions": False,
    "skills.bundled.enabled": False,
    "tools.experimental_request_user_input.enabled": False,
    **{f"features.{name}": False for name in OFF},
    **{f"include_{name}": False for name in UNINCLUDED},
}
PROVIDER_KEYS = (
    "name",
    "base_url",
    "env_key",
    "wire_api",
    "query_params",
    "env_http_headers",
    "requires_openai_auth",
    "request_max_retries",
    "stream_max_retries",
    "stream_idle_timeout_ms",
)
"""What is taken over of a provider of the user's: no secret, because everybody on the machine sees arguments."""


def start(model: str, workplace: Workplace, environment: Mapping[str, str]) -> Start:
    """Nothing of the user's configuration counts but the model and its provider: no hook, MCP server or session."""
    own = _own_model(environment)
    name = model or text_of(own.get("model"))
    settings = {**SETTINGS, "model_instructions_file": str(workplace.system_text), **_provider(own)}
    command = ("codex", "exec", "--json", "--ephemeral", "--skip-git-repo-check", "--ignore-user-config")
    private = ("--ignore-rules", "-s", "read-only", *(("-m", name) if name else ()))
    given = [word for key, value in settings.items() for word in ("-c", f"{key}={_toml(value)}")]
    return Start((*command, *private, *given, "-"))


def read(ending: ProcessEnding) -> WireReply | WireFailure:
    """An answer is there if the turn was completed; items of type `error` are warnings."""
    text, usage, problem = "", None, ""
    for event in json_lines(ending.output):
        match event.get("type"):
            case "item.completed" if member(event, "item", "type") == "agent_message":
                text = text_of(member(event, "item", "text"))
            case "turn.completed":
                usage = _usage(member(event, "usage"))
            case "turn.failed":
                problem = text_of(member(event, "error", "message"))
            case "error":
                problem = problem or text_of(event.get("message"))
            case _:
                pass
    if usage is not None and ending.code == 0:
        return WireReply(text, "stop", usage)
    return failure(_words(problem)) if problem else no_answer(ending)


def _words(problem: str) -> str:
    """The message of an error that is JSON itself."""
    try:
        return text_of(member(json.loads(problem), "error", "message")) or problem
    except (ValueError, RecursionError):
        return problem


def _usage(tokens: object) -> Usage:
    whole, cached = count_of(member(tokens, "input_tokens")), count_of(member(tokens, "cached_input_tokens")) or 0
    return Usage(
        input=None if whole is None else max(0, whole - cached),
        cache_read=cached or None,
        output=count_of(member(tokens, "output_tokens")),
    )


def _own_model(environment: Mapping[str, str]) -> dict[str, Any]:
    """The user's configuration; empty if it cannot be read."""
    home = environment.get("CODEX_HOME") or str(Path(environment.get("HOME") or Path.home()) / ".codex")
    try:
        return tomllib.loads((Path(home) / "config.toml").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}


def _provider(own: Mapping[str, Any]) -> dict[str, object]:
    """The settings that name the user's provider; none for the built-in one."""
    name = text_of(own.get("model_provider"))
    given = member(own, "model_providers", name)
    if not isinstance(given, dict):
        return {"model_provider": name} if name else {}
    kept = {key: value for key, value in cast("dict[str, object]", given).items() if key in PROVIDER_KEYS}
    return {"model_provider": name, "model_providers": {name: kept}}


def _toml(value: object) -> str:
    """A value as TOML, on one line."""
    if isinstance(value, dict):
        members = cast("dict[str, object]", value).items()
        return "{" + ", ".join(f"{_toml(key)} = {_toml(inner)}" for key, inner in members) + "}"
    return json.dumps(value, ensure_ascii=False)
