"""From a row to a result and back.

A row says what its cell is, so this is where the shared round 0 is recognised under its many names, and where a table
that contradicts itself is found out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from dense.errors import DenseError
from dense.trajectory import Usage
from refit.experiment.results_table.columns import PARSERS, UnreadableValue, quote_value
from refit.measures import MEASURES, WRITTEN, Measure
from refit.results import RUN0, AttemptResult, Cell, Result, total_of

MAX_SHOWN_PROBLEMS = 20
BETWEEN_NOTES = " | "
ROUND0_NAMES = frozenset({RUN0, "round0", "baseline", ""})
"""Names of methods, squeezed, that say, where a row has no round, that it is the shared attempt."""
_FIELDS = {measure.name: measure.field.split(".") for measure in MEASURES if measure.field}
_RESULT_FIELDS = {name: path[0] for name, path in _FIELDS.items() if len(path) == 1}
_ATTEMPT_FIELDS = {name: path[1] for name, path in _FIELDS.items() if len(path) == 2 and path[0] == "attempt"}
"""By column the field of a result, and of its attempt, that it is put into. Tokens are put together from several."""
_SIGNS = str.maketrans("", "", " -_")


def row_of(result: Result, privileged: Collection[str] = (), notes: Sequence[str] = ()) -> dict[str, Any]:
    """A result by column, what is blank as None; `privileged` are the methods that saw outcomes, `notes` what must be
    said wherever a number is shown: on every row, because rows are cut out and put together."""
    own = {
        "privileged": True if result.cell.method in privileged else None,
        "experiment_note": BETWEEN_NOTES.join(notes),
    }
    row = {measure.name: own.get(measure.name, measure.value(result)) for measure in WRITTEN}
    return {name: None if value == "" else value for name, value in row.items()}


class TableProblems:
    """The errors of a file, collected so that all can be fixed at once."""

    def __init__(self, path: Path, unit: str) -> None:
        self.path = path
        self.unit = unit
        self.count = 0
        self.lines: list[str] = []

    def add(self, problem: str, row_number: int | None = None) -> None:
        """Notes one."""
        self.count += 1
        if self.count <= MAX_SHOWN_PROBLEMS:
            self.lines.append(problem if row_number is None else f"{self.unit} {row_number}: {problem}")

    def stop_here(self) -> None:
        """Raises if there are any."""
        if not self.count:
            return
        if self.count == 1:
            raise DenseError(f"{self.path}: {self.lines[0]}")
        more = [f"… and {self.count - len(self.lines)} more"] if self.count > len(self.lines) else []
        raise DenseError(
            "\n  ".join([f"{self.path}: {self.count} things are wrong, so nothing was read", *self.lines, *more])
        )


class RowReader:
    """Turns rows into results, and keeps what must be said about them."""

    def __init__(self, problems: TableProblems) -> None:
        self.problems = problems
        self.results: list[Result] = []
        self._seen: dict[Cell, tuple[int, Result]] = {}
        self._merged = 0
        self._controls = 0
        self._privileged: dict[str, tuple[int, bool]] = {}
        self._notes: dict[str, None] = {}

    def take(self, row_number: int, values: Iterable[tuple[Measure | None, Any]]) -> None:
        """One row."""
        before = self.problems.count
        row = self._read(row_number, values)
        if not row:
            return
        cell = self._cell(row_number, row)
        usage, total = self._usage(row_number, row, "")
        feedback, feedback_total = self._usage(row_number, row, "feedback_")
        self._notes |= dict.fromkeys(filter(None, map(str.strip, row.get("experiment_note", "").split(BETWEEN_NOTES))))
        if cell is not None:
            self._note_privilege(row_number, cell, row.get("privileged"))
        if cell is None or self.problems.count > before:
            return
        result = Result(
            cell=cell,
            attempt=AttemptResult(**_taken(row, _ATTEMPT_FIELDS, usage=usage, total=total)),
            **_taken(row, _RESULT_FIELDS, feedback=feedback, feedback_total=feedback_total),
        )
        self._keep(row_number, result)

    @property
    def privileged(self) -> tuple[str, ...]:
        """Methods that saw outcomes, as far as rows say so."""
        return tuple(sorted(name for name, (_, said) in self._privileged.items() if said))

    @property
    def notes(self) -> tuple[str, ...]:
        """What must be said wherever a number is shown, as rows say it."""
        return tuple(self._notes)

    def notices(self) -> list[str]:
        """What the user should know of the rows."""
        notices: list[str] = []
        if not self.results:
            notices.append("no rows")
        if self._merged:
            notices.append(
                f"rows of round 0 that repeat the shared attempt of their repetition, merged: {self._merged}"
            )
        if self._controls:
            notices.append(
                f"rows of method none without a round, taken as reruns (round 1): {self._controls}; "
                "write round 0 where they are the first attempts"
            )
        for what in ("recipient", "task", "method"):
            notices += _alike(what, sorted({getattr(result.cell, what) for result in self.results}))
        return notices

    def _read(self, row_number: int, values: Iterable[tuple[Measure | None, Any]]) -> dict[str, Any]:
        """The row's values, without what is blank."""
        row: dict[str, Any] = {}
        for column, value in values:
            if column is None or value is None or value == "":
                continue
            try:
                read = PARSERS[column.kind](value)
            except UnreadableValue as error:
                self.problems.add(f"{column.name} {quote_value(value)} {error}", row_number)
                row[column.name] = None
                continue
            if read is not None:
                row[column.name] = read
        return row

    def _cell(self, row_number: int, row: dict[str, Any]) -> Cell | None:
        before = self.problems.count
        for needed in ("recipient", "task"):
            if needed not in row:
                self.problems.add(f"{needed} is blank; write which", row_number)
        method: str = row.get("method") or ""
        number: int | None = row.get("round")
        if number is None:
            number = 0 if _squeezed(method) in ROUND0_NAMES else 1
            self._controls += method.casefold() == "none"
        if number == 0:
            method = RUN0
        elif not method:
            self.problems.add(
                f"method is blank in round {number}; write which, or round 0 if it had no feedback", row_number
            )
        elif _squeezed(method) == RUN0:
            self.problems.add(
                f"method {quote_value(method)} is the shared attempt of round 0 and cannot be in round {number}; "
                "a rerun without feedback is the method none",
                row_number,
            )
        if self.problems.count > before:
            return None
        return Cell(row["recipient"], row["task"], row.get("repetition") or 0, number, method)

    def _note_privilege(self, row_number: int, cell: Cell, said: bool | None) -> None:
        """What a row says of its method holds for the method; of round 0, which all share, it means nothing."""
        if said is None or cell.round == 0:
            return
        first, before = self._privileged.setdefault(cell.method, (row_number, said))
        if said is not before:
            self.problems.add(
                f"privileged is {str(said).lower()} for {quote_value(cell.method)}, and {str(before).lower()} in "
                f"{self.problems.unit} {first}; a method saw outcomes or it did not",
                row_number,
            )

    def _usage(self, row_number: int, row: dict[str, Any], prefix: str) -> tuple[Usage | None, int | None]:
        """The tokens in buckets, and their sum if the buckets do not give it."""
        try:
            return _usage_of(row, prefix)
        except UnreadableValue as error:
            self.problems.add(str(error), row_number)
            return None, None

    def _keep(self, row_number: int, result: Result) -> None:
        first = self._seen.setdefault(result.cell, (row_number, result))
        if first[0] == row_number:
            self.results.append(result)
        elif result.cell.round == 0 and first[1] == result:
            self._merged += 1
        else:
            self.problems.add(_twice(first[1], result, f"{self.problems.unit} {first[0]}"), row_number)


def _taken(row: dict[str, Any], fields: dict[str, str], **tokens: Usage | int | None) -> dict[str, Any]:
    """What a row has of some fields, and tokens that were put together from several columns."""
    return {**{field: row[name] for name, field in fields.items() if name in row}, **tokens}


def _squeezed(method: str) -> str:
    """A method's name, however it is written: `Run 0` is `run0`."""
    return method.casefold().translate(_SIGNS)


def _usage_of(row: dict[str, Any], prefix: str) -> tuple[Usage | None, int | None]:
    def value(name: str) -> Any:
        return row.get(prefix + name)

    read, write = value("cache_read_tokens"), value("cache_write_tokens")
    uncached, everything = value("input_tokens"), value("all_input_tokens")
    if everything is not None:
        rest = everything - (read or 0) - (write or 0)
        if rest < 0 or uncached not in (None, rest):
            raise UnreadableValue(
                f"{prefix}all_input_tokens {everything} is not the sum of input and cache tokens; correct or remove one"
            )
        uncached = rest
    usage = Usage(uncached, read, write, value("output_tokens"), value("cost_usd"))
    given, total = value("tokens"), total_of(usage)
    known = sum(part or 0 for part in (usage.input, usage.cache_read, usage.cache_write, usage.output))
    if given is not None and (given < known or total not in (None, given)):
        raise UnreadableValue(
            f"{prefix}tokens {given} is not the sum {known} of input, cache and output tokens; correct or remove one"
        )
    return (usage if usage != Usage() else None), (given if total is None else None)


def _twice(first: Result, second: Result, origin: str) -> str:
    """Why two rows cannot be of one cell."""
    if second.cell.round > 0:
        return f"the same cell as {origin} ({second.cell}); remove one, or give it another repetition"
    first_row, second_row = row_of(first), row_of(second)
    differs = ", ".join(name for name in first_row if first_row[name] != second_row[name])
    return (
        f"another round 0 than {origin} for the same repetition ({second.cell.recipient} · {second.cell.task} · "
        f"repetition {second.cell.repetition}): {differs} differ; all methods share one round 0"
    )


def _alike(what: str, names: Sequence[str]) -> list[str]:
    """Says which names differ only in how they are written: they are probably one."""
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(" ".join(name.replace("_", "-").replace("-", " ").casefold().split()), []).append(name)
    return [
        f"{what}s {' and '.join(map(repr, group))} differ only in spelling and are counted apart"
        for group in groups.values()
        if len(group) > 1
    ]
