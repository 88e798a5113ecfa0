"""How numbers are written. Computed first, rounded last; a half goes away from zero; a change always has its sign."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

from refit.report.model import Interval, MeanEstimate

MINUS = "−"
NOTHING = "—"
EXACT = Context(prec=400)
"""Enough for every digit of any float before its point."""
BOUND = "‡"
"""Behind an interval that is a bound."""


def format_fixed(value: float, digits: int, *, sign: bool = False) -> str:
    """With so many digits after the point and commas between thousands. Twelve digits are what a number is taken to
    have: the rest is the noise of binary fractions, and must not decide where a half goes."""
    rounded = Decimal(f"{value:.12g}").quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP, context=EXACT)
    text = f"{abs(rounded):,.{digits}f}"
    if rounded < 0:
        return MINUS + text
    return f"+{text}" if sign else text


def format_number(value: float | None, digits: int, *, sign: bool = False, unit: str = "") -> str:
    """The same, with its unit; a dash where there is none."""
    return NOTHING if value is None else format_fixed(value, digits, sign=sign) + unit


def format_interval(interval: Interval | None, digits: int, *, sign: bool = False, scale: float = 1.0) -> str:
    """In brackets, with a mark where it is a bound; empty where there is none."""
    if interval is None:
        return ""
    low, high = (format_fixed(end * scale, digits, sign=sign) for end in (interval.low, interval.high))
    return f"[{low}, {high}]{BOUND if interval.kind == 'bound' else ''}"


def format_range(interval: Interval, digits: int) -> str:
    """For sentences about a change: from … to …"""
    return f"{format_fixed(interval.low, digits, sign=True)} to {format_fixed(interval.high, digits, sign=True)}"


def format_p(p: float | None) -> str:
    """Three digits, or that it is smaller."""
    if p is None:
        return NOTHING
    return "<0.001" if p < 0.001 else format_fixed(p, 3)


def p_in_words(p: float) -> str:
    """For sentences: p = 0.012, p < 0.001."""
    return "p < 0.001" if p < 0.001 else f"p = {format_fixed(p, 3)}"


def known_of(estimate: MeanEstimate) -> str:
    """Of how many a mean is, where that is not all; empty otherwise."""
    return "" if estimate.known == estimate.of else f"{estimate.known} of {estimate.of} known"


def count_of(count: int, singular: str, many: str = "") -> str:
    """1 task, 2 tasks."""
    return f"{count:,} {singular if count == 1 else many or singular + 's'}"
