"""What goes over the wire and what comes back: golden requests, usage in disjoint buckets, thoughts and fences."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import said

from dense.model import PROVIDERS, ChatRequest, Message, ModelSpec, resolve
from dense.model.http import WIRES
from dense.model.providers import Key, Provider
from dense.model.wires.failures import error_text, retry_after
from dense.model.wires.openai import usage as openai_usage
from dense.model.wires.schemas import close_objects, describe_keywords, is_strict
from dense.model.wires.wire import RequestForm, WireFailure, WireReply, strip_wrapping
from dense.trajectory import Usage

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 200, "description": "Why."},
        "label": {"enum": [0, -1, -2]},
        "cuts": {
            "type": "array",
            "items": {"type": "object", "properties": {"at": {"type": "integer", "minimum": 1}}, "required": ["at"]},
            "maxItems": 9,
        },
    },
    "required": ["reason", "label", "cuts"],
}
REQUEST = ChatRequest(
    "You judge.",
    (
        Message("user", "The trajectory.", is_stable=True),
        Message("user", "Where is the cut?"),
        Message("assistant", '{"reason": "?"}'),
        Message("user", "That does not fit the schema."),
    ),
    SCHEMA,
    max_output_tokens=500,
    temperature=0.0,
    label="boundary",
)
NAMES = {name: f"{name}/m" for name in PROVIDERS} | {"openrouter-anthropic": "openrouter/anthropic/m"}


def spec_of(name: str) -> ModelSpec:
    return resolve(name, base_url="http://127.0.0.1:1/v1", environment={})


def form_of(provider: Provider, request: ChatRequest = REQUEST) -> RequestForm:
    mode = None if request.schema is None else provider.json_mode
    return RequestForm(mode, request.temperature if provider.takes_temperature else None)


def read(payload: Any, name: str = "openai/m", *, json_mode: Any = "schema") -> WireReply | WireFailure:
    spec = spec_of(name)
    return WIRES[spec.provider.wire].answer(json.dumps(payload).encode(), spec, RequestForm(json_mode, None))


def answer(payload: Any, name: str = "openai/m", *, json_mode: Any = "schema") -> WireReply:
    found = read(payload, name, json_mode=json_mode)
    assert isinstance(found, WireReply)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_golden_requests(name: str, golden: Callable[[str, str], None]) -> None:
    spec = spec_of(NAMES[name])
    wire = WIRES[spec.provider.wire]
    shown = {
        "endpoint": wire.endpoint(spec.base_url),
        "headers": wire.headers(Key("SOME_KEY", "the-key")),
        "body": wire.body(REQUEST, spec, form_of(spec.provider)),
    }
    golden(f"model/{name}.json", json.dumps(shown, indent=1) + "\n")


@pytest.mark.parametrize("name", ["openai/m", "anthropic/m"])
def test_a_plain_question_is_plain(name: str) -> None:
    spec = spec_of(name)
    request = ChatRequest("", (Message("user", "Hello."),), max_output_tokens=7)
    body = WIRES[spec.provider.wire].body(request, spec, form_of(spec.provider, request))
    limit = body.pop(spec.provider.limit_field)
    content: Any = [{"type": "text", "text": "Hello."}] if name == "anthropic/m" else "Hello."
    assert (body, limit) == ({"model": "m", "messages": [{"role": "user", "content": content}]}, 7)


def test_at_most_four_marks_for_anthropic() -> None:
    spec = spec_of("anthropic/m")
    many = ChatRequest("s", tuple(Message("user", str(n), is_stable=True) for n in range(9)))
    text = json.dumps(WIRES["anthropic"].body(many, spec, RequestForm(None, None)))
    assert text.count("cache_control") == 4
    assert '"8", "cache_control"' in text, "the last one is the longest prefix"


def test_anthropic_addresses_with_and_without_version() -> None:
    for url in ("https://a.example", "https://a.example/v1"):
        assert WIRES["anthropic"].endpoint(url) == "https://a.example/v1/messages"


@pytest.mark.parametrize(
    ("provider", "reported", "expected"),
    [
        ("openai", {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}, Usage(100, None, None, 20)),
        (
            "openai",
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_tokens_details": {"cached_tokens": 64, "audio_tokens": 0},
                "completion_tokens_details": {"reasoning_tokens": 12},
            },
            Usage(36, 64, None, 20),
        ),
        (
            "deepseek",
            {
                "prompt_tokens": 100,
                "completion_tokens": 20,
                "prompt_cache_hit_tokens": 64,
                "prompt_cache_miss_tokens": 36,
            },
            Usage(36, 64, None, 20),
        ),
        ("kimi", {"prompt_tokens": 100, "completion_tokens": 20, "cached_tokens": 64}, Usage(36, 64, None, 20)),
        ("gemini", {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 450}, Usage(100, None, None, 350)),
        (
            "openrouter",
            {
                "prompt_tokens": 194,
                "completion_tokens": 2,
                "cost": 0.95,
                "prompt_tokens_details": {"cached_tokens": 10, "cache_write_tokens": 100},
            },
            Usage(84, 10, 100, 2, 0.95),
        ),
        ("ollama", {"prompt_tokens": 3, "completion_tokens": 2}, Usage(3, None, None, 2)),
        ("vllm", {"prompt_tokens": 3, "prompt_tokens_details": None}, Usage(3)),
        ("vllm", None, Usage()),
        ("vllm", "many", Usage()),
        (
            "anthropic",
            {"input_tokens": 5, "cache_read_input_tokens": 70, "cache_creation_input_tokens": 25, "output_tokens": 9},
            Usage(5, 70, 25, 9),
        ),
        ("anthropic", {"input_tokens": 5, "output_tokens": 9}, Usage(5, None, None, 9)),
    ],
)
def test_usage_in_disjoint_buckets(provider: str, reported: Any, expected: Usage) -> None:
    payload = said("x")
    if provider == "anthropic":
        payload = {"content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn", "model": "m"}
    assert answer({**payload, "usage": reported}, f"{provider}/m").usage == expected


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9))
def test_input_buckets_add_up_to_the_prompt(fresh: int, read_tokens: int, written: int) -> None:
    details = {"cached_tokens": read_tokens, "cache_write_tokens": written}
    stated = {"prompt_tokens": fresh + read_tokens + written, "completion_tokens": 1, "prompt_tokens_details": details}
    assert openai_usage(json.dumps(stated).encode()) == Usage(fresh, read_tokens, written, 1)


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("end_turn", "stop"), ("stop_sequence", "stop"), ("max_tokens", "length"), ("refusal", "refusal"), (None, "stop")],
)
def test_how_anthropic_ends(reason: str | None, finish: str) -> None:
    blocks = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "{}"}]
    got = answer({"content": blocks, "stop_reason": reason, "model": "claude"}, "anthropic/m")
    assert (got.text, got.finish, got.model) == ("{}", finish, "claude")


@pytest.mark.parametrize(
    ("code", "then"),
    [(1002, "again"), (1004, "key"), (1008, "key"), (1013, "again"), (2013, "dead")],
)
def test_errors_inside_minimax_answers(code: int, then: str) -> None:
    found = read({"choices": None, "base_resp": {"status_code": code, "status_msg": "no"}}, "minimax/m")
    assert isinstance(found, WireFailure)
    assert found.then == then


def test_content_in_parts() -> None:
    payload = said("")
    payload["choices"][0]["message"]["content"] = [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    assert answer(payload).text == "ab"


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        ('<think>\nwell\n</think>\n\n{"a": 1}', '{"a": 1}'),
        ('well…\n</think>\n{"a": 1}', '{"a": 1}'),
        ('{"a": "</think>"}', '{"a": "</think>"}'),
        ("<think>cut in the mid", ""),
        ('```json\n{"a": 1}\n```', '{"a": 1}'),
        ('<think>x</think>```\n{"a": 1}\n```\n', '{"a": 1}'),
        ('{"a": "```x```"}', '{"a": "```x```"}'),
        ("plain", "plain"),
    ],
)
def test_thoughts_and_fences_come_off(raw: str, text: str) -> None:
    assert strip_wrapping(raw, wants_json=True) == text


def test_free_text_keeps_its_fences() -> None:
    assert strip_wrapping("```\nx\n```", wants_json=False) == "```\nx\n```"
    assert strip_wrapping("say </think> twice", wants_json=False) == "say </think> twice"


def test_the_digest_is_of_what_determines_the_answer() -> None:
    from msgspec.structs import replace

    same = replace(REQUEST, label="other", messages=tuple(replace(m, is_stable=False) for m in REQUEST.messages))
    assert same.digest == REQUEST.digest
    reordered = {**SCHEMA, "properties": dict(reversed(list(SCHEMA["properties"].items())))}
    others = [
        replace(REQUEST, system="x"),
        replace(REQUEST, messages=REQUEST.messages[:1]),
        replace(REQUEST, schema=None),
        replace(REQUEST, schema=reordered),
        replace(REQUEST, max_output_tokens=1),
        replace(REQUEST, temperature=None),
    ]
    assert len({REQUEST.digest, *(other.digest for other in others)}) == 7


def test_schemas_are_fitted_without_touching_the_original() -> None:
    before = json.dumps(SCHEMA)
    fitted = close_objects(describe_keywords(SCHEMA, ("maxLength", "minimum")))
    assert json.dumps(SCHEMA) == before
    assert fitted["properties"]["reason"] == {"type": "string", "description": "Why. (maxLength 200)"}
    inner = fitted["properties"]["cuts"]["items"]
    assert inner["properties"]["at"] == {"type": "integer", "description": "minimum 1"}
    assert fitted["additionalProperties"] is inner["additionalProperties"] is False
    assert fitted["properties"]["cuts"]["maxItems"] == 9


def test_strict_only_where_all_is_required() -> None:
    assert is_strict(SCHEMA)
    assert not is_strict(
        {"type": "object", "properties": {"a": {"anyOf": [{"properties": {"b": {}}}]}}, "required": ["a"]}
    )


def test_properties_may_be_named_like_keywords() -> None:
    schema = {"type": "object", "properties": {"items": {"type": "string"}, "maxLength": {"type": "integer"}}}
    assert describe_keywords(schema, ("maxLength",)) == schema


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-3"}, None),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:10 GMT", "Date": "Wed, 21 Oct 2015 07:28:00 GMT"}, 10),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:10 GMT"}, 0),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


@given(st.binary(max_size=300))
def test_any_error_body_gives_a_text(payload: bytes) -> None:
    assert "\n" not in error_text(payload)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ('{"error": {"message": "no such thing", "code": "x"}}', "no such thing x"),
        (
            '[{"error": {"code": 400, "message": "API key not valid", "status": "INVALID_ARGUMENT"}}]',
            "API key not valid",
        ),
        ('{"error": "model not found"}', "model not found"),
        ('{"detail": [{"msg": "field required"}]}', "field required"),
        ("<html><style>a{}</style><h1>502</h1>Bad Gateway</html>", "502 Bad Gateway"),
    ],
)
def test_texts_of_errors(body: str, text: str) -> None:
    assert error_text(body.encode()) == text


def test_base_urls_from_the_environment() -> None:
    found = resolve("openai/m", environment={"OPENAI_BASE_URL": "http://proxy:1/v1/"})
    assert (found.base_url, str(found)) == ("http://proxy:1/v1", "openai/m")
    assert (
        resolve("openai/m", base_url="http://x/v1", environment={"OPENAI_BASE_URL": "http://y"}).base_url
        == "http://x/v1"
    )
    assert resolve("openai-compatible/m", environment={"OPENAI_COMPATIBLE_BASE_URL": "http://y"}).base_url == "http://y"
    assert str(resolve("http://127.0.0.1:8000/v1#org/m", environment={})) == "openai-compatible/org/m"
    assert str(resolve("moonshot/m", environment={})) == "kimi/m"


def test_addresses_for_people_hold_no_secrets() -> None:
    assert resolve("http://u:secret@h:1/v1?key=secret#m", environment={}).address == "http://h:1/v1"
    assert "secret" not in repr(Key("NAME", "secret"))
