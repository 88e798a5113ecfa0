"""One door for the drafts of all analysts: every piece is checked, what is valid is numbered, the states follow.

Comes in: a trajectory and a `TreeDraft`. Goes out: the source tree and the reconciled tree, sound whatever the analyst
said. `assembly` and `validate` hold what the paper profile checks while it asks. Must never import an analyst,
`message` or anything above."""
