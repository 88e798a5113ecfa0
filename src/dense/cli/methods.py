"""`dense methods`: every way to make feedback, what it sees, what it costs in calls."""

from __future__ import annotations

from dense.errors import UnknownMethod

SEES_TEXT = {"task": "task", "trajectory": "task, trajectory", "outcome": "task, trajectory, outcome"}


def methods() -> None:
    """List the feedback methods: what each sees, how many calls it makes, whether it is privileged."""
    from dense.cli.text import printable, shortened
    from dense.methods.catalogue import describe_method, method_names

    rows = [("method", "sees", "privileged", "calls to a model")]
    broken: list[tuple[str, str]] = []
    for name in method_names():
        try:
            sees, calls = describe_method(name)
        except UnknownMethod as error:
            broken.append((printable(name), _reason(name, error)))
            continue
        privileged = "yes" if sees == "outcome" else "no"
        rows.append((printable(name), SEES_TEXT[sees], privileged, printable(calls)))
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    widths[0] = max([widths[0], *(len(name) + 2 for name, _ in broken)])
    for row in rows:
        print("".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    for name, reason in broken:
        print(f"{name.ljust(widths[0])}{shortened(reason, 300)}")


def _reason(name: str, error: UnknownMethod) -> str:
    """Why a method of another package cannot be used."""
    reason = str(error).removeprefix(f"the method {name!r} ")
    return reason if reason.startswith("cannot be loaded") else f"cannot be loaded: it {reason}"
