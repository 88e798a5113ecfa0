"""The only package with English sentences about a trace: titles, summaries, facets, shortcuts, findings, hand-overs.

Facts, links and findings come in; `Narrator` and `describe_*` functions give text. Nothing here is parsed again: who
needs to know more than the words asks the facts. Text of a trace is quoted and on one line, so that it cannot pass for
a sentence of ours. Imported by `analyst` and `methods` only; never imports them."""
