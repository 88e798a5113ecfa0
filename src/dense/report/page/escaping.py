"""Text for a page: what users, tasks and exceptions wrote is shown, and nothing of it acts.

Escaping of markup is the template's business. Here go the characters that act without markup: controls, and marks that
turn the direction of writing, by which a name can make a sentence read as another one."""

from __future__ import annotations

import json
import math
import re
from typing import Any, cast

ACTING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def escape_controls(text: object) -> str:
    """The text with each acting character written out as its number."""
    return ACTING.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", str(text))


def without_infinities(value: Any) -> Any:
    """The same without numbers that JSON cannot express: they are unknown."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [without_infinities(inner) for inner in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: without_infinities(inner) for name, inner in cast("dict[str, Any]", value).items()}
    return value


def script_json(value: Any) -> str:
    """JSON that is safe in a `script` element, whatever is in it."""
    text = json.dumps(without_infinities(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
