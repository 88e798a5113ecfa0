"""The columns of a table of results: which measures they are, what they may hold, how a value is read.

Tables come from spreadsheets, notebooks and other people's scripts. So names are recognised in several spellings, and
a whole number may be written as `12.0`. What is blank is unknown, never zero; what is neither blank nor understood is
refused in words, because a guess would become a number in a report."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from dense.text.clip import clip_end
from refit.measures import MEASURES, Kind, Measure

BLANKS = frozenset({"", "nan", "null", "none", "na", "n/a", "<na>"})
"""How programs write that something is not known, in lower case."""
FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MAX_COUNT = 2**63 - 1
"""What a database and a Parquet file can still hold."""
MAX_QUOTED_CHARS = 60
"""So many characters of a value that is refused are shown."""


class UnreadableValue(ValueError):
    """A value that its column cannot hold. The text says why, and what it can hold."""


REQUIRED = ("recipient", "task", "method", "reward")

_BY_SPELLING = {
    spelling: measure
    for measure in MEASURES
    if measure.column != "none"
    for spelling in (measure.name, *measure.spellings)
}


def normalize_header(header: str) -> str:
    """A column's name without the choices of who wrote it: `Cache-read tokens ` is `cache_read_tokens`."""
    return re.sub(r"[^a-z0-9]+", "_", header.casefold()).strip("_")


class ColumnMatch(Struct, frozen=True):
    """Which columns a table has."""

    columns: tuple[Measure | None, ...]
    """For each of the table's columns ours, or None where it is left out."""
    notices: tuple[str, ...] = ()
    """What was left out."""
    problems: tuple[str, ...] = ()
    """Why the table cannot be read."""


def match_columns(headers: Sequence[str]) -> ColumnMatch:
    """Finds our columns among a table's. One in its own spelling goes before one in another."""
    columns = [_BY_SPELLING.get(normalize_header(header)) for header in headers]
    problems: list[str] = []
    for column in {column.name: column for column in columns if column is not None}.values():
        places = [position for position, other in enumerate(columns) if other is column]
        own = [position for position in places if normalize_header(headers[position]) == column.name]
        if len(places) > 1 and len(own) != 1:
            names = " and ".join(repr(headers[position]) for position in places)
            problems.append(f"columns {names} are both read as {column.name}: rename or remove all but one")
        for position in places:
            if position not in own[:1] and len(own) == 1:
                columns[position] = None
    there = {column.name for column in columns if column is not None}
    if missing := [name for name in REQUIRED if name not in there]:
        has = ", ".join(map(repr, headers)) or "nothing"
        problems.append(f"no column {', '.join(missing)} (there is {has}); docs/results-table.md lists the names")
    unused = [header for header, column in zip(headers, columns, strict=True) if column is None and header.strip()]
    notices = (f"columns that are not used: {', '.join(unused)}",) if unused else ()
    return ColumnMatch(tuple(columns), notices, tuple(problems))


def quote_value(value: object) -> str:
    """A value in a message: quoted, not too long."""
    text = repr(value)
    return clip_end(text, MAX_QUOTED_CHARS)


def name(value: Any) -> str | None:
    """A name. `none` and `NA` are names; a number is one too, because some tasks have no other."""
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, float) and math.isnan(value):
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise UnreadableValue("is no name; write text")


def text(value: Any) -> str | None:
    """Any text, as it is."""
    if isinstance(value, str):
        return None if value.strip().casefold() in BLANKS else value
    return name(value)


def number(value: Any) -> float | None:
    """A finite number; None where nothing is known."""
    if isinstance(value, str):
        if value.strip().casefold() in BLANKS:
            return None
        try:
            # Python reads 1_000 as a number; no other program does.
            value = float("" if "_" in value else value)
        except ValueError:
            raise UnreadableValue(
                "is no number; write it with a decimal point and without separators, or leave it blank"
            ) from None
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise UnreadableValue("is no number; write one, or leave it blank")
    try:
        read = float(value)
    except OverflowError:
        read = math.inf
    if math.isinf(read):
        raise UnreadableValue("is not finite; leave it blank where it is not known")
    return None if math.isnan(read) else read


def count(value: Any) -> int | None:
    """A whole number from zero up."""
    if isinstance(value, str) and value.isdigit() and value.isascii():
        if len(value) < 19:  # as nearly all values of a table
            return int(value)
        value = int(value[:40])
    if isinstance(value, int) and not isinstance(value, bool):
        whole = value
    else:
        read = number(value)
        if read is None:
            return None
        if not read.is_integer():
            raise UnreadableValue("is no whole number; write one, or leave it blank")
        whole = int(read)
    if whole < 0:
        raise UnreadableValue("is negative; leave it blank where it is not known")
    if whole > MAX_COUNT:
        raise UnreadableValue("is too large")
    return whole


def amount(value: Any) -> float | None:
    """A number from zero up."""
    read = number(value)
    if read is not None and read < 0:
        raise UnreadableValue("is negative; leave it blank where it is not known")
    return read


def reward(value: Any) -> float | None:
    """What a verifier gave: a number, or whether it passed."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, str) and (word := value.strip().casefold()) in ("true", "false"):
        return float(word == "true")
    try:
        return number(value)
    except UnreadableValue as error:
        words = "is not finite" if "finite" in str(error) else "is no reward"
        raise UnreadableValue(
            f"{words}; write a number, true or false, or leave it blank where nothing was scored"
        ) from None


def flag(value: Any) -> bool | None:
    """Yes or no."""
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in BLANKS:
            return None
        if word in FLAGS:
            return FLAGS[word]
    read = value if isinstance(value, int | float) else math.inf
    if read in (0, 1):
        return bool(read)
    if math.isnan(read):
        return None
    raise UnreadableValue("is neither true nor false")


PARSERS: dict[Kind, Callable[[Any], Any]] = {
    "name": name,
    "text": text,
    "count": count,
    "amount": amount,
    "reward": reward,
    "flag": flag,
}
"""How a value of each kind is read: None where it is blank, `UnreadableValue` where it is neither."""
