"""Numbers and JSON out of a text that somebody else wrote: whatever it says, the answer is a value and no exception.

Nothing else in the analysis may call `float` or `json.loads` (`tests/text/test_numbers.py`)."""

from __future__ import annotations

import json
import math
from typing import Any

MAX_DIGITS = 18
NO_JSON = object()
"""What `parsed_json` gives for a text that is no JSON."""


def decimal(text: str) -> float:
    """The number that a text is, thousands separators left out; not a number for anything else, infinity included."""
    try:
        number = float(text.replace(",", "").rstrip("."))
    except ValueError:
        return math.nan
    return number if math.isfinite(number) else math.nan


def whole(text: str) -> int | None:
    """The whole number that a text is; None for anything else, and for more digits than anything counts."""
    is_number = text.isascii() and text.removeprefix("-").isdigit() and len(text) <= MAX_DIGITS
    return int(text) if is_number else None


def parsed_json(text: str, *, strict: bool = True) -> Any:
    """The value of a JSON text; `NO_JSON` if it is none, or nested deeper than can be read."""
    try:
        return json.loads(text, strict=strict)
    except (ValueError, RecursionError):
        return NO_JSON
