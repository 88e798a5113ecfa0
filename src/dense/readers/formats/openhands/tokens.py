"""Token counts and costs as OpenHands records them."""

from __future__ import annotations

from typing import Any

from dense.readers.json_value import number, obj, whole
from dense.trajectory import Usage


def total_usage(metrics: dict[str, Any]) -> Usage | None:
    """The totals of one `metrics` object."""
    usage = token_usage(obj(metrics.get("accumulated_token_usage"))) or Usage()
    cost = number(metrics.get("accumulated_cost")) or None
    usage = Usage(usage.input, usage.cache_read, usage.cache_write, usage.output, cost)
    return usage if usage != Usage() else None


def token_usage(tokens: dict[str, Any]) -> Usage | None:
    prompt, output = whole(tokens.get("prompt_tokens")), whole(tokens.get("completion_tokens"))
    read, write = whole(tokens.get("cache_read_tokens")), whole(tokens.get("cache_write_tokens"))
    if not (prompt or output):
        return None
    return Usage(None if prompt is None else max(prompt - (read or 0) - (write or 0), 0), read, write, output)
