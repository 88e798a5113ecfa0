"""Put the corrected pieces of a second reply into the first answer."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from typing import Any, cast

from dense.analysis.one_call.answer import as_list, as_object, as_text

PLACE = re.compile(r"[A-Za-z_]+|\d+")


def corrected(answer: Mapping[str, Any], reply: Mapping[str, Any]) -> dict[str, Any]:
    """The first answer with the fixes of the reply. A reply that is a whole answer again takes its place; a fix of a
    place that does not exist is passed over."""
    fixes = as_list(reply.get("fixes"))
    if not fixes:
        return {**answer, **reply}
    result: dict[str, Any] = copy.deepcopy(dict(answer))
    for fix in map(as_object, fixes):
        keys = [int(key) if key.isdigit() else key for key in PLACE.findall(as_text(fix.get("at")))]
        if keys:
            _put(result, keys, fix.get("value"))
    return result


def _put(target: Any, keys: list[int | str], value: Any) -> None:
    for key in keys[:-1]:
        target = _member(target, key)
    last = keys[-1]
    if isinstance(target, dict) and isinstance(last, str):
        cast("dict[str, Any]", target)[last] = value
    elif isinstance(target, list) and isinstance(last, int):
        items = cast("list[Any]", target)
        if last < len(items):
            items[last] = value
        elif last == len(items):
            items.append(value)


def _member(target: Any, key: int | str) -> Any:
    if isinstance(target, dict) and isinstance(key, str):
        return cast("dict[str, Any]", target).get(key)
    if isinstance(target, list) and isinstance(key, int):
        items = cast("list[Any]", target)
        return items[key] if key < len(items) else None
    return None
