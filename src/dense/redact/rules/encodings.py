"""Texts as they were before somebody escaped, encoded or wrapped them, with the way back to the original positions."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from html import escape as escape_html
from html import unescape as unescape_html
from urllib.parse import quote, quote_plus

from msgspec import Struct

_ESCAPE = re.compile(
    r"\\+u00[0-9a-fA-F]{2}|\\+x[0-9a-fA-F]{2}|\\+[\"'/nrt]|%(?:25)?[0-9A-Fa-f]{2}|&(?:quot|amp|lt|gt|apos|#[0-9]{1,3}|#x[0-9a-f]{1,2});"
)
_CONTROL = {"n": "\n", "r": "\r", "t": "\t"}


class DerivedText(Struct, frozen=True):
    """A text made from a part of another one."""

    text: str
    offsets: list[int]
    """Where each character that it was made from is in the original, and where the last one ends."""
    is_base64: bool = False
    """Whether three of its characters were made from four."""
    is_joined: bool = False
    """Whether pieces between its characters were left out."""

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The part of the original that these characters were made from."""
        if self.is_base64:
            start, end = start // 3 * 4, min(-(-end // 3) * 4, len(self.offsets) - 1)
        return self.offsets[start], self.offsets[end - 1] + 1 if self.is_joined or self.is_base64 else self.offsets[end]


def unescaped(text: str, start: int, end: int) -> DerivedText | None:
    """A part of a text without the escapes of JSON, source code, URLs and HTML; None if it has none."""
    return _rewritten(text, start, end, _ESCAPE, _character)


def unwrapped(text: str, start: int, end: int) -> DerivedText | None:
    """A part of a text without the line ends that a terminal may have put into a word; None if it has none."""
    derived = _rewritten(text, start, end, WRAP, lambda _: "")
    return DerivedText(derived.text, derived.offsets, is_joined=True) if derived else None


def _rewritten(
    text: str, start: int, end: int, pattern: re.Pattern[str], rewrite: Callable[[str], str]
) -> DerivedText | None:
    pieces: list[str] = []
    offsets: list[int] = []
    done = start
    for match in pattern.finditer(text, start, end):
        piece = rewrite(match[0])
        pieces += text[done : match.start()], piece
        offsets += range(done, match.start() + len(piece))
        done = match.end()
    if done == start:
        return None
    pieces.append(text[done:end])
    offsets += range(done, end + 1)
    return DerivedText("".join(pieces), offsets)


def _character(escape: str) -> str:
    if escape[0] == "&":
        return unescape_html(escape)[:1] or "?"
    if escape[0] == "%":
        return chr(int(escape[-2:], 16))
    letters = escape.lstrip("\\")
    return chr(int(letters[1:].lstrip("u")[-2:], 16)) if len(letters) > 1 else _CONTROL.get(letters, letters)


# Base64 of text: the high bit of each byte is 0, which leaves half of the characters at three of four places.
_QUAD = r"[A-Za-f][A-HQ-Xg-nw-z0-3][ABEFIJMNQRUVYZcdghklopstwx014589][A-Za-z0-9+/]"
_LINE_END = r"(?:\r?\n|(?:\\+r)?\\+n)[ \t]{0,16}"
_ENCODED = re.compile(rf"(?:{_QUAD}){{5}}(?:[A-Za-z0-9+/_-]|{_LINE_END}(?=[A-Za-z0-9+/]{{4}}))*+={{0,2}}")
_STRETCH = b"x" * 20
_STRETCH_MAP = bytes(
    ord("x") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "+/") else ord(" ") for code in range(256)
)
_GAP = re.compile(_LINE_END)
_MIN_ENCODED_CHARS = 10
_NOT_TEXT = re.compile(r"[^\t\n\r -~]")
_WORD_END = "[A-Za-z0-9_.+/=~-]{2}"
WRAP = re.compile(rf"\r?\n(?:(?<={_WORD_END}\n)|(?<={_WORD_END}\r\n))[ \t]{{0,8}}(?=[A-Za-z0-9_+/=-])")


def decoded_parts(text: str, plain: str) -> Iterator[DerivedText]:
    """Each text in base64 of a text, decoded. Text alone: what is not text hides no credential of ours.

    `plain` is the text with one byte for each character."""
    marked = plain.encode("latin-1").translate(_STRETCH_MAP)
    start = marked.find(_STRETCH)
    while start >= 0:
        match = _ENCODED.match(text, start)
        derived = _decoded(text, *match.span()) if match else None
        if derived is not None:
            yield derived
        start = marked.find(_STRETCH, match.end() if match else marked.find(b" ", start) % (len(marked) + 1))


def _decoded(text: str, start: int, end: int) -> DerivedText | None:
    letters: list[int] = []
    done = start
    for gap in _GAP.finditer(text, start, end):
        letters += range(done, gap.start())
        done = gap.end()
    letters += range(done, end)
    encoded = "".join([text[index] for index in letters]) if len(letters) < end - start else text[start:end]
    encoded = encoded.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        raw = base64.b64decode(encoded[: -1 if len(encoded) % 4 == 1 else None] + "==")
    except (binascii.Error, ValueError):
        return None
    plain = raw.decode("latin-1")
    is_text = len(_NOT_TEXT.findall(plain)) <= 0.03 * len(plain)
    return DerivedText(plain, [*letters, end], is_base64=True) if is_text else None


def forms_of(value: str) -> list[str]:
    """A value as it is, and as JSON, URLs, HTML and base64 write it."""
    forms = [value, json.dumps(value)[1:-1], quote(value, safe=""), quote_plus(value), escape_html(value)]
    if len(value) >= _MIN_ENCODED_CHARS:
        forms += [_base64_core(value.encode("utf-8", "replace"), shift) for shift in range(3)]
    return list(dict.fromkeys(forms))


def _base64_core(value: bytes, shift: int) -> str:
    """What base64 makes of a value behind so many bytes, without the characters that it shares with its neighbours."""
    encoded = base64.b64encode(bytes(shift) + value).decode()
    return encoded[4 if shift else 0 : (shift + len(value)) // 3 * 4]
