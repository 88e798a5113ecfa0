"""The only package with English sentences about a trace: titles, summaries, facets, shortcuts, findings, hand-overs.

In: facts, links, findings and the facets of a tree. Out: text, made by a `Narrator` and by `describe_*` functions.
Nothing here is parsed again: whoever needs to know more than the words asks the facts. Text of a trace is quoted and on
one line, so that it cannot pass for a sentence of ours. Analysts, reports and pages import this package; it never
imports them."""
