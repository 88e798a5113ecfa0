"""`dense show` and `dense view` as a user calls them."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from dense.cli.app import app

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(*arguments: str) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_open_issues_come_first() -> None:
    text = run("show", str(EXAMPLES / "csv-report"))
    assert text.startswith("incomplete")
    assert text.index("open: ") < text.index("next 1: ") < text.index("not met: ") < text.index("├──")


def test_plain_has_no_drawn_lines_and_no_colours() -> None:
    text = run("show", str(EXAMPLES / "csv-report"), "--plain")
    assert not set("├└│\x1b") & set(text)
    assert all(len(line) <= 100 for line in text.splitlines())


def test_a_method_without_a_tree_shows_its_report(tmp_path: Path) -> None:
    run("distill", str(EXAMPLES / "csv-report"), "--method", "none", "--out", str(tmp_path))
    (record,) = tmp_path.rglob("run.json")
    assert "makes no tree" in run("show", str(record.parent))


def test_view_writes_a_page_and_names_it(tmp_path: Path) -> None:
    page = tmp_path / "new" / "page.html"
    assert str(page) in run("view", str(EXAMPLES / "csv-report"), "--out", str(page)).replace("\n", "")
    assert page.read_text().startswith("<!doctype html>")
