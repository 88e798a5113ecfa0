"""The docs say what is true: their commands run, their code runs, their tables are made from the code."""

from __future__ import annotations

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dense.readers import READERS

ROOT = Path(__file__).parents[1]
SPEC = importlib.util.spec_from_file_location("make_docs", ROOT / "scripts" / "docs.py")
assert SPEC and SPEC.loader
make_docs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(make_docs)


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", (ROOT / page).read_text(), re.DOTALL | re.MULTILINE)


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)


def test_what_is_made_from_code_is_up_to_date() -> None:
    assert (ROOT / "docs" / "formats.md").read_text() == make_docs.formats_page(), "run `make golden`"
    schema = (ROOT / "docs" / "schema.md").read_text()
    assert schema == make_docs.schema_page(schema), "run `make golden`"
    picture = (ROOT / "docs" / "pictures" / "distill-example.svg").read_text()
    assert picture == make_docs.picture(), "run `make golden`"


def test_the_readme_shows_the_true_output() -> None:
    command = "$ dense distill examples/password-recovery --out out/demo\n"
    shown = next(block for block in blocks("README.md", "console") if block.startswith(command))
    assert shown.removeprefix(command) == (ROOT / "tests" / "goldens" / "distill-example.txt").read_text()


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


@pytest.mark.parametrize("page", ["README.md", *(str(p.relative_to(ROOT)) for p in (ROOT / "docs").glob("*.md"))])
def test_links_lead_somewhere(page: str) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", (ROOT / page).read_text()):
        assert "://" in target or ((ROOT / page).parent / target).exists(), f"{page}: {target}"


def test_the_code_on_distilling_runs() -> None:
    (code,) = blocks("docs/distilling.md", "python")
    done = python(code, ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("incomplete ")
