"""The nouns of a conversation with a language model, and the seam: one method."""

from __future__ import annotations

import hashlib
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from dense.trajectory import Usage

Role = Literal["user", "assistant"]
Finish = Literal["stop", "length", "refusal"]


class Message(Struct, frozen=True):
    """One turn of a conversation."""

    role: Role
    """Who speaks."""
    text: str
    """What."""
    is_stable: bool = False
    """Whether a prefix ends here that later requests share, so that providers may keep it. No part of the question."""


class ChatRequest(Struct, frozen=True):
    """All that a model is asked."""

    system: str
    """The system instruction; may be empty."""
    messages: tuple[Message, ...]
    """The conversation so far, the question last."""
    schema: dict[str, Any] | None = None
    """The JSON Schema of the answer; None for free text. The order of its properties is the order of the answer's."""
    max_output_tokens: int = 4096
    """Where the answer is cut, thoughts included."""
    temperature: float | None = None
    """None leaves it to the provider. Models that take none are asked without it."""
    label: str = ""
    """What asks, for the ledger. No part of the question."""

    @property
    def digest(self) -> str:
        """A hash of what is asked. What cannot change the answer (`label`, `is_stable`) is left out."""
        turns = [(message.role, message.text) for message in self.messages]
        asked = (self.system, turns, self.schema, self.max_output_tokens, self.temperature)
        return hashlib.sha256(msgspec.json.encode(asked)).hexdigest()


class CallTry(Struct, frozen=True, omit_defaults=True):
    """One try to get an answer."""

    seconds: float
    """How long it took."""
    status: int | None = None
    """The HTTP status; None where none came."""
    error: str | None = None
    """What went wrong; None for the try that was answered."""
    usage: Usage | None = None
    """The tokens that it reported; None where it reported none."""
    may_be_billed: bool = False
    """Whether the provider may have charged for it: with no usage, what it cost is unknown."""


# Recordings and caches of earlier versions call the tries attempts.
class ChatReply(Struct, frozen=True, omit_defaults=True, rename={"tries": "attempts"}):
    """The answer of a chat model to one request."""

    text: str
    """The answer, without inline thoughts."""
    usage: Usage
    """The tokens of all tries that reported them."""
    finish: Finish
    """`stop`: it is whole. `length`: it was cut at the limit. `refusal`: the provider or the model declined."""
    model: str
    """The model, as the server names it, else as it was asked for."""
    seconds: float
    """From the question to the answer, waits included."""
    tries: tuple[CallTry, ...] = ()
    """Every try, in order."""
    at: str = ""
    """When it was asked of the provider: ISO 8601, UTC."""
    is_cached: bool = False
    """Whether it was answered without asking the provider: nothing was paid for it now."""


class ChatModel(Protocol):
    """Whoever answers. Caching, metering, limiting and recording are wrappers with this same method.

    Contract: an answer is returned whatever its quality, refusals and cut ones included (see `finish`). Errors are
    of `dense.errors.ModelError`: `CallFailed` is about this one call, all others are about the run and should end it.
    Safe to call concurrently within one event loop."""

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answers, or raises a `ModelError`."""
        ...
