"""`dense batch summary`: states, issues, errors and failing tools, over all traces and by agent, model, task, week."""

from __future__ import annotations

from dense.batch.queries.table import AnswerTable, BatchTable
from dense.lessons.lesson import task_hash
from dense.trajectory import Task

TASK = f"if(task_hash IN ('', '{task_hash(Task(''))}'), task, task_hash)"
"""What attempts at one task have in common, as SQL: its instruction, else its name."""
GROUPS = {
    "agent": "agent",
    "model": "model",
    "task": "min(task)",
    "week": "strftime(date_trunc('week', started), '%Y-%m-%d')",
}
"""What a group of traces is called, as SQL; it is what they are grouped by, but for tasks."""
STATES = ("complete", "incomplete", "broken", "unknown")


def summary(table: BatchTable, top: int = 10) -> list[AnswerTable]:
    """The answers, each with at most `top` rows."""
    return [
        _overview(table),
        table.answer(
            "states",
            "States",
            ("state", "traces", "share"),
            "SELECT if(error <> '', 'no feedback', state), count(*) n, n / sum(count(*)) OVER () FROM traces"
            " GROUP BY 1 ORDER BY n DESC, 1",
        ),
        table.answer(
            "issues",
            "Open issues",
            ("code", "traces", "share", "fatal", "example"),
            "WITH listed AS (SELECT key, unnest(issues) AS issue FROM traces WHERE error = '')"
            " SELECT if(issue.code = '', '(without a code)', issue.code), count(DISTINCT key) n,"
            " n / (SELECT greatest(count(*), 1) FROM traces WHERE error = ''),"
            " count(DISTINCT key) FILTER (WHERE issue.is_fatal), min(issue.text)"
            " FROM listed WHERE issue.is_open GROUP BY 1 ORDER BY n DESC, 1 LIMIT $top",
            top=top,
        ),
        table.answer(
            "families",
            "Error families",
            ("family", "failures", "traces", "recovered", "most frequent subject"),
            "WITH failed AS (SELECT key, unnest(failures) AS failure FROM traces)"
            " SELECT failure.family, count(*) n, count(DISTINCT key), count(failure.recovery) / n,"
            " coalesce(mode(failure.subject) FILTER (WHERE failure.subject <> ''), '')"
            " FROM failed GROUP BY 1 ORDER BY n DESC, 1 LIMIT $top",
            top=top,
        ),
        table.answer(
            "tools",
            "Programs and tools that fail most",
            ("program", "failures", "traces", "recovered", "most frequent family"),
            "WITH failed AS (SELECT key, unnest(failures) AS failure FROM traces)"
            " SELECT failure.program, count(*) n, count(DISTINCT key), count(failure.recovery) / n,"
            " mode(failure.family)"
            " FROM failed WHERE failure.program <> '' GROUP BY 1 ORDER BY n DESC, 1 LIMIT $top",
            top=top,
        ),
        *(by_group(table, group, top) for group in GROUPS),
    ]


def by_group(table: BatchTable, group: str, top: int) -> AnswerTable:
    """States, tokens and failures for each agent, model, task or week."""
    states = ", ".join(f"count(*) FILTER (WHERE state = '{state}')" for state in STATES)
    order = "name = '(unknown)', name DESC" if group == "week" else "n DESC, name"
    return table.answer(
        f"by_{group}",
        f"By {group}",
        (group, "traces", *STATES, "no feedback", "median steps", "median tokens", "failures a trace"),
        f"SELECT coalesce(nullif({GROUPS[group]}, ''), '(unknown)') AS name, count(*) n, {states},"
        " count(*) FILTER (WHERE error <> ''), median(steps)::BIGINT,"
        " median(input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)"
        " + output_tokens)::BIGINT, sum(len(failures)) / n"
        f" FROM traces GROUP BY {TASK if group == 'task' else 'name'} ORDER BY {order} LIMIT $top",
        top=top,
    )


def _overview(table: BatchTable) -> AnswerTable:
    ((traces, sources, places, failed, first, last, steps, tokens, usd, spent),) = table.ask(
        "SELECT count(*), count(DISTINCT source), sum(places)::BIGINT, count(*) FILTER (WHERE error <> ''),"
        " strftime(min(started), '%Y-%m-%d'), strftime(max(started), '%Y-%m-%d'),"
        " sum(steps)::BIGINT, sum(input_tokens + coalesce(cache_read_tokens, 0) + coalesce(cache_write_tokens, 0)"
        " + output_tokens)::BIGINT, sum(cost_usd), sum(analyst_usd) FROM traces"
    )
    rows = [("traces", traces), ("sources", sources), ("without feedback", failed), ("actions", steps)]
    if places > traces:
        rows.insert(1, ("places of traces: some are there twice", places))
    rows += [("analyst", table.spec.analyst), ("version", table.spec.described_version)]
    if first is not None:
        rows.append(("started", f"{first} to {last}"))
    if tokens is not None:
        rows.append(("tokens of agents, where recorded", tokens))
    if usd is not None:
        rows.append(("USD of agents, where recorded", round(usd, 2)))
    if spent:
        rows.append(("USD of the analyst", round(spent, 4)))
    return AnswerTable("overview", "Overview", ("", ""), tuple(rows))
