"""What a method would cost, before a single call: the method with outlined answers and the real prompts, measured."""

from __future__ import annotations

import json
from typing import Any, cast

from dense.analyst.model import ModelAnalyst
from dense.analyst.outline import SENTENCE
from dense.analyst.questions import AnyQuestion, Correction, Question
from dense.distillation.estimate import Estimate, Measuring, Nobody, taken
from dense.distillation.pipeline import Profile
from dense.methods.asking import OUTPUT, MethodModel, room_in
from dense.methods.method import AnyMethod
from dense.methods.prompting import shown_actions
from dense.methods.questions import INQUIRIES, Advice, Assessment, Decision, Inquiry, Overview
from dense.methods.runner import run
from dense.model import ChatReply, ChatRequest, PriceSource, estimate_usage
from dense.outcome import Outcome
from dense.trajectory import Trajectory, Usage


class MeasuringMethod:
    """An analyst that renders every question as a model would get it, measures it, and answers by outline."""

    def __init__(self, analyst: ModelAnalyst, room: int, max_output_tokens: int = OUTPUT) -> None:
        self.name = "estimate"
        self._dense = Measuring(analyst)
        self._own = MethodModel(analyst, Nobody(), room=room, max_output_tokens=max_output_tokens)
        self._calls, self._usage = 0, Usage(0, None, None, 0)

    @property
    def calls(self) -> int:
        return self._dense.calls + self._calls

    @property
    def usage(self) -> Usage:
        return self._dense.usage + self._usage

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        if not isinstance(question, INQUIRIES):
            return await self._dense.ask(cast("AnyQuestion", question), correction)
        reply = json.dumps(_outlined(question, self._own))
        self._usage += taken(self._own.render(question, correction), reply)
        self._calls += 1
        return reply


class MeasuringModel:
    """A model for methods with prompts of their own: measures what it is asked, and replies in words that say nothing.

    How long real replies are cannot be known: each counts up to its limit."""

    def __init__(self) -> None:
        self.calls, self.usage = 0, Usage(0, None, None, 0)

    async def complete(self, request: ChatRequest) -> ChatReply:
        used = estimate_usage(request)
        self.calls += 1
        self.usage += used
        text = SENTENCE if request.schema is None else json.dumps(_simplest(request.schema))
        return ChatReply(text, used, "stop", "estimate", 0.0)


async def estimate(
    method: AnyMethod,
    trajectory: Trajectory,
    analyst: ModelAnalyst,
    prices: PriceSource,
    profile: Profile,
    at: str,
    room: int | None = None,
    max_output_tokens: int = OUTPUT,
) -> Estimate:
    """Goes through the whole method; nothing leaves the machine. No outcome is looked at: an empty one stands in."""
    room = room_in() if room is None else room
    measuring = MeasuringMethod(analyst, room, max_output_tokens)
    outcome = Outcome("") if method.sees == "outcome" else None
    model = MeasuringModel()
    await run(method, trajectory, measuring, model=model, profile=profile, room=room, outcome=outcome)
    usage = measuring.usage + model.usage
    return Estimate(measuring.calls + model.calls, usage, prices.usd(usage, at))


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


def _outlined(question: Inquiry, model: MethodModel) -> dict[str, Any]:
    """An answer of ordinary size."""
    match question:
        case Advice():
            return {"strategy": [SENTENCE] * 6, "risks": [SENTENCE] * 4, "checklist": [SENTENCE] * 4}
        case Assessment():
            wanted = shown_actions(question.actions, model.views)
            return {"actions": [{"action_index": a.action, "reasoning": SENTENCE * 2, "label": 0} for a in wanted]}
        case Decision():
            number = question.target.action
            return {"action_index": number, "known_basis": SENTENCE, "reasoning": SENTENCE * 2, "label": 0}
        case Overview():
            evidence = [{"action_index": leaf.action, "shows": SENTENCE} for leaf in question.actions[-8:]]
            told = {"lessons": [SENTENCE] * 5, "next_steps": [SENTENCE] * 5}
            return {"evidence": evidence, "status": "unknown", "summary": SENTENCE * 4, **told}
