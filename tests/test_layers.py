"""A package imports only from packages below it. The order is the reverse of the way of the data."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from dense import __file__ as package_file

PACKAGE = Path(package_file).parent

LAYERS = [
    "cli",
    "integrations",
    "view",
    "refit",
    "report",
    "harness",
    "batch",
    "service",
    "methods",
    "lessons",
    "distillation",
    "deliver",
    "analyst",
    "transcript",
    "narrate",
    "detectors",
    "evidence",
    "redact",
    "model",
    "convert",
    "readers",
    "text",
    "knowledge",
    "nouns",
]
"""From the user down to the nouns. A package may import from those after it in this list, and from itself."""
NOUNS = {"errors", "trajectory", "outcome", "tree", "draft", "feedback", "results", "salvage", "version"}
HEAVY: dict[str, str | tuple[str, ...]] = {
    "aiohttp": "model",
    "duckdb": "batch",
    "fsspec": "batch",
    "genai_prices": "model",
    "harbor": "harness",
    "matplotlib": "report",
    "numpy": "report",
    "pyarrow": ("readers", "refit"),
    "ray": "batch",
    "scipy": "report",
    "yaml": "refit",
    "zstandard": "readers",
}
"""Libraries that only one package may import, inside the function that needs them."""

PARTS = {"pydantic-core": "pydantic", "markupsafe": "jinja2"}
"""Packages that are part of the interface of the one that brings them."""
SCOUT = "integrations/scout.py"
"""Only Inspect Scout imports this module, so it is there."""


def layer_of(module: str) -> str:
    """The layer of a module `dense.…`; `dense` itself is a layer of its own."""
    parts = module.split(".")
    if len(parts) == 1:
        return "dense"
    if parts[1] == "__main__":
        return "cli"
    return "nouns" if parts[1] in NOUNS else parts[1]


def imports(path: Path) -> Iterator[tuple[str, int, bool]]:
    """The modules that a file imports: name, line, whether at the top of the file."""
    tree = ast.parse(path.read_text())
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, id(node) in top
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            for alias in node.names:
                yield _module(f"{node.module}.{alias.name}"), node.lineno, id(node) in top


def _module(name: str) -> str:
    """The module that an imported name is, or is in."""
    folder = PACKAGE.parent.joinpath(*name.split("."))
    is_module = folder.with_suffix(".py").is_file() or (folder / "__init__.py").is_file()
    return name if is_module else name.rpartition(".")[0]


def _as_tuple(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def violations(package: Path) -> list[str]:
    found: list[str] = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        own = layer_of(".".join(part for part in parts if part != "__init__"))
        for module, line, is_top in imports(path):
            root = module.split(".")[0]
            if root == "dense" and own != "dense":
                other = layer_of(module)
                allowed = [own, *LAYERS[LAYERS.index(own) + 1 :]] + (["dense"] if own == "cli" else [])
                if other not in allowed:
                    found.append(f"{path.relative_to(package)}:{line}: {own} imports {module} of {other}")
            if root in HEAVY and (is_top or own not in _as_tuple(HEAVY[root])):
                found.append(f"{path.relative_to(package)}:{line}: {root} belongs inside a function of {HEAVY[root]}")
    return found


def test_packages_import_only_downwards() -> None:
    packages = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert packages == set(LAYERS) - {"nouns"}, "a new package needs its place in LAYERS"
    assert violations(PACKAGE) == []


def test_no_import_cycles() -> None:
    """Modules of one package form no cycle either."""
    graph: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        parts = [part for part in path.relative_to(PACKAGE.parent).with_suffix("").parts if part != "__init__"]
        graph[".".join(parts)] = {
            module for module, _, is_top in imports(path) if module.startswith("dense") and is_top
        }
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, f"import cycle: {' → '.join((*way, module))}"
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, (*way, module))
            done.add(module)

    for module in graph:
        visit(module, ())


@pytest.mark.parametrize(
    ("layer", "code"),
    [("readers", "from dense.cli import main"), ("nouns", "import dense.readers.walk"), ("cli", "import zstandard")],
)
def test_the_check_can_fail(tmp_path: Path, layer: str, code: str) -> None:
    package = tmp_path / "dense"
    folder = package if layer == "nouns" else package / layer
    folder.mkdir(parents=True)
    (folder / ("errors.py" if layer == "nouns" else "bad.py")).write_text(code)
    assert len(violations(package)) == 1


def test_packages_and_modules_stay_small() -> None:
    """At most 15 modules side by side, at most 450 lines a module."""
    modules = [path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py"]
    assert [path.name for path in modules if path.read_text().count("\n") > 450] == []
    counts = Counter(path.parent for path in modules)
    assert {str(folder.relative_to(PACKAGE)): count for folder, count in counts.items() if count > 15} == {}


def test_evidence_is_built_in_one_place() -> None:
    """Whoever needs what a trace shows is handed the `TraceAssessment` of its analysis: built again, it costs as much
    as the analysis, and may differ from it."""
    places = [path for path in PACKAGE.rglob("*.py") if re.search(r"\bTraceEvidence\(", path.read_text())]
    assert [str(path.relative_to(PACKAGE)) for path in places] == ["detectors/assessment.py"]


def test_what_is_imported_is_a_dependency() -> None:
    """Only what pyproject.toml names is there after an installation. What another package brings today it may not bring
    tomorrow: typer came with click once."""
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text())["project"]
    needed = {normal(text) for text in project["dependencies"]}
    optional = needed | {normal(text) for extra in project["optional-dependencies"].values() for text in extra}
    owners = packages_distributions()
    for path in sorted(PACKAGE.rglob("*.py")):
        for module, line, is_top in imports(path):
            name = module.partition(".")[0]
            if name in sys.stdlib_module_names or name == "dense" or path == PACKAGE / SCOUT:
                continue
            owner = {normal(one) for one in owners.get(name, [name])}
            owner |= {PARTS[one] for one in owner if one in PARTS}
            assert owner & (needed if is_top else optional), f"{path}:{line}: {module} is no dependency"


def normal(text: str) -> str:
    """The name in a requirement, as it is compared."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", text)[0]).lower()
