"""Programs that were typed in place of a file, in a few words: what they work on, and what the agent says that they
are for. Their last line says neither: it is mostly what one of their branches prints."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.shell.statements import trimmed
from dense.narrate.messages import intent
from dense.narrate.quoting import HEAD, lines_told, paths_told
from dense.text.quoting import last_line, line_count, quoted, ticked
from dense.text.sentences import first_sentence, sentences

LONGEST_PURPOSE = 110
SHORTEST_PURPOSE = 32
"""Shorter sentences say that something comes, and not what."""
SHORTEST_WORDS = 16
"""Less than that, such as "Let me try it", tells nothing: what the program ends in tells more."""
PYTHON = re.compile(r"(?:\S*/)?python[\d.]*(?: -u)?(?: -)?$")
MEANT = re.compile(
    r"\b(?:i(?:['’]ll| will|['’]m going to| am going to)|let(?: me|['’]s| us)|we(?:['’]ll| will)"
    r"|to (?:fix|do|test|verify|check|confirm|reproduce) (?:this|that|it))\b",
    re.IGNORECASE,
)
"""How somebody begins to say what comes next."""
MEANING = ("ll ", "let", "going to", " this", " that", " it")
"""Without any of these nobody does."""
REMARK = re.compile(r"\s*(?:#(?!!)|//|--)\s*(\S[^\n]{3,200})")
CLOSING = frozenset(")]}'\"")


def program_told(fed_to: str, body: str, writes: Sequence[str], message: str) -> str:
    """A text that was given to a program to run or to read: `ran 24 lines of Python on `a.py` ("I'll …")`."""
    name = trimmed(fed_to)
    count = lines_told(line_count(body))
    told = f"ran {count} of Python" if PYTHON.match(name) else f"ran {count} with {ticked(name, 40)}"
    return on_what(told, body, writes, message)


def on_what(told: str, body: str, writes: Sequence[str], message: str) -> str:
    """The same with what it works on and what it is for; where nobody says that, with its last line."""
    if writes:
        told = f"{told} on {paths_told(writes, 2)}"
    words = purpose(message, is_change=bool(writes)) or remark(body)
    if len(words) >= SHORTEST_WORDS or not (last := conclusion(body)):
        return f"{told} ({quoted(words, LONGEST_PURPOSE)})" if words else told
    return f"{told} ending in {ticked(last, 70)}"


def purpose(message: str, limit: int = LONGEST_PURPOSE, *, is_change: bool = False) -> str:
    """What a message says that its action is for, by the sentences that speak of what comes next: of a change the first
    one, which says what is changed; else the last. Without any, what the message ends or begins with."""
    if len(message) < SHORTEST_WORDS:
        return message.strip()
    meant: list[str] = []
    for one in sentences(message, max(3 * limit, 300)):
        head = one.lower()
        if [sign for sign in MEANING if sign in head] and (found := MEANT.search(one)):
            meant.append(one if found.start() <= limit // 3 else one[found.start() :])
    if meant := [one for one in meant if len(one) >= SHORTEST_PURPOSE]:
        return meant[0 if is_change else -1]
    return intent(message, limit) if len(message) <= HEAD // 3 else first_sentence(message, limit)


def remark(body: str) -> str:
    """What a program says of itself in its first line."""
    found = REMARK.match(body[:HEAD])
    return found[1].strip() if found else ""


def conclusion(body: str) -> str:
    """The last line of a program, where it runs whatever happens: what is indented is a branch or a loop."""
    line = body[-HEAD:].rstrip().rpartition("\n")[2]
    return "" if line[:1].isspace() or line[:1] in CLOSING else last_line(body)
