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

SOURCE = Path(package_file).parents[1]
"""The folder of both packages."""

LAYERS = [
    "refit.cli",
    "refit.experiment",
    "refit.report",
    "refit.harness",
    "refit.baselines",
    "refit.nouns",
    "dense",
    "cli",
    "integrations",
    "view",
    "batch",
    "service",
    "methods",
    "lessons",
    "message",
    "analysis",
    "analysis.one_call",
    "analysis.asking",
    "analysis.rules",
    "analysis.trees",
    "analysis.answers",
    "analysis.analyst",
    "analysis.wording",
    "analysis.detectors",
    "analysis.evidence",
    "analysis.flow",
    "analysis.actions",
    "redact",
    "model",
    "convert",
    "readers",
    "text",
    "knowledge",
    "nouns",
]
"""From the user down to the nouns. A package may import from those after it in this list, and from itself."""
NOUNS = {
    "errors",
    "options",
    "trajectory",
    "outcome",
    "facets",
    "tree",
    "draft",
    "feedback",
    "salvage",
    "stored",
    "version",
}
REFIT_NOUNS = {"measures", "results"}
HEAVY: dict[str, str | tuple[str, ...]] = {
    "aiohttp": "model",
    "duckdb": "batch",
    "fsspec": "batch",
    "genai_prices": "model",
    "harbor": "refit.harness",
    "matplotlib": "refit.report",
    "numpy": "refit.report",
    "pyarrow": ("readers", "refit.experiment"),
    "ray": "batch",
    "scipy": "refit.report",
    "yaml": "refit.experiment",
    "zstandard": "readers",
}
"""Libraries that only one package may import, inside the function that needs them."""

OURS = ("dense", "refit")
PARTS = {"pydantic-core": "pydantic", "markupsafe": "jinja2"}
"""Packages that are part of the interface of the one that brings them."""
SCOUT = "dense/integrations/scout.py"
"""Only Inspect Scout imports this module, so it is there."""


def layer_of(module: str) -> str:
    """The layer of a module of ours; `dense` itself is a layer of its own."""
    package, *rest = module.split(".")
    if package == "refit":
        return f"refit.{rest[0]}" if rest and rest[0] not in REFIT_NOUNS else "refit.nouns"
    if not rest:
        return "dense"
    if rest[0] == "__main__":
        return "cli"
    if (part := ".".join(rest[:2])) in LAYERS:
        return part
    return "nouns" if rest[0] in NOUNS else rest[0]


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
    folder = SOURCE.joinpath(*name.split("."))
    is_module = folder.with_suffix(".py").is_file() or (folder / "__init__.py").is_file()
    return name if is_module else name.rpartition(".")[0]


def _as_tuple(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def modules_below(source: Path) -> list[Path]:
    return sorted(path for name in OURS for path in (source / name).rglob("*.py"))


def allowed_layers(own: str) -> list[str]:
    """What a layer may import. `dense` itself imports everything below it, and no layer of it imports `dense`."""
    below = LAYERS[LAYERS.index(own) :]
    return below if own.startswith("refit.") or own == "dense" else [*below, *(["dense"] if own == "cli" else [])]


def violations(source: Path) -> list[str]:
    broken: list[str] = []
    for path in modules_below(source):
        parts = path.relative_to(source).with_suffix("").parts
        own = layer_of(".".join(part for part in parts if part != "__init__"))
        for module, line, is_top in imports(path):
            root = module.split(".")[0]
            if root in OURS and (other := layer_of(module)) not in allowed_layers(own):
                broken.append(f"{path.relative_to(source)}:{line}: {own} imports {module} of {other}")
            if root in HEAVY and (is_top or own not in _as_tuple(HEAVY[root])):
                broken.append(f"{path.relative_to(source)}:{line}: {root} belongs inside a function of {HEAVY[root]}")
    return broken


def test_packages_import_only_downwards() -> None:
    packages = {layer_of(f"{name}.{path.name}") for name in OURS for path in packages_below(SOURCE / name)}
    parts = {layer_of(f"dense.analysis.{path.name}") for path in packages_below(SOURCE / "dense" / "analysis")}
    nouns = {"dense", "nouns", "refit.nouns", "analysis.answers", "analysis.analyst"}
    assert packages | parts == set(LAYERS) - nouns, "a new package needs its place in LAYERS"
    assert len(packages_below(SOURCE / "dense")) <= 16
    assert violations(SOURCE) == []


def packages_below(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"]


def test_no_import_cycles() -> None:
    """Modules of one package form no cycle either."""
    graph: dict[str, set[str]] = {}
    for path in modules_below(SOURCE):
        parts = [part for part in path.relative_to(SOURCE).with_suffix("").parts if part != "__init__"]
        graph[".".join(parts)] = {
            module for module, _, is_top in imports(path) if module.partition(".")[0] in OURS and is_top
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
    [
        ("dense/readers", "from dense.cli import main"),
        ("dense", "import dense.readers.walk"),
        ("dense/cli", "import zstandard"),
        ("dense/cli", "from refit.experiment import run"),
        ("dense/readers", "import refit.results"),
        ("refit/harness", "import refit.experiment.run"),
    ],
)
def test_the_check_can_fail(tmp_path: Path, layer: str, code: str) -> None:
    folder = tmp_path / layer
    folder.mkdir(parents=True)
    (folder / "errors.py").write_text(code)
    assert len(violations(tmp_path)) == 1


def test_packages_and_modules_stay_small() -> None:
    """At most 15 modules side by side, at most 450 lines a module."""
    modules = [path for path in modules_below(SOURCE) if path.name != "__init__.py"]
    assert [path.name for path in modules if path.read_text().count("\n") > 450] == []
    counts = Counter(path.parent for path in modules)
    assert {str(folder.relative_to(SOURCE)): count for folder, count in counts.items() if count > 15} == {}


MAX_BRANCHES = 32


def branches(function: ast.AST) -> int:
    """Where a function can go one way or another: statements, alternatives, parts of conditions, comprehensions."""
    count = 0
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        if isinstance(
            node, ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler | ast.match_case
        ):
            count += 1
        elif isinstance(node, ast.BoolOp):
            count += len(node.values) - 1
        elif isinstance(node, ast.comprehension):
            count += 1 + len(node.ifs)
        waiting += ast.iter_child_nodes(node)
    return count


def test_a_function_with_many_cases_is_a_table() -> None:
    """Ruff counts statements alone, and a condition of ten parts once."""
    functions = [
        (f"{path.name}: {node.name}", branches(node))
        for path in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(functions) > 1_000
    assert {name: count for name, count in functions if count > MAX_BRANCHES} == {}


def test_evidence_is_built_in_one_place() -> None:
    """Whoever needs what a trace shows is handed the `TraceAssessment` of its analysis: built again, it costs as much
    as the analysis, and may differ from it."""
    places = [path for path in modules_below(SOURCE) if re.search(r"\bTraceEvidence\(", path.read_text())]
    assert [str(path.relative_to(SOURCE)) for path in places] == ["dense/analysis/detectors/assessment.py"]


def test_what_is_imported_is_a_dependency() -> None:
    """Only what pyproject.toml names is there after an installation. What another package brings today it may not bring
    tomorrow: typer came with click once."""
    project = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["project"]
    needed = {normal(text) for text in project["dependencies"]}
    optional = needed | {normal(text) for extra in project["optional-dependencies"].values() for text in extra}
    owners = packages_distributions()
    for path in modules_below(SOURCE):
        for module, line, is_top in imports(path):
            name = module.partition(".")[0]
            if name in sys.stdlib_module_names or name in OURS or path == SOURCE / SCOUT:
                continue
            owner = {normal(one) for one in owners.get(name, [name])}
            owner |= {PARTS[one] for one in owner if one in PARTS}
            assert owner & (needed if is_top else optional), f"{path}:{line}: {module} is no dependency"


def normal(text: str) -> str:
    """The name in a requirement, as it is compared."""
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", text)[0]).lower()
