"""Tables of results: what is written is read back; what others wrote is read with care, and refused in words."""

from __future__ import annotations

import builtins
import contextlib
import csv
import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cpu_time import assert_within
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.errors import DenseError
from dense.trajectory import Usage
from refit.experiment.results_table.columns import REQUIRED
from refit.experiment.results_table.files import ResultTable, read_table, write_table
from refit.experiment.results_table.rows import row_of
from refit.measures import MEASURES, WRITTEN
from refit.results import RUN0, AttemptResult, Cell, Result, total_of

ROOT = Path(__file__).parents[4]
COLUMNS = [measure for measure in MEASURES if measure.column != "none"]
"""All columns that are understood."""
SUFFIXES = (".csv", ".csv.gz", ".tsv", ".jsonl", ".jsonl.gz", ".parquet")
BLANK = re.compile(r"\s*(nan|null|none|na|n/a|<na>)?\s*", re.IGNORECASE)

names = st.text(min_size=1, max_size=12).map(str.strip).filter(bool)
texts = st.text(max_size=12).filter(lambda text: not BLANK.fullmatch(text)) | st.just("")
counts = st.none() | st.integers(0, 2**40)
amounts = st.none() | st.floats(0, 1e9)
usages = st.none() | st.builds(Usage, counts, counts, counts, counts, amounts).filter(lambda usage: usage != Usage())


@st.composite
def totals(draw: st.DrawFn, usage: Usage | None) -> int | None:
    """A sum that the buckets do not tell, and that is not less than they are."""
    if total_of(usage) is not None:
        return None
    least = sum(part or 0 for part in (usage.input, usage.cache_read, usage.cache_write, usage.output)) if usage else 0
    return draw(st.none() | st.integers(least, 2**50))


@st.composite
def cells(draw: st.DrawFn) -> Cell:
    number = draw(st.integers(0, 3))
    method = RUN0 if number == 0 else draw(names.filter(lambda name: name.casefold().strip(" -_") != RUN0))
    return Cell(draw(names), draw(names), draw(st.integers(0, 2**63 - 1)), number, method)


@st.composite
def results(draw: st.DrawFn) -> Result:
    usage, feedback = draw(usages), draw(usages)
    return Result(
        draw(cells()),
        AttemptResult(
            reward=draw(st.none() | st.floats(allow_nan=False, allow_infinity=False)),
            exception=draw(texts) or None,
            usage=usage,
            total=draw(totals(usage)),
            is_partial=draw(st.booleans()),
            tool_calls=draw(counts),
            seconds=draw(amounts),
            delivered=draw(texts),
            message_sha256=draw(texts),
            received=draw(texts),
            trace=draw(texts),
            trial=draw(texts),
            problem=draw(texts),
            is_argument=draw(st.none() | st.booleans()),
        ),
        feedback=feedback,
        feedback_total=draw(totals(feedback)),
        feedback_bytes=draw(counts),
        tries=draw(st.integers(0, 9)),
        feedback_folder=draw(texts),
        message=draw(texts),
    )


tables = st.lists(results(), max_size=4, unique_by=lambda result: result.cell).map(tuple)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_what_is_written_is_read_back(suffix: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("table") / f"results{suffix}"

    @settings(max_examples=60, deadline=None)
    @given(tables)
    def law(reported: tuple[Result, ...]) -> None:
        write_table(reported, path)
        assert read_table(path).results == reported

    law()
    assert [entry.name for entry in path.parent.iterdir()] == [path.name], "no half-written file is left"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_row_is_read_back(suffix: str, tmp_path: Path) -> None:
    """No field is forgotten: each differs from its default."""
    first = Result(
        Cell("kimi, the second", 'a "quoted" task\nof two lines', 2, 3, "my_package.methods:Own"),
        AttemptResult(
            reward=0.1 + 0.2,
            exception="AgentTimeoutError",
            usage=Usage(1, 2, 3, 4, 0.1),
            is_partial=True,
            tool_calls=0,
            seconds=1.5,
            delivered="file",
            message_sha256="ab",
            received="not opened",
            trace="cells/a/trajectory.json",
            trial="cells/a",
            problem="none of note",
            is_argument=False,
        ),
        feedback=Usage(0, 0, 0, 0, 0.0),
        feedback_bytes=5,
        tries=3,
        feedback_folder="cells/a/feedback",
        message="=SUM(A1)",
    )
    second = Result(Cell("kimi", "t", 0, 0, RUN0), AttemptResult(total=7), feedback=Usage(output=2), feedback_total=9)
    path = tmp_path / "new" / "folder" / f"results{suffix}"
    write_table([first, second], path)
    read = read_table(path)
    assert read == ResultTable((first, second))
    assert (read.results[0].attempt.tokens, read.results[0].feedback_tokens) == (10, 0)
    assert (read.results[1].attempt.tokens, read.results[1].feedback_tokens) == (7, 9)
    assert first != Result(first.cell) and {*row_of(first)} == {column.name for column in WRITTEN}
    assert [*row_of(first)] == [column.name for column in WRITTEN], "rows are written in the order of the header"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_privileged_methods_and_notes_are_read_back(suffix: str, tmp_path: Path) -> None:
    cells = [Cell("r", "t", 0, 0, RUN0), Cell("r", "t", 0, 1, "own:Peeks"), Cell("r", "t", 0, 1, "dense")]
    reported, path = tuple(Result(cell, AttemptResult(reward=1.0)) for cell in cells), tmp_path / f"a{suffix}"
    write_table(reported, path, {"own:Peeks", RUN0}, ("sandbox: not comparable", "a: is a script"))
    assert read_table(path) == ResultTable(
        reported, notes=("sandbox: not comparable", "a: is a script"), privileged=("own:Peeks",)
    )


def test_what_rows_say_of_privilege(tmp_path: Path) -> None:
    header = "recipient,task,round,method,privileged,reward"
    lines = ["r,t,0,peeks,true,0", "r,t,1,peeks,,0", "r,u,1,peeks,yes,0", "r,t,1,dense,no,1", "r,u,1,dense,,1"]
    assert read_table(rows(tmp_path, *lines, header=header)).privileged == ("peeks",)
    reported = problem(rows(tmp_path, *lines, "r,v,1,peeks,false,1", header=header))
    assert reported == (
        "FILE: row 7: privileged is false for 'peeks', and true in row 4; a method saw outcomes or it did not"
    )


def test_nothing_scored_is_read_back(tmp_path: Path) -> None:
    reported = (Result(Cell("r", "t", 0, 0, RUN0), AttemptResult(exception="dead")),)
    for suffix in SUFFIXES:
        write_table(reported, tmp_path / f"a{suffix}")
        assert read_table(tmp_path / f"a{suffix}").results == reported


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_table_says_so(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    write_table([], path)
    assert read_table(path) == ResultTable((), (f"{path}: no rows",))


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_a_large_experiment_is_read_quickly(suffix: str, tmp_path: Path) -> None:
    """39,516 cells: 4 recipients, 89 tasks, 3 repetitions, 9 methods in 4 rounds and the shared one."""
    reported = tuple(
        Result(
            Cell(f"recipient-{recipient}", f"task-{task}", repetition, number, method),
            AttemptResult(
                reward=float(task % 2),
                usage=Usage(100_000 + task, 5_000_000, 0, 30_000, 1.25),
                tool_calls=task,
                seconds=100.5,
                trace=f"cells/{task}/trajectory.json",
            ),
            feedback=Usage(90_000, 0, 0, 4_000, 0.5),
        )
        for recipient in range(4)
        for task in range(89)
        for repetition in range(3)
        for number in range(5)
        for method in ([RUN0] if number == 0 else [f"method-{index}" for index in range(9)])
    )
    path = tmp_path / f"large{suffix}"
    write_table(reported, path)
    read = read_table(path)
    assert_within(3, lambda: read_table(path))
    assert len(read.results) == 39_516 and read.results == reported


# What others write


def table(folder: Path, text: str, name: str = "results.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def rows(folder: Path, *lines: str, header: str = "recipient,task,repetition,round,method,reward") -> Path:
    return table(folder, "\n".join([header, *lines]) + "\n")


def problem(path: Path) -> str:
    with pytest.raises(DenseError) as caught:
        read_table(path)
    assert str(path) in str(caught.value)
    return str(caught.value).replace(str(path), "FILE")


def test_the_smallest_table_of_the_docs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```csv\n(.*?)```", (ROOT / "docs/results-table.md").read_text(), re.DOTALL)
    assert read_table(table(tmp_path, example)) == ResultTable(
        (
            Result(Cell("kimi", "csv-report", 0, 0, RUN0), AttemptResult(reward=0.0)),
            Result(Cell("kimi", "csv-report", 0, 1, "none"), AttemptResult(reward=0.0)),
            Result(Cell("kimi", "csv-report", 0, 1, "dense"), AttemptResult(reward=1.0)),
        )
    )


def test_the_docs_name_all_columns() -> None:
    page = (ROOT / "docs/results-table.md").read_text()
    missing = [column.name for column in COLUMNS if f"`{column.name}`" not in page]
    assert missing == ["feedback_all_input_tokens"]  # "the same of making the feedback"
    for known in re.search(r"some\s+common\s+names\s+are\s+known:\s+(.*?)\.", page, re.DOTALL)[1].split(","):  # type: ignore[index]
        assert any(known.strip(" `\n") in column.spellings for column in COLUMNS), known


@pytest.mark.parametrize(
    "header",
    [
        "Recipient,TASK,Repetition,Round,Method,Reward,Input,Cache-read tokens,cache write,Output,Feedback tokens",
        "agent,task_id,rep,round,condition,score,input,cached_tokens,cache_creation,completion_tokens,feedback-tokens",
        "recipient;task;repetition;round;method;reward;input_tokens;cache_read;cache_write;output;feedback_tokens",
        "recipient\ttask\trep\tround\tmethod\treward\tinput_tokens\tcache_read\tcache_write\toutput\tfeedback tokens",
    ],
)
def test_spellings_of_columns(header: str, tmp_path: Path) -> None:
    sign = next(sign for sign in ";\t," if sign in header)
    line = sign.join(["kimi", "t", "1", "2", "dense", "1", "10", "20", "30", "40", "50"])
    read = read_table(rows(tmp_path, line, header=header))
    assert read == ResultTable(
        (
            Result(
                Cell("kimi", "t", 1, 2, "dense"),
                AttemptResult(reward=1.0, usage=Usage(10, 20, 30, 40)),
                feedback_total=50,
            ),
        )
    )


def test_unknown_columns_are_named(tmp_path: Path) -> None:
    path = rows(tmp_path, "a,t,m,1,x,y,2", header="recipient,task,method,reward,model,Notes on it,agent")
    read = read_table(path)
    assert read.notices == (f"{path}: columns that are not used: model, Notes on it, agent",)
    assert read.results == (Result(Cell("a", "t", 0, 1, "m"), AttemptResult(reward=1.0)),), (
        "`recipient` goes before `agent`"
    )


def test_missing_and_double_columns(tmp_path: Path) -> None:
    reported = problem(rows(tmp_path, "a,t,1", header="recipient,task,mehtod"))
    assert reported == (
        "FILE: no column method, reward (there is 'recipient', 'task', 'mehtod'); docs/results-table.md lists the names"
    )
    reported = problem(rows(tmp_path, "a,t,m,1,1", header="recipient,task,method,score,passed"))
    assert "columns 'score' and 'passed' are both read as reward" in reported
    reported = problem(rows(tmp_path, "a,t,m,1,1", header="recipient,task,method,reward,Reward"))
    assert "columns 'reward' and 'Reward' are both read as reward" in reported


@pytest.mark.parametrize("blank", ["", " ", "NaN", "nan", "null", "None", "NA", "n/a", "<NA>"])
def test_blank_is_unknown(blank: str, tmp_path: Path) -> None:
    header = (
        "recipient,task,repetition,round,method,reward,input,output,tokens,cost_usd,seconds,exception,is_partial,tries"
    )
    path = rows(tmp_path, f"r,t,0,1,dense,{','.join([blank] * 9)}", header=header)
    assert read_table(path) == ResultTable((Result(Cell("r", "t", 0, 1, "dense")),))


def test_names_are_never_blank_by_chance(tmp_path: Path) -> None:
    read = read_table(rows(tmp_path, "NA,null,0,1,none,1", "NA,null,0,1,None,0"))
    assert [result.cell for result in read.results] == [
        Cell("NA", "null", 0, 1, "none"),
        Cell("NA", "null", 0, 1, "None"),
    ]
    assert any("methods 'None' and 'none' differ only in spelling" in notice for notice in read.notices)


@pytest.mark.parametrize(
    ("given", "read"),
    [
        ("1", 1.0),
        ("0.25", 0.25),
        ("-1", -1.0),
        (" 1 ", 1.0),
        ("true", 1.0),
        ("FALSE", 0.0),
        ("1e-3", 0.001),
        ("", None),
    ],
)
def test_rewards(given: str, read: float | None, tmp_path: Path) -> None:
    assert read_table(rows(tmp_path, f"r,t,0,1,dense,{given}")).results[0].attempt.reward == read


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("r,t,0,1,dense,yes", "row 2: reward 'yes' is no reward; write a number, true or false"),
        ("r,t,0,1,dense,inf", "row 2: reward 'inf' is not finite"),
        ("r,t,0,1,dense,1e999", "row 2: reward '1e999' is not finite"),
        ("r,t,0,1,dense,1_0", "row 2: reward '1_0' is no reward"),
        ('r,t,0,1,dense,"0,5"', "row 2: reward '0,5' is no reward"),
        ("r,t,0.5,1,dense,1", "row 2: repetition '0.5' is no whole number"),
        ("r,t,-1,1,dense,1", "row 2: repetition '-1' is negative"),
        ("r,t,first,1,dense,1", "row 2: repetition 'first' is no number"),
        ("r,t,99999999999999999999,1,dense,1", "row 2: repetition '99999999999999999999' is too large"),
        (",t,0,1,dense,1", "row 2: recipient is blank"),
        ("r,  ,0,1,dense,1", "row 2: task is blank"),
        ("r,t,0,1,,1", "row 2: method is blank in round 1"),
        ("r,t,0,2,Run 0,1", "row 2: method 'Run 0' is the shared attempt of round 0 and cannot be in round 2"),
        ("r,t,0,1,dense", "row 2: has 5 values where the header has 6 columns"),
        ("r,t,0,1,dense,1,2", "row 2: has 7 values where the header has 6 columns"),
        ('r,t,0,1,dense,"1', "row 2: cannot be read"),
    ],
)
def test_what_is_refused(line: str, words: str, tmp_path: Path) -> None:
    reported = problem(rows(tmp_path, line))
    assert reported.startswith(f"FILE: {words}")
    assert "\n" not in reported


@pytest.mark.parametrize(
    ("header", "values", "words"),
    [
        ("input_tokens", "-5", "input_tokens '-5' is negative"),
        ("output", "1.5", "output_tokens '1.5' is no whole number"),
        ("input,output,tokens", "1,2,4", "tokens 4 is not the sum 3 of input, cache and output"),
        ("output,tokens", "5,4", "tokens 4 is not the sum 5"),
        ("feedback input,feedback output,feedback tokens", "1,2,4", "feedback_tokens 4 is not the sum 3"),
        ("prompt_tokens,cached_tokens", "5,6", "all_input_tokens 5 is not the sum"),
        ("prompt_tokens,cached_tokens,input_tokens", "9,6,4", "all_input_tokens 9 is not the sum"),
        ("cost", "-0.5", "cost_usd '-0.5' is negative"),
        ("is_partial", "perhaps", "is_partial 'perhaps' is neither true nor false"),
    ],
)
def test_columns_that_cannot_be(header: str, values: str, words: str, tmp_path: Path) -> None:
    path = rows(tmp_path, f"r,t,m,1,{values}", header=f"recipient,task,method,reward,{header}")
    assert words in problem(path)


def test_everything_wrong_is_reported_at_once(tmp_path: Path) -> None:
    reported = problem(rows(tmp_path, *[f"r,t{number},0,1,dense,bad" for number in range(25)], "r,t,x,y,dense,1"))
    lines = reported.splitlines()
    assert lines[0] == "FILE: 27 things are wrong, so nothing was read"
    assert lines[1].startswith("  row 2: reward 'bad'") and lines[20].startswith("  row 21: reward 'bad'")
    assert lines[21:] == ["  … and 7 more"]


def test_rows_are_counted_as_a_spreadsheet_does(tmp_path: Path) -> None:
    path = rows(tmp_path, "", '"r\nof two lines",t,0,1,dense,1', ",,,,,", "r,t,0,1,dense,bad")
    assert problem(path).startswith("FILE: row 5: ")


# Round 0


@pytest.mark.parametrize("name", ["run0", "baseline", "none", "", "dense", "Round 0"])
def test_any_method_of_round_0_is_the_shared_one(name: str, tmp_path: Path) -> None:
    assert read_table(rows(tmp_path, f"r,t,0,0,{name},1")).results[0].cell == Cell("r", "t", 0, 0, RUN0)


def test_methods_may_repeat_the_shared_attempt(tmp_path: Path) -> None:
    path = rows(tmp_path, "r,t,0,0,dense,1", "r,t,0,0,none,1.0", "r,t,1,0,dense,0", "r,t,0,1,dense,1")
    read = read_table(path)
    assert [(result.cell.repetition, result.cell.round, result.attempt.reward) for result in read.results] == [
        (0, 0, 1.0),
        (1, 0, 0.0),
        (0, 1, 1.0),
    ]
    assert read.notices == (f"{path}: rows of round 0 that repeat the shared attempt of their repetition, merged: 1",)


def test_the_shared_attempt_has_one_result(tmp_path: Path) -> None:
    header = "recipient,task,repetition,round,method,reward,tokens"
    reported = problem(rows(tmp_path, "r,t,0,0,dense,1,5", "r,u,0,0,dense,1,5", "r,t,0,0,none,0,6", header=header))
    assert reported == (
        "FILE: row 4: another round 0 than row 2 for the same repetition (r · t · repetition 0): "
        "reward, tokens differ; all methods share one round 0"
    )


def test_a_cell_stands_once(tmp_path: Path) -> None:
    reported = problem(rows(tmp_path, "r,t,0,1,dense,1", "r,t,0,1,dense,1"))
    assert reported.startswith("FILE: row 3: the same cell as row 2 (r · t · repetition 0 · round 1 · dense)")


def test_rounds_and_repetitions_have_defaults(tmp_path: Path) -> None:
    path = rows(
        tmp_path, "r,t,run0,0", "r,u,Baseline,0", "r,v,,0", "r,t,dense,1", "r,t,none,1", "r,t,方法,1",
        header="recipient,task,method,reward",
    )  # fmt: skip
    read = read_table(path)
    assert [(result.cell.round, result.cell.method) for result in read.results] == [
        (0, RUN0),
        (0, RUN0),
        (0, RUN0),
        (1, "dense"),
        (1, "none"),
        (1, "方法"),
    ]
    assert len(read.notices) == 1 and "rows of method none without a round" in read.notices[0]


# Tokens


@pytest.mark.parametrize(
    ("header", "values", "usage", "total", "tokens"),
    [
        ("tokens", "500", None, 500, 500),
        ("output,tokens", "20,500", Usage(output=20), 500, 500),
        ("input,output,tokens", "480,20,500", Usage(480, output=20), None, 500),
        ("input", "480", Usage(480), None, None),
        ("n_input_tokens,n_cache_tokens,n_output_tokens", "480,80,20", Usage(400, 80, None, 20), None, 500),
        ("prompt_tokens,completion_tokens", "480,20", Usage(480, None, None, 20), None, 500),
        ("input,output", "1e3,12.0", Usage(1000, output=12), None, 1012),
        ("cost", "0.5", Usage(cost_usd=0.5), None, None),
    ],
)
def test_tokens(
    header: str, values: str, usage: Usage | None, total: int | None, tokens: int | None, tmp_path: Path
) -> None:
    path = rows(tmp_path, f"r,t,m,1,{values}", header=f"recipient,task,method,reward,{header}")
    (result,) = read_table(path).results
    assert (result.attempt.usage, result.attempt.total, result.attempt.tokens) == (usage, total, tokens)
    prefixed = ",".join(f"feedback {name}" for name in header.split(","))
    path = rows(tmp_path, f"r,t,m,1,{values}", header=f"recipient,task,method,reward,{prefixed}")
    (result,) = read_table(path).results
    assert (result.feedback, result.feedback_total, result.feedback_tokens) == (usage, total, tokens)


# Files


def test_a_mark_in_front_is_no_part_of_the_first_column(tmp_path: Path) -> None:
    path = table(tmp_path, "recipient,task,method,reward\r\nr,t,m,1\r\n", encoding="utf-8-sig")
    assert read_table(path).results == (Result(Cell("r", "t", 0, 1, "m"), AttemptResult(reward=1.0)),)
    line = json.dumps({"recipient": "r", "task": "t", "method": "m", "reward": 1})
    path = table(tmp_path, line + "\r\n", "results.jsonl", encoding="utf-8-sig")
    assert read_table(path).results == (Result(Cell("r", "t", 0, 1, "m"), AttemptResult(reward=1.0)),)


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_other_encodings_are_refused(suffix: str, tmp_path: Path) -> None:
    text = "recipient,task,method,reward\nKöln,t,m,1\n"
    reported = {".csv": "is not in UTF-8 (line 2, byte 0xf6)", ".jsonl": "line 2: is not in UTF-8 (byte 0xf6)"}
    assert reported[suffix] in problem(table(tmp_path, text, f"a{suffix}", "latin-1"))
    assert "is in UTF-16; save it as UTF-8" in problem(table(tmp_path, text, f"a{suffix}", "utf-16"))


def test_files_that_are_none(tmp_path: Path) -> None:
    assert problem(tmp_path / "missing.csv") == "FILE: cannot be read (No such file or directory)"
    assert "a table ends in .csv" in problem(table(tmp_path, "x", "results.xlsx"))
    assert "a table ends in .csv" in problem(table(tmp_path, "{}", "results.json"))
    assert "is empty; the first row names the columns" in problem(table(tmp_path, "\n", "empty.csv"))
    assert "not a whole gzip file" in problem(table(tmp_path, "no gzip", "a.csv.gz"))
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"recipient,task,method,reward\n" * 50)[:-12])
    assert "not a whole gzip file" in problem(tmp_path / "cut.csv.gz")
    assert "is no Parquet file that can be read" in problem(table(tmp_path, "PAR1 not", "a.parquet"))
    assert "row 2: cannot be read (field larger" in problem(rows(tmp_path, f"{'x' * 200_000},t,0,0,m,1"))
    for name in ("a.parquet.gz", "a.txt", "csv"):
        assert "a table ends in .csv" in problem(table(tmp_path, "x", name))


def test_json_lines(tmp_path: Path) -> None:
    lines = [
        '{"recipient": 7, "task": 12, "method": "m", "reward": true, "tokens": NaN, "input": null, "extra": {}}',
        "",
        '{"Recipient": "r", "task": "t", "round": 0, "reward": NaN, "is_partial": true}',
    ]
    reported = problem(table(tmp_path, "\n".join(lines), "a.jsonl"))
    assert "columns 'recipient' and 'Recipient' are both read as recipient" in reported
    path = table(tmp_path, "\n".join(lines).replace("Recipient", "recipient"), "a.jsonl")
    assert read_table(path) == ResultTable(
        (
            Result(Cell("7", "12", 0, 1, "m"), AttemptResult(reward=1.0)),
            Result(Cell("r", "t", 0, 0, RUN0), AttemptResult(is_partial=True)),
        ),
        (f"{path}: columns that are not used: extra",),
    )


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{", "line 1: not valid JSON"),
        ("[1]", "line 1: is no object"),
        ("[" * 100_000, "line 1: not valid JSON"),
        ('{"recipient": ["r"], "task": "t", "method": "m", "reward": 1}', "line 1: recipient ['r'] is no name"),
        ('{"recipient": "r", "task": true, "method": "m", "reward": 1}', "line 1: task True is no name"),
        ('{"recipient": "r", "task": "t", "method": "m", "reward": {}}', "line 1: reward {} is no reward"),
        ('{"recipient": "r", "task": "t", "method": "m", "reward": Infinity}', "line 1: reward 'Infinity' is not"),
        ('{"recipient": "r", "task": "t", "method": "m", "reward": 1, "tokens": true}', "tokens True is no number"),
        ('{"recipient": "r", "task": "t", "method": "m", "reward": 1, "tokens": 1e30}', "tokens 1e+30 is too large"),
    ],
)
def test_json_lines_that_are_refused(line: str, words: str, tmp_path: Path) -> None:
    assert words in problem(table(tmp_path, line, "a.jsonl"))


def test_a_line_that_is_none_hides_no_other(tmp_path: Path) -> None:
    good = '{"recipient": "r", "task": "t", "method": "m", "reward": 1}'
    lines = [good, "{", good.replace("1}", '"won"}'), "[1]", good.replace('"r"', '"\xf6"'), good]
    reported = problem(table(tmp_path, "\n".join(lines), "a.jsonl", "latin-1")).splitlines()
    assert reported[0] == "FILE: 5 things are wrong, so nothing was read"
    assert [line.split(":")[0].strip() for line in reported[1:]] == [f"line {number}" for number in (2, 3, 4, 5, 6)]
    assert "reward 'won' is no reward" in reported[2] and "is not in UTF-8 (byte 0xf6)" in reported[4]
    assert "the same cell as line 1" in reported[5]
    # Also where the columns are not there, or nothing but such lines is.
    reported = problem(table(tmp_path, '{"task": "t"}\n{\n', "a.jsonl"))
    assert (
        "2 things are wrong" in reported and "no column recipient" in reported and "line 2: not valid JSON" in reported
    )
    many = problem(table(tmp_path, "{\n" * 50, "a.jsonl")).splitlines()
    assert "50 things are wrong" in many[0] and many[-1].strip() == "… and 30 more" and len(many) == 22


def test_parquet_of_others(tmp_path: Path) -> None:
    """As data frames are written: whole numbers with gaps as floats, categories, decimals."""
    from decimal import Decimal

    import pyarrow as arrow  # pyright: ignore[reportMissingTypeStubs]
    from pyarrow import parquet  # pyright: ignore[reportMissingTypeStubs]

    path = tmp_path / "a.parquet"
    data = arrow.table(
        {
            "Recipient": arrow.array(["r", "r"]).dictionary_encode(),
            "task": arrow.array([1, 2]),
            "method": arrow.array(["m", None]),
            "reward": arrow.array([1.0, float("nan")]),
            "round": arrow.array([1.0, 0.0]),
            "input tokens": arrow.array([12.0, float("nan")]),
            "output": arrow.array([3, None], arrow.int32()),
            "cost": arrow.array([Decimal("0.25"), None]),
            "when": arrow.array([0, 1], arrow.timestamp("s")),
        }
    )
    parquet.write_table(data, path)
    assert read_table(path) == ResultTable(
        (
            Result(Cell("r", "1", 0, 1, "m"), AttemptResult(reward=1.0, usage=Usage(12, output=3, cost_usd=0.25))),
            Result(Cell("r", "2", 0, 0, RUN0)),
        ),
        (f"{path}: columns that are not used: when",),
    )
    parquet.write_table(data.rename_columns([*data.column_names[:-1], "exception"]), path)
    assert "row 1: exception datetime.datetime(1970" in problem(path)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.partition(".")[0] == "pyarrow":
            raise ImportError(name)
        return imported(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    call: Callable[[], object]
    for call in (
        lambda: write_table([], tmp_path / "a.parquet"),
        lambda: read_table(table(tmp_path, "x", "b.parquet")),
    ):
        with pytest.raises(DenseError, match=r"pip install 'dense-feedback\[parquet\]'"):
            call()


def test_a_folder_in_the_way_is_reported(tmp_path: Path) -> None:
    (tmp_path / "a.csv").mkdir()
    with pytest.raises(DenseError, match=r"a\.csv: cannot be written"):
        write_table([], tmp_path / "a.csv")
    with pytest.raises(DenseError, match=r"a\.csv: cannot be read"):
        read_table(tmp_path / "a.csv")
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.csv"]


def test_an_export_opens_in_other_programs(tmp_path: Path) -> None:
    """A header of plain names, one line each, no blank for zero."""
    path = tmp_path / "a.csv"
    write_table(
        [Result(Cell("r", "t", 0, 1, "m"), AttemptResult(reward=0.0, usage=Usage(0, None, None, 5), is_partial=True))],
        path,
    )
    with path.open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert set(REQUIRED) <= set(row)
    assert (row["reward"], row["input_tokens"], row["cache_read_tokens"], row["tokens"], row["is_partial"]) == (
        ("0.0", "0", "", "5", "true")
    )


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([".csv", ".tsv", ".jsonl", ".csv.gz", ".parquet"]))
def test_bad_bytes_give_no_traceback(data: bytes, suffix: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{suffix}"
        path.write_bytes(data)
        with contextlib.suppress(DenseError):
            read_table(path)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(max_size=6) | st.sampled_from(["1", "0", "run0", "nan", "1e400", "-1", "٣"]), min_size=6))
def test_bad_values_give_no_traceback(values: list[str]) -> None:
    import tempfile

    header = [column.name for column in COLUMNS]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([header, (values * len(header))[: len(header)]])
        with contextlib.suppress(DenseError):
            read_table(path)


@pytest.mark.parametrize("name", ["=1+1", "+cmd|x", "-5", "@sum", "'=quoted", "''=twice", "'plain", "\tx"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl"])
def test_no_text_is_a_formula_and_every_text_comes_back(tmp_path: Path, name: str, suffix: str) -> None:
    path = tmp_path / f"table{suffix}"
    result = Result(Cell("r", f"t{name}", 0, 1, "dense"), AttemptResult(reward=-0.5, exception=name, trace=name))
    write_table([result], path)
    assert read_table(path).results == (result,)
    if suffix != ".jsonl":
        with path.open(newline="") as file:
            lines = list(csv.reader(file, delimiter="," if suffix == ".csv" else "\t"))
        assert [cell for line in lines for cell in line if cell and cell[0] in "=+-@\t\r"] == ["-0.5"]
