"""`dense batch search`: traces whose task, issues, failures or message hold a text."""

from __future__ import annotations

from msgspec import Struct

from dense.batch.questions.table import BatchTable
from dense.errors import WrongUsage
from dense.text.terminal import is_text

MAX_EXCERPT = 160
PLACES = {
    "task": "task",
    "issue": "array_to_string(list_transform(issues, lambda one: one.text || chr(10) || one.quote), chr(10))",
    "failure": "array_to_string(list_transform(failures, lambda one: one.command || chr(10) || one.line), chr(10))",
    "message": "message",
    "error": "error",
    "source": "source",
}
"""Where a text is looked for, the most telling place first, as SQL."""


class SearchMatch(Struct, frozen=True):
    """A trace that holds the text."""

    source: str
    part: str
    state: str
    place: str
    """What holds it: `task`, `issue`, `failure`, `message`, `error`, `source`."""
    excerpt: str
    """The text with what is around it."""
    key: str
    places: int = 1
    """At how many places the same trace is."""


def search(table: BatchTable, text: str, limit: int = 20) -> tuple[int, list[SearchMatch]]:
    """How many traces hold the text, whatever its case, and the first of them: each with the most telling place."""
    if not is_text(text):
        raise WrongUsage(f"{text}: no UTF-8, so no trace holds it")
    tests = {place: f"contains(lower({column}), lower($text))" for place, column in PLACES.items()}
    any_place = " OR ".join(tests.values())
    place = "CASE " + " ".join(f"WHEN {test} THEN '{name}'" for name, test in tests.items()) + " END"
    found = "CASE " + " ".join(f"WHEN {test} THEN {PLACES[name]}" for name, test in tests.items()) + " END"
    ((count,),) = table.ask(f"SELECT count(*) FROM traces WHERE {any_place}", text=text)
    rows = table.ask(
        f"SELECT source, part, state, {place}, {found}, key, places FROM traces WHERE {any_place}"
        " ORDER BY started DESC NULLS LAST, source, part LIMIT $limit",
        text=text,
        limit=limit,
    )
    return count, [
        SearchMatch(
            source=source, part=part, state=state, place=where, excerpt=_excerpt(whole, text), key=key, places=places
        )
        for source, part, state, where, whole, key, places in rows
    ]


def _excerpt(whole: str, text: str) -> str:
    """The line that holds the text; of a long one what is around it."""
    place = max(whole.lower().find(text.lower()), 0)
    start = max(whole.rfind("\n", 0, place) + 1, place - MAX_EXCERPT // 2)
    end = whole.find("\n", place + len(text))
    return " ".join(whole[start : min(end if end >= 0 else len(whole), start + MAX_EXCERPT)].split())
