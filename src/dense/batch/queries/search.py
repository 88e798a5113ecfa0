"""`dense batch search`: traces whose task, issues, failures or message hold a text."""

from __future__ import annotations

from msgspec import Struct

from dense.batch.queries.table import BatchTable
from dense.errors import WrongUsage
from dense.text.terminal import is_text

MAX_EXCERPT = 160
HOLDERS = {
    "task": "task",
    "issue": "array_to_string(list_transform(issues, lambda issue: issue.text || chr(10) || issue.quote), chr(10))",
    "failure": "array_to_string("
    "list_transform(failures, lambda failure: failure.command || chr(10) || failure.line), chr(10))",
    "message": "message",
    "error": "error",
    "source": "source",
}
"""Where a text is looked for, the most telling field first, as SQL."""


class SearchMatch(Struct, frozen=True, rename={"holder": "place"}):
    """A trace that holds the text."""

    source: str
    part: str
    state: str
    holder: str
    """What holds it: `task`, `issue`, `failure`, `message`, `error`, `source`."""
    excerpt: str
    """The text with what is around it."""
    key: str
    places: int = 1
    """At how many places the same trace is."""


def search(table: BatchTable, text: str, limit: int = 20) -> tuple[int, list[SearchMatch]]:
    """How many traces hold the text, whatever its case, and the first of them: each with the most telling field."""
    if not is_text(text):
        raise WrongUsage(f"{text}: no UTF-8, so no trace holds it")
    tests = {name: f"contains(lower({column}), lower($text))" for name, column in HOLDERS.items()}
    any_holder = " OR ".join(tests.values())
    holder = "CASE " + " ".join(f"WHEN {test} THEN '{name}'" for name, test in tests.items()) + " END"
    excerpt = "CASE " + " ".join(f"WHEN {test} THEN {HOLDERS[name]}" for name, test in tests.items()) + " END"
    ((count,),) = table.ask(f"SELECT count(*) FROM traces WHERE {any_holder}", text=text)
    rows = table.ask(
        f"SELECT source, part, state, {holder}, {excerpt}, key, places FROM traces WHERE {any_holder}"
        " ORDER BY started DESC NULLS LAST, source, part LIMIT $limit",
        text=text,
        limit=limit,
    )
    return count, [
        SearchMatch(
            source=source, part=part, state=state, holder=holder, excerpt=_excerpt(whole, text), key=key, places=places
        )
        for source, part, state, holder, whole, key, places in rows
    ]


def _excerpt(whole: str, text: str) -> str:
    """The line that holds the text; of a long one what is around it."""
    offset = max(whole.lower().find(text.lower()), 0)
    start = max(whole.rfind("\n", 0, offset) + 1, offset - MAX_EXCERPT // 2)
    end = whole.find("\n", offset + len(text))
    return " ".join(whole[start : min(end if end >= 0 else len(whole), start + MAX_EXCERPT)].split())
