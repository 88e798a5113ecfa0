"""Passwords that a task is about: they survive, because the next attempt needs them.

A password without a format of its own survives in two cases. Either the task states it in its own words ("create the
user app with password …"): the recipient reads the task anyway. Or the task asks to find one ("recover the password",
"what is the flag") and the value is what was asked for: the agent hands it over, in its last message or beside a file
that the task names; or a line shows it behind a name that does not say that it belongs to something else, such as a
database or a mail server that the task does not name. A value at a place of authentication (`curl -u`, `PGPASSWORD=`, a
URL) that is none of these is somebody's credential and is replaced, in every task. Tokens with a provider's format and
private keys never survive."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from msgspec import Struct

from dense.redact.spans import BY_NAME, Span
from dense.trajectory import Trajectory

KINDS = frozenset({"password", "named-secret", "url-password", "connection-password", "basic-credential"})
"""Kinds of values without a format of their own."""

_NOUN = r"(?:pass(?:word|phrase|code|wd)|pin|flag|secret|credential|launch code|access code|key|token)s?\b"
_ABOUT_CODE = (
    r"(?!['’]?s?[ -]+(?:auth|based|checks?|column|cracker|expir|fields?|forms?|generat|hash|hint|input|length|manag"
    r"|page|polic|prompt|protect|reset|rotat|rules?|stor|strength|tests?|valid|words?|value pair|bind))"
)
_ASKS = re.compile(
    r"\b(?:recover|crack|find|extract|decrypt|retriev|brute[- ]?forc|determin|discover|reveal|obtain|guess|uncover"
    r"|figure out|what(?:['’]s| is| was)|identify|reconstruct|locat|captur|steal|leak|decod|deciph|submit|get|read"
    r"|search for|look for)\w*(?!\s+(?:why|how|where|out why|the (?:bug|cause|reason|issue|problem)))"
    rf"(?:[ \t\n]+[\w’'`\"/.-]+){{0,7}}?[ \t\n]+[`\"']?{_NOUN}{_ABOUT_CODE}"
    r"|\bcapture[ -]the[ -]flag\b|\bCTF\b|\b\w{2,12}\{[^}\n]{0,40}\}",
    re.IGNORECASE,
)
_QUALIFIER = re.compile(
    r"([A-Za-z0-9]*)[_.-]?(?:pass\w*|pwd|psk|kennwort|secret\w*|key|token|credentials?)[\"'\]\s:=>,`]{0,8}\Z",
    re.IGNORECASE,
)
_IN_WORDS = re.compile(r"(?<![\w-])pass(?:word|phrase|code)(?: (?:to|of|is|as))?[ :]{1,2}['\"`“]?\Z", re.IGNORECASE)
_PATH = re.compile(r"(?:/[\w.-]+){1,8}|\b[\w-]+\.[a-z]{1,5}\b")
_INFRASTRUCTURE = frozenset(
    "amqp api app aws azure bitbucket cloud database db django docker email flask ftp gcp git github gitlab imap jwt "
    "ldap mail mariadb minio mongo mongodb mssql mysql npm oauth openai pg postgres postgresql proxy pypi rabbitmq "
    "redis registry s3 sa sendgrid session sftp slack smtp sql ssh stripe sudo twilio vpn".split()
)
"""What a password belongs to that only the machinery around a task uses."""
_LONGEST_NAME = 80


class Occurrence(Struct, frozen=True):
    """Where one of a trajectory's texts holds a value."""

    number: int
    span: Span
    value: str


class Deliverables:
    """Which of the values found in a trajectory its task is about."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._trajectory = trajectory
        self._instruction = trajectory.task.instruction if trajectory.task else ""

    def survivors(self, texts: list[str], occurrences: Iterable[Occurrence]) -> set[str]:
        """The values that stay. `texts` are those of `texts_of`: the instruction is the first, if there is a task."""
        if not self._instruction:
            return set()
        secrets = [occurrence for occurrence in occurrences if occurrence.span.kind in KINDS]
        stated = {occurrence.value for occurrence in secrets if self._is_stated(occurrence.value, secrets)}
        if not secrets or not self._asks:
            return stated
        plain = {occurrence.value for occurrence in secrets if self._is_asked_for(occurrence, texts[occurrence.number])}
        return (
            stated
            | plain
            | {occurrence.value for occurrence in secrets if self._is_handed_over(occurrence.value, texts, secrets)}
        )

    @cached_property
    def _asks(self) -> bool:
        return _ASKS.search(self._instruction) is not None

    @cached_property
    def _paths(self) -> set[str]:
        return {path for path in _PATH.findall(self._instruction) if len(path) > 4}

    @cached_property
    def _handed_over(self) -> set[str]:
        """The last message, and what the agent wrote beside the name of a file that the task names."""
        steps = self._trajectory.steps
        last = next((step.message for step in reversed(steps) if step.message.strip()), "")
        calls = [value for step in steps for call in step.calls for value in call.arguments.values()]
        texts = [value for value in calls if isinstance(value, str)]
        return {last, *(text for text in texts if any(path in text for path in self._paths))}

    def _is_stated(self, value: str, occurrences: list[Occurrence]) -> bool:
        """Whether the instruction has the value in its own words: not in a setting, a command or an address."""
        pasted = [
            occurrence.span
            for occurrence in occurrences
            if occurrence.number == 0 and occurrence.value == value and self._is_pasted(occurrence)
        ]
        return len(_whole_words(value, self._instruction)) > len(pasted)

    def _is_pasted(self, occurrence: Occurrence) -> bool:
        if occurrence.span.rank != BY_NAME:
            before = self._instruction[max(0, occurrence.span.start - _LONGEST_NAME) : occurrence.span.start]
            return _IN_WORDS.search(before) is None
        name = _QUALIFIER.search(
            self._instruction, max(0, occurrence.span.start - _LONGEST_NAME), occurrence.span.start
        )
        return name is not None and name[0][:4].isupper()

    def _is_asked_for(self, occurrence: Occurrence, text: str) -> bool:
        if occurrence.span.rank != BY_NAME:
            return False
        name = _QUALIFIER.search(text, max(0, occurrence.span.start - _LONGEST_NAME), occurrence.span.start)
        qualifier = name[1].lower() if name else ""
        return qualifier not in _INFRASTRUCTURE or qualifier in self._instruction.lower()

    def _is_handed_over(self, value: str, texts: list[str], occurrences: list[Occurrence]) -> bool:
        """Whether the agent says or writes the value, other than to authenticate."""
        used = [
            occurrence for occurrence in occurrences if occurrence.value == value and occurrence.span.rank != BY_NAME
        ]
        holders = [number for number, text in enumerate(texts) if value in text and text in self._handed_over]
        return any(
            len(_whole_words(value, texts[number])) > sum(occurrence.number == number for occurrence in used)
            for number in holders
        )


def _whole_words(value: str, text: str) -> list[int]:
    """Where a value is a whole word of a text."""
    return (
        [match.start() for match in re.finditer(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", text)]
        if value in text
        else []
    )
