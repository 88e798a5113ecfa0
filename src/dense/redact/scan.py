"""Finds the secrets of a text in one pass.

Most texts contain none; quick searches establish that (`may_contain_token`, `contexts`). Every credential with a prefix
contains a stretch of at least `MIN_STRETCH_CHARS` letters, digits, `_` and `-`. To find stretches fast, the text is
mapped to two characters, one for those of a stretch and one for all others; patterns are tried on stretches and on the
anchors of `contexts` only. The time is linear in the text, also for hostile text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dense.redact.contexts import in_context
from dense.redact.spans import BY_FORMAT, BY_VALUE, Span
from dense.redact.token_formats import any_inner_prefix, any_prefix, may_contain_token, prefix_heads, rows
from dense.text.search import lower_ascii

MIN_STRETCH_CHARS = 20
_STRETCH = b"x" * MIN_STRETCH_CHARS
_STRETCH_MAP = bytes(
    ord("x") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-") else ord(" ") for code in range(256)
)
_ESCAPES = frozenset("\\%[;")
_AROUND = 8
_MAX_TRIES = 40
"""Patterns that are tried on one stretch: hostile text is nothing but prefixes."""


def scan(text: str, plain: str, known: Iterable[tuple[str, str]] = ()) -> list[Span]:
    """The secrets, in order and without overlap.

    `plain` is the text with one byte for each character; `known` are values to find anywhere, with their kinds."""
    found = list(_by_format(text, plain)) if may_contain_token(plain) else []
    found += in_context(text, lower_ascii(plain))
    found += find_known(text, known)
    return merge(found)


def find_known(text: str, known: Iterable[tuple[str, str]]) -> Iterator[Span]:
    """Where known values are."""
    for value, kind in known:
        place = text.find(value)
        while place >= 0:
            yield Span(place, place + len(value), BY_VALUE, kind, False)
            place = text.find(value, place + len(value))


def merge(spans: list[Span]) -> list[Span]:
    """Spans in order; overlapping ones become one, with the kind of the better rank."""
    merged: list[Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
        else:
            better = min(last, span, key=lambda one: one.rank)
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
    for place, prefix in _prefixes(text, start, end, is_inner):
        for row in by_prefix[prefix]:
            match = row.pattern.match(text, place)
            tried += 1
            if match and row.check(match):
                yield Span(*match.span(row.group), BY_FORMAT, row.kind, False)
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
