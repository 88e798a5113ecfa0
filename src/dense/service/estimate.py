"""What a run would cost, before a single call: the method with outlined answers and the real prompts, measured."""

from __future__ import annotations

import json
from typing import Any, cast

from msgspec import Struct

from dense.analysis.asking.asker import Asker
from dense.analysis.asking.questions import Correction, MethodQuestion, Question, as_judgement
from dense.analysis.asking.questions.outlines import SENTENCE
from dense.analysis.choice import analyst_for
from dense.analysis.one_call import Closing, Whole, Window
from dense.analysis.one_call.stand_in import answer_from_draft
from dense.analysis.rules import RulesAnalyst
from dense.draft import TreeDraft
from dense.methods.method import AnyMethod, MethodContext
from dense.model import ChatReply, ChatRequest, PriceSource, estimate_usage
from dense.options import FeedbackOptions
from dense.outcome import Outcome
from dense.service.analysts import ModelSettings, model_settings
from dense.service.drafting import clean, draft
from dense.trajectory import Trajectory, Usage

BYTES_PER_TOKEN = 4
"""How tokens are counted without a tokenizer."""


class CostEstimate(Struct, frozen=True):
    """What a run would take."""

    calls: int
    """How many questions it asks."""
    usage: Usage
    """Their tokens, about."""
    usd: float | None
    """Their price; None if it is unknown."""


class MeasuringAnalyst:
    """Renders every question as a model would get it, measures it, and gives an answer of ordinary size: the fast
    profile gets what the rules draft, the others an outline."""

    def __init__(self, settings: ModelSettings, trajectory: Trajectory) -> None:
        self.name = "estimate"
        self._trajectory = trajectory
        self._draft: TreeDraft | None = None
        self.calls, self.usage = 0, Usage(0, None, None, 0)
        self._analyst = settings.analyst(UnaskedModel())

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """An answer of ordinary size; the question and the answer are added to `usage`."""
        if isinstance(question, Whole | Window | Closing):
            self._draft = self._draft or RulesAnalyst().analysed(self._trajectory).draft
            answer = answer_from_draft(question, self._draft)
        else:
            answer = (question if isinstance(question, MethodQuestion) else as_judgement(question)).outline()
        reply, request = json.dumps(answer, ensure_ascii=False), self._analyst.render(question, correction)
        self.calls += 1
        self.usage += _usage(request, reply)
        return reply


class UnaskedModel:
    """A model that is never asked: only its prompts are measured."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Fail: an estimate asks nobody."""
        raise RuntimeError(f"an estimate asked a model: {request.label}")


class MeasuringModel:
    """A model for methods with prompts of their own: measures what it is asked, and replies in words that say nothing.

    The length of real replies cannot be known: each counts up to its limit."""

    def __init__(self) -> None:
        self.calls, self.usage = 0, Usage(0, None, None, 0)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """A reply in the form of the request's schema; the request is added to `usage`."""
        used = estimate_usage(request)
        self.calls += 1
        self.usage += used
        text = SENTENCE if request.schema is None else json.dumps(_simplest(request.schema))
        return ChatReply(text=text, usage=used, finish="stop", model="estimate", seconds=0.0)


async def estimate(
    method: AnyMethod,
    trajectory: Trajectory,
    options: FeedbackOptions,
    prices: PriceSource,
    at: str,
) -> CostEstimate:
    """What a run would cost at the prices of a time `at`. Nothing leaves the machine.

    A privileged method gets an empty outcome. Raises what the method raises: `MissingInput`, or any error that the
    outlined replies lead to."""
    settings = model_settings(options)
    outcome = Outcome("") if method.sees == "outcome" else None
    cleaned, redactions = clean(trajectory)
    measuring, model = MeasuringAnalyst(settings, cleaned), MeasuringModel()
    asker = Asker(measuring)
    analyst = analyst_for(measuring, asker, options.profile, settings.look)
    redacted = redactions.describe() if redactions else ""
    context = MethodContext(
        asker=asker,
        analyst=analyst,
        model=model,
        prompt_bytes=settings.prompt_bytes,
        redacted=redacted,
    )
    await draft(method, cleaned, outcome, context)
    calls = measuring.calls + model.calls
    usage = measuring.usage + model.usage + Usage(input=calls * settings.overhead_tokens)
    return CostEstimate(calls, usage, prices.usd(usage, at))


def _usage(request: ChatRequest, reply: str) -> Usage:
    """The tokens of a question and its answer, about: no answer is longer than its limit."""
    output = len(reply.encode()) // BYTES_PER_TOKEN
    return estimate_usage(request, output_tokens=min(output, request.max_output_tokens))


def _simplest(schema: Any) -> Any:
    """The simplest value of a schema's own form; references and alternatives become text."""
    if not isinstance(schema, dict):
        return SENTENCE
    given = cast("dict[str, Any]", schema)
    match given:
        case {"enum": [first, *_]}:
            return first
        case {"type": "object"}:
            return {key: _simplest(value) for key, value in cast("dict[str, Any]", given.get("properties", {})).items()}
        case {"type": "array"}:
            return [_simplest(given.get("items"))]
        case {"type": "integer" | "number"}:
            return given.get("minimum", 0)
        case {"type": "boolean"}:
            return False
        case _:
            return SENTENCE
