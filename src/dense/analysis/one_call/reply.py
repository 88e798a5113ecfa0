"""Read the JSON object of a model's reply: fences and prose around it are passed over, a cut end is closed."""

from __future__ import annotations

import json
import re
from typing import Any, cast

THOUGHTS = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
MAX_DEPTH = 60
"""Values that are nested deeper are dropped."""
MAX_DIGITS = 18
"""Of an integer; a longer one refers to nothing."""
_CLOSING = {"{": "}", "[": "]"}


def read_object(reply: str) -> tuple[dict[str, Any], str]:
    """The JSON object in a reply, and what was wrong with it in a few words (empty for nothing).

    A reply that was cut off keeps its complete pieces. A reply without an object is an empty one."""
    text = THOUGHTS.sub("", reply)
    start = text.find("{")
    if start < 0:
        return {}, "there is no JSON object in it"
    for candidate, wrong in (
        (text[start:], ""),
        (_closed(text[start:]), "it was cut off, or is not valid JSON to its end"),
    ):
        try:
            value, _ = json.JSONDecoder(strict=False, parse_int=_integer).raw_decode(candidate)
            return _shallow(value), wrong
        except (ValueError, RecursionError):
            continue
    return {}, "its JSON cannot be read"


def _integer(digits: str) -> int | None:
    return int(digits) if len(digits) <= MAX_DIGITS else None


def _shallow(value: Any, depth: int = 0) -> Any:
    """The value without what is nested too deep for anybody to have meant it."""
    if depth > MAX_DEPTH:
        return None
    if isinstance(value, dict):
        return {key: _shallow(inner, depth + 1) for key, inner in cast("dict[str, Any]", value).items()}
    return [_shallow(inner, depth + 1) for inner in cast("list[Any]", value)] if isinstance(value, list) else value


def _closed(text: str) -> str:
    """The text up to the end of its last complete value, with all that is still open closed."""
    stack: list[str] = []
    in_string = is_escaped = False
    best, best_stack = 0, list[str]()
    for position, character in enumerate(text):
        if in_string:
            if is_escaped:
                is_escaped = False
            elif character == "\\":
                is_escaped = True
            elif character == '"':
                in_string = False
            continue
        if character == '"':
            in_string = True
        elif character in "{[":
            stack.append(character)
            if len(stack) > MAX_DEPTH:
                break
        elif character in "}]":
            if not stack or _CLOSING[stack.pop()] != character:
                break
            best, best_stack = position + 1, list(stack)
            if not stack:
                break
        elif character == "," and stack:
            best, best_stack = position, list(stack)
    return text[:best] + "".join(_CLOSING[opened] for opened in reversed(best_stack))
