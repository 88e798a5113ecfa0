"""What a distillation would cost, before a single call: the pipeline with outlined answers and the real prompts,
measured."""

from __future__ import annotations

from msgspec import Struct

from dense.analyst.model import ModelAnalyst
from dense.analyst.outline import OutlineAnalyst
from dense.analyst.questions import AnyQuestion, Correction
from dense.distillation.pipeline import Profile, distill
from dense.model import ChatReply, ChatRequest, PriceSource, estimate_usage
from dense.trajectory import Trajectory, Usage

BYTES_PER_TOKEN = 4
"""How tokens are counted where nobody can be asked."""


class Estimate(Struct, frozen=True):
    """What one trajectory would take."""

    calls: int
    """Questions."""
    usage: Usage
    """Tokens, about."""
    usd: float | None
    """Their price; None where it is unknown."""


class Measuring:
    """An analyst that renders every question as a model would get it, measures it, and answers by outline."""

    def __init__(self, analyst: ModelAnalyst) -> None:
        self.name = "estimate"
        self.calls = 0
        self.usage = Usage(0, None, None, 0)
        self._analyst, self._outline = analyst, OutlineAnalyst()

    async def ask(self, question: AnyQuestion, correction: Correction | None = None) -> str:
        reply = await self._outline.ask(question, correction)
        self.usage += taken(self._analyst.render(question, correction), reply)
        self.calls += 1
        return reply


def taken(request: ChatRequest, reply: str) -> Usage:
    """What a question and its answer take, about: no answer is longer than it may be."""
    output = len(reply.encode()) // BYTES_PER_TOKEN
    return estimate_usage(request, output_tokens=min(output, request.max_output_tokens))


class Nobody:
    """A model that is never asked: only its prompts are of interest."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        raise RuntimeError(f"an estimate asked a model: {request.label}")


async def estimate(
    trajectory: Trajectory, analyst: ModelAnalyst, prices: PriceSource, profile: Profile, at: str
) -> Estimate:
    """Goes through the whole pipeline; nothing leaves the machine."""
    measuring = Measuring(analyst)
    await distill(trajectory, measuring, profile=profile)
    return Estimate(measuring.calls, measuring.usage, prices.usd(measuring.usage, at))
