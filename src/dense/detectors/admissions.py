"""What the agent says at the end against its own work. That it succeeded is a claim; that it did not is evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.detectors.finding import Finding, FindingCode
from dense.detectors.registry import Detector
from dense.evidence.ending.handovers import longest_text
from dense.evidence.facts.agents import team_of
from dense.evidence.trace import TraceEvidence
from dense.knowledge.words import pattern
from dense.text.sentences import first_sentences

FAILURE_ADMITTED = FindingCode(
    "failure_admitted", "The agent's closing words say that the task is not done.", "serious", "root"
)
CLOSING_DOUBT = FindingCode(
    "closing_doubt", "The agent's closing words say that something does not match or was not verified.", "doubt"
)
ADMISSION = pattern("admission")
DOUBT = pattern("closing_doubt")
MAX_CHARS = 4000
SENTENCE_START = re.compile(r"(?:[.!?:]\s+|\n)")
QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"", re.DOTALL)


def closing_words(evidence: TraceEvidence) -> Iterator[Finding]:
    """What the last message, or the text of the hand-over, says against the work. Code and quotes in it do not count;
    in a dialog with a user to say that something is impossible may be the task, and a team has its lead's verdict."""
    end = evidence.ending
    if end.kind != "handed_over" or team_of(evidence.steps) or any(fact.is_followed_by_user for fact in evidence.facts):
        return
    step = evidence.step(end.action)
    commands = evidence.fact(end.action).commands
    text = step.message if commands else max(step.message, longest_text(step), key=len)
    text = text[-MAX_CHARS:]
    if admitted := _sentence(ADMISSION, text):
        yield FAILURE_ADMITTED.found("", end.action, quote=admitted)
    elif doubted := _sentence(DOUBT, text):
        yield CLOSING_DOUBT.found("", end.action, quote=doubted)


def _sentence(words: re.Pattern[str], text: str) -> str:
    """The sentence of a text that has such words outside code and quotes; empty if there is none."""
    found = words.search(QUOTED.sub(lambda quote: " " * len(quote[0]), text))
    if found is None:
        return ""
    starts = [0, *[mark.end() for mark in SENTENCE_START.finditer(text, 0, found.start())]]
    return next(iter(first_sentences(text[starts[-1] :], 200)), "").strip()


DETECTOR = Detector(closing_words, (FAILURE_ADMITTED, CLOSING_DOUBT))
