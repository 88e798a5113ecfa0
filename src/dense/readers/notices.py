"""Notices about skipped and repaired input: collected while reading, attached to the trajectory."""

from __future__ import annotations

from dataclasses import dataclass, field

from dense.errors import SkippedRecords
from dense.trajectory import Notice, Source


@dataclass
class Notices:
    """A list of notices that a reader writes to. With `strict`, a skipped record is an error at once."""

    strict: bool = False
    items: list[Notice] = field(default_factory=list[Notice])

    def skip(self, text: str, source: Source) -> None:
        """A record is left out of the trajectory."""
        if self.strict:
            raise SkippedRecords(f"{source}: {text}")
        self.items.append(Notice("skipped", text, source))

    def skip_once(self, text: str, source: Source) -> None:
        """The same for damage that is met again each time a file is opened."""
        if Notice("skipped", text, source) not in self.items:
            self.skip(text, source)

    def repair(self, text: str, source: Source) -> None:
        """A record is in the trajectory, but not with its own bytes."""
        self.items.append(Notice("repaired", text, source))

    def note(self, text: str, source: Source) -> None:
        """Anything else worth knowing."""
        self.items.append(Notice("note", text, source))

    def note_once(self, text: str, source: Source) -> None:
        """The same, unless it was said already when the trajectory was normalised."""
        if (notice := Notice("note", text, source)) not in self.items:
            self.items.append(notice)

    def take(self) -> tuple[Notice, ...]:
        """All notices so far; the list starts again."""
        taken, self.items = tuple(self.items), []
        return taken
