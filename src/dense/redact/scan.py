"""Where the secrets of a text stand, in one go over it.

Most texts hold no secret, and are known by that none of its signs is in them (`may_hold`, `contexts`). Every credential
with a prefix holds an unbroken stretch of at least `SHORTEST` letters, digits, `_` and `-`. To find those at the speed
of memory the text is mapped to two signs, one for the characters of such a stretch and one for all others; patterns are
tried on stretches only, and on the anchors of `contexts`. So ordinary text costs a nanosecond for each character, and
hostile text some more, but in proportion to its length."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dense.redact.contexts import in_context
from dense.redact.shapes import any_inner_prefix, any_prefix, may_hold, prefix_heads, rows
from dense.redact.spans import BY_SHAPE, BY_VALUE, Span
from dense.text.search import lower_ascii

SHORTEST = 20
_STRETCH = b"x" * SHORTEST
_TWO_SIGNS = bytes(
    ord("x") if chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_-") else ord(" ") for code in range(256)
)
_ESCAPES = frozenset("\\%[;")
_AROUND = 8
_PATIENCE = 40
"""How many patterns are tried on one stretch: hostile text is nothing but prefixes."""


def scan(text: str, plain: str, known: Iterable[tuple[str, str]] = ()) -> list[Span]:
    """The secrets, in order and without overlap. `plain` is the text with one byte for each character, `known` are
    values, with their kind, to be found anywhere."""
    found = list(_by_shape(text, plain)) if may_hold(plain) else []
    found += in_context(text, lower_ascii(plain))
    found += find_known(text, known)
    return merge(found)


def find_known(text: str, known: Iterable[tuple[str, str]]) -> Iterator[Span]:
    """Where known values stand."""
    for value, kind in known:
        place = text.find(value)
        while place >= 0:
            yield Span(place, place + len(value), BY_VALUE, kind, False)
            place = text.find(value, place + len(value))


def merge(spans: list[Span]) -> list[Span]:
    """In order, overlapping ones as one, named by the better rank."""
    merged: list[Span] = []
    for span in sorted(spans):
        last = merged[-1] if merged else None
        if last is None or span.start >= last.end:
            merged.append(span)
        else:
            better = min(last, span, key=lambda one: one.rank)
            merged[-1] = better._replace(start=last.start, end=max(last.end, span.end))
    return merged


def _by_shape(text: str, plain: str) -> Iterator[Span]:
    signs = plain.encode("latin-1").translate(_TWO_SIGNS)
    find, at_start, inside = signs.find, any_prefix().match, any_inner_prefix().search
    heads = prefix_heads()
    start = find(_STRETCH)
    while start >= 0:
        end = find(b" ", start + SHORTEST)
        end = len(signs) if end < 0 else end
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
                yield Span(*match.span(row.group), BY_SHAPE, row.kind, False)
                if not row.group:
                    break
        if tried > _PATIENCE:
            return


def _prefixes(text: str, start: int, end: int, is_inner: bool) -> Iterator[tuple[int, str]]:
    """The prefixes at the beginning of a stretch and of the words in it. `is_inner`: a word may begin before or
    a little behind its beginning, since some prefixes hold a point or a slash, and escapes end in letters."""
    if is_inner:
        around = any_prefix().finditer(text, max(0, start - _AROUND), min(end, start + 3 * _AROUND))
        yield from ((match.start(), match[1]) for match in around)
    else:
        match = any_prefix().match(text, start, end)
        if match:
            yield start, match[1]
    for match in any_inner_prefix().finditer(text, start, end):
        yield match.end(), match[1]
