"""Takes heredocs out of shell texts: bodies of any size cost nothing then, and a body that never ends is still one."""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

HEREDOC = re.compile(r"""(?<!<)<<(?!<)(-?)[ \t]*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([A-Za-z_][\w.]*))""")
HEREDOC_PLACE = "/dev/heredoc/"
MAX_END_CHARS = 80
"""A line that ends a body is shorter than this."""
MAX_ENDLESS_WORDS = 64
"""If so many words have no line that ends their body, no more are searched: a search takes as long as the text."""


class Heredoc(Struct, frozen=True, gc=False):
    """A heredoc that was taken out of the text."""

    token: str
    """How it began: `<<'EOF'`."""
    body: str
    """What it holds."""


NO_HEREDOCS: Mapping[str, Heredoc] = {}


def take_heredocs(text: str, *, take_open: bool) -> tuple[str, dict[str, Heredoc]]:
    """The text with a file in the place of each heredoc, and the heredocs by these files. One is taken for a heredoc
    when its end is there; `take_open` takes those too that never end."""
    heredocs: dict[str, Heredoc] = {}
    at = text.find("<<")
    if at < 0:
        return text, heredocs
    kept: list[str] = []
    endless: set[str] = set()
    position = 0  # up to here the text has been dealt with
    resume = 0  # where the line after the last body on this line starts
    line_end = 0
    while at >= 0:
        if line_end <= at < resume:  # within a body
            at = text.find("<<", resume)
            continue
        match = HEREDOC.match(text, at)
        if match is None:
            at = text.find("<<", at + 1)
            continue
        if at >= line_end:  # a new line: what is left of the line before, then on behind its bodies
            if resume:
                kept.append(text[position:line_end])
                position, resume = resume, 0
            line_end = text.find("\n", at)
            line_end = len(text) if line_end < 0 else line_end
        dash, in_single, in_double, bare = match.groups()
        body_start = (resume or line_end) + 1
        end = end_of_body(text, (in_single or in_double or bare).strip(), body_start, endless)
        start, at = at, text.find("<<", match.end())
        if end is None and not take_open:
            continue
        body_end, after = end or (len(text), len(text))
        body, token = text[body_start:body_end], match[0]
        marker = f"{HEREDOC_PLACE}{len(heredocs)}"
        body = "\n".join(line.lstrip("\t") for line in body.split("\n")) if dash else body
        heredocs[marker] = Heredoc(token, body)
        kept.append(f"{text[position:start]} <{marker} ")
        position, resume = match.end(), after
    if resume:
        kept.append(text[position:line_end] + "\n")
        position = resume
    kept.append(text[position:])
    return "".join(kept), heredocs


def end_of_body(text: str, word: str, body_start: int, endless: set[str]) -> tuple[int, int] | None:
    """Where a body ends, and where the text goes on. An indented end counts: agents mean it. `endless` are the words
    that were searched before without success."""
    if word in endless or len(endless) >= MAX_ENDLESS_WORDS:
        return None
    # Another body on the same line may have ended within a line, which ends no second one.
    first = body_start if text[body_start - 1 : body_start] == "\n" else text.find("\n", body_start) + 1
    at = text.find(word, first) if first else -1
    while at >= 0:
        start = text.rfind("\n", first, at) + 1 or first
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[start:end].strip() if end - start < MAX_END_CHARS else ""
        if line and line == word:
            return start, end
        at = text.find(word, end + 1)
    endless.add(word)
    return None
