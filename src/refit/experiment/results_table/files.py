"""Results as a table: one row for each cell, as CSV, JSON lines or Parquet. `docs/results-table.md` lists the columns.

What is written is read back as the same results. Tables of others are read strictly: all errors of a
file are reported at once, by row and column, and then nothing of it is imported."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from dense.errors import DenseError, install_hint
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import is_obj
from refit.experiment.results_table.columns import REQUIRED, match_columns
from refit.experiment.results_table.rows import RowReader, TableProblems, row_of
from refit.measures import WRITTEN, Kind, Measure
from refit.results import Result

type Format = Literal["csv", "tsv", "jsonl", "parquet"]
type PlacedRow = tuple[int, Iterable[tuple[Measure | None, Any]]]
"""Its place in the file, and its values."""
type TableSource = tuple[tuple[str, ...] | None, Iterable[PlacedRow]]
"""What is to be said of a file's columns, None for a file without any; and its rows."""

FORMATS: dict[str, Format] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
}
PLACE_WORDS: dict[Format, str] = {"csv": "row", "tsv": "row", "jsonl": "line", "parquet": "row"}
MAX_HEADER_CHARS = 1 << 16
"""Within so many characters the first line of a CSV file ends."""
DELIMITERS = {"csv": ",;\t", "tsv": "\t"}


class ResultTable(Struct, frozen=True):
    """The results of a file or folder, and what must be said of them."""

    results: tuple[Result, ...]
    """One for each cell, in the order of the rows."""
    notices: tuple[str, ...] = ()
    """What the user should know: columns left out, rows merged."""
    notes: tuple[str, ...] = ()
    """What must be said wherever a number of it is shown, where the source knows."""
    privileged: tuple[str, ...] = ()
    """Methods that saw outcomes, where the source knows."""


def read_table(path: Path) -> ResultTable:
    """The results in a table. One `DenseError` reports everything that is wrong with it."""
    kind = _required_format(path)
    problems = TableProblems(path, PLACE_WORDS[kind])
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DenseError(f"{path}: cannot be read ({error.strerror or error})") from None
    if path.suffix.lower() == ".gz":
        data = _unpacked(data, path)
    header, rows = _SOURCES[kind](data, problems, kind)
    problems.stop_here()
    if header is None:
        return ResultTable((), (f"{path}: no rows",))
    reading = RowReader(problems)
    for row_number, values in rows:
        reading.take(row_number, values)
    problems.stop_here()
    notices = (*header, *reading.notices())
    placed_notices = tuple(f"{path}: {notice}" for notice in notices)
    return ResultTable(tuple(reading.results), placed_notices, reading.notes, reading.privileged)


def write_table(
    results: Iterable[Result], path: Path, privileged: Collection[str] = (), notes: Sequence[str] = ()
) -> None:
    """Writes results where `read_table` reads them back as they are, with the methods that saw outcomes (`privileged`)
    and what must be said of them (`notes`). The file appears whole or not at all."""
    data = _WRITERS[_required_format(path)](row_of(result, privileged, notes) for result in results)
    if path.suffix.lower() == ".gz":
        data = gzip.compress(data, mtime=0)
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise DenseError(f"{path}: cannot be written ({error.strerror or error})") from None


def _format(path: Path) -> Format | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    is_packed = suffixes[-1:] == [".gz"]
    known = FORMATS.get("".join(suffixes[-2:-1] if is_packed else suffixes[-1:]))
    return None if is_packed and known == "parquet" else known


def _required_format(path: Path) -> Format:
    if (known := _format(path)) is None:
        raise DenseError(f"{path}: a table ends in .csv, .tsv, .jsonl (each also with .gz) or .parquet")
    return known


def _unpacked(data: bytes, path: Path) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error) as error:
        raise DenseError(f"{path}: not a whole gzip file ({error})") from None


def _decoded(data: bytes, problems: TableProblems) -> str:
    """Text in UTF-8, with or without a mark in front."""
    if _is_utf_16(data, problems):
        return ""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        problems.add(f"is not in UTF-8 (line {line}, byte {data[error.start]:#04x}); save it as UTF-8")
        return ""


def _is_utf_16(data: bytes, problems: TableProblems) -> bool:
    has_mark = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if has_mark:
        problems.add("is in UTF-16; save it as UTF-8 (in a spreadsheet: CSV UTF-8)")
    return has_mark


def _columns(headers: Sequence[str], problems: TableProblems) -> tuple[tuple[Measure | None, ...], tuple[str, ...]]:
    matched = match_columns(headers)
    for problem in matched.problems:
        problems.add(problem)
    return matched.columns, matched.notices


def _from_csv(data: bytes, problems: TableProblems, kind: Format) -> TableSource:
    text = _decoded(data, problems)
    if not problems.count and not text.strip():
        problems.add("is empty; the first row names the columns")
    if problems.count:
        return None, ()
    delimiter = max(DELIMITERS[kind], key=lambda sign: _known(text, sign))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    lines = _lines(reader, problems)
    headers = next((line for _, line in lines if any(map(str.strip, line))), list[str]())
    columns, notices = _columns(headers, problems)

    def rows() -> Iterator[PlacedRow]:
        for row_number, line in lines:
            if len(line) == len(columns):
                yield row_number, zip(columns, map(_unmarked, line), strict=True)
            elif any(map(str.strip, line)):
                problems.add(f"has {len(line)} values where the header has {len(columns)} columns", row_number)

    return notices, rows()


def _known(text: str, delimiter: str) -> int:
    """How many columns of the first line are known, if this is the separator."""
    try:
        headers = next(csv.reader(text[:MAX_HEADER_CHARS].lstrip().splitlines()[:1], delimiter=delimiter), list[str]())
    except csv.Error:
        return 0
    return sum(column is not None for column in match_columns(headers).columns)


def _lines(reader: Any, problems: TableProblems) -> Iterator[tuple[int, list[str]]]:
    """The rows as a spreadsheet counts them."""
    row_number = 0
    while True:
        row_number += 1
        try:
            line = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(f"cannot be read ({error}); is a quotation mark missing?", row_number)
            return
        yield row_number, line


def _from_jsonl(data: bytes, problems: TableProblems, _: Format) -> TableSource:
    if _is_utf_16(data, problems):
        return None, ()
    lines = list(_objects(data.removeprefix(codecs.BOM_UTF8)))
    headers = list(dict.fromkeys(chain.from_iterable(line for _, line in lines if not isinstance(line, str))))
    columns, notices = _columns(headers, problems) if headers else ((), ())
    known = dict(zip(headers, columns, strict=True))
    can_be_read = headers and not problems.count

    def rows() -> Iterator[PlacedRow]:
        for row_number, line in lines:
            if isinstance(line, str):
                problems.add(line, row_number)
            elif can_be_read:
                yield row_number, ((known[key], value) for key, value in line.items())

    if can_be_read:
        return notices, rows()
    list(rows())  # no readable columns: still report the lines that are not objects
    return None, ()


def _objects(data: bytes) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """The content of each line that is not blank; or what is wrong with it, so that one line hides no other."""
    for row_number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            line.decode()
            value, _repairs = decode(line)
        except UnicodeDecodeError as error:
            yield row_number, f"is not in UTF-8 (byte {line[error.start]:#04x}); save it as UTF-8"
        except BadJson as error:
            yield row_number, str(error)
        else:
            yield row_number, value if is_obj(value) else "is no object; write one for each result, {…}"


def _from_parquet(data: bytes, problems: TableProblems, _: Format) -> TableSource:
    arrow, parquet = _pyarrow()
    try:
        table = parquet.read_table(arrow.BufferReader(data))
        headers: list[str] = table.column_names
        columns, notices = _columns(headers, problems)
        positions = [position for position, column in enumerate(columns) if column is not None]
        values = [table.column(position).to_pylist() for position in positions]
    except (arrow.ArrowException, OSError) as error:
        problems.add(f"is no Parquet file that can be read ({' '.join(str(error).split())})")
        return None, ()
    used = [columns[position] for position in positions]
    rows = enumerate(zip(*values, strict=True), 1)
    return notices, ((row_number, zip(used, row, strict=True)) for row_number, row in rows)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow  # pyright: ignore[reportMissingTypeStubs]
        import pyarrow.parquet  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        raise DenseError(f"Parquet needs pyarrow: {install_hint('parquet')}; or use .csv or .jsonl") from None
    return cast("Any", pyarrow), cast("Any", pyarrow.parquet)


_SOURCES: dict[Format, Callable[[bytes, TableProblems, Format], TableSource]] = {
    "csv": _from_csv,
    "tsv": _from_csv,
    "jsonl": _from_jsonl,
    "parquet": _from_parquet,
}


def _to_csv(rows: Iterable[dict[str, Any]], delimiter: str = ",") -> bytes:
    file = io.StringIO(newline="")
    # With this end of a line, a lone carriage return in a text is quoted too.
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\r\n")
    writer.writerow(column.name for column in WRITTEN)
    for row in rows:
        writer.writerow(map(_csv_value, row.values()))
    return file.getvalue().encode()


_FORMULA = re.compile(r"'*[=+\-@\t\r]")
"""How a text begins that a spreadsheet would take for a formula, or that looks like one which was marked."""


def _csv_value(value: Any) -> Any:
    """A value for CSV: text that a spreadsheet would take for a formula has an apostrophe in front."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def _unmarked(text: str) -> str:
    """The text that `_csv_value` was given."""
    return text[1:] if text.startswith("'") and _FORMULA.match(text) else text


def _to_tsv(rows: Iterable[dict[str, Any]]) -> bytes:
    return _to_csv(rows, "\t")


def _to_jsonl(rows: Iterable[dict[str, Any]]) -> bytes:
    encode = msgspec.json.Encoder().encode
    # What a table must have is there even where it is blank: perhaps no row has a reward.
    kept = ({key: value for key, value in row.items() if value is not None or key in REQUIRED} for row in rows)
    return b"".join(encode(row) + b"\n" for row in kept)


def _to_parquet(rows: Iterable[dict[str, Any]]) -> bytes:
    arrow, parquet = _pyarrow()
    types: dict[Kind, Any] = {
        "name": arrow.string(),
        "text": arrow.string(),
        "count": arrow.int64(),
        "amount": arrow.float64(),
        "reward": arrow.float64(),
        "flag": arrow.bool_(),
    }
    schema = arrow.schema([(column.name, types[column.kind]) for column in WRITTEN])
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.Table.from_pylist(list(rows), schema=schema), sink)
    return sink.getvalue().to_pybytes()


_WRITERS: dict[Format, Callable[[Iterable[dict[str, Any]]], bytes]] = {
    "csv": _to_csv,
    "tsv": _to_tsv,
    "jsonl": _to_jsonl,
    "parquet": _to_parquet,
}
