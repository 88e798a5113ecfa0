"""JSON that may be damaged: what is repairs, what is refused, and what is left of a document that was cut off."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from cpu_time import assert_within
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dense
from dense.readers import files, json_text
from dense.readers.json_text import BOM, BadJson, decode, decode_cut_off, decode_in_parts

TEXTS = st.text(max_size=8) | st.sampled_from(['"', "\\", "\\\\", '\\"', "[{", "},", "]", "\u2028", "a\nb"])
SCALARS = st.none() | st.booleans() | st.integers(-(10**6), 10**6) | st.floats(-1e6, 1e6) | TEXTS
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4), max_leaves=12
)


ESCAPES = "unknown escapes kept as they are"


@pytest.mark.parametrize(
    ("data", "value", "repairs"),
    [
        (b'{"a": 1}', {"a": 1}, ""),
        (BOM + b"[1]", [1], ""),
        (b'["a\0b"]', ["ab"], "NUL bytes removed"),
        (b'["a\xff"]', ["a\ufffd"], "invalid UTF-8 replaced"),
        (b'["\\ud800", 1]', ["\ufffd", 1], "lone surrogates replaced"),
        (b'{"\\udfff": 1}', {"\ufffd": 1}, "lone surrogates replaced"),
        (b'["\0\xff"]', ["\ufffd"], "NUL bytes removed, invalid UTF-8 replaced"),
        (b"[NaN, Infinity, 1e999]", ["NaN", "Infinity", "1e999"], ""),
        (b'{"a": ' + b"1" * 5000 + b', "b": 2}', {"a": "1" * 5000, "b": 2}, ""),
        (rb'{"a": "it\'s \d \" \\", "b": "\u12"}', {"a": "it\\'s \\d \" \\", "b": "\\u12"}, ESCAPES),
        (b'["a\nb"]', ["a\nb"], ""),
        (b'"\\ud83d\\ude00"', "\U0001f600", ""),
    ],
)
def test_what_can_be_repaired(data: bytes, value: Any, repairs: str) -> None:
    assert decode(data) == (value, repairs)


@pytest.mark.parametrize("data", [b"", b"  ", b"\0\0", b"{", b"{'a': 1}", b"[1] [2]", b"[1,]", b"//"])
def test_what_cannot(data: bytes) -> None:
    with pytest.raises(BadJson):
        decode(data)


@pytest.mark.parametrize("opened", [b"[", b'{"k":'])
def test_one_field_that_is_nested_too_deeply_does_not_hide_the_others(opened: bytes) -> None:
    deep = opened * 100_000 + b"1" + (b"]" if opened == b"[" else b"}") * 100_000
    value, repaired = decode(b'{"a": 1, "deep": ' + deep + b', "b": "\\q"}')
    assert (value["a"], value["b"]) == (1, "\\q")
    assert repaired == f"what is nested too deeply is left out, {ESCAPES}"


@pytest.mark.parametrize(
    ("data", "left"),
    [
        (b'{"a": 1, "b": 2', {"a": 1}),
        (b'{"a": [1, 2, 34', {"a": [1, 2]}),
        (b'{"a": [1], "b": "x, y', {"a": [1]}),
        (b'{"a": {"b": 1}, "c": {"d": 2, "e": tr', {"a": {"b": 1}, "c": {"d": 2}}),
        (b'[{"a": "}]"}, {"b', [{"a": "}]"}]),
        (b'["\\"", "\\\\", "\\', ['"', "\\"]),
        (b"[1] and more", [1]),
        (b'[{"a": 1}, {"b": 2}}', [{"a": 1}, {"b": 2}]),
        (b'[1, "\xe2\x82', [1]),
        (b'{"a": 1, "b": "x\0\0\0\0', {"a": 1}),
    ],
)
def test_what_is_left_of_a_document_that_was_cut_off(data: bytes, left: Any) -> None:
    assert decode_cut_off(data) == left


@pytest.mark.parametrize("data", [b"", b"{", b'{"a": 1', b'"abc', b"123", b"]", b"1, 2, 3", b'{"a" 1, 2'])
def test_nothing_is_left(data: bytes) -> None:
    with pytest.raises(BadJson):
        decode_cut_off(data)


def test_many_commas_in_many_brackets_take_no_time() -> None:
    assert_within(5, lambda: decode_cut_off(b"[" * 50_000 + b"1," * 50_000))


def is_part(left: Any, whole: Any) -> bool:
    """Whether nothing stands in `left` that does not stand in `whole`, at the same place."""
    if isinstance(left, list) and isinstance(whole, list):
        return len(left) <= len(whole) and all(map(is_part, left, whole))
    if isinstance(left, dict) and isinstance(whole, dict):
        return list(left) == list(whole)[: len(left)] and all(is_part(left[key], whole[key]) for key in left)
    return type(left) is type(whole) and left == whole


def scalars(value: Any) -> list[Any]:
    """Keys and scalars, in the order in which they are written."""
    if isinstance(value, list):
        return [inner for item in value for inner in scalars(item)]
    if isinstance(value, dict):
        return [inner for key, item in value.items() for inner in (key, *scalars(item))]
    return [value]


def test_the_comparison_can_fail() -> None:
    assert not is_part([1, 2], [1])
    assert not is_part({"a": 1}, {"a": 12})
    assert not is_part({"b": 1}, {"a": 0, "b": 1})
    assert not is_part([True], [1])


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS, st.sampled_from([None, 1]), st.booleans(), st.data())
def test_wherever_a_document_is_cut_nothing_incomplete_is_left(
    document: Any, indent: int | None, ascii_: bool, data: st.DataObject
) -> None:
    whole = json.dumps(document, indent=indent, ensure_ascii=ascii_).encode()
    prefix = whole[: data.draw(st.integers(0, len(whole)))]
    try:
        left = decode_cut_off(prefix)
    except BadJson:
        return
    assert is_part(left, document)
    # Each key and each value was written to its end before the cut, in this order.
    place = 0
    for value in scalars(left):
        text = json.dumps(value, ensure_ascii=ascii_).encode()
        place = prefix.index(text, place) + len(text)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(DOCUMENTS.filter(lambda value: isinstance(value, list | dict)))
def test_a_whole_document_is_left_whole(document: Any) -> None:
    assert decode_cut_off(json.dumps(document).encode() + b' ,"rest": [') == document


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.binary(max_size=200) | st.text('[]{},:"\\ 0a', max_size=60).map(str.encode))
def test_any_bytes_give_a_value_or_bad_json(data: bytes) -> None:
    for read in (decode, decode_cut_off):
        try:
            read(data)
        except BadJson as error:
            assert str(error)


@given(st.lists(DOCUMENTS, max_size=6) | st.dictionaries(TEXTS, DOCUMENTS, max_size=6), st.integers(0, 3))
def test_a_document_in_parts_is_the_whole_document(document: Any, wide: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "RELEASED_BYTES", 5)
        data = json.dumps([document, "x" * 9_000, [document, ["y" * 5_000] * wide], document], indent=wide).encode()
        assert decode_in_parts(io.BytesIO(data), len(data)) == decode(data)[0]


@pytest.mark.parametrize("harm", [b"", b"]", b"\0", b"\xff", b', "note": NaN'])
def test_a_large_document_is_read_as_a_small_one(harm: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = [
        {"role": role, "content": f"turn {n} " + "z" * 3_000} for n in range(9) for role in ("user", "assistant")
    ]
    path = tmp_path / "trace.json"
    path.write_bytes(json.dumps({"messages": messages}).encode()[:-1] + harm + b"}")
    small = [one.steps for one in dense.read(path)]
    monkeypatch.setattr(files, "LARGE_BYTES", 1)
    monkeypatch.setattr(json_text, "RELEASED_BYTES", 4_096)
    if not harm:
        monkeypatch.setattr(files, "decode", None)  # nobody reads it whole
    assert small and [one.steps for one in dense.read(path)] == small


def test_a_document_that_ends_within_an_escape_is_cut_off() -> None:
    for text in ('["whole", "\\u001b', '{"a": "\\x \\u001b'):
        with pytest.raises(BadJson, match="not valid JSON"):
            decode(text.encode())
    assert decode_cut_off(b'["whole", "\\u001b') == ["whole"]
