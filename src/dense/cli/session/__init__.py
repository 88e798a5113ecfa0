"""The commands about one's own sessions: list, distill the last one, look at an attempt, hooks and settings.

In: arguments. Out: text, a page, or an exit code. Nothing but `cli` may import this package, and it never imports
`refit` or `report`."""
