"""A variable is named after what it holds. Words that may hold anything become fewer, and stay out of where none is."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dense import __file__ as package_file

SOURCES = Path(package_file).parents[1]
CATCH_ALL = {"one", "found", "place", "it", "told", "seen", "made", "held"}
LEFT = {
    "actions": 15,
    "analyst": 87,
    "batch": 73,
    "cli": 32,
    "deliver": 86,
    "dense": 9,
    "detectors": 15,
    "distillation": 12,
    "evidence": 39,
    "experiment": 63,
    "harness": 46,
    "lessons": 2,
    "methods": 14,
    "narrate": 142,
    "readers": 235,
    "report": 123,
    "service": 16,
    "text": 5,
    "view": 1,
}
"""How many variables of these names a package still has; all others have none. A count may only fall."""


def variables(module: ast.Module) -> Iterator[str]:
    """The names that a module gives to values: assigned, looped over, parameters, patterns, caught errors."""
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.MatchAs | ast.MatchStar | ast.ExceptHandler) and node.name:
            yield node.name


def package_of(path: Path) -> str:
    """The innermost package with a limit of its own, wherever it lies; else the topmost below the root."""
    folders = path.relative_to(SOURCES).parts[:-1]
    return next((name for name in reversed(folders[1:]) if name in LEFT), "/".join(folders[:2]))


def test_variables_are_named_after_what_they_hold() -> None:
    counts = Counter[str]()
    for path in sorted(SOURCES.rglob("*.py")):
        counts[package_of(path)] += sum(name in CATCH_ALL for name in variables(ast.parse(path.read_text())))
    too_many = {package: count for package, count in counts.items() if count > LEFT.get(package, 0)}
    assert too_many == {}, f"name these after what they hold, not {sorted(CATCH_ALL)}"
    assert not set(LEFT) - set(counts), "a package without such a name needs no limit"


def test_the_check_can_fail() -> None:
    source = """
for one in items:
    print([found for found in one])

def describe(place, *, made=None):
    seen: int = 1
    return lambda held: (told := 1)

one.found = found(it=1)
"""
    assert Counter(variables(ast.parse(source))) == Counter(["one", "found", "place", "made", "seen", "held", "told"])
