"""Looking into JSON that may be anything: each function gives the wanted type or its empty value, never an error."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any, TypeGuard, cast


def is_obj(value: Any) -> TypeGuard[dict[str, Any]]:
    """Whether the value is an object."""
    return isinstance(value, dict)


def is_seq(value: Any) -> TypeGuard[list[Any]]:
    """Whether the value is a list."""
    return isinstance(value, list)


def obj(value: Any) -> dict[str, Any]:
    """The object, or an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def seq(value: Any) -> list[Any]:
    """The list, or an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def objs(value: Any) -> list[dict[str, Any]]:
    """The objects of a list."""
    return [item for item in seq(value) if is_obj(item)]


def string(value: Any) -> str | None:
    """The text if it is one and not empty."""
    return value if isinstance(value, str) and value else None


def first_string(values: Iterable[Any]) -> str | None:
    """The first value that is a non-empty text."""
    return next((value for value in values if isinstance(value, str) and value), None)


def whole(value: Any) -> int | None:
    """The whole number; true and false are none."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def number(value: Any) -> float | None:
    """The number."""
    return (
        float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < 1e300 else None
    )


def flag(*values: Any) -> bool | None:
    """The first value that is a boolean."""
    return next((value for value in values if isinstance(value, bool)), None)


def timestamp(value: Any) -> str | None:
    """A point in time: text as it is, seconds or milliseconds since 1970 in ISO 8601."""
    seconds = None if value is None or isinstance(value, str) else number(value)
    if seconds is None:
        return string(value)
    try:
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, tz=UTC).isoformat()
    except (OverflowError, OSError, ValueError):
        return None
