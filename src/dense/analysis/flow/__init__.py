"""What an attempt learned, by information flow: which new pieces of information its outputs show, and what uses them.

    tokens.py         the words, names, paths and numbers of a text
    pieces.py         a trace as pieces: sentences of the agent, lines of calls, of files and of outputs
    flow.py           where each token is shown first, what uses it later, and how much a piece is therefore worth
    conclusions.py    sentences of the agent, with the output that backs them

In: the actions of a trace as a reader gets them, and the task. Out: typed pieces with a worth, without sentences of
ours. One pattern for failures and no other word list; any language; linear in the text. Never imports `evidence`,
`detectors`, `wording` or an analyst."""
