"""The page as a file: one, closed to everything, with whatever text inert, the same bytes every time."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_experiment import made_plan, run_all
from made_harness import MadeHarness
from msgspec.structs import replace

from dense.errors import DenseError
from dense.text.html import ACTING, escape_controls, script_json
from refit.experiment.experiment import experiment_of
from refit.measures import ON_PAGE
from refit.report import build, make
from refit.report.page import write_page
from refit.report.page.case import make_case
from refit.report.page.cells import FIRST_VALUE, NOT_RUN, inline_cells
from refit.report.page.span import MAX_LINE_CHARS, MAX_SPAN_CHARS, decisive_span
from refit.report.page.view import MAX_PAGE_ROWS, number_in, page_table
from refit.report.table import ReportTable, TableCell, TableRow
from refit.results import Experiment

METHOD, REWARD = (FIRST_VALUE + [measure.name for measure, _ in ON_PAGE].index(name) for name in ("method", "reward"))
"""Places in a cell's line."""


class Read(HTMLParser):
    """What a page is made of."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": []}
        self.open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.open = tag

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        if self.open in self.inside:
            self.inside[self.open].append(data)


def read(folder: Path) -> tuple[str, Read]:
    text = (folder / "index.html").read_text(encoding="utf-8")
    return text, Read(text)


@pytest.mark.parametrize("which", ["site", "hostile"])
def test_nothing_acts_but_the_pages_own_script(which: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(which)
    text, page = read(found if isinstance(found, Path) else found[1])
    tags = [tag for tag, _ in page.tags]
    assert tags.count("script") == 2
    assert tags.count("style") == 1
    assert not {"iframe", "object", "embed", "form", "base", "audio", "video", "svg"} & set(tags)
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes), (tag, attributes)
        assert "style" not in attributes, "the policy allows no style but the page's own"
        assert not str(attributes.get("href", "")).lower().startswith(("http", "//", "javascript", "file"))
        assert tag != "img" or str(attributes["src"]).startswith("data:image/svg+xml;base64,")
    policy = next(found["content"] for tag, found in page.tags if tag == "meta" and "http-equiv" in found)
    assert policy is not None
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "unsafe" not in policy
    own = ("".join(page.inside["style"]), page.inside["script"][-1])
    for source in own:
        assert f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'" in policy
    assert not re.search("https?://", text)


def test_every_text_from_outside_is_there_and_inert(hostile: Path, stores: Any) -> None:
    text, page = read(hostile)
    cells = json.loads(page.inside["script"][0])
    assert "<" not in page.inside["script"][0]
    assert all(any(escape_controls(evil) in reported for reported in cells["texts"]) for evil in stores.HOSTILE[:2])
    assert "<img src=x" not in text
    assert "&lt;img src=x" in text
    assert "&lt;/script&gt;" in text
    assert "{{ 7*7 }}" in text, "text is no template"
    assert not ACTING.search(text)


@given(st.text())
def test_what_is_visible_does_not_act_and_the_rest_stays(text: str) -> None:
    assert not ACTING.search(escape_controls(text))
    if not ACTING.search(text):
        assert escape_controls(text) == text


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner, max_size=4))


@given(JSON)
def test_json_in_a_page_is_the_same_json(value: Any) -> None:
    text = script_json(value)
    assert json.loads(text) == value
    assert not set(text) & set("<>&")


def test_numbers_that_json_lacks_are_unknown() -> None:
    assert json.loads(script_json({"a": [1.5, float("nan"), float("inf")], "b": None})) == {
        "a": [1.5, None, None],
        "b": None,
    }


def test_the_same_report_gives_the_same_page(site: tuple[Experiment, Path], tmp_path: Path) -> None:
    experiment, folder = site
    before = (folder / "index.html").read_bytes()
    write_page(build(experiment, draws=200), experiment, folder)
    assert (folder / "index.html").read_bytes() == before
    assert str(folder.parent).encode() not in before, "a path of this machine"


def test_what_was_run_and_the_notes_stand_there(site: tuple[Experiment, Path]) -> None:
    experiment, folder = site
    text, _ = read(folder)
    report = build(experiment, draws=200)
    assert experiment.notes[0] in text
    for sentence in (report.headline, *report.caveats, *(one.headline for one in report.recipients)):
        assert str(sentence).replace("<", "&lt;").replace("'", "&#39;") in text
    assert "first (5 tasks, 2 repetitions, 2 rounds of feedback)" in text
    scored = sum(one.attempt.reward is not None for one in experiment.results)
    assert f"180 in all; {scored} scored, {180 - scored} without a grade, 0 not run yet" in text


def test_links_lead_from_the_page_to_files_that_are_there(site: tuple[Experiment, Path]) -> None:
    experiment, folder = site
    _, page = read(folder)
    reported = json.loads(page.inside["script"][0])
    count = 0
    for row in reported["rows"]:
        for line in row:
            for place in (4, 5, 6):
                if line[place] is not None:
                    path = folder / reported["base"] / ((line[1] or "") + reported["texts"][line[place]])
                    assert path.is_file(), path
                    count += 1
    wanted = sum(bool(one.attempt.trace) + bool(one.feedback_folder) + bool(one.message) for one in experiment.results)
    assert count == wanted > 100
    for tag, attributes in page.tags:
        if tag == "a" and not str(attributes["href"]).startswith("#"):
            assert (folder / str(attributes["href"])).exists(), attributes


def test_files_that_are_not_there_are_no_links(stores: Any, tmp_path: Path) -> None:
    experiment = stores.made(("x",), 1, 1, ("dense",), invalid=0)
    [reported] = inline_cells(
        replace(experiment, folder=str(tmp_path)), tmp_path, [("x", stores.task_names(1)[0])], {}
    )["rows"]
    assert [[line[1], *line[3:7]] for line in reported] == [[None] * 5, [None] * 5]
    (tmp_path / "feedback of mine").mkdir()
    results = tuple(replace(one, feedback_folder="feedback of mine") for one in experiment.results)
    data = inline_cells(
        replace(experiment, folder=str(tmp_path), results=results),
        tmp_path / "a#b",
        [("x", stores.task_names(1)[0])],
        {},
    )
    assert data["base"] == "../"
    assert data["texts"][data["rows"][0][0][5]] == "feedback of mine", "a folder without its text is itself the link"


def test_cells_that_have_not_run_are_shown_as_such(stores: Any, tmp_path: Path) -> None:
    experiment = stores.made(("x",), 2, 1, ("none", "dense"))
    some = replace(experiment, results=experiment.results[:3])
    reported = inline_cells(
        some, tmp_path, [("x", name) for name in stores.task_names(2)], {"dense": "DENSE", "none": "None"}
    )
    assert [len(row) for row in reported["rows"]] == [3, 3]
    assert [reported["texts"][line[METHOD]] for line in reported["rows"][0]] == ["run0", "DENSE", "None"], (
        "in the labels' order"
    )
    last = reported["rows"][1]
    assert [reported["texts"][line[2]] for line in last] == [NOT_RUN] * 3
    assert [line[REWARD] for line in last] == [None] * 3


def test_a_cell_takes_few_bytes(site: tuple[Experiment, Path]) -> None:
    """38,000 cells, each with its links, stay below ten megabytes."""
    experiment, folder = site
    _, page = read(folder)
    assert len(page.inside["script"][0].encode()) / len(experiment.results) < 260


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("66.85 / +8.99", "66.85"),
        ("−5.99", "-5.99"),
        ("+0.37", "0.37"),
        ("<0.001", "0.001"),
        ("1,234.5", "1234.5"),
        ("$1.28", "1.28"),
        ("66.7 (2/3)", "66.7"),
        ("—", ""),
        ("", ""),
        ("no claim", None),
    ],
)
def test_numbers_in_tables_sort_as_numbers(text: str, number: str | None) -> None:
    assert number_in(text) == number


def test_a_long_table_is_cut_and_says_so() -> None:
    lines = tuple(
        TableRow((TableCell(f"row {number}"), TableCell(str(number))), rule=number == 10) for number in range(700)
    )
    table = page_table(ReportTable("t", "T", "", ("Name", "Value"), lines, (), ()))
    assert table.left == 700 - MAX_PAGE_ROWS
    assert [len(group) for group in table.groups] == [10, MAX_PAGE_ROWS - 10]


FEEDBACK = """state: incomplete, judged from a1-a12 alone
next-step 1: Make `/app/chart.png` [a12]
open-issue_0: The task asks for `/app/chart.png`, and no action made it [a12]
summary: Looked around. {padding}
dead-end a7-a10: `PIL` is not installed (a7)
{padding}
x| key-action a5
import zlib, struct
open("/app/chart.png", "wb").write(zlib.compress(b"..."))
x| end"""


def test_the_decisive_span_names_what_the_recipient_did_and_would_not_have_done() -> None:
    feedback = FEEDBACK.format(padding="nothing of use " * 50)
    task = "Write the total to /app/summary.json and a chart to /app/chart.png."
    looks = ["ls -la /app", "cat /app/sales.csv"]
    repeated = decisive_span(feedback, [*looks, "python3 -c 'import zlib, struct; zlib.compress(x)'"], looks, task)
    assert {"zlib", "struct"} <= set(repeated.named) and "chart.png" not in repeated.named
    assert next(line.text for line in repeated.lines if line.is_followed) == "import zlib, struct"
    asked = decisive_span(feedback, [*looks, "gnuplot > /app/chart.png"], looks, task)
    assert asked.first <= 2 and asked.named == () and asked.total == 10
    assert any(line.text.startswith("next-step 1") for line in asked.lines)
    unused = decisive_span(feedback, [], looks, task)
    assert unused.first == 1 and unused.named == ()
    for span in (repeated, asked, unused):
        assert sum(len(line.text) + 1 for line in span.lines) <= MAX_SPAN_CHARS
        assert all(len(line.text) <= MAX_LINE_CHARS for line in span.lines)
    assert decisive_span("", ["ls"]).lines == ()


def test_a_case_shows_feedback_actions_and_the_tree(tmp_path: Path) -> None:
    """Of a made experiment by the real executor: what each cell's files hold, escaped."""
    plan = made_plan(tmp_path, repetitions=1, methods=["none", "dense", "self-reflection"])
    run_all(plan, MadeHarness())
    experiment = experiment_of(plan.folder)
    report = build(experiment)
    case = make_case(report, experiment, tmp_path / "report", "task-2")
    assert case is not None and (case.recipient, case.task, case.repetition) == ("r", "task-2", 0)
    assert [row.label for row in case.rows] == ["Baseline", "None (second try)", "DENSE (rules)", "Self-reflection"]
    by_label = {row.label: row for row in case.rows}
    assert by_label["Baseline"].span.lines == () and by_label["DENSE (rules)"].span.lines
    assert all(row.actions and row.actions[0].startswith("./try-") for row in case.rows)
    assert case.reconciled and case.rendered
    with pytest.raises(DenseError, match="--case nope: no result has such a task; there are task-1, task-2"):
        make_case(report, experiment, tmp_path, "nope")
    make(experiment, tmp_path / "report", case="task-2")
    page = (tmp_path / "report" / "index.html").read_text()
    assert 'id="case"' in page and page.index('id="figures"') < page.index('id="tables"') < page.index('id="case"')
