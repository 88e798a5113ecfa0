"""A room imports only from rooms below it. The order is the way of the data, seen from behind."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from dense import __file__ as package_file

PACKAGE = Path(package_file).parent

LAYERS = [
    "cli",
    "refit",
    "report",
    "harness",
    "service",
    "methods",
    "distillation",
    "deliver",
    "analyst",
    "transcript",
    "narrate",
    "detectors",
    "evidence",
    "redact",
    "model",
    "readers",
    "text",
    "knowledge",
    "nouns",
]
"""From the user down to the nouns. A room may import from those behind it in this list, and from itself."""
NOUNS = {"errors", "trajectory", "outcome", "tree", "draft", "feedback", "results", "version"}
HEAVY: dict[str, str] = {
    "aiohttp": "model",
    "genai_prices": "model",
    "harbor": "harness",
    "matplotlib": "report",
    "numpy": "report",
    "pyarrow": "refit",
    "scipy": "report",
    "yaml": "refit",
    "zstandard": "readers",
}
"""Packages that only one room may import, inside the function that needs them."""


def room_of(module: str) -> str:
    """The room of a module `dense.…`; the package's own door counts as the command line's neighbour."""
    parts = module.split(".")
    if len(parts) == 1:
        return "door"
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
    """The module that an imported name is, or stands in."""
    folder = PACKAGE.parent.joinpath(*name.split("."))
    is_module = folder.with_suffix(".py").is_file() or (folder / "__init__.py").is_file()
    return name if is_module else name.rpartition(".")[0]


def violations(package: Path) -> list[str]:
    found: list[str] = []
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package.parent).with_suffix("").parts
        own = room_of(".".join(part for part in parts if part != "__init__"))
        for module, line, is_top in imports(path):
            root = module.split(".")[0]
            if root == "dense" and own != "door":
                other = room_of(module)
                allowed = [own, *LAYERS[LAYERS.index(own) + 1 :]] + (["door"] if own == "cli" else [])
                if other not in allowed:
                    found.append(f"{path.relative_to(package)}:{line}: {own} imports {module} of {other}")
            if root in HEAVY and (is_top or own != HEAVY[root]):
                found.append(f"{path.relative_to(package)}:{line}: {root} belongs inside a function of {HEAVY[root]}")
    return found


def test_rooms_import_only_downwards() -> None:
    rooms = {path.name for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert rooms == set(LAYERS) - {"nouns"}, "a new room needs its place in LAYERS"
    assert violations(PACKAGE) == []


def test_no_cycles_within_a_room() -> None:
    """Modules of a room form no circle either."""
    graph: dict[str, set[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        parts = [part for part in path.relative_to(PACKAGE.parent).with_suffix("").parts if part != "__init__"]
        graph[".".join(parts)] = {
            module for module, _, is_top in imports(path) if module.startswith("dense") and is_top
        }
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, f"import circle: {' → '.join((*way, module))}"
        if module not in done:
            for other in graph.get(module, ()):
                visit(other, (*way, module))
            done.add(module)

    for module in graph:
        visit(module, ())


@pytest.mark.parametrize(
    ("room", "code"),
    [("readers", "from dense.cli import main"), ("nouns", "import dense.readers.walk"), ("cli", "import zstandard")],
)
def test_the_check_can_fail(tmp_path: Path, room: str, code: str) -> None:
    package = tmp_path / "dense"
    folder = package if room == "nouns" else package / room
    folder.mkdir(parents=True)
    (folder / ("errors.py" if room == "nouns" else "bad.py")).write_text(code)
    assert len(violations(package)) == 1
