"""Who answers the questions of a method: a language model, an analyst of the caller's own, or the built-in rules."""

from __future__ import annotations

import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from msgspec import Struct

from dense.analysis.analyst import Analyst
from dense.analysis.asking.questions import Answerer
from dense.analysis.asking.scripted import RecordingAnswerer, ScriptedAnswerer
from dense.analysis.asking.views import FULL, SMALL, Limits
from dense.analysis.model import ModelAnswerer
from dense.analysis.rules import RulesAnalyst
from dense.errors import ModelError
from dense.model import (
    DEFAULT_CONTEXT_WINDOW,
    PROGRAMS,
    REPLAY,
    CallLimits,
    ChatModel,
    GivenPrices,
    OpenModel,
    TalliedModel,
    closed_model,
    context_window,
    open_model,
    resolve,
)
from dense.options import DEFAULT_LOOK_TOKENS, FeedbackOptions

ANSWERS = "answers.jsonl"
"""Recorded answers, in the folder of their trajectory: the keys of questions are unique within a trajectory."""
OUTPUT_TOKENS = 8_192
SMALL_CONTEXT_TOKENS, SMALL_OUTPUT_TOKENS = 8_000, 1_500
"""The context window of a small local model, and the limit of its answers."""


class ModelSettings(Struct, frozen=True):
    """How a language model is asked: its context window, the limits of its prompts and of its answers."""

    context_tokens: int = DEFAULT_CONTEXT_WINDOW
    """How many tokens a prompt and its answer may have together."""
    max_output_tokens: int = OUTPUT_TOKENS
    """Where answers are cut."""
    limits: Limits = FULL
    """How much of each part of a trajectory DENSE's prompts show."""
    temperature: float | None = None
    look_tokens: int = DEFAULT_LOOK_TOKENS
    """How many tokens of a trajectory one call of the fast profile shows; never more than the window holds."""
    overhead_tokens: int = 0
    """What a program adds to each prompt."""

    @property
    def look(self) -> int:
        """`look_tokens`, or what the context window leaves for a prompt. Prompts are counted at four bytes a token;
        logs and code may have only three, so a quarter of the window's room stays free."""
        return max(min(self.look_tokens, (self.context_tokens - self.max_output_tokens) * 3 // 4), 1_000)

    @property
    def prompt_bytes(self) -> int:
        """How many bytes of a trajectory one prompt may show: two a token, less what is around it."""
        tokens = max(self.context_tokens - self.max_output_tokens, self.context_tokens // 4)
        return max(2_000, 2 * tokens - 8_000)

    def analyst(self, model: ChatModel, name: str = "model") -> ModelAnswerer:
        """The analyst that puts questions to this model."""
        return ModelAnswerer(
            model,
            name=name,
            limits=self.limits,
            context_tokens=self.context_tokens,
            max_output_tokens=self.max_output_tokens,
            temperature=self.temperature,
        )


def model_settings(options: FeedbackOptions) -> ModelSettings:
    """How the model of these options is asked. Without `context`, its known context window counts."""
    if options.small:
        window = options.context or SMALL_CONTEXT_TOKENS
        return ModelSettings(
            context_tokens=window,
            max_output_tokens=SMALL_OUTPUT_TOKENS,
            limits=SMALL,
            temperature=0,
            look_tokens=options.look,
        )
    window, overhead = options.context, 0
    if options.model is not None and not options.model.startswith(REPLAY):
        spec = resolve(options.model, base_url=options.base_url, environment=os.environ)
        window = window or context_window(spec)
        overhead = PROGRAMS[spec.provider.name].overhead_tokens if spec.is_program else 0
    return ModelSettings(
        context_tokens=window or DEFAULT_CONTEXT_WINDOW, look_tokens=options.look, overhead_tokens=overhead
    )


@asynccontextmanager
async def opened_model(
    options: FeedbackOptions, *, spent: float = 0.0, prices: GivenPrices | None = None
) -> AsyncGenerator[OpenModel | None]:
    """The model of these options; None if they name none. What was `spent` before counts towards their limit.

    With `or_rules`, a model that cannot be opened is one that gives no answer."""
    if options.model is None:
        yield None
        return
    limits = CallLimits(options.concurrency, max_usd=options.max_usd, spent=spent)
    opening = open_model(options.model, base_url=options.base_url, cache=options.cache, limits=limits, prices=prices)
    async with AsyncExitStack() as stack:
        try:
            model = await stack.enter_async_context(opening)
        except ModelError as error:
            if not options.or_rules:
                raise
            model = closed_model(str(resolve(options.model, base_url=options.base_url, environment=os.environ)), error)
        yield model


class AnalystChoice(Struct, frozen=True):
    """Who answers: the model if there is one, else the analyst, else the built-in rules."""

    model: OpenModel | None = None
    """A language model. Its calls are counted in the record."""
    analyst: Analyst | Answerer | None = None
    """Any analyst: a script, or one of the caller's own."""
    name: str = ""
    """The analyst's name in the record, if not its own."""
    settings: ModelSettings = ModelSettings()
    """How the model is asked."""
    answers: Path | None = None
    """Where answers are recorded, for a `ScriptedAnswerer` to repeat them."""

    @property
    def recorded_name(self) -> str:
        """The analyst's name in the record."""
        if self.model is not None:
            return self.name or self.model.name
        return self.name or (self.analyst.name if self.analyst is not None else RulesAnalyst.name)

    def open(self) -> tuple[Analyst | Answerer | None, TalliedModel | None]:
        """Who analyses or answers in one run, None for the built-in rules, and the tally of a model's calls."""
        tally = TalliedModel(self.model, self.model.ledger.prices) if self.model is not None else None
        analyst = self.settings.analyst(tally, self.recorded_name) if tally is not None else self.analyst
        if self.answers is None or analyst is None or isinstance(analyst, Analyst):
            return analyst, tally
        self.answers.parent.mkdir(parents=True, exist_ok=True)
        self.answers.unlink(missing_ok=True)
        return RecordingAnswerer(analyst, self.answers), tally


def analyst_choice(options: FeedbackOptions, model: OpenModel | None, trace: str = "") -> AnalystChoice:
    """Who answers by these options: their model, which is open, their answers file, or the built-in rules.

    `trace` names the trace's answers in a folder of them."""
    if model is not None or options.answers is None:
        return AnalystChoice(model, settings=model_settings(options))
    script = options.answers / trace / ANSWERS if options.answers.is_dir() else options.answers
    name = f"scripted:{options.answers}"
    return AnalystChoice(None, ScriptedAnswerer(script), name, model_settings(options))
