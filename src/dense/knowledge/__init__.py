"""Facts about the world around agents, each once: programs, agent tools, test runners, error families, words.

Rows come in by hand; queries on rows go out. Nothing is derived twice and nothing is decided here: what a fact means
for a trace is for `evidence`, `detectors` and `narrate` to say. Imports nothing of dense but nouns."""
