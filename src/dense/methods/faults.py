"""What went wrong in a method, in one line: methods are other people's code, and theirs must not end a batch."""

from __future__ import annotations

from pathlib import Path
from traceback import walk_tb

from dense.text.clip import clip_end

MOST = 300
"""Characters of an exception's own words."""


def told(error: BaseException, module: str) -> str:
    """The kind of the exception, what it says, and the last line of this module that led to it, else the last of all.

    Where a method calls us or a library wrongly, its own line is what its author looks for."""
    text = f"{type(error).__name__}: {_words(error)}".removesuffix(": ")
    frames = [(frame, line) for frame, line in walk_tb(error.__traceback__)]
    own = [entry for entry in frames if entry[0].f_globals.get("__name__") == module]
    if not frames:
        return text
    frame, line = (own or frames)[-1]
    return f"{text} ({Path(frame.f_code.co_filename).name}:{line}, in {frame.f_code.co_name})"


def _words(error: BaseException) -> str:
    """What it says, on one line. An exception of somebody's own may fail even at that."""
    try:
        text = " ".join(str(error)[: 4 * MOST].split())
    except Exception:
        return ""
    return clip_end(text, MOST)
