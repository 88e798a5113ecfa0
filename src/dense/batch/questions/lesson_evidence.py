"""The evidence of lessons in a table: every way out of a failure that was tried, in every trace."""

from __future__ import annotations

from dense.batch.questions.table import BatchTable
from dense.lessons.lesson import LessonEvidence

# The columns are the fields of `LessonEvidence`, in order.
QUESTION = """
WITH failure AS (SELECT *, unnest(failures) AS one FROM traces WHERE error = ''),
     tried AS (SELECT *, unnest(one.ways) AS way FROM failure)
SELECT one.signature, coalesce(nullif(one.program, ''), agent), way.kind, way.text, way.has_worked,
       task, task_hash, project, key,
       if(part = '', source, source || ' [' || part || ']'), one.action, way.action, one.line, one.command,
       coalesce(strftime(started, '%Y-%m-%d'), '')
FROM tried WHERE task <> '' AND starts_with(source, $prefix)
ORDER BY started NULLS FIRST, source, part, one.action, way.action
"""


def lesson_evidence(table: BatchTable, prefix: str = "") -> list[LessonEvidence]:
    """All evidence, the oldest first; only of sources that begin with the prefix."""
    return [LessonEvidence(*row) for row in table.ask(QUESTION, prefix=prefix)]
