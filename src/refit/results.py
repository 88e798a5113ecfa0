"""The nouns of an experiment: a cell, what came of it, and all of them together. Immutable, typed, without I/O.

A cell is one run: recipient, task, repetition, round, method. Round 0 has no feedback and is shared by all methods of
its repetition, so its method is `RUN0`, whatever else a table calls it. Grades are here, after the fact; no method
sees a `Result`."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from dense.trajectory import Usage

RUN0 = "run0"
"""The method of every cell of round 0: the attempt that all methods share as their source."""

ARM_SIGN = "@"
"""Between a method and the settings of its own that make it another arm of an experiment: `dense@paper`."""

OUT_OF_CONTEXT = ("ContextLengthExceededError", "ContextWindowExceededError")
"""How Harbor's agents and litellm call it that a conversation has outgrown its model's window."""


class Cell(Struct, frozen=True, order=True):
    """One run of an experiment."""

    recipient: str
    """The agent, by the name that the experiment gives it."""
    task: str
    """The task's name."""
    repetition: int
    """0-based: which of the independent repetitions."""
    round: int
    """0 is the shared attempt without feedback; 1 … N had feedback on the round before."""
    method: str
    """Which method wrote the feedback; `RUN0` in round 0."""

    @property
    def key(self) -> str:
        """The cell's name as that of a folder: readable, one on every file system, and no other cell's."""
        words = [self.recipient, self.task, f"rep{self.repetition}", f"round{self.round}", self.method]
        plain = [re.sub(r"[^A-Za-z0-9_.-]+", "-", word).strip("-.")[:48] or "x" for word in words]
        key = "--".join(plain)
        if plain == words and not any("--" in word for word in words):
            return key
        return f"{key}--{hashlib.sha256(chr(0).join(words).encode()).hexdigest()[:8]}"

    @property
    def pair(self) -> tuple[str, str, int]:
        """What is compared: the same recipient, task and repetition."""
        return self.recipient, self.task, self.repetition

    def __str__(self) -> str:
        return f"{self.recipient} · {self.task} · repetition {self.repetition} · round {self.round} · {self.method}"


def base_method(method: str) -> str:
    """The method of an arm: `dense` of `dense@paper`."""
    return method.partition(ARM_SIGN)[0]


class AttemptResult(Struct, frozen=True, omit_defaults=True):
    """What came of one attempt, as the harness reports it, the store keeps it and a table of results names it. None is
    unknown, which is not zero. CONTRIBUTING.md lists what a new field needs."""

    trial: str = ""
    """The folder of the trial: from a harness relative to the order's folder, in a `Result` to the experiment's."""
    reward: float | None = None
    """The verifier's number; None: not scored."""
    exception: str | None = None
    """The type of what ended it before its time, scored or not. A time-out may be scored: it keeps its grade."""
    problem: str = ""
    """Why it was not scored, in words."""
    usage: Usage | None = None
    """The recipient's tokens in disjoint buckets. A cache's bucket that is None was not recorded apart from `input`."""
    total: int | None = None
    """All recipient tokens if only their sum was recorded; None if `usage` has the buckets."""
    is_partial: bool = False
    """Whether the tokens are those of completed calls only."""
    tool_calls: int | None = None
    """How many tools were called; None without a trace."""
    turns: int | None = None
    """How often the agent acted; None without a trace."""
    checks_passed: int | None = None
    """How many of the verifier's checks passed; None if it left no report of them."""
    checks: int | None = None
    """How many checks the verifier made."""
    seconds: float | None = None
    """From the environment's start to the grade."""
    trace: str = ""
    """The trajectory's file, relative to the same folder as `trial`; empty if there is none."""
    delivered: str = ""
    """How the message came to the agent: a `Delivery`, or what an imported table says."""
    message_sha256: str = ""
    """The hash of the message that was delivered."""
    received: str = ""
    """What the trace says that the agent got: a `Received`, or what an imported table says."""
    is_argument: bool | None = None
    """Whether the agent handed its instruction on within a command or a variable, which has a limited length; None
    if nobody looked."""

    @property
    def is_scored(self) -> bool:
        """Whether a verifier gave a number."""
        return self.reward is not None

    @property
    def passed(self) -> bool | None:
        """Strict pass: a reward of exactly one. None if nothing was scored."""
        return None if self.reward is None else self.reward == 1

    @property
    def ending(self) -> str:
        """Why it was not scored, or what ended it before its time; empty if neither is known."""
        return self.problem or self.exception or ""

    @property
    def is_out_of_context(self) -> bool:
        """Whether it was not scored because its agent ran out of its model's context. That is the agent's doing, unlike
        a failure of the machinery; but nothing was graded, and no grade is made up."""
        words = f"{self.exception or ''} {self.problem}"
        return self.reward is None and any(name in words for name in OUT_OF_CONTEXT)

    @property
    def tokens(self) -> int | None:
        """All recipient tokens; None unless both input and output were recorded, or their sum was."""
        known = total_of(self.usage)
        return self.total if known is None else known

    def with_paths(self, change: Callable[[str], str]) -> AttemptResult:
        """The same with its paths as `change` gives them; what is not there has none."""
        return replace(self, trial=self.trial and change(self.trial), trace=self.trace and change(self.trace))


class Result(Struct, frozen=True, omit_defaults=True):
    """What came of one cell: its attempt, and the feedback that the attempt started with. None is unknown."""

    cell: Cell
    """Which."""
    attempt: AttemptResult = AttemptResult()
    """What came of its attempt: the scored one, or the last. One without a reward is invalid: excluded, counted, never
    a zero."""
    feedback: Usage | None = None
    """What making this cell's newest feedback took; None is unknown, `Usage(0, 0, 0, 0, 0.0)` is no call."""
    feedback_total: int | None = None
    """All tokens of that if only their sum is known: it counts, and cannot be priced."""
    feedback_bytes: int | None = None
    """Bytes of the message that the recipient got, the task's own text included."""
    profile: str = ""
    """How its feedback was analysed: a profile of the model (`fast`, `paper`), or `rules`; empty if unknown."""
    budget: str = ""
    """How large its feedback could be: bytes, `paper` or `default`; empty if unknown."""
    tries: int = 1
    """How many executions were started for it, killed ones included."""
    feedback_folder: str = ""
    """Where the newest feedback lies, with its record; paths are relative to the experiment's folder."""
    message: str = ""
    """Where the message lies that the recipient got."""

    @property
    def feedback_tokens(self) -> int | None:
        """All tokens that the newest feedback took; None where unknown."""
        known = total_of(self.feedback)
        return self.feedback_total if known is None else known

    def with_paths(self, change: Callable[[str], str]) -> Result:
        """The same with its paths as `change` gives them, those of the attempt included."""
        return replace(
            self,
            attempt=self.attempt.with_paths(change),
            feedback_folder=self.feedback_folder and change(self.feedback_folder),
            message=self.message and change(self.message),
        )


def total_of(usage: Usage | None) -> int | None:
    """Uncached input, cache reads, cache writes and output together; None unless input and output are known."""
    if usage is None or usage.input is None or usage.output is None:
        return None
    return usage.input + (usage.cache_read or 0) + (usage.cache_write or 0) + usage.output


class Prices(Struct, frozen=True):
    """What a million tokens cost, in USD."""

    input: float
    """Of input that no cache served."""
    output: float
    """Of output."""
    cache_read: float | None = None
    """Of input read from a cache; as other input where None."""
    cache_write: float | None = None
    """Of input written to a cache; as other input where None."""
    source: str = "given"
    """Where they come from."""


def at_base_rates(prices: Prices) -> Prices:
    """Prices as the paper has them: input that a cache served or stored costs as much as any other."""
    return Prices(prices.input, prices.output, source=f"{prices.source}, uncached base rates")


class Experiment(Struct, frozen=True):
    """Everything that a report is made of."""

    name: str
    """What it is called."""
    results: tuple[Result, ...]
    """One for each cell that was scored or is invalid, in the order of the cells."""
    planned: tuple[Cell, ...] = ()
    """All cells that the experiment has; empty for an import, which has what it has."""
    methods: tuple[str, ...] = ()
    """The methods in the order in which they are shown, `RUN0` not among them."""
    recipients: tuple[str, ...] = ()
    """The recipients in the order in which they are shown."""
    privileged: frozenset[str] = frozenset()
    """Methods that saw the outcome: shown apart, never ranked."""
    prices: dict[str, Prices] = {}
    """By recipient; and by `ANALYST`, those of the feedback's model. Empty where nothing is known."""
    notes: tuple[str, ...] = ()
    """What must be said wherever a number of it is shown: a sandbox, a scripted recipient."""
    facts: dict[str, Any] = {}
    """What was run: configuration, versions, task digests, prompt hashes, dates."""
    folder: str = ""
    """Where traces, feedback and messages lie; paths of results are relative to it."""


ANALYST = "analyst"
"""Among prices: the model that wrote the feedback."""
