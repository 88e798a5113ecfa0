"""A struct with many fields is built by keyword: thirty-seven values in a row can be neither read nor checked."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

from dense import __file__ as package_file

SOURCE = Path(package_file).parents[1]
MOST_FIELDS = 5
"""A struct with at most so many fields may be built by position."""


type Classes = dict[str, ast.ClassDef]


def classes_of(module: ast.Module) -> Classes:
    return {node.name: node for node in ast.walk(module) if isinstance(node, ast.ClassDef)}


def field_count(name: str, classes: Classes) -> int:
    """How many fields a struct, dataclass or named tuple has, with those that it inherits; 0 for any other name."""
    return _fields(classes[name], classes) if name in classes and _is_struct(classes[name], classes) else 0


def _bases(node: ast.ClassDef) -> list[str]:
    return [ast.unparse(base).rpartition(".")[2] for base in node.bases]


def _is_struct(node: ast.ClassDef, classes: Classes) -> bool:
    if any("dataclass" in ast.unparse(decorator) for decorator in node.decorator_list):
        return True
    return any(
        name in ("Struct", "NamedTuple") or (name in classes and _is_struct(classes[name], classes))
        for name in _bases(node)
    )


def _fields(node: ast.ClassDef, classes: Classes) -> int:
    own = sum(isinstance(item, ast.AnnAssign) and "ClassVar" not in ast.unparse(item) for item in node.body)
    return own + sum(_fields(classes[name], classes) for name in _bases(node) if name in classes)


def built_by_position(module: ast.Module, classes: Classes) -> Iterator[tuple[int, str]]:
    """The calls that give a large struct a value without its name: line and struct."""
    foreign = {
        alias.asname or alias.name
        for node in ast.walk(module)
        if isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(("dense", "refit"))
        for alias in node.names
    }
    owners = {
        id(call): node.name
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
        for call in ast.walk(node)
        if isinstance(call, ast.Call)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and node.args:
            called = ast.unparse(node.func).rpartition(".")[2]
            name = owners.get(id(node), "") if called == "cls" else called
            if name not in foreign and field_count(name, classes) > MOST_FIELDS:
                yield node.lineno, name


def test_large_structs_are_built_by_keyword() -> None:
    modules = {
        path: ast.parse(path.read_text())
        for path in sorted([*SOURCE.glob("dense/**/*.py"), *SOURCE.glob("refit/**/*.py")])
    }
    own = {path: classes_of(module) for path, module in modules.items()}
    public = {name: node for classes in own.values() for name, node in classes.items()}
    assert field_count("BatchRow", public) > 30 and field_count("Stream", public) > MOST_FIELDS
    assert [
        f"{path.relative_to(SOURCE)}:{line}: {name} is built by position: give each field by its name"
        for path, module in modules.items()
        # Private names occur in several modules: a module's own come last.
        for line, name in built_by_position(module, public | own[path])
    ] == []


def test_the_check_can_fail() -> None:
    source = """
class Base(Struct):
    a: int
    b: int

class Large(Base, frozen=True):
    c: int
    d: int
    e: int
    f: int

    @classmethod
    def make(cls):
        return cls(1, b=2, c=3, d=4, e=5, f=6)

Large(a=1, b=2, c=3, d=4, e=5, f=6)
Large(1, 2, 3, 4, 5, 6)
Large(*values)
Base(1, 2)
"""
    module = ast.parse(source)
    calls = list(built_by_position(module, classes_of(module)))
    assert [name for _, name in calls] == ["Large"] * 3
    assert {line for line, _ in calls} == {14, 17, 18}


KEYWORD_DICTIONARIES = {
    "dense/analysis/asking/schemas.py": "properties of a JSON schema, by name",
    "dense/analysis/one_call/schema.py": "properties of a JSON schema, by name",
    "dense/analysis/asking/views.py": "attributes of a tag, by name",
    "dense/batch/queries/table.py": "parameters of an SQL query, by name",
    "dense/convert/atif.py": "fields of ATIF, by name",
    "dense/analysis/detectors/registry.py": "fields of a finding, by name",
    "dense/knowledge/program.py": "a row of the table of programs",
    "dense/cli/option_fields.py": "what Typer calls a command with",
    "dense/options.py": "what a framework calls a function with",
    "dense/methods/questions.py": "properties of a JSON schema, by name",
    "dense/readers/formats/openhands/steps.py": "fields of an observation",
    "dense/readers/reader.py": "fields of a source",
    "refit/experiment/results_table/rows.py": "columns of a table, by name",
    "refit/harness/harbor.py": "what Harbor calls",
    "refit/harness/sandbox/environment.py": "what Harbor calls",
    "refit/measures.py": "fields of a measure",
    "refit/report/figures/canvas.py": "what Matplotlib takes",
}
"""Modules in which a function takes arguments of any name, and which names these are: never options of ours."""


def test_no_function_takes_options_of_any_name() -> None:
    """More than eight parameters are refused by ruff (PLR0913). A dictionary of them is no way out."""
    found = {
        str(path.relative_to(SOURCE))
        for path in (*SOURCE.glob("dense/**/*.py"), *SOURCE.glob("refit/**/*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and takes_any_name(node)
    }
    assert found == set(KEYWORD_DICTIONARIES)


def takes_any_name(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Whether a function has a parameter `**`, that of a typed wrapper (`**options: P.kwargs`) apart."""
    named = node.args.kwarg
    return named is not None and (named.annotation is None or "P.kwargs" not in ast.unparse(named.annotation))


def test_ruff_refuses_a_ninth_parameter() -> None:
    lint = tomllib.loads((SOURCE.parent / "pyproject.toml").read_text())["tool"]["ruff"]["lint"]
    assert lint["pylint"]["max-args"] == 8
    assert "PL" in lint["select"] and "PLR0913" not in lint["ignore"]
    assert [folder for folder, codes in lint["per-file-ignores"].items() if "PLR0913" in codes] == ["tests/**"]
