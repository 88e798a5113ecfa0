"""OpenAI's chat format, as Gemini, OpenAI, DeepSeek, Kimi, MiniMax, OpenRouter, Ollama, vLLM and llama.cpp speak it."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import msgspec
from msgspec import Raw, Struct

from dense.model.chat import ChatRequest, Finish, Message
from dense.model.providers import Key, ModelSpec
from dense.model.wires.failures import failure_of
from dense.model.wires.schemas import close_objects, describe_keywords, is_strict
from dense.model.wires.wire import RequestForm, WireFailure, WireReply, strip_wrapping, system_prompt
from dense.trajectory import Usage, uncached

VERSION = 1

MINIMAX_STATUS = {1002: 429, 1004: 401, 1008: 402, 1026: 451, 1027: 451, 2013: 400, 2049: 401}
"""MiniMax reports errors inside good responses, under numbers of its own."""


def endpoint(base_url: str) -> str:
    """Where requests go."""
    return f"{base_url}/chat/completions"


def headers(key: Key | None) -> dict[str, str]:
    """The headers of a request."""
    return {"Authorization": f"Bearer {key.reveal()}"} if key else {}


def body(request: ChatRequest, spec: ModelSpec, form: RequestForm) -> dict[str, Any]:
    """A request as JSON. The parts that requests share come first, so that providers find their caches."""
    provider = spec.provider
    system = system_prompt(request, form)
    content: dict[str, Any] = {
        "model": spec.name,
        "messages": [{"role": "system", "content": system}] * bool(system) + _turns(request.messages, spec),
        provider.limit_field: request.max_output_tokens,
    }
    if form.temperature is not None:
        content["temperature"] = form.temperature
    if form.json_mode == "object":
        content["response_format"] = {"type": "json_object"}
    elif request.schema is not None and form.json_mode == "schema":
        content["response_format"] = {"type": "json_schema", "json_schema": _schema(request.schema, spec)}
    return {**content, **provider.extra}


def _turns(messages: tuple[Message, ...], spec: ModelSpec) -> list[dict[str, Any]]:
    """One turn for each change of the speaker: many chat templates insist that the roles alternate."""
    turns: list[dict[str, Any]] = []
    # OpenRouter hands these marks on to Anthropic, whose caches work only at such marks.
    has_marks = spec.provider.name == "openrouter" and spec.name.startswith("anthropic/")
    for role, group in groupby(messages, key=lambda message: message.role):
        parts = list(group)
        if has_marks and any(part.is_stable for part in parts):
            turns.append({"role": role, "content": [_part(part) for part in parts]})
        else:
            turns.append({"role": role, "content": "\n\n".join(part.text for part in parts)})
    return turns


def _part(message: Message) -> dict[str, Any]:
    mark = {"cache_control": {"type": "ephemeral"}} if message.is_stable else {}
    return {"type": "text", "text": message.text, **mark}


def _schema(schema: dict[str, Any], spec: ModelSpec) -> dict[str, Any]:
    fit = {**close_objects(describe_keywords(schema, spec.provider.rejects)), **spec.provider.schema_extra}
    return {"name": "answer", "strict": is_strict(schema), "schema": fit}


class _Said(Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None


class _Choice(Struct):
    message: _Said | None = None
    finish_reason: str | None = None


class _Code(Struct):
    code: int | str | None = None


class _Trouble(Struct):
    status_code: int = 0


class _Response(Struct):
    choices: list[_Choice] | None = None
    model: str | None = None
    usage: Raw = Raw(b"null")
    error: Raw = Raw(b"null")
    base_resp: _Trouble | None = None


class _Details(Struct):
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None


class _Tokens(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    total_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None
    """DeepSeek's name."""
    cached_tokens: int | None = None
    """Kimi's place."""
    cost: float | None = None
    """OpenRouter's price in USD."""


def answer(payload: bytes, spec: ModelSpec, form: RequestForm) -> WireReply | WireFailure:
    """What the body of a good response says: an answer, or an error in disguise."""
    response = msgspec.json.decode(payload, type=_Response)
    tokens = usage(bytes(response.usage), hides_thoughts=spec.provider.hides_thoughts)
    if not response.choices:
        return failure_of(_hidden_status(response), payload)
    choice = response.choices[0]
    said = choice.message or _Said()
    reason = choice.finish_reason or "stop"
    if reason in ("error", "insufficient_system_resource"):
        return WireFailure(
            text=f"the model broke off ({reason})", then="again", status=200, may_be_billed=True, usage=tokens
        )
    text = said.content or ""
    if not isinstance(text, str):
        text = "".join(str(part.get("text", "")) for part in text)
    finish = _finish(reason, said.refusal)
    text = said.refusal or text if finish == "refusal" else strip_wrapping(text, wants_json=form.json_mode is not None)
    return WireReply(text, finish, tokens, response.model)


def usage(payload: bytes, *, hides_thoughts: bool = False) -> Usage:
    """Tokens in disjoint buckets. Cached ones are part of the prompt here, under one of three names."""
    try:
        tokens = msgspec.json.decode(payload, type=_Tokens | None) or _Tokens()
    except msgspec.MsgspecError:
        return Usage()
    details = tokens.prompt_tokens_details or _Details()
    read = next(
        (n for n in (details.cached_tokens, tokens.cached_tokens, tokens.prompt_cache_hit_tokens) if n is not None),
        None,
    )
    write = details.cache_write_tokens
    prompt, output = tokens.prompt_tokens, tokens.completion_tokens
    if hides_thoughts and prompt is not None and tokens.total_tokens is not None:
        output = max(tokens.total_tokens - prompt, output or 0)
    return Usage(uncached(prompt, read, write), read, write, output, tokens.cost)


def _finish(reason: str, refusal: str | None) -> Finish:
    if refusal or reason.startswith("content_filter"):
        return "refusal"
    return "length" if reason in ("length", "max_tokens") else "stop"


def _hidden_status(response: _Response) -> int:
    if response.base_resp and response.base_resp.status_code:
        return MINIMAX_STATUS.get(response.base_resp.status_code, 500)
    try:
        error = msgspec.json.decode(response.error, type=_Code)
        code = int(error.code or 0)
    except (msgspec.MsgspecError, ValueError):
        code = 0
    return code if 400 <= code < 600 else 500
