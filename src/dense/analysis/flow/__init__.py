"""What an attempt learned, by information flow: which new pieces of information its outputs show, and what uses them.

    tokens.py         the words, names, paths and numbers of a text
    pieces.py         a trace as pieces: sentences of the agent, lines of calls, of files and of outputs
    flow.py           where each token is shown first, what uses it later, and how much a piece is therefore worth
    conclusions.py    sentences of the agent, with the output that backs them
    code.py           the last working version of each program that the attempt wrote
    undone.py         what the trace shows was not done: never run, never named, without any effect

In: `Actions` and the task. Out: typed pieces with a worth, without sentences of ours. No word lists but one pattern for
failures; any language; linear in the text. Never imports `detectors`, `wording` or an analyst."""
