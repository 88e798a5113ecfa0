"""What the agent says of its work: against it, which is evidence; or for it, which is a claim that an output must
show."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dense.analysis.detectors.registry import Detector, Finding, FindingCode
from dense.analysis.evidence.ending.ending import longest_text
from dense.analysis.evidence.facts.facts import SUCCESS, ActionFacts
from dense.analysis.evidence.facts.phases import team_of
from dense.analysis.evidence.trace import TraceEvidence
from dense.knowledge.words import pattern
from dense.text.guarded import GuardedPattern
from dense.text.numbers import decimal
from dense.text.sentences import first_sentences

FAILURE_ADMITTED = FindingCode(
    "failure_admitted", "The agent's closing words say that the task is not done.", "serious", "root"
)
CLOSING_DOUBT = FindingCode(
    "closing_doubt", "The agent's closing words say that something does not match or was not verified.", "doubt"
)
CLAIM_UNSHOWN = FindingCode("claim_unshown", "The agent reports a result that no output shows.", "doubt")
CLAIM = GuardedPattern(pattern("claimed_result"))
NUMBER = re.compile(r"(?<![\w.])\d{1,15}(?:,\d{3}){0,5}(?:\.\d{1,15})?")
ADMISSION = GuardedPattern(pattern("admission"))
DOUBT = GuardedPattern(pattern("closing_doubt"))
MAX_NOTICE_CHARS = 100
"""What a harness says of a command without output is no longer."""
MAX_CHARS = 4000
SENTENCE_START = re.compile(r"(?:[.!?:]\s+|\n)")
QUOTED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\"[^\"\n]*\"", re.DOTALL)


def closing_words(evidence: TraceEvidence) -> Iterator[Finding]:
    """What the last message, or the text of the hand-over, says against the work, and results without an output. Code
    and quotes do not count against it; in a dialog with a user to say that something is impossible may be the task, and
    a team has its lead's verdict."""
    end = evidence.ending
    if team_of(evidence.steps) or any(fact.is_followed_by_user for fact in evidence.facts):
        return
    step = evidence.step(end.action)
    commands = evidence.fact(end.action).commands
    text = step.message if commands else max(step.message, longest_text(step), key=len)
    text = text[-MAX_CHARS:]
    yield from _claims(evidence, end.action, text)
    if end.kind != "handed_over":
        return
    if admitted := _sentence(ADMISSION, text):
        yield FAILURE_ADMITTED.found("", end.action, quote=admitted)
    elif doubted := _sentence(DOUBT, text):
        yield CLOSING_DOUBT.found("", end.action, quote=doubted)


def _claims(evidence: TraceEvidence, closing: int, text: str) -> Iterator[Finding]:
    """The first result that the last message reports, or one after an action that gave nothing, and that no output
    before it shows. Numbers in files that were only looked at are no result."""
    gave_nothing = [fact.action for fact in evidence.facts[: closing - 2] if _gave_nothing(fact, evidence)]
    for action, said in (
        *[(action_before + 1, evidence.steps[action_before].message) for action_before in gave_nothing],
        (closing, text),
    ):
        for claim in CLAIM.finditer(said[-MAX_CHARS:]):
            if not _is_shown(next(filter(None, claim.groups()), ""), evidence, action):
                yield CLAIM_UNSHOWN.found("", action, quote=_sentence_at(claim.start(), said[-MAX_CHARS:]))
                return


def _gave_nothing(fact: ActionFacts, evidence: TraceEvidence) -> bool:
    step = evidence.step(fact.action)
    is_short = bool(step.calls) and sum(len(seen.text) for seen in step.observations) <= MAX_NOTICE_CHARS
    return is_short and not evidence.output(fact.action).strip()


def _is_shown(number: str, evidence: TraceEvidence, before: int) -> bool:
    """Whether what ran before an action printed a number, also as a share or rounded; without one, that all is well."""
    ran = [fact.action for fact in evidence.facts[: before - 1] if fact.phase != "explore"]
    outputs = [seen.text for action in ran for seen in evidence.step(action).observations]
    if not number:
        return any(SUCCESS.search(text) for text in outputs)
    value, digits = decimal(number), len(number.partition(".")[2])
    known = (
        decimal(known_value)
        for text in (*outputs, evidence.task.instruction if evidence.task else "")
        for known_value in NUMBER.findall(text)
    )
    return value < 2 or any(
        value in (round(known_value, digits), round(100 * known_value, digits)) for known_value in known
    )


def _sentence(words: GuardedPattern, text: str) -> str:
    """The sentence of a text that has such words outside code and quotes; empty if there is none."""
    match = words.search(QUOTED.sub(lambda quote: " " * len(quote[0]), text))
    return "" if match is None else _sentence_at(match.start(), text)


def _sentence_at(position: int, text: str) -> str:
    starts = [0, *[mark.end() for mark in SENTENCE_START.finditer(text, 0, position)]]
    return next(iter(first_sentences(text[starts[-1] :], 200)), "").strip()


DETECTOR = Detector(closing_words, (FAILURE_ADMITTED, CLOSING_DOUBT, CLAIM_UNSHOWN))
