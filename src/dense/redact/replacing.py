"""From texts to the same texts without their secrets."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

from dense.redact.credible import is_random
from dense.redact.redactions import Redactions
from dense.redact.scan import find_known, merge, scan
from dense.redact.spans import Span
from dense.redact.texts import Texts, Together, put_together

_TELLING = 16
_ROUNDS = 6


class Replacing:
    """One reading of one trajectory: which number each secret has, and how many of each kind there were."""

    def __init__(self, known: Iterable[tuple[str, str]] = ()) -> None:
        self._known = dict(known)
        self._marks: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._places = 0

    def __call__(self, texts: Texts) -> list[str]:
        """The texts without secrets, in the same order. Again and again while something turns up, so that a second
        redaction finds nothing: what a secret hid from a pattern is visible once it is gone."""
        result, together = texts.each, texts.together
        for _ in range(_ROUNDS):
            found = self._find(result, together)
            if not found:
                break
            result = list(result)
            waiting = sorted(found)
            for number in waiting:
                result[number] = self._replace(result[number], found[number])
            together = put_together(result, waiting)
        return result

    def know(self, known: Iterable[tuple[str, str]]) -> None:
        """More values that must go wherever they stand."""
        self._known.update(known)

    @property
    def redactions(self) -> Redactions:
        return Redactions(dict(self._counts), self._places)

    def _find(self, texts: list[str], together: list[Together]) -> dict[int, list[Span]]:
        found: dict[int, list[Span]] = {}
        new: dict[str, str] = {}
        for number, span in sorted(_scan_all(texts, together, self._known.items())):
            found.setdefault(number, []).append(span)
            value = texts[number][span.start : span.end]
            if span.is_contextual and value not in self._known and len(value) >= _TELLING and is_random(value):
                new[value] = span.kind
        if new:  # given away in one place, it may stand bare in another
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
    texts: list[str], together: list[Together], known: Iterable[tuple[str, str]]
) -> Iterator[tuple[int, Span]]:
    """The secrets of these texts, each with its text's number."""
    for group in together:
        found = scan(group.text, group.plain, known)
        starts = list(accumulate([len(texts[number]) + 1 for number in group.numbers], initial=0)) if found else []
        for span in found:
            index = bisect_right(starts, span.start) - 1
            here = span._replace(start=span.start - starts[index], end=span.end - starts[index])
            yield group.numbers[index], here
