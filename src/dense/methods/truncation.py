"""What is kept of a trajectory that is too long: the same rule for every method, for prompts and for feedback.

Whole steps are left out, from the middle: the first steps (what was found, how it began) and the last ones (how it
ended) stay. A note says what is missing."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

NOTE_BYTES = 160
"""The most that the note takes."""
BEGINNING_SHARE = 4
"""The first steps may take one in so many parts of the room; the very first one twice as much."""


class KeptEnds(Struct, frozen=True):
    """Which steps stay: those before `head` and those from `tail` on, counted from 0."""

    head: int
    tail: int

    @property
    def is_whole(self) -> bool:
        return self.head >= self.tail

    def of[T](self, steps: Sequence[T]) -> tuple[Sequence[T], Sequence[T]]:
        """The first and the last ones."""
        return (steps, ()) if self.is_whole else (steps[: self.head], steps[self.tail :])


def keep_ends(sizes: Sequence[int], room: int) -> KeptEnds:
    """What stays of steps of these sizes in so much room. The last step stays in any case."""
    if sum(sizes) <= room:
        return KeptEnds(len(sizes), len(sizes))
    room -= NOTE_BYTES
    head, used = 0, 0
    while head < len(sizes) - 1 and used + sizes[head] <= (room // BEGINNING_SHARE if head else room // 2):
        used += sizes[head]
        head += 1
    tail = len(sizes)
    while tail > head and (tail == len(sizes) or used + sizes[tail - 1] <= room):
        tail -= 1
        used += sizes[tail]
    return KeptEnds(head, tail)


def describe_gap(first: int, last: int, size: int) -> str:
    """What is missing: the actions from this number to that one."""
    count = last - first + 1
    named = f"a{first}" if count == 1 else f"a{first} to a{last}"
    return f"{named} left out here for length: {count} {'step' if count == 1 else 'steps'}, {size:,} bytes"
