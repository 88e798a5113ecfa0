"""From a reconciled tree to what a recipient reads: select evidence, render, fit into the budget, frame as a message.

Comes in: a reconciled tree, or the report of any other method as a function `Fit`. Goes out: `Feedback`. `delivery`
puts the stages together, `markup` is the only module that knows how tags are written, `budget` the only one that knows
how many bytes there are. Calls no model, and must never import `distillation`, `methods` or anything above."""
