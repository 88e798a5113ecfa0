"""What a method would cost, before a single call: the method with outlined answers and the real prompts, measured."""

from __future__ import annotations

import json
from typing import Any, cast

from dense.analyst.model import ModelAnalyst
from dense.analyst.outline import SENTENCE
from dense.analyst.questions import AnyQuestion, Correction, Question
from dense.distillation.estimate import BYTES_PER_TOKEN, Estimate, Measuring, Nobody
from dense.distillation.pipeline import Profile
from dense.methods.asking import MethodModel, room_in
from dense.methods.method import AnyMethod
from dense.methods.prompting import shown_actions
from dense.methods.questions import INQUIRIES, Advice, Assessment, Decision, Inquiry, Overview
from dense.methods.runner import run
from dense.model import Prices, estimated
from dense.outcome import Outcome
from dense.trajectory import Trajectory, Usage


class MeasuringMethod:
    """An analyst that renders every question as a model would get it, measures it, and answers by outline."""

    def __init__(self, analyst: ModelAnalyst, room: int) -> None:
        self.name = "estimate"
        self._dense = Measuring(analyst)
        self._own = MethodModel(analyst, Nobody(), room=room)
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
        output = len(reply.encode()) // BYTES_PER_TOKEN
        self._usage += estimated(self._own.render(question, correction), output_tokens=output)
        self._calls += 1
        return reply


async def estimate(
    method: AnyMethod,
    trajectory: Trajectory,
    analyst: ModelAnalyst,
    prices: Prices,
    profile: Profile,
    at: str,
    room: int | None = None,
) -> Estimate:
    """Goes through the whole method; nothing leaves the machine. No outcome is looked at: an empty one stands in."""
    room = room_in() if room is None else room
    measuring = MeasuringMethod(analyst, room)
    outcome = Outcome("") if method.sees == "outcome" else None
    await run(method, trajectory, measuring, profile=profile, room=room, outcome=outcome)
    return Estimate(measuring.calls, measuring.usage, prices.usd(measuring.usage, at))


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
