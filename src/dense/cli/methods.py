"""`dense methods`: every way to make feedback, what it sees, what it costs in calls."""

from __future__ import annotations

SEEN = {"task": "task", "trajectory": "task, trajectory", "outcome": "task, trajectory, outcome"}


def methods() -> None:
    """List the feedback methods: what each sees, how many calls it makes, whether it is privileged."""
    from dense.cli.text import printable
    from dense.methods import method, names

    rows = [("method", "sees", "privileged", "calls to a model")]
    for name in names():
        found = method(name)
        privileged = "yes" if found.sees == "outcome" else "no"
        rows.append((printable(name), SEEN[found.sees], privileged, printable(found.calls)))
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    for row in rows:
        print("".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
