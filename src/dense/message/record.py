"""The record in a message: of each action the lines that say most, chosen by what they add to what is shown already.

    7f3ax| a12 said, shown a9
    The values wrap at 9973.
    7f3ax| $
    python solve.py --mod 9973
    7f3ax| > exit 1, 2 of 40 lines
    ValueError: 1.200.00

An action begins with the first line of its call. Lines are whole or say what is missing; a marker line says how many of
an output's lines are shown."""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from dense.analysis.actions.blocks import Block
from dense.analysis.flow.conclusions import backing, is_conclusion
from dense.analysis.flow.flow import Flow
from dense.analysis.flow.pieces import Piece, head_call
from dense.analysis.flow.tokens import shape, tokens
from dense.message.lines import Line
from dense.message.page import CALL, ELLIPSIS, END_SIZE, KEY_LENGTH, Item, byte_size, total_size

MARK_SIZE = KEY_LENGTH + 3
"""A marker line without what it says."""
EASE = 40
"""Bytes that are added to each piece when its gain is weighed against its size: else crumbs would come first."""
FREE_ALIKE = 1
"""So many lines of one shape in a block count whole; each further one less."""
MIN_LEFT = 30
"""With less room nothing more is chosen."""
SAME = 1e-9
MAX_CANDIDATES = 20_000
"""More pieces than that are not compared: those that gain most by themselves are."""
MAX_NEIGHBOURS = 8
"""So many pieces of a block before and after one that is shown are weighed again."""
FOUND_SHARE = 6
"""One in so many bytes of the record may go to the conclusions above it."""
MAX_FOUND = 8
CITED = 0.6
"""What a piece is worth beside its tokens if an open issue or a next step rests on its action."""


class _Filling:
    """Pieces that are being chosen, the most worth for its bytes first, given what is shown already."""

    def __init__(self, record: Record, room: int, said: Iterable[str], quoted: Collection[str]) -> None:
        self._record, self._flow, self._left = record, record.flow, room
        self._shown: Counter[str] = Counter(dict.fromkeys(said, 1))
        self._called: set[int] = set()
        """The indexes of actions of whose call something is shown."""
        self._blocks: set[tuple[int, int]] = set()
        self._shapes: Counter[tuple[int, int, str]] = Counter()
        """How many lines of one shape are shown of a block."""
        self.chosen: list[int] = []
        pairs = zip(self._flow.pieces, record.is_old, strict=True)
        self._is_done = bytearray(is_old or piece.text in quoted for piece, is_old in pairs)
        """Of each piece whether it is shown."""
        queue = (self._bound(index) for index, is_done in enumerate(self._is_done) if not is_done)
        is_long = len(self._is_done) > MAX_CANDIDATES
        self._queue = heapq.nsmallest(MAX_CANDIDATES, queue) if is_long else list(queue)
        heapq.heapify(self._queue)

    def fill(self) -> list[int]:
        """The indexes of the chosen pieces, in the order of choice."""
        queue = self._queue
        while queue and self._left > MIN_LEFT:
            promised, index = heapq.heappop(queue)
            if self._is_done[index] or promised >= 0:
                continue
            worth = self._worth(index)
            if worth > promised + SAME and queue and worth > queue[0][0]:
                heapq.heappush(queue, (worth, index))
            elif worth < 0 and self._cost(index) <= self._left:
                self._take(index)
        return self.chosen

    def _bound(self, index: int) -> tuple[float, int]:
        """The place of a piece in the queue by what it adds at most."""
        flow, piece = self._flow, self._flow.pieces[index]
        gain = flow.gains[index] + CITED * (piece.at in self._record.cited)
        if self._needs_call(piece):
            gain += flow.head_gains[piece.at]
        return -gain / (self._cost(index) + EASE), index

    def _worth(self, index: int) -> float:
        """What a piece adds for its bytes, as a negative number."""
        piece = self._flow.pieces[index]
        gain = self._flow.gain(index, self._shown, with_head=self._needs_call(piece))
        gain += CITED * (piece.at in self._record.cited)
        alike = self._shapes[piece.at, piece.block, self._record.shape(index)] if self._shapes else 0
        return -gain / (self._cost(index) + EASE) / (1 + max(0, alike - FREE_ALIKE))

    def _needs_call(self, piece: Piece) -> bool:
        """Whether the piece says nothing without the first line of its call, which is not shown yet."""
        is_answer = piece.block >= 0 and piece.kind != "call"
        return is_answer and piece.at not in self._called and bool(self._flow.head_lines[piece.at])

    def _cost(self, index: int) -> int:
        piece = self._flow.pieces[index]
        size = self._record.sizes[index]
        if self._needs_call(piece):
            size += MARK_SIZE + 2 + byte_size(self._flow.head_lines[piece.at])
        return size if (piece.at, piece.block) in self._blocks else size + MARK_SIZE + 6

    def _take(self, index: int) -> None:
        flow, piece = self._flow, self._flow.pieces[index]
        self._left -= self._cost(index)
        if self._needs_call(piece):
            self._shown.update(flow.heads[piece.at])
        if piece.block >= 0:
            self._called.add(piece.at)
        self._shown.update(flow.tokens(index))
        self._shapes[piece.at, piece.block, self._record.shape(index)] += 1
        self._is_done[index] = 1
        self.chosen.append(index)
        if (piece.at, piece.block) not in self._blocks:
            self._blocks.add((piece.at, piece.block))
            for other in flow.neighbours(index, MAX_NEIGHBOURS):  # they cost less now
                if not self._is_done[other]:
                    heapq.heappush(self._queue, self._bound(other))


class Record:
    """The record of one trace, for messages of any size."""

    def __init__(self, flow: Flow, cited: Collection[int] = (), overwritten: Collection[int] = ()) -> None:
        self.flow = flow
        old = {at for at, action in enumerate(flow.actions) if action.last in overwritten}
        self.is_old = [piece.at in old and piece.block >= 0 and piece.kind != "output" for piece in flow.pieces]
        """Of each piece whether it is of a version of a file that a later action replaced."""
        self.cited = frozenset(at for at, action in enumerate(flow.actions) if action.last in cited)
        """The indexes of actions that lines of the message rest on."""
        self.sizes = [byte_size(piece.text) + 1 for piece in flow.pieces]
        self.size = sum(self.sizes)
        """Bytes of all that the trace says."""
        self._shapes: dict[int, str] = {}

    def shape(self, index: int) -> str:
        """What a piece has in common with others of its kind."""
        if index not in self._shapes:
            self._shapes[index] = shape(self.flow.pieces[index].text)
        return self._shapes[index]

    def items(self, room: int, lines: Sequence[Line], quotes: Sequence[Item]) -> list[Item]:
        """The record in at most so many bytes, beside these lines and quotes: conclusions first, then actions."""
        texts = [text for item in (*lines, *quotes) for _, text in item.quotes]
        marks = [mark for item in lines for mark, _ in item.quotes]
        said = {word for text in (*texts, *marks) for word in tokens(text)}
        said |= {word for line in lines for word in tokens(line.text) if not word.isalpha()}
        quoted = {line.rstrip() for text in texts for line in text.split("\n")}
        quoted |= {mark.removeprefix("> ") for mark in marks}
        chosen = _Filling(self, room - END_SIZE, said, quoted).fill()
        while True:
            found = self._found(chosen, room // FOUND_SHARE)
            rest = [index for index in chosen if index not in found]
            items = [*found_items(self.flow, found), *record_items(self.flow, rest)]
            excess = total_size(items) + END_SIZE - room
            if not chosen or excess <= 0:
                return items
            while chosen and excess > 0:
                excess -= self.sizes[chosen.pop()]

    def _found(self, chosen: Sequence[int], room: int) -> list[int]:
        """Of what is chosen, the sentences that stand above the record: those that were chosen first and that an output
        backs."""
        found: list[int] = []
        for index in chosen:
            size = self.sizes[index] + MARK_SIZE + 20
            if size <= room and is_conclusion(self.flow, index):
                found.append(index)
                room -= size
                if len(found) == MAX_FOUND:
                    break
        return found


def found_items(flow: Flow, found: Sequence[int]) -> list[Item]:
    """What the agent concluded, in the order of the trace, with the output that shows it."""
    by_action: dict[int, list[int]] = defaultdict(list)
    for index in sorted(found):
        by_action[flow.pieces[index].at].append(index)
    items: list[Item] = []
    for at, indexes in by_action.items():
        mark, text = _short(f"a{flow.actions[at].last} {_said(flow, indexes)}", _text(flow, indexes), ": ")
        items.append(Item("found", 0, "", mark, ((CALL, text),)))
    return items


def action_of(item: Item) -> int:
    """The number of the action that a quoted item is about."""
    number = re.match(r"a(\d+)", item.text)
    return int(number[1]) if number else 0


def _said(flow: Flow, indexes: Sequence[int]) -> str:
    shown = backing(flow, indexes)
    return "said" + (f", shown {' '.join(f'a{number}' for number in shown)}" if shown else "")


def _text(flow: Flow, indexes: Sequence[int]) -> str:
    return "\n".join(flow.pieces[index].text for index in indexes)


def record_items(flow: Flow, chosen: Sequence[int]) -> list[Item]:
    """The chosen pieces as items, an action each, in the order of the trace."""
    by_action: dict[int, list[int]] = defaultdict(list)
    for index in sorted(chosen):
        by_action[flow.pieces[index].at].append(index)
    return [_item(flow, at, indexes) for at, indexes in sorted(by_action.items())]


def _item(flow: Flow, at: int, indexes: Sequence[int]) -> Item:
    action = flow.actions[at]
    by_block: dict[int, list[int]] = defaultdict(list)
    for index in indexes:
        by_block[flow.pieces[index].block].append(index)
    quotes: list[tuple[str, str]] = []
    if said := by_block.get(-1):
        quotes.append(_short(_said(flow, said), _text(flow, said), ": "))
    head = head_call(action)
    is_called = any(block >= 0 for block in by_block)
    for place, block in enumerate(action.blocks):
        lines = list(_with_gaps(flow, by_block.get(place, ())))
        if block is head and is_called and (not lines or lines[0].endswith("()")):
            lines = [line for line in (flow.head_lines[at], *lines[1:]) if line]
        if lines or (is_called and block.kind == "output" and not block.text):
            quotes.append(_quote(block, lines))
    (mark, text), *rest = quotes
    return Item("record", 0, "", f"a{action.last} {mark}", ((CALL, text), *rest))


def _with_gaps(flow: Flow, indexes: Sequence[int]) -> Iterator[str]:
    """The texts of pieces of a block, with a mark where something between them is left out: code with hidden holes is
    worse than none."""
    before = None
    for index in indexes:
        piece = flow.pieces[index]
        if before is not None and piece.place > before + 1:
            yield ELLIPSIS
        yield piece.text
        before = piece.place


def _short(mark: str, text: str, joint: str = " ") -> tuple[str, str]:
    """A quote, on its marker line if it has one line."""
    return (mark, text) if "\n" in text else (f"{mark}{joint}{text}", "")


def _quote(block: Block, lines: Sequence[str]) -> tuple[str, str]:
    total = sum(1 for line in block.text.split("\n") if line and not line.isspace())
    shown = sum(line != ELLIPSIS for line in lines)
    part = "" if shown >= total else f"{shown}/{total}"
    if block.kind == "output":
        mark = f"> {block.head.removeprefix('>').strip()}"
    elif block.kind == "call":
        mark = "$"
    else:
        mark = f"argument {block.head.rstrip(':')}"
    mark = " ".join(filter(None, (mark.strip(), part)))
    return _short(mark, "\n".join(lines)) if lines else (mark, "")
