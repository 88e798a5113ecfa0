"""The public interface: which names there are, what their docstrings say, and that no two classes share a name."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

import dense

ROOT = Path(__file__).parents[1]
SOURCE = Path(dense.__file__).parents[1]

MODULES = sorted(set(re.findall(r"`((?:dense|refit)[\w.]*)`", dense.__doc__ or "")))
"""The public modules: the docstring of `dense` is their only list."""


def exported(module: str) -> list[str]:
    """The names that a public module promises."""
    return list(import_module(module).__all__)


def test_golden_of_the_exported_names(golden: Callable[[str, str], None]) -> None:
    """A new name is a promise: `make golden` writes it down, and the documentation explains it."""
    assert {"dense", "dense.service", "dense.trajectory"} <= set(MODULES)
    listed = {module: exported(module) for module in MODULES}
    assert [module for module, names in listed.items() if len(names) != len(set(names))] == [], "a name twice"
    lines = [line for module, names in listed.items() for line in (module, *(f"    {name}" for name in sorted(names)))]
    golden("public-api.txt", "\n".join(lines) + "\n")


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_explains_itself(module: str) -> None:
    found = import_module(module)
    values = {name: getattr(found, name) for name in exported(module)}
    lines = {
        name: ((value.__doc__ if inspect.isfunction(value) else vars(value).get("__doc__")) or "")
        .strip()
        .split("\n")[0]
        for name, value in values.items()
        if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value)
    }
    unclear = {
        name: line
        for name, line in lines.items()
        if len(line.split()) < 3 or re.match(r"(The|Of the|Does the) same\b|See |As above", line)
    }
    assert unclear == {}


def test_the_documentation_imports_only_public_names() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for module, names in re.findall(
            r"^from ((?:dense|refit)[\w.]*) import ([^\n#]+)", page.read_text(), re.MULTILINE
        ):
            assert module in MODULES, f"{page.name}: {module}"
            for name in names.split(","):
                assert name.strip() in exported(module), f"{page.name}: {module}.{name}"


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted([*SOURCE.glob("dense/**/*.py"), *SOURCE.glob("refit/**/*.py")]):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
