"""What the agent says of a result that it has just seen: that it is wrong, that it was expected, that it has nothing to
do with its changes. That all is well is no evidence; these remarks speak against something, and are reason to be
careful as long as nothing refutes them."""

from __future__ import annotations

from dense.knowledge.words import pattern
from dense.text.guarded import GuardedPattern
from dense.text.sentences import first_sentences

MAX_REMARK_CHARS = 1_500
"""How much of a message is read: it begins with what was seen last."""
MAX_COMPLAINT_CHARS = 500
"""How much of a message is about the last result, before it goes on to what is done next."""
EXCUSES = GuardedPattern(pattern("excuse"))
"""A failure is ascribed to something other than the changes."""
EXPECTED = GuardedPattern(pattern("expected"))
"""A failure is what was wanted."""
COMPLAINTS = GuardedPattern(pattern("complaint"))
"""The result is wrong."""


def says_expected(message: str) -> bool:
    """Whether a message says of a failure that it is what was wanted."""
    return EXPECTED.search(message[:MAX_REMARK_CHARS]) is not None


def find_complaint(message: str) -> str:
    """The sentence that says of the last result that it is wrong; empty if there is none."""
    return _sentence_with(COMPLAINTS, message[:MAX_COMPLAINT_CHARS])


def find_excuse(message: str) -> str:
    """The sentence that ascribes a failure to something other than the changes; empty if there is none."""
    return _sentence_with(EXCUSES, message[:MAX_REMARK_CHARS])


def _sentence_with(pattern: GuardedPattern, text: str) -> str:
    found = pattern.search(text)
    if found is None:
        return ""
    start = max(text.rfind(mark, 0, found.start()) for mark in ("\n", ". ", "! ", "? ", "。")) + 1
    return next(iter(first_sentences(text[start:], 200)), "").strip()
