"""Names of tools, whatever server and name space stand before them."""

from __future__ import annotations

import re
from functools import lru_cache


@lru_cache(1024)
def plain_name(name: str) -> str:
    """A tool's name without server and name space, in small letters and digits."""
    name = own_name(name)
    return "".join([letter for letter in name.lower() if letter.isalnum()])


def own_name(name: str) -> str:
    name = name[-200:]
    if name.startswith("mcp__") and name.count("__") >= 2:
        name = name.split("__", 2)[2]
    return re.split(r"[.:/]", name)[-1] or name
