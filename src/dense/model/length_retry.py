"""Answers that were cut at the output limit."""

from __future__ import annotations

from msgspec.structs import replace

from dense.errors import CallFailed
from dense.model.chat import ChatModel, ChatReply, ChatRequest


class LengthRetryModel:
    """Asks once more, with twice the limit, if an answer was cut. If that fails, the cut answer is returned."""

    def __init__(self, inner: ChatModel) -> None:
        self._inner = inner

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers, within the limit or its double."""
        cut = await self._inner.complete(request)
        if cut.finish != "length":
            return cut
        try:
            longer = await self._inner.complete(replace(request, max_output_tokens=2 * request.max_output_tokens))
        except CallFailed as error:
            return replace(cut, tries=(*cut.tries, *error.tries))
        return replace(
            longer,
            usage=cut.usage + longer.usage,
            seconds=round(cut.seconds + longer.seconds, 4),
            tries=(*cut.tries, *longer.tries),
            at=cut.at,
        )
