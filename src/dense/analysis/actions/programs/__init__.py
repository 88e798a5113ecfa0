"""What known programs do with their arguments: one module for each group of programs that work alike.

In: a command with its arguments, and the program's row in `dense.knowledge`. Out: effects, through the `Builder` of the
action. Never imports observations or anything outside `dense.analysis.actions`."""
