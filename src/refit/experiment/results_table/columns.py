"""The columns of a table of results: what they are called, what they may hold, how a value is read.

Tables come from spreadsheets, notebooks and other people's scripts. So names are recognised in several spellings, and
a whole number may be written as `12.0`. What is blank is unknown, never zero; what is neither blank nor understood is
refused in words, because a guess would become a number in a report."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Literal

from msgspec import Struct

from dense.text.clip import clip_end

type Kind = Literal["name", "text", "count", "amount", "reward", "flag"]

BLANKS = frozenset({"", "nan", "null", "none", "na", "n/a", "<na>"})
"""How programs write that something is not known, in lower case."""
FLAGS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
MAX_COUNT = 2**63 - 1
"""What a database and a Parquet file can still hold."""
MAX_QUOTED_CHARS = 60
"""So many characters of a value that is refused are shown."""


class UnreadableValue(ValueError):
    """A value that its column cannot hold. The text says why, and what it can hold."""


class Column(Struct, frozen=True):
    """One column."""

    name: str
    """As it is written."""
    kind: Kind
    """What it holds."""
    meaning: str
    """For people."""
    spellings: tuple[str, ...] = ()
    """Other names that are understood, in the form that `normalize_header` gives."""
    is_written: bool = True
    """Whether an export has it; the others are only understood."""


def _of_usage(prefix: str, whose: str) -> tuple[Column, ...]:
    """Tokens in disjoint buckets, their sum, their price."""

    def column(name: str, kind: Kind, meaning: str, spellings: str, *, is_written: bool = True) -> Column:
        others = tuple(prefix + spelling for spelling in spellings.split())
        return Column(prefix + name, kind, meaning.format(whose), others, is_written)

    return (
        column(
            "input_tokens", "count", "input of {} that no cache served", "input uncached_input uncached_input_tokens"
        ),
        column(
            "cache_read_tokens",
            "count",
            "input of {} read from a cache",
            "cache_read cached cached_tokens cached_input_tokens cache_read_input_tokens n_cache_tokens",
        ),
        column(
            "cache_write_tokens",
            "count",
            "input of {} written to a cache",
            "cache_write cache_creation cache_creation_tokens cache_creation_input_tokens cache_write_input_tokens",
        ),
        column("output_tokens", "count", "output of {}", "output completion_tokens n_output_tokens"),
        column(
            "tokens", "count", "all tokens of {}; enough where the buckets are not known", "total_tokens all_tokens"
        ),
        column(
            "all_input_tokens",
            "count",
            "input of {} with what a cache served or stored, as many programs count it",
            "n_input_tokens prompt_tokens total_input_tokens input_tokens_with_cache",
            is_written=False,
        ),
        column("cost_usd", "amount", "what {} cost, as recorded", "cost usd cost_in_usd"),
    )


COLUMNS: tuple[Column, ...] = (
    Column("recipient", "name", "the agent that made the attempt", ("agent", "agent_name", "recipient_name")),
    Column("task", "name", "the task's name", ("task_name", "task_id", "instance", "instance_id")),
    Column("repetition", "count", "which of the independent repetitions, from 0", ("rep", "repeat", "replicate")),
    Column("round", "count", "0 for the shared first attempt, 1 … N for reruns with feedback"),
    Column("method", "name", "which method wrote the feedback", ("method_name", "feedback_method", "condition")),
    Column(
        "privileged",
        "flag",
        "whether the method saw outcomes: then it is shown apart",
        ("is_privileged", "saw_outcome"),
    ),
    Column("reward", "reward", "the verifier's number; blank where it gave none", ("score", "passed", "pass")),
    *_of_usage("", "the recipient"),
    Column("is_partial", "flag", "whether the tokens are those of completed calls only", ("partial",)),
    *_of_usage("feedback_", "making the feedback"),
    Column("feedback_bytes", "count", "size of the message that the recipient got", ("message_bytes",)),
    Column("profile", "text", "how the feedback was analysed: `fast`, `paper` or `rules`"),
    Column("budget", "text", "how large the feedback could be: bytes, `paper` or `default`"),
    Column("tool_calls", "count", "how many tools the recipient called", ("n_tool_calls",)),
    Column("turns", "count", "how often the recipient acted", ("n_turns", "n_steps")),
    Column("checks_passed", "count", "how many of the verifier's checks passed", ("tests_passed",)),
    Column("checks", "count", "how many checks the verifier made", ("tests", "n_tests")),
    Column("seconds", "amount", "how long the attempt took", ("duration_seconds", "elapsed_seconds", "wall_seconds")),
    Column(
        "tries",
        "count",
        "how many executions were started for it, killed ones included; 1 if blank",
        ("executions",),
    ),
    Column("exception", "text", "what ended the attempt before its time", ("exception_type", "error", "error_type")),
    Column("problem", "text", "why the attempt was not scored, in words"),
    Column("delivered", "text", "how the message came to the recipient: `instruction` or `file`"),
    Column("received", "text", "what the trace says of the message: `same`, `different`, …"),
    Column("message_sha256", "text", "the message's hash"),
    Column("is_argument", "flag", "whether the agent handed its instruction on within a command or a variable"),
    Column("trial", "text", "where the folder of the trial lies"),
    Column("trace", "text", "where the trace lies", ("trajectory",)),
    Column("feedback_folder", "text", "where the feedback lies"),
    Column("message", "text", "where the message lies that the recipient got"),
    Column("experiment_note", "text", "what must be said wherever a number of it is shown"),
)
EXPORTED_COLUMNS = tuple(column for column in COLUMNS if column.is_written)
REQUIRED = ("recipient", "task", "method", "reward")

_BY_SPELLING = {spelling: column for column in COLUMNS for spelling in (column.name, *column.spellings)}


def normalize_header(header: str) -> str:
    """A column's name without the choices of who wrote it: `Cache-read tokens ` is `cache_read_tokens`."""
    return re.sub(r"[^a-z0-9]+", "_", header.casefold()).strip("_")


class ColumnMatch(Struct, frozen=True):
    """Which columns a table has."""

    columns: tuple[Column | None, ...]
    """For each of the table's columns ours, or None where it is left out."""
    notices: tuple[str, ...] = ()
    """What was left out."""
    problems: tuple[str, ...] = ()
    """Why the table cannot be read."""


def match_columns(headers: Sequence[str]) -> ColumnMatch:
    """Finds our columns among a table's. One in its own spelling goes before one in another."""
    found = [_BY_SPELLING.get(normalize_header(header)) for header in headers]
    problems: list[str] = []
    for column in {column.name: column for column in found if column is not None}.values():
        places = [place for place, other in enumerate(found) if other is column]
        own = [place for place in places if normalize_header(headers[place]) == column.name]
        if len(places) > 1 and len(own) != 1:
            names = " and ".join(repr(headers[place]) for place in places)
            problems.append(f"columns {names} are both read as {column.name}: rename or remove all but one")
        for place in places:
            if place not in own[:1] and len(own) == 1:
                found[place] = None
    there = {column.name for column in found if column is not None}
    if missing := [name for name in REQUIRED if name not in there]:
        has = ", ".join(map(repr, headers)) or "nothing"
        problems.append(f"no column {', '.join(missing)} (there is {has}); docs/results-table.md lists the names")
    unused = [header for header, column in zip(headers, found, strict=True) if column is None and header.strip()]
    notices = (f"columns that are not used: {', '.join(unused)}",) if unused else ()
    return ColumnMatch(tuple(found), notices, tuple(problems))


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
