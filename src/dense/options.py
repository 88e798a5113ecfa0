"""The options of feedback: what each is called, which values it takes, what it is for, and where it may be set.

`FeedbackOptions` is the only bearer of options. The command line, the settings files, MCP, batches, experiments and
Python make their options from its fields, with the same names, defaults and errors. A repository is other people's
text, and an agent repeats what it reads: what a project's file or MCP may set never chooses who analyses, which
program runs, where anything is sent, or whether credentials are replaced."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping
from enum import Flag, auto
from functools import wraps
from inspect import Parameter
from math import inf
from pathlib import Path
from typing import Annotated, Any, Literal, Self, get_args

from msgspec import Struct
from msgspec.structs import FieldInfo, fields, force_setattr, replace

from dense.errors import WrongUsage

Profile = Literal["fast", "paper"]
"""Which calls an analyst that is a language model gets: few, or exactly the paper's."""
Redaction = bool | Literal["kingfisher"]
"""Whether credentials are replaced, and by which rules besides our own."""
type Environment = Literal["fresh", "same"]
"""Where the next attempt works: where nothing of this one exists, or where this one left its files."""
type BudgetChoice = int | Literal["paper"] | None
"""What a user asks for: so many bytes, the paper's budgets, or the default."""
type TurnChoice = Literal["last", "all"] | int
"""Which request of a session feedback is for: the last one, all together, or one of them by its number from 1."""

MIN_BUDGET = 512
"""The smallest budget that can be kept, in bytes."""
MIN_CONTEXT_TOKENS, MIN_LOOK_TOKENS = 2_000, 4_000
"""The smallest context window that prompts can be made for, and the least that one call must see."""
DEFAULT_LOOK_TOKENS = 24_000
"""How many tokens of a trace one call of the fast profile sees."""
DENSE, DENSE_WITH_LESSONS = "dense", "dense+lessons"
"""The method by default, and the one that `lessons` chooses."""
UNITS = {"": 1, "b": 1, "kb": 1000, "kib": 1024, "mb": 1000**2, "mib": 1024**2}
SIZE = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([A-Za-z]*)\s*")
MAX_DIGITS = 18


class Entry(Flag):
    """Where an option may be set."""

    COMMAND = auto()
    """On the command line: `distill`, `last`, `show` and `view`; as an argument of the plugin for Harbor."""
    PYTHON = auto()
    """In `dense.distill` and `dense.distill_sync`."""
    USER = auto()
    """In the user's own settings file."""
    PROJECT = auto()
    """In a project's file, which comes with a repository."""
    MCP = auto()
    """By an agent, as an argument of a tool."""
    BATCH = auto()
    """On the command line of `dense batch`; part of the table's spec."""
    EXPERIMENT = auto()
    """In the file of an experiment."""


OWN = Entry.COMMAND | Entry.PYTHON | Entry.USER
"""Where only the user speaks, about one attempt at a time."""
OTHERS = Entry.PROJECT | Entry.MCP
"""Where somebody else may speak."""
ANALYSIS = OWN | Entry.BATCH | Entry.EXPERIMENT
MESSAGE = OWN | OTHERS | Entry.BATCH
WHO_SPEAKS = {
    Entry.PROJECT: "a project's file",
    Entry.MCP: "an agent",
    Entry.BATCH: "a batch",
    Entry.EXPERIMENT: "an experiment",
}


class ValueKind(Struct, frozen=True):
    """What kind of values an option has."""

    metavar: str
    """The value in a usage line."""
    parse: Callable[[Any], Any]
    """Gives the value of a text or of a value. Raises `ValueError`."""
    words: tuple[str, ...] = ()
    """All values, if they are a few words."""


class Option(Struct, frozen=True):
    """What an option is for, and where it may be set."""

    help: str
    kind: ValueKind
    entries: Entry
    default: str = ""
    """The default in words, if it is no value."""
    is_limit: bool = False
    """Whether it only bounds the effort: a result that is there does not depend on it."""


def _words(*words: str) -> ValueKind:
    def parse(value: object) -> object:
        if value not in words:
            raise ValueError(f"{value!r} is none of {', '.join(words)}")
        return value

    return ValueKind(f"<{'|'.join(words)}>", parse, words)


def _whole(value: object) -> object:
    """The number that a text is; any other value itself, and a text with more digits than anything counts."""
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS:
        return int(value)
    return value


def _count(metavar: str, least: int) -> ValueKind:
    def parse(value: object) -> int:
        number = _whole(value)
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise ValueError(f"{value!r} is no whole number of at least {least:,}")
        return number

    return ValueKind(metavar, parse)


def parse_usd(value: object) -> float:
    """An amount of USD above 0. Raises `ValueError`."""
    try:
        number = float(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else -1.0
    except ValueError:
        number = -1.0
    if not 0 < number < inf:
        raise ValueError(f"{value!r} is no amount of USD above 0")
    return number


def _parse_text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"{value!r} is no text")
    return value


def _parse_path(value: object) -> Path:
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        raise ValueError(f"{value!r} is no path")
    return Path(os.fspath(value)).expanduser()


def _parse_switch(value: object) -> bool:
    switch = {"true": True, "false": False}.get(value) if isinstance(value, str) else value
    if switch is not True and switch is not False:
        raise ValueError(f"{value!r} is none of true, false")
    return switch


def _parse_redaction(value: object) -> Redaction:
    if value == "kingfisher":
        return "kingfisher"
    try:
        return _parse_switch(value)
    except ValueError:
        raise ValueError(f"{value!r} is none of true, false, kingfisher") from None


def parse_budget(value: object) -> BudgetChoice:
    """A budget as a user writes it: bytes, `180 KiB`, or `paper`. Raises `ValueError`."""
    if value is None:
        return None
    if value == "paper":
        return "paper"
    size = value if isinstance(value, int) and not isinstance(value, bool) else None
    if isinstance(value, str) and (match := SIZE.fullmatch(value)) and match[2].lower() in UNITS:
        size = int(float(match[1]) * UNITS[match[2].lower()])
    if size is None:
        raise ValueError(f"{value!r} is neither a number of bytes nor `paper`")
    if size < MIN_BUDGET:
        raise ValueError(f"a budget of {size} bytes is too small: at least {MIN_BUDGET} are needed")
    return size


def parse_turn(value: object) -> TurnChoice:
    """A choice of a request: `last`, `all` or a number from 1. Raises `ValueError`."""
    if value == "last":
        return "last"
    if value == "all":
        return "all"
    number = _whole(value)
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ValueError(f"{value!r} is none of last, all, or the number of a request, from 1")
    return number


NAME = ValueKind("NAME", _parse_text)
FILE = ValueKind("FILE", _parse_path)
SWITCH = ValueKind("", _parse_switch)
BY_SESSION = "{} for a session of this folder's project, else {}"


class FeedbackOptions(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How feedback is made.

    Raises `WrongUsage` for a value that an option cannot have, and for options that exclude each other."""

    environment: Annotated[
        Environment | None,
        Option(
            "same: the next attempt works where this one left its files.",
            _words("fresh", "same"),
            MESSAGE,
            BY_SESSION.format("same", "fresh"),
        ),
    ] = None
    model: Annotated[
        str | None,
        Option(
            "The analyst: PROVIDER/NAME, http://host:port/v1#NAME, claude-code, codex, gemini-cli, opencode (with or"
            " without /MODEL), or exec:COMMAND.",
            NAME,
            ANALYSIS,
            "the built-in rules",
        ),
    ] = None
    or_rules: Annotated[bool, Option("Let the built-in rules answer if the model gives no answer.", SWITCH, OWN)] = (
        False
    )
    base_url: Annotated[
        str | None,
        Option("Another address for the provider.", ValueKind("URL", _parse_text), ANALYSIS, "the provider's own"),
    ] = None
    answers: Annotated[
        Path | None,
        Option("Take the answers from this file, or from the folder that --record wrote to.", FILE, OWN, "none"),
    ] = None
    method: Annotated[str, Option("How feedback is made: `dense methods` lists them; or module:Class.", NAME, OWN)] = (
        DENSE
    )
    profile: Annotated[Profile, Option("paper: exactly the paper's calls.", _words("fast", "paper"), ANALYSIS)] = "fast"
    max_usd: Annotated[
        float | None,
        Option("Stop cleanly before more is spent.", ValueKind("USD", parse_usd), ANALYSIS, "no limit", is_limit=True),
    ] = None
    redact: Annotated[
        Redaction,
        Option(
            "Replace credentials; kingfisher adds Kingfisher's rules to ours.",
            ValueKind("<true|false|kingfisher>", _parse_redaction, ("true", "false", "kingfisher")),
            ANALYSIS,
        ),
    ] = True
    small: Annotated[bool, Option("Short prompts and answers, for small local models.", SWITCH, ANALYSIS)] = False
    concurrency: Annotated[int, Option("Calls at once.", _count("CALLS", 1), ANALYSIS, is_limit=True)] = 16
    context: Annotated[
        int | None,
        Option("The model's window.", _count("TOKENS", MIN_CONTEXT_TOKENS), ANALYSIS, "as its provider's models have"),
    ] = None
    look: Annotated[
        int, Option("What one call of the fast profile sees of a trace.", _count("TOKENS", MIN_LOOK_TOKENS), ANALYSIS)
    ] = DEFAULT_LOOK_TOKENS
    cache: Annotated[
        Path | None,
        Option(
            "The file of answers that were paid for.",
            FILE,
            OWN | Entry.BATCH,
            "answers.sqlite in the folder of --out",
            is_limit=True,
        ),
    ] = None
    budget: Annotated[
        BudgetChoice,
        Option(
            "Bytes of the message without the task.",
            ValueKind("BYTES|paper", parse_budget),
            MESSAGE | Entry.EXPERIMENT,
            "half of the trace's text, 8,000 to 24,000",
        ),
    ] = None
    lessons: Annotated[
        Path | None,
        Option(
            "Append lessons from other tasks: a file that `dense lessons` wrote.", FILE, OWN | Entry.EXPERIMENT, "none"
        ),
    ] = None
    turn: Annotated[
        TurnChoice | None,
        Option(
            "Which request of a session the feedback is for.",
            ValueKind("last|all|N", parse_turn),
            MESSAGE,
            BY_SESSION.format("last", "all"),
        ),
    ] = None

    def __post_init__(self) -> None:
        for field in OPTIONS.values():
            value = getattr(self, field.name)
            # The default itself, because defaults are left out of a spec by identity.
            value = field.default if value == field.default else parse_option(field.name, value)
            force_setattr(self, field.name, value)
        if self.model is not None and self.answers is not None:
            raise WrongUsage("model and answers exclude each other: choose one")
        if (self.lessons is not None) != (self.chosen_method == DENSE_WITH_LESSONS):
            raise WrongUsage(f"lessons goes with the method dense, which is then {DENSE_WITH_LESSONS}")

    @property
    def chosen_method(self) -> str:
        """The method, with what `lessons` makes of it."""
        return DENSE_WITH_LESSONS if self.lessons is not None and self.method == DENSE else self.method

    def resolved(self, *, is_session: bool) -> Self:
        """The options with the defaults that depend on what is read: a stored session of a project, or any trace."""
        environment, turn = ("same", "last") if is_session else ("fresh", "all")
        return replace(self, environment=self.environment or environment, turn=self.turn or turn)

    def without_limits(self) -> Self:
        """The options that a result depends on; the others as by default."""
        return replace(self, **{name: field.default for name, field in OPTIONS.items() if option_of(field).is_limit})


def option_of(field: FieldInfo) -> Option:
    """What a field says of itself."""
    return next(note for note in get_args(field.type)[1:] if isinstance(note, Option))


OPTIONS = {field.name: field for field in fields(FeedbackOptions)}
"""The fields, by name."""


def options_at(entry: Entry) -> tuple[str, ...]:
    """The names of the options that may be set at an entry."""
    return tuple(name for name, field in OPTIONS.items() if entry in option_of(field).entries)


def describe_default(name: str) -> str:
    """The default of an option, in words."""
    field = OPTIONS[name]
    return option_of(field).default or str(field.default).lower()


def describe_value(options: FeedbackOptions, name: str) -> str:
    """The value of an option, as a settings file or the command line takes it; the default in words."""
    value = getattr(options, name)
    if value == OPTIONS[name].default:
        return describe_default(name)
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_option(name: str, value: object, label: str = "") -> Any:
    """The value of an option; `label` is what the error calls it. Raises `WrongUsage`."""
    try:
        return option_of(OPTIONS[name]).kind.parse(value)
    except ValueError as error:
        raise WrongUsage(f"{label or name}: {error}") from None


def set_options(
    values: Mapping[str, object],
    entry: Entry,
    base: FeedbackOptions | None = None,
    *,
    label: Callable[[str], str] = str,
    instead: str = "",
) -> FeedbackOptions:
    """The options of `base` with what is set at an entry. `label` gives how an option is called there; `instead` is
    where else an option can be set that cannot be set there. Raises `WrongUsage`.

    An answers file or lessons of `base` give way to a model or a method that is set here, and the other way round."""
    known = options_at(entry)
    parsed: dict[str, Any] = {}
    for name, value in values.items():
        if name not in OPTIONS:
            raise WrongUsage(f"{label(name)}: unknown option; known are {', '.join(sorted(known))}")
        if name not in known:
            who = WHO_SPEAKS[entry]
            raise WrongUsage(f"{label(name)}: {who} cannot set it{f': {instead}' if instead else ''}")
        parsed[name] = parse_option(name, value, label(name))
    base = base or FeedbackOptions()
    for name, others in {"answers": ("model", "base_url"), "model": ("answers",), "method": ("lessons",)}.items():
        if name in parsed:
            parsed = {other: OPTIONS[other].default for other in others if other not in parsed} | parsed
    return replace(base, **parsed)


def with_option_arguments[R](
    function: Callable[..., R],
    entry: Entry,
    annotation: Callable[[FieldInfo], Any],
    base: Callable[[], FeedbackOptions] = FeedbackOptions,
) -> Callable[..., R]:
    """The function with an argument for each option that may be set at an entry, instead of its argument `options`.

    For frameworks that call with arguments by name, and read the signature. An option that may not be set there is
    refused if it comes all the same."""
    signature = inspect.signature(function, eval_str=True)
    own = [parameter for name, parameter in signature.parameters.items() if name != "options"]
    added = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=annotation(OPTIONS[name]))
        for name in options_at(entry)
    ]

    @wraps(function)
    def run(*arguments: Any, **values: Any) -> R:
        given = {name: values.pop(name) for name in OPTIONS if name in values}
        options = set_options({name: value for name, value in given.items() if value is not None}, entry, base())
        return function(*arguments, **values, options=options)

    run.__signature__ = signature.replace(parameters=[*own, *added])  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *added)}
    return run
