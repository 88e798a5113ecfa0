"""Finds the secrets of a text in one pass.

Most texts contain none; quick searches establish that (`may_contain_token`, `contexts`). Every credential with a prefix
contains a stretch of at least `MIN_STRETCH_CHARS` letters, digits, `_` and `-`. To find stretches fast, the text is
mapped to two characters, one for those of a stretch and one for all others; patterns are tried on stretches and on the
anchors of `contexts` only. The time is linear in the text, also for hostile text."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from itertools import takewhile

from dense.redact.rules.contexts import in_context
from dense.redact.rules.encodings import WRAP, decoded_parts, unwrapped
from dense.redact.rules.token_formats import (
    any_inner_prefix,
    any_prefix,
    has_searched,
    may_contain_token,
    prefix_heads,
    rows,
    searched,
)
from dense.redact.rules.value_checks import is_random
from dense.redact.spans import BY_FORMAT, BY_VALUE, Span
from dense.text.search import lower_ascii, one_byte_each

MIN_STRETCH_CHARS = 20
_STRETCH = b"x" * MIN_STRETCH_CHARS
_STRETCH_MAP = bytes(
    ord("x") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-") else ord(" ") for code in range(256)
)
_ESCAPES = frozenset("\\%[;")
_AROUND = 8
_MAX_LAYERS = 2
"""How often a secret may be encoded: the settings of Docker hold base64, and Kubernetes holds those in base64."""
_MIN_WRAPPED_LINE = 24
"""No terminal is narrower."""
_LONGEST_LINE, _LONGEST_WRAPPED = 500, 4000
_TOKEN_CHARACTERS = string.ascii_letters + string.digits + "_.-"
_PIECES = re.compile(r"[A-Za-z0-9_.+/=~-]*+(?:\r?\n[ \t]{0,8}[A-Za-z0-9_.+/=~-]++)*+")
_MIN_CERTAIN_CHARS = 16
_ESCAPED = re.compile(r"(?:\\[nrt]|%[0-9A-Fa-f]{2}|\\u00[0-9a-fA-F]{2}|\[[0-9;]{0,4}m)\Z")
_MAX_TRIES = 40
"""Patterns that are tried on one stretch: hostile text is nothing but prefixes."""


def scan(text: str, plain: str, known: Iterable[tuple[str, str]] = ()) -> list[Span]:
    """The secrets, in order and without overlap.

    `plain` is the text with one byte for each character; `known` are values to find anywhere, with their kinds."""
    spans = _scan_plain(text, plain, _MAX_LAYERS)
    spans += find_known(text, known)
    return merge(spans)


def find_known(text: str, known: Iterable[tuple[str, str]]) -> Iterator[Span]:
    """Where known values are. One that is not random counts only as a whole word."""
    for value, kind in known:
        start = text.find(value)
        is_word = len(value) < _MIN_CERTAIN_CHARS or not is_random(value)
        while start >= 0:
            end = start + len(value)
            if not is_word or not (_continues_before(text, start) or _continues_behind(text, end)):
                yield Span(start, end, BY_VALUE, kind)
            start = text.find(value, end)


def _continues_before(text: str, start: int) -> bool:
    """Whether a word goes on before a value; the letter of an escape is no part of a word."""
    before = text[start - 1 : start]
    return before.isalnum() and text[start].isalnum() and not _ESCAPED.search(text, max(0, start - 6), start)


def _continues_behind(text: str, end: int) -> bool:
    return text[end : end + 1].isalnum() and text[end - 1].isalnum()


def _scan_plain(text: str, plain: str, layers: int) -> list[Span]:
    """The secrets of a text, also of what it contains in base64, `layers` deep; in no order."""
    spans: list[Span] = []
    if may_contain_token(plain):
        spans += _by_format(text, plain)
        spans += _wrapped(text)
    if has_searched()(plain):
        spans += (Span(start, end, BY_FORMAT, kind) for start, end, kind in searched(text))
    spans += in_context(text, lower_ascii(plain))
    if layers:
        for derived in decoded_parts(text, plain):
            for span in _scan_plain(derived.text, derived.text, layers - 1):
                start, end = derived.original(span.start, span.end)
                spans.append(span._replace(start=start, end=end))
    return spans


def _wrapped(text: str) -> Iterator[Span]:
    """Tokens that a terminal broke at the end of a line: all of their pieces."""
    done = 0
    for line_end in WRAP.finditer(text):
        line_break = line_end.start()
        line = text.rfind("\n", max(0, line_break - _LONGEST_LINE), line_break) + 1
        if line_break < done or line_break - line < _MIN_WRAPPED_LINE:
            continue
        start = max(done, line, line_break - _LONGEST_LINE)
        start += len(text[start:line_break].rstrip(_TOKEN_CHARACTERS))
        if not any_prefix().match(text[start:line_break] + text[line_end.end() : line_end.end() + _AROUND]):
            continue
        pieces = _PIECES.match(text, start, line_break + _LONGEST_WRAPPED)
        derived = unwrapped(text, start, pieces.end()) if pieces else None
        for span in _by_format(derived.text, one_byte_each(derived.text)) if derived else ():
            first, last = derived.original(span.start, span.end) if derived else (0, 0)
            if last - first > span.end - span.start:
                head, *rest = text[first:last].splitlines(keepends=True)
                pieces = [head, *takewhile(_is_piece, rest)]
                if len(pieces) > 1:
                    done = first + len("".join(pieces).rstrip())
                    yield span._replace(start=first, end=done)


def _is_piece(piece: str) -> bool:
    """Whether this may be a token's next piece: not a word or a prompt that begins the next line."""
    piece = piece.strip()
    return any(map(str.isdigit, piece)) or (not piece.islower() and not piece[1:].islower())


def merge(spans: list[Span]) -> list[Span]:
    """Spans in order; overlapping ones become one, with the kind of the better rank."""
    merged: list[Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
        else:
            better = last if last.rank <= span.rank else span
            merged[-1] = better._replace(start=last.start, end=max(last.end, span.end))
    return merged


def _by_format(text: str, plain: str) -> Iterator[Span]:
    marked = plain.encode("latin-1").translate(_STRETCH_MAP)
    find, at_start, inside = marked.find, any_prefix().match, any_inner_prefix().search
    heads = prefix_heads()
    start = find(_STRETCH)
    while start >= 0:
        end = find(b" ", start + MIN_STRETCH_CHARS)
        end = len(marked) if end < 0 else end
        is_inner = text[start - 1] in _ESCAPES or text[start - 3 : start] in heads
        if is_inner or at_start(text, start, end) or inside(text, start, end):
            yield from _in_stretch(text, start, end, is_inner)
        start = find(_STRETCH, end)


def _in_stretch(text: str, start: int, end: int, is_inner: bool) -> Iterator[Span]:
    by_prefix, tried = rows(), 0
    for offset, prefix in _prefixes(text, start, end, is_inner):
        for row in by_prefix[prefix]:
            match = row.pattern.match(text, offset)
            tried += 1
            if match and row.check(match):
                yield Span(*match.span(row.group), BY_FORMAT, row.kind)
                if not row.group:
                    break
        if tried > _MAX_TRIES:
            return


def _prefixes(text: str, start: int, end: int, is_inner: bool) -> Iterator[tuple[int, str]]:
    """The prefixes at the beginning of a stretch and of the words in it.

    `is_inner`: a word may begin a little before or behind the stretch, because some prefixes contain a dot or a slash,
    and escapes end in letters."""
    if is_inner:
        around = any_prefix().finditer(text, max(0, start - _AROUND), min(end, start + 3 * _AROUND))
        yield from ((match.start(), match[1]) for match in around)
    else:
        match = any_prefix().match(text, start, end)
        if match:
            yield start, match[1]
    for match in any_inner_prefix().finditer(text, start, end):
        yield match.end(), match[1]
