"""Anthropic's messages format. Its own tongue is spoken, not its OpenAI layer, which knows no schemas and no
caching."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import msgspec
from msgspec import Raw, Struct

from dense.model.chat import ChatRequest, Finish, Message
from dense.model.providers import Key, ModelSpec
from dense.model.wires.failures import failure_of
from dense.model.wires.schemas import close_objects, describe_keywords
from dense.model.wires.wire import RequestForm, WireFailure, WireReply, strip_wrapping, system_prompt
from dense.trajectory import Usage

VERSION = 1

MARKS = 4
"""How many ends of prefixes a request may mark."""
EPHEMERAL = {"cache_control": {"type": "ephemeral"}}


def endpoint(base_url: str) -> str:
    """Where requests go. People write the base URL with and without the version."""
    return f"{base_url.removesuffix('/v1')}/v1/messages"


def headers(key: Key | None) -> dict[str, str]:
    """The headers of a request."""
    version = {"anthropic-version": "2023-06-01"}
    return {**version, "x-api-key": key.reveal()} if key else version


def body(request: ChatRequest, spec: ModelSpec, form: RequestForm) -> dict[str, Any]:
    """A request as JSON, with the shared prefixes marked: the system prompt, then the last stable messages."""
    content: dict[str, Any] = {"model": spec.name, "max_tokens": request.max_output_tokens}
    if system := system_prompt(request, form):
        content["system"] = [{"type": "text", "text": system, **EPHEMERAL}]
    content["messages"] = _turns(request.messages, marks=MARKS - bool(system))
    if form.temperature is not None:
        content["temperature"] = form.temperature
    if request.schema is not None and form.json_mode == "schema":
        schema = close_objects(describe_keywords(request.schema, spec.provider.rejects))
        content["output_config"] = {"format": {"type": "json_schema", "schema": schema}}
    return {**content, **spec.provider.extra}


def _turns(messages: tuple[Message, ...], *, marks: int) -> list[dict[str, Any]]:
    stable = [index for index, message in enumerate(messages) if message.is_stable][-marks:]
    parts = [
        (message.role, {"type": "text", "text": message.text, **(EPHEMERAL if index in stable else {})})
        for index, message in enumerate(messages)
    ]
    return [
        {"role": role, "content": [part for _, part in group]}
        for role, group in groupby(parts, key=lambda part: part[0])
    ]


class _Block(Struct):
    type: str
    text: str = ""


class _Response(Struct):
    content: list[_Block] | None = None
    stop_reason: str | None = None
    model: str | None = None
    usage: Raw = Raw(b"null")


class _Tokens(Struct):
    input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    output_tokens: int | None = None


def answer(payload: bytes, spec: ModelSpec, form: RequestForm) -> WireReply | WireFailure:
    """What the body of a good response says: an answer, or an error in disguise."""
    del spec
    response = msgspec.json.decode(payload, type=_Response)
    if response.content is None:
        return failure_of(500, payload)
    text = "".join(block.text for block in response.content if block.type == "text")
    finish = _finish(response.stop_reason)
    return WireReply(
        strip_wrapping(text, wants_json=form.json_mode is not None),
        finish,
        usage(bytes(response.usage)),
        response.model,
    )


def usage(payload: bytes) -> Usage:
    """Tokens in disjoint buckets, which is how this format counts."""
    try:
        tokens = msgspec.json.decode(payload, type=_Tokens | None) or _Tokens()
    except msgspec.MsgspecError:
        return Usage()
    return Usage(
        tokens.input_tokens, tokens.cache_read_input_tokens, tokens.cache_creation_input_tokens, tokens.output_tokens
    )


def _finish(reason: str | None) -> Finish:
    if reason == "refusal":
        return "refusal"
    return "length" if reason in ("max_tokens", "model_context_window_exceeded") else "stop"
