"""What the script knows at one moment: the message as it read it, and the screens of this run."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property

from scripted.reading import Reading, absent, makes
from scripted.screen import Exchange


def drawn(*words: object) -> float:
    """A number from 0 to 1, the same for the same words on every machine."""
    raw = hashlib.sha256("\0".join(map(str, words)).encode()).digest()
    return int.from_bytes(raw[:8], "big") / 2**64


@dataclass(frozen=True)
class Facts:
    """Everything a decision rests on."""

    seed: int
    """Draws what a language model would leave to chance."""
    task: str
    """The instruction, with whatever stands before it."""
    reading: Reading
    """What was taken from it."""
    done: tuple[Exchange, ...] = ()
    """The commands of this run that have ended."""
    turns: int = 0
    """How many turns were spent on them."""

    @cached_property
    def now(self) -> str:
        """All that this run's screens showed."""
        return "\n".join(one.answer for one in self.done)

    @cached_property
    def seen(self) -> str:
        """That, and what was read of the message."""
        return f"{self.reading.text}\n{self.now}"

    @cached_property
    def absent(self) -> frozenset[str]:
        """Programs and modules that are known not to be there."""
        return self.reading.absent | absent(self.now)

    def shows(self, pattern: str) -> bool:
        """Whether a pattern stands in what was seen, in this run or in the message."""
        return re.search(pattern, self.seen, re.MULTILINE) is not None

    def knows(self, text: str) -> bool:
        """Whether a command that worked, here or in the message, has this text in it."""
        return any(text in command for command in self.reading.repeat) or any(
            text in one.command for one in self.done if one.worked
        )

    def all(self, pattern: str) -> list[str]:
        """Everything that was seen of a pattern, each once, in order."""
        return list(dict.fromkeys(re.findall(pattern, self.seen, re.MULTILINE)))

    def chance(self, name: str) -> float:
        """The number that the seed draws for a name."""
        return drawn(self.seed, name)

    def thinks(self, name: str, chance: float, *words: str) -> bool:
        """Whether it comes to mind: by chance, or surely where an open matter speaks of it."""
        return self.told(*words) or self.chance(f"thinks of {name}") < chance

    def told(self, *words: str) -> bool:
        """Whether a sentence on what is missing or wrong has one of these words."""
        sentences = " ".join([*self.reading.missing, *self.reading.wrong]).casefold()
        return any(word.casefold() in sentences for word in words)

    def made(self, path: str) -> bool:
        """Whether a command of this run wrote to a path, and ended well."""
        return any(one.worked and makes(one.command) and path in one.command for one in self.done)

    def last(self, start: str) -> Exchange | None:
        """The last command of this run that begins so."""
        return next((one for one in reversed(self.done) if one.command.startswith(start)), None)

    def since(self, start: str, path: str) -> Exchange | None:
        """The last command that begins so, if nothing wrote to the path after it."""
        for one in reversed(self.done):
            if one.command.startswith(start):
                return one
            if makes(one.command) and path in one.command:
                return None
        return None
