"""Tables in their three forms: rounding, marks, escaping of hostile names, notes everywhere, the same numbers."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_result import with_attempt
from msgspec.structs import replace

from dense.trajectory import Usage
from refit.report import Report, build
from refit.report.model import Interval
from refit.report.numbers import count_of, format_fixed, format_interval, format_number, format_p
from refit.report.statistics.metrics import rank
from refit.report.table import ReportTable, TableCell, TableRow, comma_separated, latex, markdown
from refit.report.tables import tables
from refit.report.write import write_tables
from refit.results import RUN0, AttemptResult, Cell, Experiment, Prices, Result

HOSTILE = [
    "a|b",
    "=cmd()|' /C calc'!A0",
    "\\input{/etc/passwd}",
    "$x^2$ & 100% #1 _u_ ~ {b}",
    "<script>alert(1)</script>",
    "**bold** `code` [link](http://x)",
    "line\nbreak\r\n| --- |\x1b[2Jred\u202egnol",
    "*star",
    "[opt]",
    "Łódź 中文 é ñ 🙂 --flag",
    '"quoted", with comma',
]


def hostile() -> Experiment:
    results: list[Result] = []
    for at, task in enumerate(HOSTILE):
        recipient = HOSTILE[0]
        results.append(Result(Cell(recipient, task, 0, 0, RUN0), AttemptResult(reward=float(at % 2))))
        for method in HOSTILE[1:4]:
            results.append(
                Result(Cell(recipient, task, 0, 1, method), AttemptResult(reward=1.0 if at else None, exception=task))
            )
    return Experiment(HOSTILE[2], tuple(results), notes=(HOSTILE[3], HOSTILE[1]))


@pytest.fixture(scope="module")
def report() -> Report:
    return build(hostile(), exclude=[HOSTILE[4]], draws=200)


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (-16 / 267 * 100, 2, "−5.99"),
        (0.0, 2, "+0.00"),
        (-0.001, 2, "+0.00"),
        (3.125, 2, "+3.13"),
        (-3.125, 2, "−3.13"),
        (2.675, 2, "+2.68"),
        (1402200.0, 1, "+1,402,200.0"),
        (100 * (1 - 1 / 3 - 1 / 3 - 1 / 3), 1, "+0.0"),
    ],
)
def test_rounding(value: float, digits: int, text: str) -> None:
    assert format_fixed(value, digits, sign=True) == text


@pytest.mark.parametrize("value", [1e308, -1.7976931348623157e308, 5e-324, 0.0, 1e27, 123456789012345.678])
def test_any_number_can_be_written(value: float) -> None:
    for digits in (0, 2, 12):
        text = format_fixed(value, digits).replace(",", "").replace("−", "-")
        assert float(text) == pytest.approx(value, rel=1e-11, abs=1)


def test_small_things_about_numbers() -> None:
    assert format_number(None, 2) == "—" and format_number(1.25, 1, unit="%") == "1.3%"
    assert format_interval(Interval(-1.0, 2.0), 1, sign=True) == "[−1.0, +2.0]" and format_interval(None, 1) == ""
    assert format_interval(Interval(90.0, 100.0, "bound"), 1) == "[90.0, 100.0]‡"
    assert (format_p(0.0001), format_p(0.25), format_p(None)) == ("<0.001", "0.250", "—")
    assert (count_of(1, "task"), count_of(1200, "task")) == ("1 task", "1,200 tasks")


def test_ties_share_a_rank_and_take_no_second() -> None:
    assert rank([3.0, 1.0, 3.0, 2.0, None], most_is_best=True) == [1, 3, 1, 2, None]
    assert rank([0.1 + 0.2, 0.3, 0.4]) == [1, 1, 2]


def cells_of(line: str) -> list[str]:
    return re.split(r"(?<!\\)\|", line.strip())[1:-1]


def test_markdown_keeps_its_shape(report: Report) -> None:
    for table in tables(report):
        text = markdown(table, report.notes)
        rows = [line for line in text.splitlines() if line.startswith("|")]
        assert {len(cells_of(row)) for row in rows} <= {len(table.header)}, table.name
        assert len(rows) == (len(table.lines) + 2 if table.lines else 0)
        assert "<script" not in text and "\x1b" not in text and "\u202e" not in text


def test_csv_reads_back_and_is_no_formula(report: Report) -> None:
    for table in tables(report):
        rows = list(csv.reader(io.StringIO(comma_separated(table, report.notes))))
        assert rows[0] == [*table.fields, "notes"]
        assert {len(row) for row in rows} == {len(table.fields) + 1} and len(rows) == len(table.records) + 1
        texts = [value for row in rows[1:] for value in row if not re.fullmatch(r"-?[\d.e+-]+|-?inf|nan", value)]
        assert not [text for text in texts if text[:1] in ("=", "+", "-", "@")]


def test_csv_has_unrounded_numbers(published: Report) -> None:
    table = next(table for table in tables(published) if table.name == "pass")
    rows = list(csv.DictReader(io.StringIO(comma_separated(table))))
    found = next(row for row in rows if (row["recipient"], row["method"]) == ("MiniMax-M2.7", "dense"))
    assert float(found["pass_percent"]) == pytest.approx(140 / 267 * 100, abs=1e-12)
    assert float(found["change_low"]) < float(found["change_points"]) < float(found["change_high"])


def tex_problems(text: str) -> list[str]:
    """What would stop LaTeX, or make it read something else than was written."""
    found: list[str] = []
    body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
    if not text.isascii():
        found.append("not ASCII")
    depth = 0
    for token in re.findall(r"\\.|[{}]", body, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth < 0:
            found.append("a brace closes nothing")
            break
    if depth:
        found.append("braces are open")
    if body.count("$") - body.count("\\$") & 1:
        found.append("mathematics is open")
    commands = set(re.findall(r"\\([A-Za-z]+)", body)) - KNOWN
    if commands:
        found.append(f"commands: {sorted(commands)}")
    if re.search(r"\\\\\s*[\[*]", body):
        found.append("an option behind a row")
    columns = r"\\begin\{(tabular|longtable)\}(\[t\])?\{@\{\}([lr]|p\{\d+mm\})+@\{\}\}"
    bare = re.sub(rf"\\[#%&_$~^]|\\setlength.*|{columns}", "", body)
    return found + [f"bare {sign}" for sign in "#%_^~" if sign in bare]


KNOWN = set(
    "begin end caption label centering footnotesize scriptsize setlength tabcolsep renewcommand arraystretch toprule "
    "midrule bottomrule endfirsthead endhead endfoot textbf underline textbackslash textasciicircum "
    "textasciitilde textless textgreater textbar textsuperscript dagger times Delta cdot ldots geq leq texttt char "
    "begingroup endgroup c v addlinespace raggedright par allowbreak ddagger LTcapwidth linewidth "
    "belowcaptionskip".split()
)


def test_latex_is_safe_and_every_row_is_whole(report: Report) -> None:
    for table in tables(report):
        text = latex(table, report.notes)
        assert tex_problems(text) == [], table.name
        body = text.split("\\midrule", 1)[1]
        rows = [line for line in body.splitlines() if re.search(r"(?<!\\)&", line)]
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} <= {len(table.header) - 1}


def test_the_check_of_latex_can_fail() -> None:
    assert tex_problems("\\input{x} {") == ["braces are open", "commands: ['input']"]
    assert tex_problems("a_b 5% é") == ["not ASCII", "bare %", "bare _"]


@given(st.text(max_size=30))
def test_any_name_can_stand_in_a_table(name: str) -> None:
    table = ReportTable(
        "x", name, name, (name, "n"), (TableRow((TableCell(name), TableCell("1", name, "best"))),), (name,), ((name,),)
    )
    assert tex_problems(latex(table, [name])) == []
    rows = [line for line in markdown(table, [name]).splitlines() if line.startswith("|")]
    assert len(rows) == 3 and {len(cells_of(row)) for row in rows} == {2}
    assert len(list(csv.reader(io.StringIO(comma_separated(table))))) == 2


@pytest.mark.parametrize("write", [markdown, latex, comma_separated])
def test_notes_go_wherever_a_table_goes(published: Report, write: Callable[..., str]) -> None:
    note = "Sandbox numbers compare with nothing"
    for table in tables(published):
        if table.records:
            assert note in write(table, [note])


def test_marks_in_every_form() -> None:
    entries = (TableCell("a"), TableCell("1.0", "[0, 2]", "best"), TableCell("0.5", mark="second"))
    table = ReportTable("x", "T", "C.", ("m", "p", "q"), (TableRow(entries),), ("m",), (("a",),))
    assert "| a | **1.0**<br>\\[0, 2\\] | <u>0.5</u> |" in markdown(table)
    both = "\\begin{tabular}[t]{@{}r@{}}\\textbf{1.0} \\\\ {\\scriptsize {[}0, 2{]}}\\end{tabular}"
    assert f"a & {both} & \\underline{{0.5}} \\\\" in latex(table)


def test_rows_of_two_lines_have_space_between_them_and_rules_stay() -> None:
    lines = (
        TableRow((TableCell("a"), TableCell("1", "[0, 2]"))),
        TableRow((TableCell("b"), TableCell("2"))),
        TableRow((TableCell("c"), TableCell("3")), True),
    )
    text = latex(ReportTable("x", "T", "C.", ("m", "p"), lines, (), ()))
    assert text.count("\\addlinespace\nb & 2") == 1 and "\\midrule\nc & 3" in text
    flat = latex(ReportTable("x", "T", "C.", ("m", "p"), lines[1:], (), ()))
    assert "addlinespace" not in flat


def missing_tex_files() -> list[str]:
    """What the document of all tables needs of a LaTeX installation, and this one does not have."""
    if shutil.which("pdflatex") is None or shutil.which("kpsewhich") is None:
        return ["pdflatex"]
    needed = ("article.cls", "geometry.sty", "booktabs.sty", "longtable.sty")
    return [name for name in needed if subprocess.run(["kpsewhich", name], capture_output=True, check=False).returncode]


@pytest.mark.skipif(
    bool(missing_tex_files()),
    reason=f"no {', '.join(missing_tex_files())}: install texlive-latex-base and texlive-latex-recommended",
)
def test_latex_compiles_and_long_reasons_stay_on_the_page(report: Report, tmp_path: Path) -> None:
    reason = (
        "AgentTimeoutError: /a/path/of/many/parts/" + "x" * 80 + "_underscored_" * 8 + "the end of a long exception"
    )
    cells = [
        Result(Cell("one", f"t{at}", 0, 0, RUN0), AttemptResult(reward=None if at else 1.0, exception=reason))
        for at in range(3)
    ]
    for place, found in (("long", build(Experiment("long", tuple(cells)), draws=200)), ("hostile", report)):
        (tmp_path / place).mkdir()
        write_tables(found, tmp_path / place)
        command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "all.tex"]
        done = subprocess.run(command, cwd=tmp_path / place / "tables", capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout[-2000:]
        assert place == "hostile" or b"Overfull" not in done.stdout


def degenerate() -> Experiment:
    """Everything passes with DENSE, nothing before; six tasks, no second try."""
    results: list[Result] = []
    for task in range(6):
        results.append(Result(Cell("one", f"t{task}", 0, 0, RUN0), AttemptResult(reward=float(task % 2))))
        results.append(Result(Cell("one", f"t{task}", 0, 1, "dense"), AttemptResult(reward=1.0)))
    prices = {"one": Prices(5, 30, cache_read=0.5, cache_write=6.25)}
    return Experiment("few", tuple(results), prices=prices)


def test_bounds_are_marked_explained_and_reported_in_csv() -> None:
    found = {table.name: table for table in tables(build(degenerate(), draws=200))}
    for write in (markdown, latex):
        text = write(found["pass"])
        assert ("‡" if write is markdown else "\\ddagger") in text and "fewer than three tasks differ" in text
    rows = list(csv.DictReader(io.StringIO(comma_separated(found["pass"]))))
    assert [row["pass_interval"] for row in rows] == ["bootstrap", "bound"]
    for table in found.values():
        ends = [field for field in table.fields if field.endswith("_low")]
        assert {field.replace("_low", "_interval") for field in ends} <= set(table.fields), table.name
        assert all(len(record) == len(table.fields) for record in table.records), table.name


def test_a_table_without_bounds_does_not_explain_them(published: Report) -> None:
    assert "‡" not in markdown(next(table for table in tables(published) if table.name == "tokens"))


@pytest.mark.parametrize("name", ["pass", "comparisons"])
def test_what_must_be_known_first_stands_in_the_caption(name: str) -> None:
    table = next(table for table in tables(build(degenerate(), draws=200)) if table.name == name)
    for text in (markdown(table), latex(table)):
        assert "6 tasks: intervals are unreliable" in text
        assert "control was run: a gain over round 0 cannot be distinguished from that of a second try" in text
    assert "both" in table.caption


def test_reservations_that_differ_name_their_recipients(published: Report) -> None:
    one = degenerate()
    more = [
        replace(result, cell=replace(result.cell, recipient="two", task=f"{result.cell.task}-{at}"))
        for result in one.results
        for at in range(3)
    ]
    found = build(replace(one, results=(*one.results, *more)), draws=200)
    caption = next(table for table in tables(found) if table.name == "pass").caption
    assert "one: 6 tasks: intervals are unreliable" in caption and "two: 18" not in caption
    assert caption.count("No `none` control was run") == 1


def test_prices_of_caches_stand_in_the_caption() -> None:
    results = [
        Result(Cell("one", "t", 0, at, "none" if at else RUN0), AttemptResult(reward=1.0, usage=Usage(9, 9, 9, 9)))
        for at in (0, 1)
    ]
    found = build(replace(degenerate(), results=tuple(results)), draws=200)
    caption = next(table for table in tables(found) if table.name == "costs").caption
    assert "one $5 in, $0.5 read from a cache, $6.25 written to one and $30 out for a million tokens, given" in caption


def test_a_claim_that_is_withheld_tells_how_little_may_be_left() -> None:
    cells: list[Result] = []
    for task in range(20):
        cells.append(Result(Cell("one", f"t{task}", 0, 0, RUN0), AttemptResult(reward=float(task >= 12))))
        cells.append(Result(Cell("one", f"t{task}", 0, 1, "dense"), AttemptResult(reward=1.0 if task < 12 else None)))
    table = next(one for one in tables(build(Experiment("lost", tuple(cells)), draws=200)) if one.name == "comparisons")
    last = table.lines[0].entries[-1]
    assert (last.text, last.below) == ("no claim", "at worst +20.00, p = 0.503")
    assert "At worst: with every unscored cell counted against it" in table.caption
    whole = [with_attempt(one, reward=one.attempt.reward or 0.0) for one in cells]
    table = next(one for one in tables(build(Experiment("kept", tuple(whole)), draws=200)) if one.name == "comparisons")
    assert table.lines[0].entries[-1].below == "" and "At worst" not in table.caption


def test_one_of_a_kind_is_counted_as_one() -> None:
    cells = [
        Result(Cell("one", "t", 0, 0, RUN0), AttemptResult(reward=1.0)),
        Result(Cell("one", "t", 0, 1, "dense"), AttemptResult(exception="x")),
    ]
    found = {table.name: table for table in tables(build(Experiment("one", tuple(cells)), draws=200))}
    assert "1 task × 1 repetition." in found["pass"].caption
    assert found["invalid"].caption.startswith("1 cell without a grade")


def test_each_comparison_tells_its_pairs_and_what_was_lost() -> None:
    cells = [
        with_attempt(one, reward=None) if one.cell == Cell("one", "t3", 0, 1, "dense") else one
        for one in degenerate().results
    ]
    table = next(
        table
        for table in tables(build(replace(degenerate(), results=tuple(cells)), draws=200))
        if table.name == "comparisons"
    )
    assert table.header[2] == "Pairs" and table.lines[0].entries[2].text == "5"
    [row] = list(csv.DictReader(io.StringIO(comma_separated(table))))
    assert (row["pairs"], row["method_unscored"], row["reference_unscored"]) == ("5", "1", "0")
    assert float(row["worst_points"]) < float(row["points"])


def test_privileged_rows_stand_apart_with_a_dagger(published: Report) -> None:
    table = next(table for table in tables(published) if table.name == "pass")
    last = table.lines[-1]
    assert last.rule and last.entries[0].text == "Verifier feedback †" and {one.mark for one in last.entries} == {""}
    assert [line.rule for line in table.lines[:-1]] == [False] * 6


def test_three_repeats_of_a_task_are_marked_as_in_the_paper() -> None:
    passes = {"advisor": 0, "self-reflection": 1, "all-at-once": 1, "step-by-step": 1, "dense": 3}
    results = [Result(Cell("Kimi", "largest-eigenval", at, 0, RUN0), AttemptResult(reward=1.0)) for at in range(3)]
    for method, count in passes.items():
        results += [
            Result(Cell("Kimi", "largest-eigenval", at, 1, method), AttemptResult(reward=float(at < count)))
            for at in range(3)
        ]
    report = build(Experiment("case", tuple(results)), draws=200)
    table = next(table for table in tables(report) if table.name == "tasks-1")
    shown = [(entry.text, entry.mark) for entry in table.lines[0].entries[1:]]
    assert shown == [
        ("100.0 (3/3)", ""),
        ("0.0 (0/3)", ""),
        *([("33.3 (1/3)", "second")] * 3),
        ("100.0 (3/3)", "best"),
    ]


def test_the_golden_of_the_pass_table(published: Report, golden: Callable[[str, str], None]) -> None:
    found = {table.name: table for table in tables(published)}
    golden("report/pass.md", markdown(found["pass"], ["A note."]))
    golden("report/costs.tex", latex(found["costs"], ["A note."]))
    golden("report/transitions.md", markdown(found["transitions"]))
