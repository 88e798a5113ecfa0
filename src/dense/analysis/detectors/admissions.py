"""What the agent says at the end against its own work, which is evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.analysis.detectors.registry import Detector, Finding, FindingCode
from dense.analysis.evidence.ending.ending import longest_text
from dense.analysis.evidence.facts.phases import team_of
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.words import pattern
from dense.text.guarded import GuardedPattern
from dense.text.quoting import one_line
from dense.text.sentences import first_sentences

FAILURE_ADMITTED = FindingCode(
    name="failure_admitted",
    meaning="The agent's closing words say that the task is not done.",
    severity="serious",
    opens_issue=True,
    raised_at="root",
)
CLOSING_DOUBT = FindingCode(
    name="closing_doubt",
    meaning="The agent's closing words say that something does not match or was not verified.",
    severity="doubt",
)
ADMISSION = GuardedPattern(pattern("admission"))
DOUBT = GuardedPattern(pattern("closing_doubt"))
MAX_CHARS = 4000
MAX_SENTENCE_CHARS = 200
BLOCKS = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
SENTENCE_START = re.compile(r"(?:[.!?:]\s+|\n)")
QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"", re.DOTALL)


def closing_words(evidence: TraceEvidence) -> Iterator[Finding]:
    """What the last message, or the text of the hand-over, says against the work. Code and quotes do not count against
    it; in a dialog with a user to say that something is impossible may be the task, and a team has its lead's
    verdict."""
    end = evidence.ending
    if team_of(evidence.steps) or any(fact.is_followed_by_user for fact in evidence.facts):
        return
    text = closing_text(evidence)
    if end.kind != "handed_over":
        return
    if admitted := _sentence(ADMISSION, text):
        yield FAILURE_ADMITTED.found("", end.action, quote=admitted)
    elif doubted := _sentence(DOUBT, text):
        yield CLOSING_DOUBT.found("", end.action, quote=doubted)


def closing_text(evidence: TraceEvidence) -> str:
    """The end of the last message, or of the text of the hand-over."""
    action = evidence.ending.action
    step = evidence.step(action)
    text = step.message if evidence.fact(action).commands else max(step.message, longest_text(step), key=len)
    return text[-MAX_CHARS:]


def closing_sentence(words: GuardedPattern, text: str) -> str:
    """The sentence of a text that has such words outside code blocks; empty if there is none."""
    match = words.search(BLOCKS.sub(lambda quote: " " * len(quote[0]), text))
    return "" if match is None else one_line(_sentence_at(match.start(), text), MAX_SENTENCE_CHARS)


def _sentence(words: GuardedPattern, text: str) -> str:
    """The sentence of a text that has such words outside code and quotes; empty if there is none."""
    match = words.search(QUOTED.sub(lambda quote: " " * len(quote[0]), text))
    return "" if match is None else _sentence_at(match.start(), text)


def _sentence_at(position: int, text: str) -> str:
    starts = [0, *[mark.end() for mark in SENTENCE_START.finditer(text, 0, position)]]
    return next(iter(first_sentences(text[starts[-1] :], MAX_SENTENCE_CHARS)), "").strip()


DETECTOR = Detector(closing_words, (FAILURE_ADMITTED, CLOSING_DOUBT))
