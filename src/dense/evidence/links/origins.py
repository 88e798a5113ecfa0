"""Where a value comes from: what an agent typed and nothing had shown it, a program's output or the task, is its own
guess. To read such a value back from the file that it was typed into shows nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.text.quoting import plain_text
from dense.trajectory import Step, Task

LONGEST = 200
"""How long a value is at most: of longer texts it is not asked where they come from."""
MOST_BACK = 500
"""Later in a trace it is not asked: to go through all of it for each value would take too long."""
WRAPPED = re.compile(r"\w{1,30}\{(.{3,})\}")
"""A value in the frame that a task wants around it."""
PICTURE = re.compile(r"[\[<]image\b|\bscreenshot\b", re.IGNORECASE)
"""What stands for a picture: nobody knows here what it showed."""
SPELLING = re.compile(r"[\W_]+")
PUNCTUATION = ".,;:!?'\"`()[]<>"


class Origins:
    """The texts of one trace, asked for single values."""

    def __init__(self, steps: Sequence[Step], task: Task | None) -> None:
        self._steps = steps
        self._task = task.instruction if task is not None else ""
        self._known: dict[tuple[str, int], bool] = {}

    def is_guess(self, text: str, action: int) -> bool:
        """Whether an action typed what stands in a line, and nothing had shown it before. A label before the value says
        nothing; of several words the longest counts."""
        key = (text, action)
        if key not in self._known:
            self._known[key] = self._is_guess(text.strip(), action)
        return self._known[key]

    def _is_guess(self, text: str, action: int) -> bool:
        if not text or len(text) > LONGEST or "\n" in text or not 0 < action <= min(len(self._steps), MOST_BACK):
            return False
        words = [word.strip(PUNCTUATION) for word in text.split() if not word.endswith(":")]
        value = max(words, key=len, default="")
        if wrapped := WRAPPED.fullmatch(value):
            value = wrapped[1]
        if not value or value in self._task or not _types(self._steps[action - 1], value):
            return False
        texts = [seen.text for step in self._steps[: action - 1] for seen in step.observations]
        if any(value in text for text in texts) or any(PICTURE.search(text) for text in texts):
            return False
        bare = _bare(value)  # a name in another spelling, letters that were shown with blanks between them
        return not any(bare in _bare(text) for text in (*texts, self._task)) if bare else True


def _bare(text: str) -> str:
    return SPELLING.sub("", text).lower()


def _types(step: Step, value: str) -> bool:
    return any(has_word(plain_text(given), value) for call in step.calls for given in call.arguments.values())


def has_word(text: str, word: str) -> bool:
    """Whether a value stands in a text by itself."""
    at = text.find(word) if word else -1
    while at >= 0:
        end = at + len(word)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        at = text.find(word, end)
    return False
