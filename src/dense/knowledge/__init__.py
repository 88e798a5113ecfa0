"""Facts about the world around agents, each once: programs, agent tools, harnesses, test runners, errors, words.

In: rows, written by hand. Out: queries on rows. Nothing is decided here: what a fact means for a trace is for
`analysis` to say. Never imports anything of dense but nouns."""
