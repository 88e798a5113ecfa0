"""The docs say what is true: their code runs, their tables are made from the code, their links and tests exist."""

from __future__ import annotations

import ast
import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dense.readers import READERS

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
DENSE = SOURCE / "dense"
SPEC = importlib.util.spec_from_file_location("make_docs", ROOT / "scripts" / "docs.py")
assert SPEC and SPEC.loader
make_docs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_docs)

ROW = re.compile(r"\| \d+ \|")


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)


def test_what_is_made_from_code_is_up_to_date() -> None:
    assert (ROOT / "docs" / "formats.md").read_text() == make_docs.formats_page(), "run `make golden`"
    schema = (ROOT / "docs" / "schema.md").read_text()
    assert schema == make_docs.schema_page(schema), "run `make golden`"
    options = (ROOT / "docs" / "options.md").read_text()
    assert options == make_docs.options_page(options), "run `make golden`"
    analyst = (ROOT / "docs" / "built-in-analyst.md").read_text()
    assert analyst == make_docs.analyst_page(analyst), "run `make golden`"
    message = (ROOT / "docs" / "message.md").read_text()
    assert message == make_docs.message_page(message), "run `make golden`"
    picture = (ROOT / "docs" / "pictures" / "distill-example.svg").read_text()
    assert picture == make_docs.picture(), "run `make golden`"


def source_path(name: str) -> Path:
    """Where the docs mean: names of REFIT's modules begin with `refit/`, the others are below `src/dense`."""
    return SOURCE / name if name.startswith("refit/") else DENSE / name


def test_paper_every_requirement_has_its_code_and_its_test() -> None:
    """155 rows of docs/paper.md: the code is there, and a test that exists."""
    text = (ROOT / "docs" / "paper.md").read_text()
    rows = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.splitlines() if ROW.match(line)
    ]
    assert [int(row[0]) for row in rows] == list(range(1, 156))
    for number, requirement, code, tests, _ in rows:
        places = re.findall(r"`([\w./]+?)(?::(\w+))?`", code)
        assert requirement and places, number
        for file, symbol in places:
            source = source_path(file).read_text()
            assert re.search(rf"\b{symbol}\b", source), f"row {number}: {file} has no {symbol}"
        named = re.findall(r"`([\w/]+\.py)::(test_\w+)`", tests)
        assert named, f"row {number} has no test"
        for file, function in named:
            assert f"def {function}(" in (ROOT / "tests" / file).read_text(), f"row {number}: {file}::{function}"


def test_the_readme_shows_the_true_output() -> None:
    command = f"$ {make_docs.LAST_COMMAND}\n"
    shown = next(block for block in blocks("README.md", "console") if block.startswith(command))
    assert shown.removeprefix(command) == make_docs.last_example(), "run `make golden`"


def test_the_readme_names_all_formats() -> None:
    text = (ROOT / "README.md").read_text()
    assert [name for name in READERS if f"`{name}`" not in text] == []


def test_the_code_in_the_readme_runs() -> None:
    (code,) = blocks("README.md", "python")
    done = python(code, ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "claude-code 8 steps, 2 with a failing command"
    assert len(done.stdout.splitlines()) == 4


def test_the_reader_in_the_docs_works(tmp_path: Path) -> None:
    (code,) = blocks("docs/add-a-reader.md", "python")
    (tmp_path / "own.py").write_text(code)
    lines = [
        {"diary": "Count the files."},
        {"did": "ls"},
        {"saw": "a b"},
        {"did": "ls | wc -w"},
        {"other": 1},
        {"saw": 2},
    ]
    (tmp_path / "day.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = [sys.executable, "-m", "dense", "read", "--json", "--format", "own:Diary", "day.jsonl"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    read = json.loads(done.stdout)
    assert read["task"] == {"instruction": "Count the files."}
    assert [step["calls"][0]["arguments"]["command"] for step in read["steps"]] == ["ls", "ls | wc -w"]
    assert "day.jsonl:5: skipped: neither did nor saw" in done.stderr


PAGES: list[Path] = make_docs.prose.pages()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_prose_is_wrapped(page: Path) -> None:
    text = page.read_text()
    assert text == make_docs.prose.wrapped(text), "run `python scripts/prose.py`"


def test_wrapping_breaks_prose_alone() -> None:
    long = " ".join(["word"] * 30)
    kept = f"# {long}\n\n| {long} |\n\n```\n{long}\n```\n\nshort\nlines\n"
    assert make_docs.prose.wrapped(kept) == kept
    item = make_docs.prose.wrapped(f"- {long} `{long[:94]}`")
    assert [len(line) <= 100 for line in item.split("\n")] == [True, True, True]
    assert item.split("\n")[1].startswith("  word") and item.endswith(f"\n  `{long[:94]}`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        path, _, heading = target.partition("#")
        if "://" in target:
            continue
        linked = page.parent / path if path else page
        assert linked.exists(), f"{page.name}: {target}"
        assert not heading or heading in anchors(linked), f"{page.name}: {target}"


def anchors(page: Path) -> set[str]:
    """The names of the headings of a page, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_the_tests_that_contributing_names_exist() -> None:
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "CONTRIBUTING.md").read_text())
    assert len(named) >= 12
    assert [f"{path}::{name}" for path, name in named if f"def {name}(" not in (ROOT / path).read_text()] == []


def test_the_files_that_contributing_names_exist() -> None:
    table = re.findall(r"^\| (?:add|change|reword) .*$", (ROOT / "CONTRIBUTING.md").read_text(), re.MULTILINE)
    places = [place for row in table for place in re.findall(r"`([\w/]+(?:\.py|/))`", row.split("|")[3])]
    assert len(places) >= 16
    assert [place for place in places if not source_path(place).exists()] == []


def test_the_glossary_names_existing_modules() -> None:
    places = re.findall(r"`([a-z_/]+(?:\.py|/))`", (ROOT / "docs" / "glossary.md").read_text())
    assert [place for place in places if place != "src/dense/" and not source_path(place).exists()] == []


def test_the_glossary_defines_each_word_once() -> None:
    rows = re.findall(r"^\| ([^|]+) \|", (ROOT / "docs" / "glossary.md").read_text(), re.MULTILINE)
    words = [word for row in rows if row not in ("word", "---") for word in row.split(", ")]
    assert sorted(set(words)) == sorted(words)


PACKAGES = sorted(path.parent for path in SOURCE.rglob("__init__.py") if path.parent != DENSE)


@pytest.mark.parametrize("package", PACKAGES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_every_package_says_what_it_takes_gives_and_never_imports(package: Path) -> None:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text())) or ""
    text = " ".join(text.split())
    for promise in (r"\b(?:Comes in|In): ", r"\b(?:Goes out|Out): ", r"\bnever imports? |nothing here imports "):
        assert re.search(promise, text, re.IGNORECASE), f"{package}: no {promise!r} in the docstring"


def modules_with(pattern: str, folder: str = ".") -> set[str]:
    """The modules of the source whose text has a match."""
    found = (path for path in (DENSE / folder).rglob("*.py") if re.search(pattern, path.read_text()))
    return {str(path.relative_to(DENSE)) for path in found}


def test_one_module_knows_the_budget() -> None:
    assert modules_with(r"180 \* 1024|184_?320|200 \* 1024|204_?800") == {"message/budget.py"}


def test_one_module_knows_an_option() -> None:
    assert modules_with("Bytes of the message without the task") == {"options.py"}


def test_the_code_on_distilling_runs() -> None:
    (code,) = blocks("docs/distilling.md", "python")
    done = python(code, ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("incomplete ")
