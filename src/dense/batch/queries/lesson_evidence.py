"""The evidence of lessons in a table: every way out of a failure that was tried, in every trace."""

from __future__ import annotations

from dense.batch.queries.table import BatchTable
from dense.lessons.lesson import LessonEvidence

QUERY = """
WITH failed AS (SELECT *, unnest(failures) AS failure FROM traces WHERE error = ''),
     tried AS (SELECT *, unnest(failure.ways) AS way FROM failed)
SELECT {
    signature: failure.signature,
    program: coalesce(nullif(failure.program, ''), agent),
    kind: way.kind,
    way: way.text,
    has_worked: way.has_worked,
    task: task,
    task_hash: task_hash,
    project: project,
    run: key,
    source: if(part = '', source, source || ' [' || part || ']'),
    failed: failure.action,
    shown: way.action,
    line: failure.line,
    command: failure.command,
    started: coalesce(strftime(started, '%Y-%m-%d'), '')
}
FROM tried WHERE task <> '' AND starts_with(source, $prefix)
ORDER BY started NULLS FIRST, source, part, failure.action, way.action
"""
"""The fields of `LessonEvidence`, by name."""


def lesson_evidence(table: BatchTable, prefix: str = "") -> list[LessonEvidence]:
    """All evidence, the oldest first; only of sources that begin with the prefix."""
    return [LessonEvidence(**fields) for (fields,) in table.ask(QUERY, prefix=prefix)]
