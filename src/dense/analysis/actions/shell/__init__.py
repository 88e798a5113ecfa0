"""Shell text: grammar, commands, arguments, heredocs.

In: the text of a shell command. Out: `Command`s with their arguments, in the order in which they run. Parsed by
tree-sitter-bash. Never imports anything outside `dense.analysis.actions` but `dense.knowledge` and `dense.text`."""
