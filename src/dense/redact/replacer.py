"""Replaces the secrets in texts by marks."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from dense.redact.deliverables import Deliverables, Occurrence
from dense.redact.redactions import Redactions
from dense.redact.rules.encodings import forms_of
from dense.redact.rules.value_checks import is_distinctive
from dense.redact.scan import find_known, merge, scan
from dense.redact.spans import Span
from dense.redact.texts import TextGroup, Texts, group_texts

_MAX_ROUNDS = 6
_MAX_SEARCHED = 200
"""Different values that are searched for at all other places: hostile text has any number of them."""


class Replacer:
    """Replaces the secrets of one trajectory; equal secrets get the same mark."""

    def __init__(self, known: Iterable[tuple[str, str]] = (), deliverables: Deliverables | None = None) -> None:
        self._known = dict(known)
        self._deliverables = deliverables
        self._kept: set[str] = set()
        self._searched = 0
        self._marks: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._places = 0

    def replace(self, texts: Texts) -> list[str]:
        """The texts without secrets, in the same order.

        Repeated until nothing is found, because a secret may hide another one from a pattern."""
        result, groups = texts.each, texts.groups
        for _ in range(_MAX_ROUNDS):
            spans = self._find(result, groups)
            if not spans:
                break
            result = list(result)
            waiting = sorted(spans)
            for number in waiting:
                result[number] = self._replace(result[number], spans[number])
            groups = group_texts(result, waiting)
        return result

    def replace_more(self, texts: list[str]) -> list[str]:
        """Further texts of the same trajectory, which cannot be what its task is about: what was kept stays kept."""
        self._deliverables = None
        return self.replace(Texts(texts))

    def add_known(self, known: Iterable[tuple[str, str]]) -> None:
        """Add values that are replaced wherever they appear."""
        self._known.update(known)

    @property
    def redactions(self) -> Redactions:
        return Redactions(dict(self._counts), self._places)

    def _find(self, texts: list[str], groups: Iterable[TextGroup]) -> dict[int, list[Span]]:
        occurrences = [
            Occurrence(number, span, texts[number][span.start : span.end])
            for number, span in sorted(_scan_all(texts, groups, self._known.items()))
        ]
        if occurrences and self._deliverables:
            self._kept |= self._deliverables.survivors(texts, occurrences)
        spans: dict[int, list[Span]] = {}
        new: dict[str, str] = {}
        for occurrence in occurrences:
            if occurrence.value in self._kept:
                continue
            spans.setdefault(occurrence.number, []).append(occurrence.span)
            if (
                occurrence.value not in self._known
                and is_distinctive(occurrence.value)
                and self._searched < _MAX_SEARCHED
            ):
                self._searched += 1
                new |= dict.fromkeys(forms_of(occurrence.value), occurrence.span.kind)
        if new:  # a value that is secret at one place may be at others without a sign, or encoded
            self._known.update(new)
            for number, text in enumerate(texts):
                hidden = list(find_known(text, new.items()))
                if hidden:
                    spans[number] = merge([*spans.get(number, []), *hidden])
        return spans

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
    texts: list[str], groups: Iterable[TextGroup], known: Iterable[tuple[str, str]]
) -> Iterator[tuple[int, Span]]:
    """The secrets of these texts, each with the number of its text."""
    for group in groups:
        spans = scan(group.text, group.plain, known)
        starts = list(accumulate([len(texts[number]) + 1 for number in group.numbers], initial=0)) if spans else []
        for span in spans:
            index = bisect_right(starts, span.start) - 1
            here = span._replace(start=span.start - starts[index], end=span.end - starts[index])
            yield group.numbers[index], here
