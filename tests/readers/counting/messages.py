"""Steps of chat files: the assistant's messages; runs of Responses items; steps of a user interface's messages."""

import json
from pathlib import Path
from typing import Any

KEYS = ("messages", "conversations", "conversation", "contents")
AGENTS = {"assistant", "model", "gpt", "ai", "function_call"}


def count(path: Path) -> list[int]:
    if path.suffix == ".parquet":
        return [total for total in map(_steps, _rows(path)) if total]
    text = path.read_text()
    try:
        values = [json.loads(text)]
    except ValueError:
        values = [json.loads(line) for line in text.splitlines() if line.strip()]
    if len(values) == 1 and isinstance(values[0], list) and not _is_message(values[0][0]):
        values = values[0]
    if _is_message(values[0]):
        values = [values]
    lists = [v if isinstance(v, list) else next(v[k] for k in KEYS if k in v) for v in values]
    return [total for total in map(_steps, lists) if total]


def _rows(path: Path) -> list[Any]:
    from pyarrow.parquet import read_table  # type: ignore[import-untyped]

    rows = [row["messages"] or [] for row in read_table(path).to_pylist()]
    return [json.loads(row) if isinstance(row, str) else row for row in rows]


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and not any(key in value for key in KEYS)


def _steps(messages: list[dict[str, Any]]) -> int:
    last = {m.get("id") or i: m for i, m in enumerate(messages) if "parts" in m}
    total, is_open = sum(map(_parts, last.values())), False
    for message in messages:
        kind, role = message.get("type", ""), message.get("role") or message.get("from") or message.get("type")
        is_item = kind == "reasoning" or kind.endswith("_call") or (kind == "message" and role == "assistant")
        total += (is_item and not is_open) or (not is_item and "parts" not in message and role in AGENTS)
        is_open = is_item
    return total


def _parts(message: dict[str, Any]) -> int:
    """Steps in one message of a user interface: cut at `step-start`, and where words come after a tool's result."""
    if message["role"] not in AGENTS:
        return 0
    total, is_open, has_result = 0, False, False
    for part in message["parts"]:
        is_tool = part.get("type", "").startswith(("tool-", "dynamic-tool")) or "functionCall" in part
        if part.get("type") == "step-start" or (has_result and not is_tool):
            is_open = has_result = False
        if part.get("type") != "step-start":
            total += not is_open
            is_open = True
        has_result = has_result or "output" in part or "errorText" in part
    return total
