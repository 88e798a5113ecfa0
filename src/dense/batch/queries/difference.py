"""`dense batch diff`: what is different between two tables: shares over all traces, and states of the same traces."""

from __future__ import annotations

from dense.batch.queries.summary import TASK
from dense.batch.queries.table import AnswerTable, BatchTable

SHARES = {
    "states": ("States", "state", "SELECT state, count(*) FROM traces WHERE error = '' GROUP BY 1"),
    "issues": (
        "Traces with an open issue",
        "code",
        "SELECT issue.code, count(DISTINCT key) FROM (SELECT key, unnest(issues) AS issue FROM traces WHERE error = '')"
        " WHERE issue.is_open AND issue.code <> '' GROUP BY 1",
    ),
    "families": (
        "Traces with a failure of a family",
        "family",
        "SELECT failure.family, count(DISTINCT key) FROM"
        " (SELECT key, unnest(failures) AS failure FROM traces WHERE error = '') GROUP BY 1",
    ),
}


def difference(first: BatchTable, second: BatchTable, top: int = 10) -> list[AnswerTable]:
    """The answers: shares side by side, then the tasks and the traces whose state changed."""
    totals = [table.ask("SELECT count(*) FROM traces WHERE error = ''")[0][0] for table in (first, second)]
    overview = AnswerTable(
        "overview",
        "Overview",
        ("", "A", "B"),
        (
            ("table", first.uri, second.uri),
            ("traces with feedback", *totals),
            ("spec", first.spec.hash, second.spec.hash),
        ),
    )
    shares = [_shares(first, second, totals, name, top) for name in SHARES]
    return [overview, *shares, *_same_traces(first, second, top), _tasks(first, second, top)]


def _shares(first: BatchTable, second: BatchTable, totals: list[int], name: str, top: int) -> AnswerTable:
    title, column, query = SHARES[name]
    counts = [dict(table.ask(query)) for table in (first, second)]
    rows = [
        (value, *(count.get(value, 0) for count in counts), *_pair(counts, totals, value))
        for value in counts[0].keys() | counts[1].keys()
    ]
    rows.sort(key=lambda row: (-abs(row[4] - row[3]), row[0]))
    return AnswerTable(name, title, (column, "A", "B", "share A", "share B"), tuple(rows[:top]))


def _pair(counts: list[dict[str, int]], totals: list[int], value: str) -> tuple[float, float]:
    first, second = (count.get(value, 0) / max(total, 1) for count, total in zip(counts, totals, strict=True))
    return first, second


def _same_traces(first: BatchTable, second: BatchTable, top: int) -> list[AnswerTable]:
    """How the state of traces changed that both tables have, by their content."""
    query = "SELECT content || ' ' || part, state, source, part FROM traces WHERE error = ''"
    states = {row[0]: row[1:] for row in first.ask(query)}
    changes: dict[tuple[str, str], int] = {}
    examples: list[tuple[str, str, str, str]] = []
    same = 0
    for key, state, source, part in second.ask(query):
        if key in states:
            same += 1
            before = states[key][0]
            if before != state:
                changes[before, state] = changes.get((before, state), 0) + 1
                examples.append((before, state, source, part))
    if not same:
        return []
    counted = sorted(changes.items(), key=lambda change: (-change[1], change[0]))
    note = f"{same:,} traces are in both tables; {len(examples):,} have another state"
    return [
        AnswerTable("changes", "The same traces", ("A", "B", "traces"), tuple([(*k, n) for k, n in counted]), note),
        AnswerTable("changed", "Changed traces", ("A", "B", "source", "part"), tuple(sorted(examples)[:top])),
    ]


def _tasks(first: BatchTable, second: BatchTable, top: int) -> AnswerTable:
    """Tasks that both tables have, by how much their share of complete traces differs."""
    query = (
        f"SELECT {TASK}, min(task), count(*), count(*) FILTER (WHERE state = 'complete'), count(*) FILTER (WHERE state"
        " IN ('incomplete', 'broken')) FROM traces WHERE error = '' AND task <> '' GROUP BY 1"
    )
    known = {row[0]: row[1:] for row in first.ask(query)}
    rows = [(*known[row[0]], *row[2:]) for row in second.ask(query) if row[0] in known]
    rows.sort(key=lambda row: (-abs(row[6] / row[4] - row[3] / row[1]), row[0]))
    columns = ("task", "traces A", "complete A", "open A", "traces B", "complete B", "open B")
    return AnswerTable("tasks", "Tasks of both tables", columns, tuple(rows[:top]))
