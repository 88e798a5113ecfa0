"""A language model that answers questions: DENSE's own, and those of other methods."""

from __future__ import annotations

from msgspec.structs import replace

from dense.analysis.asking.prompt import prompt_hashes, prompt_size, render
from dense.analysis.asking.questions import Correction, MethodQuestion, Question, as_judgement
from dense.analysis.asking.views import FULL, Limits
from dense.analysis.one_call import Closing, Whole, Window, render_one_call
from dense.errors import AnalystFailed, CallFailed
from dense.model.chat import ChatModel, ChatReply, ChatRequest

BYTES_PER_TOKEN = 4

__all__ = ["ModelAnswerer", "prompt_hashes", "render"]


class ModelAnswerer:
    """Puts each question to a chat model and returns its words.

    A refusal and a call that stays dead are `AnalystFailed`, about this one question. What is about the whole run (a
    key that is refused, a spending limit) passes through. Whether the words are a usable answer is for the asker."""

    def __init__(
        self,
        model: ChatModel,
        *,
        name: str = "model",
        limits: Limits = FULL,
        context_tokens: int = 128_000,
        max_output_tokens: int = 8_192,
        temperature: float | None = None,
    ) -> None:
        self.name = name
        self._model = model
        self._limits = limits
        self._context_tokens = context_tokens
        self._max_output_tokens = max_output_tokens
        self._temperature = temperature

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """The model's reply."""
        request = self.render(question, correction)
        try:
            reply = await self._complete(question, correction, request)
        except CallFailed as error:
            raise AnalystFailed(f"{question.key}: {error}") from error
        if reply.finish == "refusal":
            raise AnalystFailed(f"{question.key}: the model declined to answer: {reply.text[:200]}")
        return reply.text

    async def _complete(self, question: Question, correction: Correction | None, request: ChatRequest) -> ChatReply:
        """The reply. A prompt that the model finds too long after all is put once more, half as long."""
        try:
            return await self._model.complete(request)
        except CallFailed as error:
            if not error.is_too_long:
                raise
            return await self._model.complete(self.render(question, correction, prompt=prompt_size(request) // 2))

    def render(
        self, question: Question, correction: Correction | None = None, *, prompt: int | None = None
    ) -> ChatRequest:
        """What the model is asked, for whoever wants to measure it. `prompt` limits the whole, in bytes."""
        if isinstance(question, MethodQuestion):
            return question.request(
                correction, prompt=prompt, max_output_tokens=self._max_output_tokens, temperature=self._temperature
            )
        if isinstance(question, Whole | Window | Closing):
            return render_one_call(
                question,
                correction,
                look_tokens=prompt // BYTES_PER_TOKEN if prompt is not None else None,
                max_output_tokens=self._max_output_tokens,
                temperature=self._temperature,
            )
        limits = self._limits if prompt is None else replace(self._limits, prompt=min(prompt, self._limits.prompt))
        return render(
            as_judgement(question),
            correction,
            limits,
            context_tokens=self._context_tokens,
            max_output_tokens=self._max_output_tokens,
            temperature=self._temperature,
        )
