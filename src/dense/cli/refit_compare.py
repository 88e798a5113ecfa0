"""`dense refit compare`: the paired difference of two experiments, and a gate on it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Literal

import msgspec

from dense.cli.refit_place import error_console, existing_folder, output_console
from dense.cli.text import printable
from dense.refit.experiment import experiment_of
from dense.report.compare import PairedComparison, Side
from dense.report.compare import compare as compare_sides
from dense.report.numbers import NOTHING, count_of, format_fixed, format_interval, p_in_words

GATE_FAILED = 3
"""The exit code of a comparison below `--fail-under`."""

type Measure = Literal["point", "low", "high"]


def compare(
    first: str,
    second: str,
    *,
    fail_under: float | None,
    by: Measure,
    round: int,
    recipients: tuple[str, ...],
    seed: int | None,
    as_json: bool,
) -> None:
    """Print the second less the first for each recipient; exit with `GATE_FAILED` if one is below the limit."""
    from dense.report import SEED

    sides = _side(first), _side(second)
    found = compare_sides(*sides, round=round, recipients=recipients, seed=SEED if seed is None else seed)
    console = output_console()
    if as_json:
        console.print(msgspec.json.encode(found).decode(), markup=False, soft_wrap=True)
    else:
        for one in found:
            for line in _lines(one):
                console.print(printable(line), markup=False)
    failed = [one for one in found if fail_under is not None and not _reaches(one, fail_under, by)]
    for one in failed:
        words = f"{printable(one.recipient)}: {_words(by)} is below {fail_under:+g} points"
        error_console().print(f"failed: {words}", markup=False)
    if failed:
        sys.exit(GATE_FAILED)


def _side(text: str) -> Side:
    """`EXPERIMENT` or `EXPERIMENT#METHOD`."""
    place, sign, method = text.rpartition("#")
    path = Path(place if sign else text)
    return Side(experiment_of(existing_folder(path, None)), method if sign else None)


def _lines(found: PairedComparison) -> list[str]:
    points = found.difference.points
    rates = " − ".join(f"{format_fixed(side.value or 0.0, 2)} %" for side in (found.second, found.first))
    names = f"{found.difference.method_label} (second) − {found.difference.reference_label} (first)"
    if points.value is None:
        return [f"{found.recipient}: {names}: no pair is scored on both sides"]
    interval = format_interval(points.interval, 2, sign=True) or "no interval with one task"
    p = NOTHING if found.difference.p is None else p_in_words(found.difference.p)
    lines = [
        f"{found.recipient}: {names}",
        f"  {rates} = {format_fixed(points.value, 2, sign=True)} points, 95 % {interval}, {p}",
        f"  {count_of(points.known, 'pair')} of {count_of(points.tasks, 'task')}: both passed {found.difference.both}, "
        f"only the second {found.difference.method_only}, only the first {found.difference.reference_only}",
    ]
    if found.unpaired:
        lines.append(f"  {count_of(found.unpaired, 'result')} without a counterpart: in no number")
    return lines


def _reaches(found: PairedComparison, limit: float, by: Measure) -> bool:
    """Whether the difference is at least the limit. What is not known does not reach it."""
    points = found.difference.points
    ends = points.interval
    value = points.value if by == "point" else None if ends is None else ends.low if by == "low" else ends.high
    return value is not None and value >= limit


def _words(by: Measure) -> str:
    if by == "point":
        return "the difference"
    return f"the {'lower' if by == 'low' else 'upper'} end of the interval"
