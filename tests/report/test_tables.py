"""Tables in their four forms: rounding, marks, escaping of hostile names, notes everywhere, the same numbers."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dense.report import Report, build
from dense.report.metrics import rank
from dense.report.model import Interval
from dense.report.numbers import counted, fixed, interval, number, p_value
from dense.report.table import Entry, Line, Table, comma_separated, latex, markdown, plain
from dense.report.tables import tables
from dense.results import RUN0, Cell, Experiment, Result

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
        results.append(Result(Cell(recipient, task, 0, 0, RUN0), reward=float(at % 2)))
        for method in HOSTILE[1:4]:
            results.append(Result(Cell(recipient, task, 0, 1, method), reward=1.0 if at else None, exception=task))
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
    assert fixed(value, digits, sign=True) == text


def test_small_things_about_numbers() -> None:
    assert number(None, 2) == "—" and number(1.25, 1, unit="%") == "1.3%"
    assert interval(Interval(-1.0, 2.0), 1, sign=True) == "[−1.0, +2.0]" and interval(None, 1) == ""
    assert (p_value(0.0001), p_value(0.25), p_value(None)) == ("<0.001", "0.250", "—")
    assert (counted(1, "task"), counted(1200, "task")) == ("1 task", "1,200 tasks")


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
    bare = re.sub(r"\\[#%&_$~^]|\\setlength.*|\\begin\{tabular\}.*|\\begin\{longtable\}.*", "", body)
    return found + [f"bare {sign}" for sign in "#%_^~" if sign in bare]


KNOWN = set(
    "begin end caption label centering footnotesize scriptsize setlength tabcolsep renewcommand arraystretch toprule "
    "midrule bottomrule endfirsthead endhead endfoot textbf underline shortstack textbackslash textasciicircum "
    "textasciitilde textless textgreater textbar textsuperscript dagger times Delta cdot ldots geq leq texttt char "
    "begingroup endgroup c v".split()
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
    table = Table("x", name, name, (name, "n"), (Line((Entry(name), Entry("1", name, "best"))),), (name,), ((name,),))
    assert tex_problems(latex(table, [name])) == []
    rows = [line for line in markdown(table, [name]).splitlines() if line.startswith("|")]
    assert len(rows) == 3 and {len(cells_of(row)) for row in rows} == {2}
    assert len(plain(table).splitlines()) == 4
    assert len(list(csv.reader(io.StringIO(comma_separated(table))))) == 2


@pytest.mark.parametrize("write", [markdown, latex, comma_separated, plain])
def test_notes_go_wherever_a_table_goes(published: Report, write: Callable[..., str]) -> None:
    note = "Sandbox numbers compare with nothing"
    for table in tables(published):
        if table.records:
            assert note in write(table, [note])


def test_marks_in_every_form() -> None:
    entries = (Entry("a"), Entry("1.0", "[0, 2]", "best"), Entry("0.5", mark="second"))
    table = Table("x", "T", "C.", ("m", "p", "q"), (Line(entries),), ("m",), (("a",),))
    assert "| a | **1.0**<br>\\[0, 2\\] | <u>0.5</u> |" in markdown(table)
    assert "\\shortstack{\\textbf{1.0} \\\\ {\\scriptsize {[}0, 2{]}}} & \\underline{0.5}" in latex(table)
    assert plain(table) == "T\nm             p      q\na  1.0 [0, 2] *  0.5 +\n* best, + second\n"


def test_privileged_rows_stand_apart_with_a_dagger(published: Report) -> None:
    table = next(table for table in tables(published) if table.name == "pass")
    last = table.lines[-1]
    assert last.rule and last.entries[0].text == "Verifier feedback †" and {one.mark for one in last.entries} == {""}
    assert [line.rule for line in table.lines[:-1]] == [False] * 6


def test_three_repeats_of_a_task_are_marked_as_in_the_paper() -> None:
    passes = {"advisor": 0, "self-reflection": 1, "all-at-once": 1, "step-by-step": 1, "dense": 3}
    results = [Result(Cell("Kimi", "largest-eigenval", at, 0, RUN0), reward=1.0) for at in range(3)]
    for method, count in passes.items():
        results += [
            Result(Cell("Kimi", "largest-eigenval", at, 1, method), reward=float(at < count)) for at in range(3)
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
    golden("report/transitions.txt", plain(found["transitions"]))
