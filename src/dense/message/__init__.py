"""From the result of a method to what a recipient reads: a page of items, fitted into the budget, framed as a message.

Comes in: an accepted tree, or the report of any other method as a function `Fit`. Goes out: `Feedback`. `page` is the
only module that knows how lines and quoted bodies are written, `budget` the only one that knows how many bytes there
are, `report` says what the report on a tree holds and in which order. Calls no model, and must never import
`methods` or anything above."""
