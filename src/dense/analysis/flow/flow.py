"""Where each piece of information is shown first, what uses it later, and what each line is therefore worth.

A token is *new* if an output shows it before the task or the agent had used it. New tokens that a later command or a
later sentence uses are what the attempt learned; tokens that nobody used are not, however many there are."""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from math import fsum

from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.flow.pieces import Piece, PieceKind, head_line, pieces_of, room_for_each
from dense.analysis.flow.tokens import is_data, is_opaque, line_tokens, tokens
from dense.text.clip import is_result
from dense.text.search import matcher

FAILURE = re.compile(
    r"(?i)\berror\b|[a-z]error\b|traceback|exception|\bfail(?:ed|ure|s)?\b|not found|no such|denied|cannot|can't|unable"
    r"|invalid|refused|timed out|panic|undefined|missing|mismatch|wrong|assert"
)
"""Words of lines that say what went wrong: the only word list of this package, and no condition for anything."""
is_failure = matcher(FAILURE)

KIND_WORTH: dict[PieceKind, float] = {"says": 1.4, "code": 1.0, "call": 1.2, "body": 0.5, "output": 1.0}
"""A sentence sums up; a line of a file that was written matters less than what running it showed."""
RARITY, USE = 0.9, 1.5
UNUSED, OPAQUE_UNUSED, OF_TASK = 0.25, 0.3, 0.3
SHORT, PLAIN, TINY = 0.9, 0.45, 0.1
"""Of numbers and names of up to three characters; of words of letters only; of such words of up to three."""
MAX_PLAIN_CHARS, MAX_SHORT_CHARS = 12, 3
FAILED, RESULT, SAID_FAILURE = 1.0, 0.9, 0.8
CLOSING, LAST, NEARLY_LAST = 3.0, 1.5, 0.5
"""What the end of the trace adds: its closing words, its last outputs, those shortly before."""
NEAR_END = 3
MIN_JOINED = 2
"""So many names or numbers of a sentence must stand in one line of an output that is to back it."""
SUBLINEAR = 0.6
"""Many tokens in one line are worth less than their sum: a dump of bytes is no treasure."""
AGAIN = 0.6
"""What a token is worth in a second place, divided by how often it is shown already."""


class Flow:
    """The flow of information through one trace. Everything is read once."""

    def __init__(self, actions: Sequence[TranscriptAction], task: str) -> None:
        self.actions = actions
        self.task = tokens(task)
        self.pieces: list[Piece] = []
        self.head_lines: list[str] = []
        """Of each action the first line of its call."""
        self.heads: list[frozenset[str]] = []
        """The tokens of these lines."""
        self.first_shown: dict[str, int] = {}
        """For each new token the index of the piece that shows it first."""
        self._tokens: list[tuple[str, ...]] = []
        """Of each piece. Tuples of shared strings: sets of their own would take most of a message's memory."""
        self._count: Counter[str] = Counter()
        self._uses: dict[str, set[int]] = {}
        self._known = set(self.task)
        self._shown_in: dict[int, int | None] = {}
        self._by_token: dict[str, list[int]] = {}
        room = room_for_each(actions)
        shared: dict[str, str] = {}
        for at, action in enumerate(actions):
            line = head_line(action)
            head = tokens(line)
            self.head_lines.append(line)
            self.heads.append(frozenset(head))
            self._count.update(head)
            self._take(head, at, -1)
            for piece in pieces_of(at, action, room):
                words = line_tokens(piece.text) if piece.kind == "output" else tokens(piece.text)
                self._count.update(words)
                self._take(words, at, len(self.pieces) if piece.kind == "output" else -1)
                self.pieces.append(piece)
                self._tokens.append(tuple([shared.setdefault(word, word) for word in words]))

    def _take(self, words: Iterable[str], at: int, shown: int) -> None:
        """Note who shows a token first (`shown` is the index of a piece of an output), or that it is used."""
        first = self.first_shown
        if shown >= 0:
            for word in words:
                if word not in self._known and word not in first:
                    first[word] = shown
            return
        for word in words:
            if word in first:
                if self.pieces[first[word]].at < at:
                    self._uses.setdefault(word, set()).add(at)
            else:
                self._known.add(word)

    def shown_in(self, index: int) -> int | None:
        """The index of the last action before a sentence that shows it: one line of its outputs holds all names and
        numbers of the sentence that neither the task nor the agent had said first. None if no line does, or if the
        sentence has fewer than two of them."""
        if index not in self._shown_in:
            self._shown_in[index] = self._find_shown(index)
        return self._shown_in[index]

    def _find_shown(self, index: int) -> int | None:
        words = {word for word in self._tokens[index] if not word.isalpha() and word not in self.task and len(word) > 1}
        if len(words) < MIN_JOINED or not words <= self.first_shown.keys():
            return None
        rarest = min(words, key=lambda word: self._count[word])
        for other in reversed(self._places(rarest)):
            if other < index and words.issubset(self._tokens[other]):
                return self.pieces[other].at
        return None

    def _places(self, token: str) -> list[int]:
        """The indexes of the lines of outputs that show a token."""
        if not self._by_token:
            for place, (piece, words) in enumerate(zip(self.pieces, self._tokens, strict=True)):
                if piece.kind == "output":
                    for word in words:
                        self._by_token.setdefault(word, []).append(place)
        return self._by_token.get(token, [])

    def tokens(self, index: int) -> tuple[str, ...]:
        """The tokens of the piece with an index, each once."""
        return self._tokens[index]

    def neighbours(self, index: int, most: int) -> range:
        """The indexes of the pieces of the same block around one, at most so many on each side."""
        pieces, first, last = self.pieces, index, index
        block = (pieces[index].at, pieces[index].block)
        while first > max(0, index - most) and (pieces[first - 1].at, pieces[first - 1].block) == block:
            first -= 1
        most = min(len(pieces) - 1, index + most)
        while last < most and (pieces[last + 1].at, pieces[last + 1].block) == block:
            last += 1
        return range(first, last + 1)

    @cached_property
    def worth(self) -> dict[str, float]:
        """What each token is worth where it is shown for the first time."""
        return {token: self._worth(token, count) for token, count in self._count.items()}

    def _worth(self, token: str, count: int) -> float:
        worth = 1 / (1 + RARITY * math.log(count)) if count > 1 else 1.0
        if token.isalpha():
            worth *= TINY if len(token) <= MAX_SHORT_CHARS else PLAIN if len(token) <= MAX_PLAIN_CHARS else 1.0
        elif len(token) <= MAX_SHORT_CHARS:
            worth *= SHORT if len(token) > 1 else SHORT / 2
        if token in self.task:
            worth *= OF_TASK
        if users := self._uses.get(token):
            return worth * (1 + USE * math.log(1 + len(users)))
        if token in self.first_shown:
            worth *= UNUSED * (OPAQUE_UNUSED if is_opaque(token) else 1.0)
        return worth

    @cached_property
    def bonuses(self) -> Sequence[float]:
        """What each piece is worth beside its tokens: it reports a failure or a result, or stands at the end. A piece
        that was there before, letter for letter, or is encoded data, is worth nothing."""
        known: dict[PieceKind, set[str]] = {kind: set() for kind in KIND_WORTH}
        last = len(self.actions) - 1
        bonuses = array("d")
        for piece in self.pieces:
            text, texts = piece.text.strip(), known[piece.kind]
            is_worthless = text in texts or is_data(piece.text)
            bonuses.append(-math.inf if is_worthless else self._bonus(piece, last))
            texts.add(text)
        return bonuses

    def _bonus(self, piece: Piece, last: int) -> float:
        bonus = 0.0
        lower = piece.text.lower()
        if piece.kind == "output":
            bonus += (FAILED if is_failure(lower) else 0.0) + (RESULT if is_result(lower) else 0.0)
        elif piece.kind == "says" and is_failure(lower):
            bonus += SAID_FAILURE
        if piece.at == last:
            return bonus + (CLOSING if piece.kind == "says" else LAST)
        return bonus + (NEARLY_LAST if piece.at > last - NEAR_END else 0.0)

    @cached_property
    def gains(self) -> Sequence[float]:
        """What each piece adds if nothing is shown yet: it never adds more."""
        worth = self.worth
        gains = (
            fsum([worth[word] for word in words]) ** SUBLINEAR * KIND_WORTH[piece.kind] + bonus
            for piece, words, bonus in zip(self.pieces, self._tokens, self.bonuses, strict=True)
        )
        return array("d", gains)

    @cached_property
    def head_gains(self) -> list[float]:
        """What the head line of each action adds at most if it is shown with its first piece."""
        return [fsum([self.worth[word] for word in head]) ** SUBLINEAR for head in self.heads]

    def gain(self, index: int, shown: Mapping[str, int], *, with_head: bool = False) -> float:
        """What a piece adds to what is shown already; `with_head` if it opens its action."""
        piece, worth = self.pieces[index], self.worth
        words: Iterable[str] = self._tokens[index]
        if with_head:
            words = self.heads[piece.at].union(words)
        counts = [(worth[word], shown.get(word)) for word in words]
        total = fsum([each * AGAIN / count if count else each for each, count in counts])
        return total**SUBLINEAR * KIND_WORTH[piece.kind] + self.bonuses[index]
