"""What is known of a result, each thing once: how it is read, written, averaged and shown.

The columns of a table of results, the means in the report's tables and the cells of its page are the rows of
`MEASURES`, in their order. A field of `AttemptResult` or `Result` without a row here reaches no reader, and a test says
so (`tests/refit/test_measures.py`)."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Literal

from msgspec import Struct

from refit.results import Result

type Kind = Literal["name", "text", "count", "amount", "reward", "flag"]
type PageKind = Literal["number", "reward", "tokens", "name", "fraction"]
"""How `page.js` writes a value: `tokens` with a mark if they are partial, `name` and `fraction` as texts."""
type Place = Literal["tables", "page"]


class MeanColumn(Struct, frozen=True):
    """How the mean of a measure over results is shown in the report's table `behaviour`."""

    header: str
    """The head of its column."""
    digits: int
    """Digits after the point."""
    take: Callable[[Result], float | None] | None = None
    """What is averaged, if that is not what the measure reads."""
    scale: float = 1.0
    """What the mean is multiplied by before it is shown."""
    column: str = ""
    """Its column in `behaviour.csv`, if that is not the measure's name."""
    is_in_cases: bool = False
    """Whether the table `cases` has its mean for each task, and the case on the page its value for each run."""


class PageColumn(Struct, frozen=True):
    """How a measure is shown among the cells of the page."""

    header: str
    """The head of its column."""
    kind: PageKind = "number"
    """How it is written."""
    take: Callable[[Result], Any] | None = None
    """What is shown, if that is not what the measure reads."""


class Measure(Struct, frozen=True, kw_only=True):
    """One thing that is known of a result."""

    name: str
    """Its column in a table of results, and its key among the means of a `MethodRow`."""
    kind: Kind
    """What it holds."""
    meaning: str
    """For people, with its unit."""
    field: str = ""
    """The field that holds it, from the result on (`attempt.turns`); empty if it is computed, or the table's own."""
    read: Callable[[Result], Any] | None = None
    """How it is read from a result; None if a result does not have it."""
    spellings: tuple[str, ...] = ()
    """Other names of its column that are understood, in the form that `normalize_header` gives."""
    column: Literal["written", "understood", "none"] = "written"
    """Whether tables of results have it: exported and imported, only imported, or neither."""
    mean: MeanColumn | None = None
    """How it is averaged; None if it is not."""
    page: PageColumn | None = None
    """Its column among the cells of the page; None if it has none."""
    remark: Callable[[Result], str] | None = None
    """What the page says of it among a cell's remarks; empty for nothing."""
    unshown: tuple[Place, ...] = ()
    """Where the report does not show it."""

    def value(self, result: Result) -> Any:
        """What is known of a result; None if nothing is."""
        return None if self.read is None else self.read(result)

    def average(self, result: Result) -> float | None:
        """What is averaged."""
        take = self.mean.take if self.mean is not None else None
        return self.value(result) if take is None else take(result)

    def shown(self, result: Result) -> Any:
        """What the page shows."""
        take = self.page.take if self.page is not None else None
        return self.value(result) if take is None else take(result)


def has_feedback(result: Result) -> bool:
    """Whether anything was made for it: a first attempt and a second try have no feedback."""
    return result.cell.round > 0 and result.cell.method != "none"


def feedback_tokens(result: Result) -> int | None:
    """The tokens that making its feedback took; 0 if it has none."""
    return 0 if result.feedback_tokens is None and not has_feedback(result) else result.feedback_tokens


def combined_tokens(result: Result) -> int | None:
    """The tokens of the run and of its feedback together; None if either is unknown."""
    run, feedback = result.attempt.tokens, feedback_tokens(result)
    return None if run is None or feedback is None else run + feedback


def passed_checks(result: Result) -> str | None:
    """The verifier's checks, as `3/5`; None if it left no report of them."""
    attempt = result.attempt
    return None if attempt.checks is None else f"{attempt.checks_passed}/{attempt.checks}"


def _delivery_remark(result: Result) -> str:
    delivered = result.attempt.delivered
    return {"file": "message as a file", "instruction": ""}.get(delivered, delivered)


def _receipt_remark(result: Result) -> str:
    return "" if result.attempt.received in {"", "same"} else f"message {result.attempt.received}"


def _tries_remark(result: Result) -> str:
    return f"{result.tries} tries" if result.tries > 1 else ""


def _of(field: str, kind: Kind, meaning: str, *spellings: str, **more: Any) -> Measure:
    """A measure that is a field of a result, by the field's name."""
    name = field.rpartition(".")[2]
    return Measure(
        name=name, kind=kind, meaning=meaning, field=field, read=attrgetter(field), spellings=spellings, **more
    )


def _usage(prefix: str, field: str, whose: str, total: Measure) -> tuple[Measure, ...]:
    """Tokens in disjoint buckets, their sum, their price."""

    def bucket(name: str, part: str, kind: Kind, meaning: str, spellings: str) -> Measure:
        def read(result: Result) -> Any:
            usage = attrgetter(field)(result)
            return None if usage is None else getattr(usage, part)

        return Measure(
            name=prefix + name,
            kind=kind,
            meaning=meaning.format(whose),
            field=f"{field}.{part}",
            read=read,
            spellings=tuple(prefix + spelling for spelling in spellings.split()),
        )

    everything = Measure(
        name=f"{prefix}all_input_tokens",
        kind="count",
        meaning=f"input of {whose} with what a cache served or stored, as many programs count it",
        spellings=tuple(
            prefix + spelling
            for spelling in ("n_input_tokens", "prompt_tokens", "total_input_tokens", "input_tokens_with_cache")
        ),
        column="understood",
    )
    cached = "cache_read cached cached_tokens cached_input_tokens cache_read_input_tokens n_cache_tokens"
    stored = "cache_write cache_creation cache_creation_tokens cache_creation_input_tokens cache_write_input_tokens"
    fresh = "input uncached_input uncached_input_tokens"
    return (
        bucket("input_tokens", "input", "count", "input of {} that no cache served", fresh),
        bucket("cache_read_tokens", "cache_read", "count", "input of {} read from a cache", cached),
        bucket("cache_write_tokens", "cache_write", "count", "input of {} written to a cache", stored),
        bucket("output_tokens", "output", "count", "output of {}", "output completion_tokens n_output_tokens"),
        total,
        everything,
        bucket("cost_usd", "cost_usd", "amount", "USD that {} cost, as recorded", "cost usd cost_in_usd"),
    )


MEASURES: tuple[Measure, ...] = (
    _of("cell.recipient", "name", "the agent that made the attempt", "agent", "agent_name", "recipient_name"),
    _of("cell.task", "name", "the task's name", "task_name", "task_id", "instance", "instance_id"),
    _of(
        "cell.repetition",
        "count",
        "which of the independent repetitions, from 0",
        "rep",
        "repeat",
        "replicate",
        page=PageColumn("Rep."),
    ),
    _of("cell.round", "count", "0 for the shared first attempt, 1 … N for reruns", page=PageColumn("Round")),
    _of(
        "cell.method",
        "name",
        "which method wrote the feedback",
        "method_name",
        "feedback_method",
        "condition",
        page=PageColumn("Method", "name"),
    ),
    Measure(
        name="privileged",
        kind="flag",
        meaning="whether the method saw outcomes: then it is shown apart",
        spellings=("is_privileged", "saw_outcome"),
    ),
    _of(
        "attempt.reward",
        "reward",
        "the verifier's number; blank where it gave none",
        "score",
        "passed",
        "pass",
        mean=MeanColumn(header="Reward", digits=4),
        page=PageColumn("Reward", "reward"),
    ),
    *_usage(
        "",
        "attempt.usage",
        "the recipient",
        Measure(
            name="tokens",
            kind="count",
            meaning="all tokens of the recipient; enough where the buckets are not known",
            field="attempt.total",
            read=attrgetter("attempt.tokens"),
            spellings=("total_tokens", "all_tokens"),
            page=PageColumn("Tokens", "tokens"),
        ),
    ),
    _of("attempt.is_partial", "flag", "whether the tokens are those of completed calls only", "partial"),
    _of(
        "attempt.tool_calls",
        "count",
        "how many tools the recipient called",
        "n_tool_calls",
        mean=MeanColumn(header="Tool calls", digits=1, is_in_cases=True),
        page=PageColumn("Tool calls"),
    ),
    _of(
        "attempt.turns",
        "count",
        "how often the recipient acted",
        "n_turns",
        "n_steps",
        mean=MeanColumn(header="Turns", digits=1, is_in_cases=True),
        page=PageColumn("Turns"),
    ),
    _of("attempt.checks_passed", "count", "how many of the verifier's checks passed", "tests_passed"),
    _of(
        "attempt.checks",
        "count",
        "how many checks the verifier made",
        "tests",
        "n_tests",
        page=PageColumn("Checks", "fraction", passed_checks),
    ),
    _of(
        "attempt.seconds",
        "amount",
        "how many seconds the attempt took",
        "duration_seconds",
        "elapsed_seconds",
        "wall_seconds",
        mean=MeanColumn(header="Seconds", digits=0),
        page=PageColumn("Seconds"),
    ),
    _of(
        "attempt.exception",
        "text",
        "the type of what ended the attempt before its time",
        "exception_type",
        "error",
        "error_type",
    ),
    _of("attempt.problem", "text", "why the attempt was not scored, in words"),
    _of(
        "attempt.delivered",
        "text",
        "how the message came to the recipient: `instruction` or `file`",
        remark=_delivery_remark,
        unshown=("tables",),
    ),
    _of(
        "attempt.received",
        "text",
        "what the trace says of the message: `same`, `different`, …",
        remark=_receipt_remark,
        unshown=("tables",),
    ),
    _of("attempt.message_sha256", "text", "the message's hash", unshown=("tables", "page")),
    _of(
        "attempt.is_argument",
        "flag",
        "whether the agent handed its instruction on within a command or a variable",
        unshown=("tables", "page"),
    ),
    _of("attempt.trial", "text", "where the folder of the trial lies", unshown=("tables", "page")),
    _of("attempt.trace", "text", "where the trace lies", "trajectory", unshown=("tables",)),
    _of(
        "tries",
        "count",
        "how many executions were started for it, killed ones included; 1 if blank",
        "executions",
        remark=_tries_remark,
        unshown=("tables",),
    ),
    _of(
        "feedback_bytes",
        "count",
        "bytes of the message that the recipient got",
        "message_bytes",
        mean=MeanColumn(header="Message (KiB)", digits=1, scale=1 / 1024, column="message_bytes"),
        page=PageColumn("Message bytes"),
    ),
    *_usage(
        "feedback_",
        "feedback",
        "making the feedback",
        Measure(
            name="feedback_tokens",
            kind="count",
            meaning="all tokens of making the feedback; enough where the buckets are not known",
            field="feedback_total",
            read=attrgetter("feedback_tokens"),
            spellings=("feedback_total_tokens", "feedback_all_tokens"),
            mean=MeanColumn(header="Feedback tokens (thousands)", digits=1, take=feedback_tokens, scale=0.001),
            page=PageColumn(
                "Feedback tokens", take=lambda result: result.feedback_tokens if result.cell.round else None
            ),
        ),
    ),
    Measure(
        name="combined_tokens",
        kind="count",
        meaning="all tokens of the recipient and of making the feedback together",
        read=combined_tokens,
        column="none",
        mean=MeanColumn(header="With the run's (thousands)", digits=1, scale=0.001),
    ),
    _of("profile", "text", "how the feedback was analysed: `fast`, `paper` or `rules`", unshown=("page",)),
    _of("budget", "text", "how large the feedback could be: bytes, `paper` or `default`", unshown=("page",)),
    _of("feedback_folder", "text", "where the feedback lies", unshown=("tables",)),
    _of("message", "text", "where the message lies that the recipient got", unshown=("tables",)),
    Measure(name="experiment_note", kind="text", meaning="what must be said wherever a number of it is shown"),
)

WRITTEN = tuple(measure for measure in MEASURES if measure.column == "written")
"""The columns of an exported table of results."""
AVERAGED = tuple((measure, measure.mean) for measure in MEASURES if measure.mean is not None)
"""What the report averages, and how it shows that."""
ON_PAGE = tuple((measure, measure.page) for measure in MEASURES if measure.page is not None)
"""The columns of the cells on the page."""
REMARKS = tuple(measure.remark for measure in MEASURES if measure.remark is not None)
"""What the page says of a cell in words."""
IN_CASES = tuple((measure, mean) for measure, mean in AVERAGED if mean.is_in_cases)
"""What the cases show."""
