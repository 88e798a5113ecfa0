"""Content of all dialects as text: images become markers, no base64 stays, nothing raises."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from dense.readers.content import MAX_DEPTH, arguments_of, compact, image_marker, text_of

PICTURE = base64.b64encode(b"\x89PNG" + bytes(range(96))).decode()
"""100 bytes."""


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("words", "words"),
        ("", ""),
        (None, ""),
        ([], ""),
        ({}, "{}"),
        (7, "7"),
        (1.5, "1.5"),
        (True, "true"),
        (2**70, str(2**70)),
        (["a", None, "", "b"], "a\nb"),
        ({"type": "text", "text": "a"}, "a"),
        ({"type": "input_text", "text": "a"}, "a"),
        ({"type": "output_text", "text": "a", "annotations": []}, "a"),
        ({"type": "refusal", "refusal": "no"}, "no"),
        ({"text": "without a type"}, "without a type"),
        ({"type": "text"}, ""),
        ({"type": "text", "text": None}, ""),
        ({"type": "text", "text": {"odd": 1}}, '{"odd":1}'),
        ({"type": {"type": []}, "text": "a"}, "a"),
        ({"type": "tool_result", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "a"}}, "a"),
        ({"type": "input_text", "text": "a.txt", "image_url": None}, "a.txt"),
        ({"rows": 2, "ok": True}, '{"rows":2,"ok":true}'),
        (
            {"title": "A", "image_url": "https://example.org/a.png"},
            '{"title":"A","image_url":"https://example.org/a.png"}',
        ),
        ({"data": "plain words"}, '{"data":"plain words"}'),
        ({"mimeType": "application/json", "data": "[1]"}, '{"mimeType":"application/json","data":"[1]"}'),
        ([["a", ["b"]], {"content": ["c"]}], "a\nb\nc"),
    ],
)
def test_text(content: Any, text: str) -> None:
    assert text_of(content) == text


IMAGES = {
    "anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PICTURE}},
    "openai chat": {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PICTURE}", "detail": "auto"}},
    "openai chat, flat": {"type": "image_url", "image_url": f"data:image/png;base64,{PICTURE}"},
    "openai responses": {"type": "input_image", "image_url": f"data:image/png;base64,{PICTURE}"},
    "a screenshot": {"type": "computer_screenshot", "image_url": f"data:image/png;base64,{PICTURE}"},
    "no type": {"image_url": {"url": f"data:image/png;base64,{PICTURE}"}},
    "gemini": {"inlineData": {"mimeType": "image/png", "data": PICTURE}},
    "gemini api": {"inline_data": {"mime_type": "image/png", "data": PICTURE}},
    "mcp and pi": {"type": "image", "data": PICTURE, "mimeType": "image/png"},
    "ai sdk": {"type": "image", "image": f"data:image/png;base64,{PICTURE}"},
    "ai sdk, media": {"type": "media", "data": PICTURE, "mediaType": "image/png"},
    "bedrock": {"image": {"format": "png", "source": {"bytes": PICTURE}}},
    "codex output": {"type": "output_image", "image_url": f"data:image/png;base64,{PICTURE}"},
}


@pytest.mark.parametrize("part", IMAGES.values(), ids=IMAGES)
def test_an_image_of_each_dialect_becomes_a_marker(part: dict[str, Any]) -> None:
    assert text_of(part) == "[image: image/png, 100 bytes]"
    assert text_of([{"type": "tool_result", "content": ["before", part]}]) == "before\n[image: image/png, 100 bytes]"


@pytest.mark.parametrize(
    ("part", "marker"),
    [
        ({"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}}, "[image]"),
        ({"type": "image", "source": {"media_type": "image/png", "path": "images/a.png"}}, "[image: image/png]"),
        ({"type": "image", "image": PICTURE}, "[image]"),
        ({"type": "image", "data": PICTURE}, "[image: 100 bytes]"),
        ({"type": "image"}, "[image]"),
        ({"type": "image", "source": None, "data": 7, "mimeType": ["image/png"]}, "[image]"),
        ({"type": "image_url", "image_url": {"url": f"data:{PICTURE}"}}, "[image]"),
        ({"type": "image_url", "image_url": {"url": "data:;base64," + PICTURE}}, "[image: 100 bytes]"),
        ({"type": "image", "source": {"media_type": PICTURE, "data": PICTURE}}, "[image: 100 bytes]"),
        ({"type": "document", "source": {"media_type": "application/pdf", "data": PICTURE}}, "[document]"),
        ({"type": "input_audio", "input_audio": {"data": PICTURE, "format": "wav"}}, "[input_audio]"),
        ({"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PICTURE}"}}, "[file]"),
        ({"inlineData": {"mimeType": "audio/wav", "data": PICTURE}}, "[file: audio/wav, 100 bytes]"),
        (
            {"type": "resource", "resource": {"uri": "file:///a.zip", "mimeType": "application/zip", "blob": PICTURE}},
            "[file: application/zip, 100 bytes]",
        ),
    ],
)
def test_odd_images_and_other_media_leave_no_base64(part: dict[str, Any], marker: str) -> None:
    assert text_of(part) == marker


def test_padding_does_not_count_as_bytes() -> None:
    for size in range(1, 8):
        data = base64.b64encode(b"x" * size).decode()
        assert image_marker({"type": "image", "data": data}) == f"[image: {size} bytes]"


def test_parts_that_are_nested_too_deeply_are_cut() -> None:
    content: Any = "bottom"
    for _ in range(MAX_DEPTH - 1):
        content = [content]
    assert text_of([content]) == "bottom"
    for _ in range(5000):
        content = {"content": [content]}
    assert text_of(content) == "[…]"
    assert compact(content) == "[…]"


@pytest.mark.parametrize(
    ("value", "arguments"),
    [
        ({"a": 1}, {"a": 1}),
        ('{"a": 1}', {"a": 1}),
        (' {"a": 1} ', {"a": 1}),
        ("", {}),
        (None, {}),
        ("ls -la", {"input": "ls -la"}),
        ('{"a": 1', {"input": '{"a": 1'}),
        ("[1, 2]", {"input": "[1, 2]"}),
        ("{}", {}),
        ([1], {"input": [1]}),
        (7, {"input": 7}),
        ("{" * 5000, {"input": "{" * 5000}),
    ],
)
def test_arguments(value: Any, arguments: dict[str, Any]) -> None:
    assert arguments_of(value) == arguments
