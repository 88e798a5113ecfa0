"""Message content as text. Every format has its own parts; all come down to text, and images to a short marker."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import first_string, is_obj, is_seq, string

TEXT_TYPES = frozenset({"text", "input_text", "output_text", "summary_text", "reasoning_text", "refusal"})
IMAGE_TYPES = frozenset({"image", "image_url", "input_image", "output_image", "image_file"})
OTHER_MEDIA = frozenset({"document", "file", "audio", "input_audio", "video", "input_file"})
MEDIA_HOLDERS = ("source", "image_url", "inlineData", "inline_data", "image", "file", "resource")
"""Where the dialects keep what a part shows."""
MEDIA_KEYS = ("media_type", "mimeType", "mime_type", "mediaType")
DATA_KEYS = ("data", "base64", "blob", "bytes")
BINARY = ("image/", "audio/", "video/", "application/pdf", "application/octet-stream")

_MEDIA = re.compile(r"(?:image|audio|video|application|text)/[\w.+-]{1,80}")

LONG_DATA = 400
"""Encoded data of this length is replaced by a marker; shorter ones may be hashes, keys or IDs that somebody needs."""
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")

MAX_DEPTH = 60
"""Content is parts, which may hold parts: what lies deeper is nobody's message."""


def text_of(content: Any, depth: int = 0) -> str:
    """The text of a message's content: a string, a part, a list of parts, or null."""
    if isinstance(content, str):
        return content
    if content is None:
        return ""
    if depth > MAX_DEPTH:
        return "[…]"
    if is_seq(content):
        return "\n".join(filter(None, (text_of(part, depth + 1) for part in content)))
    if is_obj(content):
        return _text_of_part(content, depth)
    return compact(content)


def _text_of_part(part: dict[str, Any], depth: int) -> str:
    kind = string(part.get("type"))
    if kind in IMAGE_TYPES:
        return image_marker(part)
    if (text := part.get("text")) is not None or (text := part.get("refusal")) is not None:
        return text if isinstance(text, str) else compact(text)
    if "content" in part:
        return text_of(part["content"], depth + 1)
    if kind in TEXT_TYPES:
        return ""
    if kind in OTHER_MEDIA:
        return f"[{kind}]"
    if kind == "resource" and is_obj(resource := part.get("resource")):  # MCP: text or a blob
        return text_of(resource["text"], depth + 1) if "text" in resource else image_marker(part)
    return image_marker(part) if _holds_media(part) else compact(_without_data(part))


def _without_data(value: Any, depth: int = 0) -> Any:
    """The same value with long encoded data replaced by a marker: whatever a format calls it, nobody reads it."""
    if isinstance(value, str) and len(value) >= LONG_DATA:
        data = value.partition(";base64,")[2] if value.startswith("data:") else value
        return f"[data: {len(data) * 3 // 4} bytes]" if _BASE64.fullmatch(data) else value
    if depth > MAX_DEPTH:
        return value
    if is_seq(value):
        return [_without_data(item, depth + 1) for item in value]
    return {key: _without_data(item, depth + 1) for key, item in value.items()} if is_obj(value) else value


def _holds_media(part: dict[str, Any]) -> bool:
    """Whether a part of no known type holds what is no text."""
    media, data = _media_and_data(part)
    return bool(data) and media.startswith(BINARY)


def image_marker(part: dict[str, Any]) -> str:
    """What replaces an image: `[image: image/png, 1234 bytes]`, as far as its part says. Other media are files."""
    media, data = _media_and_data(part)
    name = "image" if not media or media.startswith("image/") else "file"
    facts = [media] if media else []
    if data:
        facts.append(f"{len(data) * 3 // 4 - data[-2:].count('=')} bytes")
    return f"[{name}: {', '.join(facts)}]" if facts else f"[{name}]"


def _media_and_data(part: dict[str, Any]) -> tuple[str, str]:
    for key in MEDIA_HOLDERS:
        inner = part.get(key)
        if isinstance(inner, str):
            inner = {"url": inner}
        elif key == "image" and is_obj(inner) and is_obj(source := inner.get("source")):  # Bedrock
            inner = {"media_type": f"image/{inner.get('format')}", **source}
        if is_obj(inner):
            media, data = _own_media_and_data(inner)
            if media or data:
                return media, data
    return _own_media_and_data(part)


def _own_media_and_data(inner: dict[str, Any]) -> tuple[str, str]:
    media = first_string(inner.get(key) for key in MEDIA_KEYS) or ""
    data = first_string(inner.get(key) for key in DATA_KEYS) or ""
    url = inner.get("url")
    if isinstance(url, str) and url.startswith("data:"):
        head, _, data = url.partition(",")
        media = head.removeprefix("data:").partition(";")[0] or media
    # What is no media type may be anything, the data itself included.
    return media if _MEDIA.fullmatch(media) else "", data


def compact(value: Any) -> str:
    """A value that is not text, as compact JSON."""
    try:
        return msgspec.json.encode(value).decode()
    except RecursionError:
        return "[…]"


def arguments_of(value: Any) -> dict[str, Any]:
    """A tool call's arguments as an object. Writers put an object, a JSON string, or plain text there."""
    if is_obj(value):
        return value
    if isinstance(value, str):
        if value.lstrip().startswith("{"):
            try:
                decoded, _ = decode(value.encode())
            except BadJson:
                return {"input": value}
            if is_obj(decoded):
                return decoded
        return {"input": value} if value else {}
    return {} if value is None else {"input": value}
