"""Replaces the secrets in texts by marks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from dense.redact.redactions import Redactions
from dense.redact.scan import find_known, merge, scan
from dense.redact.spans import Span
from dense.redact.texts import TextGroup, Texts, group_texts
from dense.redact.value_checks import is_random

_MIN_KNOWN_CHARS = 16
_MAX_ROUNDS = 6


class Replacer:
    """Replaces the secrets of one trajectory; equal secrets get the same mark."""

    def __init__(self, known: Iterable[tuple[str, str]] = ()) -> None:
        self._known = dict(known)
        self._marks: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._places = 0

    def replace(self, texts: Texts) -> list[str]:
        """The texts without secrets, in the same order.

        Repeated until nothing is found, because a secret may hide another one from a pattern."""
        result, groups = texts.each, texts.groups
        for _ in range(_MAX_ROUNDS):
            found = self._find(result, groups)
            if not found:
                break
            result = list(result)
            waiting = sorted(found)
            for number in waiting:
                result[number] = self._replace(result[number], found[number])
            groups = group_texts(result, waiting)
        return result

    def add_known(self, known: Iterable[tuple[str, str]]) -> None:
        """Add values that are replaced wherever they appear."""
        self._known.update(known)

    @property
    def redactions(self) -> Redactions:
        return Redactions(dict(self._counts), self._places)

    def _find(self, texts: list[str], groups: list[TextGroup]) -> dict[int, list[Span]]:
        found: dict[int, list[Span]] = {}
        new: dict[str, str] = {}
        for number, span in sorted(_scan_all(texts, groups, self._known.items())):
            found.setdefault(number, []).append(span)
            value = texts[number][span.start : span.end]
            if span.is_contextual and value not in self._known and len(value) >= _MIN_KNOWN_CHARS and is_random(value):
                new[value] = span.kind
        if new:  # a value that its context shows to be secret may appear elsewhere without that context
            self._known.update(new)
            for number, text in enumerate(texts):
                also = list(find_known(text, new.items()))
                if also:
                    found[number] = merge([*found.get(number, []), *also])
        return found

    def _replace(self, text: str, spans: list[Span]) -> str:
        pieces: list[str] = []
        done = 0
        for span in spans:
            pieces += text[done : span.start], self._mark(text[span.start : span.end], span.kind)
            done = span.end
        return "".join([*pieces, text[done:]])

    def _mark(self, value: str, kind: str) -> str:
        self._places += 1
        mark = self._marks.get(value)
        if mark is None:
            self._counts[kind] = number = self._counts.get(kind, 0) + 1
            mark = self._marks[value] = f"[redacted: {kind} {number}]"
        return mark


def _scan_all(
    texts: list[str], groups: list[TextGroup], known: Iterable[tuple[str, str]]
) -> Iterator[tuple[int, Span]]:
    """The secrets of these texts, each with the number of its text."""
    for group in groups:
        found = scan(group.text, group.plain, known)
        starts = list(accumulate([len(texts[number]) + 1 for number in group.numbers], initial=0)) if found else []
        for span in found:
            index = bisect_right(starts, span.start) - 1
            here = span._replace(start=span.start - starts[index], end=span.end - starts[index])
            yield group.numbers[index], here
