"""Where a value comes from. A value that the agent typed, and that neither the task nor an output had shown, is its own
guess: to read it back from the file that it was typed into shows nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.text.quoting import as_text
from dense.trajectory import Step, Task

MAX_VALUE_CHARS = 200
MAX_ACTION = 500
"""Later actions are not asked about: to search the whole trace for each value would take too long."""
WRAPPED = re.compile(r"\w{1,30}\{(.{3,})\}")
"""A value in the frame that a task wants around it, such as `flag{...}`."""
PICTURE = re.compile(r"[\[<]image\b|\bscreenshot\b", re.IGNORECASE)
"""A placeholder for a picture, whose contents are unknown."""
SPELLING = re.compile(r"[\W_]+")
VALUES = re.compile(r"\w(?:[\w.-]*\w)?")
MAX_TYPED_CHARS = 2000
PUNCTUATION = ".,;:!?'\"`()[]<>"


class Origins:
    """Searches the texts of one trace for single values."""

    def __init__(self, steps: Sequence[Step], task: Task | None) -> None:
        self._steps = steps
        self._task = task.instruction if task is not None else ""

    def is_guess(self, text: str, action: int) -> bool:
        """Whether an action typed the value (the longest word, no label) in a line that nothing had shown before."""
        text = text.strip()
        if not text or not 0 < action <= min(len(self._steps), MAX_ACTION):
            return False
        if "\n" in text or len(text) > MAX_VALUE_CHARS:
            return False
        words = [word.strip(PUNCTUATION) for word in text.split() if not word.endswith(":")]
        value = max(words, key=len, default="")
        if wrapped := WRAPPED.fullmatch(value):
            value = wrapped[1]
        typed = [as_text(given) for call in self._steps[action - 1].calls for given in call.arguments.values()]
        if not value or value in self._task or not any(has_word(given, value) for given in typed):
            return False
        texts = self._texts_before(action)
        if any(value in text or PICTURE.search(text) for text in texts):
            return False
        bare = _bare(value)  # another spelling, or letters with blanks between them
        return not any(bare in _bare(text) for text in (*texts, self._task)) if bare else True

    def _texts_before(self, action: int) -> list[str]:
        return [observation.text for step in self._steps[: action - 1] for observation in step.observations]

    def is_own_text(self, typed: str, action: int) -> bool:
        """Whether nothing had shown most of the values in a text, or of its lines if it has no values, before an action
        typed it."""
        if not typed.strip() or action > MAX_ACTION:
            return False
        text = typed[:MAX_TYPED_CHARS]
        values = {word for word in VALUES.findall(text) if any(map(str.isdigit, word))}
        values = values or set(filter(None, map(str.strip, text.splitlines())))
        texts = [self._task, *self._texts_before(action)]
        if any(map(PICTURE.search, texts)):
            return False
        return 2 * sum(any(has_word(text, value) for text in texts) for value in values) < len(values)


def _bare(text: str) -> str:
    return SPELLING.sub("", text).lower()


def has_word(text: str, word: str) -> bool:
    """Whether a text has a value that is no part of a longer one."""
    at = text.find(word) if word else -1
    while at >= 0:
        end = at + len(word)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        at = text.find(word, end)
    return False
