"""What differs between two runs: state, requirements, issues, sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

type Values = dict[str, Any]


def differences(left: Values, right: Values) -> list[Values]:
    """Rows of the comparison: what, its value on the left, its value on the right, whether they differ."""
    return [
        {"what": what, "left": own, "right": other, "differs": own != other} for what, own, other in _rows(left, right)
    ]


def _rows(left: Values, right: Values) -> Iterator[tuple[str, str, str]]:
    yield "state", left["state"] or "not judged", right["state"] or "not judged"
    yield "actions", f"{len(left['steps']):,}", f"{len(right['steps']):,}"
    yield "actions that failed", f"{_failed(left):,}", f"{_failed(right):,}"
    sizes = [dict(run["sizes"]) for run in (left, right)]
    for name in ("method", "analyst", "text of the trace", "message", "tokens of the attempt", "cost of the attempt"):
        own, other = (run_sizes.get(name, "not recorded") for run_sizes in sizes)
        if (own, other) != ("not recorded", "not recorded"):
            yield name, own, other
    for text in _texts(left["requirements"], right["requirements"]):
        own, other = (_status(run["requirements"], text) for run in (left, right))
        yield f"requirement: {text}", own, other
    for text in _texts(left["issues"], right["issues"]):
        own, other = (_issue_status(run["issues"], text) for run in (left, right))
        yield f"issue: {text}", own, other


def _failed(run: Values) -> int:
    return sum(outcome == "failed" for _, _, outcome in run["steps"])


def _texts(left: list[Values], right: list[Values]) -> list[str]:
    return list(dict.fromkeys(requirement["text"] for requirement in (*left, *right)))


def _status(requirements: list[Values], text: str) -> str:
    return next((requirement["met"] for requirement in requirements if requirement["text"] == text), "not named")


def _issue_status(issues: list[Values], text: str) -> str:
    matching = [issue["open"] for issue in issues if issue["text"] == text]
    return "open" if any(matching) else "closed" if matching else "not raised"
