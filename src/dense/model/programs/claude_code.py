"""Claude Code: how it is started, and what its JSON says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from dense.model.chat import Finish
from dense.model.programs.program import (
    MAX_OUTPUT_TOKENS,
    ProcessEnding,
    Start,
    Workplace,
    count_of,
    failure,
    json_object,
    member,
    no_answer,
    text_of,
    usd_of,
)
from dense.model.wires.wire import WireFailure, WireReply
from dense.trajectory import Usage

ENVIRONMENT = {
    # Without it, `@PATH` in a prompt is replaced by that file, with all tools off.
    "CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
    # By default it tries eleven times, for three minutes.
    "CLAUDE_CODE_MAX_RETRIES": "2",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_OUTPUT_TOKENS": str(MAX_OUTPUT_TOKENS),
    "DISABLE_AUTOUPDATER": "1",
}
OF_A_SESSION = (
    "CLAUDECODE",
    "CLAUDE_CODE_CHILD_SESSION",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_SSE_PORT",
)
"""What the session of Claude Code that called us sets for its children."""
FINISHES: dict[str, Finish] = {"max_tokens": "length", "model_context_window_exceeded": "length", "refusal": "refusal"}


def start(model: str, workplace: Workplace, environment: Mapping[str, str]) -> Start:
    """Safe mode keeps login and model of the user's settings, and leaves out hooks, plugins, skills, MCP servers and
    CLAUDE.md."""
    del environment
    command = ("claude", "-p", "--output-format", "json", "--safe-mode", "--tools", "", "--max-turns", "1")
    private = ("--system-prompt-file", str(workplace.system_text), "--no-session-persistence")
    return Start((*command, *private, *(("--model", model) if model else ())), ENVIRONMENT, OF_A_SESSION)


def read(ending: ProcessEnding) -> WireReply | WireFailure:
    """`subtype` says success even where it failed, so `is_error` counts, and that the text is there."""
    result = json_object(ending.output)
    if result.get("type") != "result":
        return no_answer(ending)
    said, status = text_of(result.get("result")), result.get("api_error_status")
    usage, named = _usage(result), cast("dict[str, Any]", result.get("modelUsage") or {})
    if result.get("is_error") is not False or ending.code != 0 or "result" not in result:
        words = said or text_of(result.get("subtype")) or "it reported an error"
        problem = failure(words, status if isinstance(status, int) else None, usage=None if usage == Usage() else usage)
        return msgspec.structs.replace(problem, may_be_billed=status is None and problem.then == "again")
    if not named:
        return failure(f"it sent no request: {said}")
    finish = FINISHES.get(text_of(result.get("stop_reason")), "stop")
    return WireReply(
        said, finish, usage, max(named, key=lambda name: count_of(member(named, name, "outputTokens")) or 0)
    )


def _usage(result: Mapping[str, Any]) -> Usage:
    tokens = result.get("usage")
    return Usage(
        input=count_of(member(tokens, "input_tokens")),
        cache_read=count_of(member(tokens, "cache_read_input_tokens")),
        cache_write=count_of(member(tokens, "cache_creation_input_tokens")),
        output=count_of(member(tokens, "output_tokens")),
        cost_usd=usd_of(result.get("total_cost_usd")),
    )
