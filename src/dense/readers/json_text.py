"""JSON that may be damaged: one function for a record, one for a whole document that was cut off.

The fast path is one call of msgspec. Only what it refuses is looked at again: invalid UTF-8, raw NUL bytes, lone
surrogates, NaN and numbers beyond a float, a byte-order mark. One bad value never makes its document unreadable: a
number that no type holds stays text, an unknown escape is kept as it is, what is nested too deeply is left out."""

from __future__ import annotations

import json
import math
import mmap
import re
import sys
from typing import IO, Any, cast

import msgspec

from dense.readers.json_value import is_obj, is_seq

BOM = b"\xef\xbb\xbf"


class BadJson(ValueError):
    """Not JSON, even after repair. The text says why; `position` is the byte at which it went wrong, None for the
    end."""

    def __init__(self, text: str, position: int | None = None) -> None:
        super().__init__(text)
        self.position = position


def decode(data: bytes | bytearray) -> tuple[Any, str]:
    """The value, and what had to be repaired to get it ("" if nothing)."""
    try:
        return msgspec.json.decode(data), ""
    except RecursionError:
        return _decode_shallow(bytes(data))
    except (msgspec.DecodeError, UnicodeDecodeError, ValueError):
        return _decode_repaired(bytes(data))


def _decode_shallow(data: bytes) -> tuple[Any, str]:
    shallow = _without_depth(data)
    if shallow == data:
        raise BadJson("nested too deeply")
    value, repaired = decode(shallow)
    return value, ", ".join(filter(None, ("what is nested too deeply is left out", repaired)))


def _decode_repaired(data: bytes) -> tuple[Any, str]:
    repaired: list[str] = []
    if data.startswith(BOM):
        data = data.removeprefix(BOM)
    if b"\0" in data:
        data = data.replace(b"\0", b"")
        repaired.append("NUL bytes removed")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
        repaired.append("invalid UTF-8 replaced")
    if not text.strip():
        raise BadJson("nothing but NUL bytes" if repaired else "empty")
    try:
        value = _loads(text)
        if "\\" in text and value is _BAD_ESCAPE:
            value = _loads(_ESCAPE.sub(_valid_escape, text))
            if value is _BAD_ESCAPE:
                raise BadJson("not valid JSON (cut off within an escape)", len(data))
            repaired.append("unknown escapes kept as they are")
    except RecursionError:
        return _decode_shallow(data)
    except ValueError as error:
        position = len(text[: error.pos].encode()) if isinstance(error, json.JSONDecodeError) else None
        raise BadJson(f"not valid JSON ({error})", position) from None
    clean = _without_surrogates(value)
    if clean != value:
        repaired.append("lone surrogates replaced")
    return clean, ", ".join(repaired)


_BAD_ESCAPE = object()
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}|)')


def _loads(text: str) -> Any:
    """The value, or `_BAD_ESCAPE` if a string holds an escape that JSON does not know."""
    try:
        return json.loads(
            text, strict=False, parse_constant=str, parse_float=_finite_or_text, parse_int=_integer_or_text
        )
    except json.JSONDecodeError as error:
        if "escape" not in error.msg:
            raise
        return _BAD_ESCAPE


def _valid_escape(match: re.Match[str]) -> str:
    return "\\\\" if match[0] == "\\" else match[0]


def _finite_or_text(number: str) -> float | str:
    value = float(number)
    return value if math.isfinite(value) else number


def _integer_or_text(number: str) -> int | str:
    """Python converts no number of more than some thousand digits."""
    try:
        return int(number)
    except ValueError:
        return number


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return value
    if is_seq(value):
        return [_without_surrogates(item) for item in value]
    if is_obj(value):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value


def decode_several(data: bytes) -> list[Any]:
    """Whole JSON objects or lists one after the other, with nothing but space between; else nothing."""
    text = data.removeprefix(BOM).decode("utf-8", errors="replace")
    decoder = json.JSONDecoder(
        strict=False, parse_constant=str, parse_float=_finite_or_text, parse_int=_integer_or_text
    )
    values: list[Any] = []
    offset = 0
    while offset < len(text):
        if text[offset].isspace():
            offset += 1
            continue
        try:
            value, offset = decoder.raw_decode(text, offset)
        except (ValueError, RecursionError):
            break
        values.append(_without_surrogates(value))
    return values if len(values) > 1 and all(is_obj(value) or is_seq(value) for value in values) else []


_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*("?)|[\[\]{},]', re.DOTALL)


MAX_NESTING = 200
"""What lies deeper is nobody's message, and Python's own limit is not far."""


def _without_depth(data: bytes) -> bytes:
    """The document with null instead of each value that is nested deeper than the limit."""
    kept: list[bytes] = []
    depth = offset = 0
    for token in _TOKEN.finditer(data):
        byte = data[token.start()]
        if byte in b"[{":
            depth += 1
            if depth == MAX_NESTING + 1:
                kept += (data[offset : token.start()], b"null")
        elif byte in b"]}":
            depth -= 1
            if depth == MAX_NESTING:
                offset = token.end()
    if depth > MAX_NESTING:  # cut off inside
        return b"".join(kept)
    return b"".join((*kept, data[offset:]))


def decode_cut_off(data: bytes) -> Any:
    """The part of a cut-off document that is complete: every element that ended before the cut, brackets closed after
    it."""
    stack: list[int] = []
    end = depth = 0
    for token in _TOKEN.finditer(data):
        byte = data[token.start()]
        if byte == 0x22:
            if not token[1]:
                break
        elif byte in b"[{":
            stack.append(byte)
        elif byte in b"]}":
            if not stack or (stack[-1] == 0x5B) != (byte == 0x5D):
                break
            stack.pop()
            end, depth = token.end(), len(stack)
        elif byte == 0x2C and stack:
            end, depth = token.start(), len(stack)
    if not end:
        raise BadJson("cut off before its first complete element")
    # What was opened behind the end is on top of what was open there.
    closers = bytes(0x5D if byte == 0x5B else 0x7D for byte in reversed(stack[:depth]))
    return decode(data[:end] + closers)[0]


# Large documents


LARGE_BYTES = 32 << 20 if hasattr(mmap, "MAP_ANONYMOUS") and hasattr(mmap, "MADV_DONTNEED") else sys.maxsize
"""From this size on a document is worth decoding in parts, where the system can take memory back in parts."""
RELEASED_BYTES = 4 << 20
"""So many bytes are given back at once."""

_parts = msgspec.json.Decoder(dict[str, msgspec.Raw] | list[msgspec.Raw])


def decode_in_parts(stream: IO[bytes], size: int) -> Any:
    """The value of a document of so many bytes. Raises what msgspec raises if anything is unusual about it.

    To decode it in one call takes its bytes and its values at the same time, twice its size. Here the first pass only
    finds the parts; the second decodes them one by one and gives back the bytes before each."""
    buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if cast("Any", stream).readinto(buffer) != size:
        raise msgspec.DecodeError("the file became shorter while it was read")
    return _Parts(buffer).value(_parts.decode(buffer))


class _Parts:
    """Decodes the parts of a document in their order."""

    def __init__(self, buffer: mmap.mmap) -> None:
        self._buffer = buffer
        self._done = self._released = 0

    def value(self, parts: dict[str, msgspec.Raw] | list[msgspec.Raw]) -> Any:
        if isinstance(parts, dict):
            return {name: self._part(raw) for name, raw in parts.items()}
        return [self._part(raw) for raw in parts]

    def _part(self, raw: msgspec.Raw) -> Any:
        """One part; a long one part by part. What is decoded so far has at least as many bytes before its end as it has
        itself, so these are not needed any more."""
        data = memoryview(raw)
        if len(data) > RELEASED_BYTES and data[0] in b"{[":
            return self.value(_parts.decode(raw))
        value = msgspec.json.decode(raw)
        self._done += len(data)
        if self._done - self._released > RELEASED_BYTES:
            end = self._done - self._done % mmap.PAGESIZE
            self._buffer.madvise(mmap.MADV_DONTNEED, self._released, end - self._released)
            self._released = end
        return value
