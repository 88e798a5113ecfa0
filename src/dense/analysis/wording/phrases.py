"""Building blocks of English sentences: clauses, lists, counts, paths."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from dense.analysis.actions.effects import UNNAMED
from dense.text.quoting import path_span

OPEN_FILE = "the open file"
PAST = {"run": "ran", "write": "wrote", "read": "read", "say": "said", "take": "took", "transfer": "transferred"}
"""Irregular verbs."""
QUOTE_ENDS = frozenset({'."', '?"', '!"', '…"'})
"""Ends of quoted text that end the sentence around it as well."""


class Clause(Struct, frozen=True):
    """What somebody did, without saying who. Text of the trace in it is quoted."""

    verb: str
    """The infinitive, with what belongs to it: `search for`."""
    object: str = ""
    """What it was done to."""
    detail: str = ""
    """More about it, for parentheses."""
    has_failed: bool = False
    """Whether it was only tried."""

    @property
    def verb_text(self) -> str:
        """The verb in the past tense."""
        if self.has_failed:
            return f"tried to {self.verb}"
        word, blank, rest = self.verb.partition(" ")
        return PAST.get(word, f"{word}d" if word.endswith("e") else f"{word}ed") + blank + rest

    @property
    def rest(self) -> str:
        """Everything behind the verb."""
        return f"{self.object} ({self.detail})" if self.detail else self.object


def join_clauses(clauses: Iterable[Clause], limit: int) -> str:
    """Clauses of one action as one text, no more than fit. A verb that several have in a row is written once."""
    groups: list[tuple[str, list[str]]] = []
    for clause in dict.fromkeys(clauses):
        if not groups or groups[-1][0] != clause.verb_text:
            groups.append((clause.verb_text, []))
        groups[-1][1].append(clause.rest)
    texts = [f"{verb} {listed([one for one in rests if one])}".rstrip() for verb, rests in groups]
    while len(texts) > 1 and sum(map(len, texts)) > limit:
        texts.pop()
    return listed(texts, 4)


def capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def sentence(clause: str) -> str:
    """A clause as a sentence, with one full stop at its end."""
    return capital(clause) + ("" if clause[-1:] == "." or clause[-2:] in QUOTE_ENDS else ".")


def listed(items: Sequence[str], most: int = 3, noun: str = "") -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 4 more`, `a, b and 4 more files`."""
    if len(items) > most:
        return f"{', '.join(items[: most - 1])} and {more(len(items) - most + 1, noun)}"
    return " and ".join(filter(None, [", ".join(items[:-1]), *items[-1:]]))


def more(count: int, noun: str = "") -> str:
    """`4 more`, `1 more file`, `4 more files`."""
    return f"{count} more {noun}{'s' if count > 1 else ''}" if noun else f"{count} more"


def paths_text(paths: Iterable[str], most: int = 3) -> str:
    """Paths in backticks, each once: `/app/a.py` and `a.py` count as one."""
    kept: dict[str, str] = {}
    for path in paths:
        name = path.rstrip("/").rpartition("/")[2] or path
        if name not in kept or len(path) > len(kept[name]):
            kept[name] = path
    return listed([OPEN_FILE if path == UNNAMED else path_span(path) for path in kept.values()], most, "file")


def lines_text(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"
