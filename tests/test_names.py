"""A variable is named after what it holds. Words that may hold anything become fewer, and stay out of where none is."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from dense import __file__ as package_file

SOURCES = Path(package_file).parents[1]
NAMED = ast.FunctionDef | ast.AsyncFunctionDef | ast.MatchAs | ast.MatchStar | ast.ExceptHandler
CATCH_ALL = {"one", "found", "place", "it", "told", "seen", "made", "held"}
CLEAN = {
    *("dense/batch", "dense/cli", "dense/convert", "dense/integrations", "dense/knowledge", "dense/model"),
    *("dense/lessons", "dense/methods", "dense/readers", "dense/redact", "dense/service", "dense/text", "dense/view"),
    *("refit/baselines", "refit/cli", "refit/experiment", "refit/harness", "refit/report"),
}
"""Packages without such a name."""
LEFT = 281
"""How many all other packages have. It may only fall, and then this number too."""


def variables(module: ast.Module) -> Iterator[str]:
    """The names that a module gives: to values, parameters, parts of patterns, caught errors and functions."""
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, NAMED) and node.name:
            yield node.name


def test_variables_are_named_after_what_they_hold() -> None:
    counts = Counter[str]()
    for path in sorted(SOURCES.rglob("*.py")):
        package = "/".join(path.relative_to(SOURCES).parts[:2])
        counts[package] += sum(name in CATCH_ALL for name in variables(ast.parse(path.read_text())))
    assert set(counts) >= CLEAN
    assert {package: count for package, count in counts.items() if count and package in CLEAN} == {}
    assert sum(counts.values()) <= LEFT, f"name variables after what they hold, not {sorted(CATCH_ALL)}"


def test_the_check_can_fail() -> None:
    source = """
for one in items:
    print([found for found in one])

def it(place, *, made=None):
    seen: int = 1
    return lambda held: (told := 1)

one.found = found(it=1)
"""
    assert Counter(variables(ast.parse(source))) == Counter(
        ["one", "found", "it", "place", "made", "seen", "held", "told"]
    )
