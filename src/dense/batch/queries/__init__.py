"""Queries of the table of a batch, answered by DuckDB over its parts.

In: the URI of a target. Out: `AnswerTable`s and matches, which `cli` prints and `page` writes as HTML. Changes nothing,
and never imports `cli` or the engines."""
