"""Self-contained pages: what users, tasks and traces wrote is shown, and nothing of it acts.

The template escapes markup. Here go the characters that act without markup: controls, and marks that change the
direction of writing, by which a name can make a sentence read as another one. A page names its own style and script by
their hashes in its policy, so that nothing else in it runs and no address is ever asked."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from jinja2 import Template

ACTING = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff]"
)


def escape_controls(text: object) -> str:
    """The text with each acting character written out as its number."""
    return ACTING.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", str(text))


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


@cache
def page_template(folder: Path, name: str = "page.html.j2") -> Template:
    """A template with automatic escaping and the filter `escape_controls`."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["escape_controls"] = escape_controls
    return environment.get_template(name)


@cache
def page_source(folder: Path, name: str) -> str:
    """The text of a style sheet or script beside the template."""
    return (folder / name).read_text(encoding="utf-8").strip()


def policy_hash(text: str) -> str:
    """How a page's policy names its own style or script."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
