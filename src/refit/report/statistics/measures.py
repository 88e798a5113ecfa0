"""The measures of a run: what is averaged over results, and how each mean is shown.

One row adds a measure to `MethodRow`, to the table `behaviour` and to its CSV file. The field of `MethodRow` that holds
the mean is declared in `model`."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from refit.results import Result


class Measure(Struct, frozen=True):
    """A number of one result whose mean over results is reported."""

    field: str
    """The field of `MethodRow` with its mean."""
    column: str
    """Its column in `behaviour.csv`."""
    header: str
    """The head of its column in the table."""
    digits: int
    """Digits after the point."""
    take: Callable[[Result], float | None]
    """Its value for one result; None if unknown."""
    scale: float = 1.0
    """What a value is multiplied by before it is shown."""


def feedback_tokens(result: Result) -> int | None:
    """The tokens that making its feedback took; 0 for a first attempt and a second try, which have no feedback."""
    has_none = result.cell.round == 0 or result.cell.method == "none"
    return 0 if has_none and result.feedback_tokens is None else result.feedback_tokens


def combined_tokens(result: Result) -> int | None:
    """The tokens of the run and of its feedback together; None if either is unknown."""
    run, feedback = result.attempt.tokens, feedback_tokens(result)
    return None if run is None or feedback is None else run + feedback


MEASURES = (
    Measure(field="reward", column="reward", header="Reward", digits=4, take=lambda result: result.attempt.reward),
    Measure(
        field="tool_calls",
        column="tool_calls",
        header="Tool calls",
        digits=1,
        take=lambda result: result.attempt.tool_calls,
    ),
    Measure(field="turns", column="turns", header="Turns", digits=1, take=lambda result: result.attempt.turns),
    Measure(field="seconds", column="seconds", header="Seconds", digits=0, take=lambda result: result.attempt.seconds),
    Measure(
        field="feedback_bytes",
        column="message_bytes",
        header="Message (KiB)",
        digits=1,
        take=lambda result: result.feedback_bytes,
        scale=1 / 1024,
    ),
    Measure(
        field="feedback_tokens",
        column="feedback_tokens",
        header="Feedback tokens (thousands)",
        digits=1,
        take=feedback_tokens,
        scale=0.001,
    ),
    Measure(
        field="combined_tokens",
        column="combined_tokens",
        header="With the run's (thousands)",
        digits=1,
        take=combined_tokens,
        scale=0.001,
    ),
)
