"""A service that the task asks for, by its port, and that did not answer when it was asked last."""

from __future__ import annotations

import re

from dense.detectors.finding import Finding
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.outputs import program_output
from dense.evidence.facts.remarks import says_expected
from dense.evidence.links.action_links import LOCAL_HOSTS
from dense.evidence.trace import Case
from dense.knowledge.errors import HTTP
from dense.text.quoting import ticked

FEW = 8
"""How many addresses of one action are looked at."""
AGAIN = ("for ", "while ", "until ", "||", "--retry")
"""What asks several times in one action: the first failures tell nothing."""
STOPPED = re.compile(r"kill|\bstop\b|\bdown\b")
"""Words of commands that end a service."""
BROKEN = frozenset({500, 502, 503, 504})
"""Statuses by which a service itself says that it does not work."""
STATUS = re.compile(r"(?<![\d.:])([0-5]\d\d)(?![\d.:])")
HEAD = re.compile(r"^(?:< )?HTTP/[\d.]{1,3} (\d{3})\b", re.MULTILINE)
"""The first line of an answer, where that is shown."""
LONGEST = 20_000
SHORT = 200
"""An output with only a status is shorter."""


def unanswered(case: Case) -> list[Finding]:
    """For each port that is to be served: the last time that it was asked, if it did not answer, or with an error."""
    ports = [one.subject for one in case.requirements if one.kind == "port" and one.role == "deliverable"]
    if not ports or not any(fact.effects.services and not fact.has_failed for fact in case.facts):
        return []
    asking = [fact for fact in case.facts if fact.effects.network]
    found: list[Finding] = []
    for port in dict.fromkeys(re.findall(r"\d+$", port)[0] for port in ports if port[-1:].isdigit()):
        asked = [fact for fact in asking if _asks(fact, port)]
        if asked and (finding := _unanswered(case, asked)):
            found.append(finding)
    return found


def _unanswered(case: Case, asked: list[ActionFacts]) -> Finding | None:
    last = asked[-1]
    status = _status(case, last)
    if status is None or (status and case.task is not None and str(status) in case.task.instruction):
        return None
    if any(
        says_expected(step.message) or says_expected(step.reasoning)
        for step in case.steps[last.action - 1 : last.action + 1]
    ):
        return None
    since = case.facts[last.action :]
    if any(fact.has_passed or (fact.effects.scripts and not fact.has_failed) for fact in since):
        return None
    before = [_status(case, fact) for fact in asked[:-1] if not status or fact.effects.network == last.effects.network]
    has_answered = any(one is None or (one and not status) for one in before)
    if has_answered and any(STOPPED.search(text) for fact in case.facts[asked[0].action :] for text in fact.commands):
        return None
    is_changed = any(fact.effects.services or fact.effects.writes or fact.effects.installs for fact in since)
    # A 4xx may be due to the way in which it was asked.
    is_plain = not status or (status in BROKEN and _is_named(case, last.effects.network[0]))
    is_last = not any(_may_show(fact) for fact in since)
    text = f"{ticked(last.effects.network[0], 80)}, asked last at a{last.action} ({case.did(last.action)}), "
    text += f"gave {case.saw(last.action)}."
    text += " It was changed or started again since, and nobody asked it." if is_changed else ""
    text += " It had answered before." if has_answered else "" if is_changed else " It never answered well."
    is_serious = is_plain and is_last and not has_answered and not is_changed
    return Finding("unanswered", text, (last.action,), is_serious=is_serious)


def _may_show(fact: ActionFacts) -> bool:
    """Whether something came back that may well be the answer, or show that it listens: all but the look at a file."""
    is_talk = fact.phase in ("talk", "deliver")
    return not (is_talk or fact.has_failed or fact.result.is_empty or (fact.effects.reads and fact.phase == "explore"))


def _asks(fact: ActionFacts, port: str) -> bool:
    """Whether an action asks nothing but a port of this machine."""
    own = [address for address in fact.effects.network[:FEW] if _is_at(address, port)]
    return bool(own) and len(own) == len(fact.effects.network)


def _is_at(address: str, port: str) -> bool:
    place = address.rpartition("://")[2].partition("/")[0]
    host, colon, own = place.rpartition(":")
    if not colon or not own.isdigit():
        host, own = place, "443" if address.startswith("https") else "80"
    return own == port and host in LOCAL_HOSTS


def _status(case: Case, fact: ActionFacts) -> int | None:
    """What is wrong with an answer: its status, 0 where there was none; None where nothing is, or nobody knows."""
    text = program_output(fact, case.step(fact.action))
    if heads := HEAD.findall(text, 0, LONGEST):
        return int(heads[-1]) if heads[-1] >= "400" else None
    for failure in fact.result.failures:
        is_sure = fact.result.exit_code or (
            text.count("\n") < FEW and not any(a in t for t in fact.commands for a in AGAIN)
        )
        if failure.family.is_no_answer and is_sure:
            return 0
        if failure.family is HTTP and is_sure:
            return int(failure.subject) if failure.subject.isdigit() else None
    if any("http_code" in command for command in fact.commands) and len(text) < SHORT:
        codes = [int(code) for code in STATUS.findall(text)]
        if codes and (not codes[-1] or codes[-1] >= 400):
            return codes[-1]
    return None


def _is_named(case: Case, address: str) -> bool:
    """Whether the task names an address, not only its port."""
    plain = address.rpartition("://")[2].rstrip("/")
    return case.task is not None and "/" in plain and plain in case.task.instruction
