"""What the two wire formats share: requests, replies, failures, and schemas described in the prompt."""

from __future__ import annotations

import re
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from dense.model.chat import ChatRequest, Finish
from dense.model.providers import JsonMode, Key, ModelSpec
from dense.trajectory import Usage


class RequestForm(Struct, frozen=True):
    """How a question is put: what the server is known to take of it."""

    json_mode: JsonMode | None
    """What the answer is bound to; None where free text is asked for."""
    temperature: float | None
    """What is sent as the temperature."""


class WireReply(Struct, frozen=True):
    """What a server said."""

    text: str
    """The answer itself."""
    finish: Finish
    """How it ended."""
    usage: Usage
    """Its tokens, as far as reported."""
    model: str | None = None
    """The model, as the server names it."""
    status: int = 200
    """The HTTP status: some refusals come as errors."""


class WireFailure(Struct, frozen=True):
    """Why there is no answer."""

    text: str
    """For people."""
    then: Literal["again", "dead", "too long", "key", "model"]
    """`again`: worth another try. `dead`: this call is lost. `key`, `model`: so is every other."""
    status: int | None = None
    """The HTTP status, or the one that an error inside an answer names."""
    retry_after: float | None = None
    """Seconds that the server wants us to wait."""
    may_be_billed: bool = False
    """Whether it may be charged for."""
    is_unreachable: bool = False
    """Whether no connection was made at all."""
    usage: Usage | None = None
    """What was reported nevertheless."""


class Wire(Protocol):
    """A wire format: pure functions between our nouns and JSON."""

    @property
    def VERSION(self) -> int:  # noqa: N802 - a constant of the module
        """Raised when the same request would be put differently, so that older cached answers no longer count."""
        ...

    def endpoint(self, base_url: str) -> str:
        """Where requests go."""
        ...

    def headers(self, key: Key | None) -> dict[str, str]:
        """The headers of a request."""
        ...

    def body(self, request: ChatRequest, spec: ModelSpec, form: RequestForm) -> dict[str, Any]:
        """A request as JSON."""
        ...

    def answer(self, payload: bytes, spec: ModelSpec, form: RequestForm) -> WireReply | WireFailure:
        """What the body of a good response says. Raises `msgspec.MsgspecError` where it is not what was promised."""
        ...


def system_prompt(request: ChatRequest, form: RequestForm) -> str:
    """The system prompt, with the schema in words where the server cannot be bound to it."""
    if form.json_mode in (None, "schema"):
        return request.system
    schema = msgspec.json.encode(request.schema).decode()
    order = f"Answer with one JSON object and nothing else. It must fit this JSON Schema:\n{schema}"
    return f"{request.system}\n\n{order}" if request.system else order


THOUGHT = re.compile(r"\s*<think>.*?(</think>\s*|\Z)", re.DOTALL)
FENCED = re.compile(r"\s*```[a-zA-Z]*[ \t]*\n(.*?)\n?[ \t]*```\s*", re.DOTALL)


def strip_wrapping(text: str, *, wants_json: bool) -> str:
    """The answer without the thoughts that some models write before it and, for JSON, the fence around it."""
    thought = THOUGHT.match(text)
    if thought:
        text = text[thought.end() :]
    elif wants_json and not text.lstrip().startswith("{") and "</think>" in text:
        # Chat templates that open the thought themselves leave only its end in the answer.
        text = text.partition("</think>")[2].lstrip()
    if wants_json and (fenced := FENCED.fullmatch(text)):
        text = fenced[1]
    return text
