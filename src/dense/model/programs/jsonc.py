"""Settings of users in JSON with comments and trailing commas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dense.model.programs.program import json_object

ASIDE = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/|,(?=\s*[}\]])', re.DOTALL)


def read_jsonc(path: Path) -> dict[str, Any]:
    """The object in a file; empty if there is none, or if it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return {}
    without_comments = ASIDE.sub(lambda match: match[1] or ("," if match[0] == "," else ""), text)
    return json_object(ASIDE.sub(lambda match: match[1] or "", without_comments).encode())
