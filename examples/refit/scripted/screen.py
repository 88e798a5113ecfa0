"""Terminal screens as text: which commands were given, what came back, and whether they have ended.

The agent types several commands ahead and marks none of them: the prompts show what belongs to which, and the last one
has ended when an empty prompt is at the end of the screen. There are no exit codes; whether a command failed is known
by what it printed. Messages of others may show exit codes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PROMPT = re.compile(r"^(?:\[?[\w.-]+@[\w.-]+[: ][^\s\]#$]*\]?|(?:ba)?sh-[\d.]+)[#$](?: (.*))?$")
"""`root@host:/app# ls`, `[root@host app]# ls`, `bash-5.2$ ls`."""
ENDED = re.compile(r"exit (\d+) \((\w+)\)[ \t]*$", re.MULTILINE)
"""At the end of a line: the output before it need not have ended with one."""
PROMPT_BEHIND = re.compile(r"(?:[\w.-]+@[\w.-]+[: ][^\s\]#$]*\]?|(?:ba)?sh-[\d.]+)[#$](?: (.*))?$")
"""The same behind an output that does not end its last line."""
WRAPPED = 80
"""No terminal breaks a shorter line."""
HERE = re.compile(r"<<'?(\w+)'?")
QUOTE = re.compile(r"^[0-9a-z]{5}\|(?: (.*))?$")
"""A line around quoted text: what follows; nothing or `end` after the last."""
TROUBLE = re.compile(
    r"Traceback \(most recent|\b\w*(?:Error|Exception)\b:|command not found|No such file|No module named|cannot "
    r"|can't |FAILED|\bFAIL\b|does not exist|too slow|refused|denied|not permitted|usage: ",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Exchange:
    """One command and what came back."""

    command: str
    """As it was given, without the mark at its end."""
    answer: str
    """What stood on the screen after it."""
    code: int | None = None
    """The exit code, where it was shown."""
    is_ended: bool = False
    """Whether the next prompt was seen."""

    @property
    def failed(self) -> bool:
        """By its exit code; without one, by the words of trouble in what came back. A pipe hides what is not there."""
        if self.code is None:
            return TROUBLE.search(self.answer) is not None
        return self.code != 0 or "command not found" in self.answer

    @property
    def worked(self) -> bool:
        """Whether the end was seen, and was good."""
        return self.code == 0 if self.code is not None else self.is_ended and not self.failed

    @property
    def complaint(self) -> str:
        """The last line that tells of trouble; the last line of all where none does."""
        lines = [line.strip() for line in self.answer.splitlines() if line.strip()]
        telling = [line for line in lines if TROUBLE.search(line)] or lines
        return telling[-1] if telling else ""


def is_idle(screen: str) -> bool:
    """Whether a screen ends with an empty prompt."""
    lines = [line.strip() for line in screen.splitlines() if line.strip()]
    found = PROMPT_BEHIND.search(lines[-1]) if lines else None
    return found is not None and not (found[1] or "").strip()


def typed_exchanges(screen: str, commands: tuple[str, ...]) -> list[Exchange]:
    """The commands that were typed, in order, each with what the screen shows between its prompt and the next one."""
    starts = list[tuple[int, int]]()
    lines = screen.splitlines()
    wanted = 0
    for at, line in enumerate(lines):
        found = PROMPT_BEHIND.search(line.strip()) if wanted < len(commands) else None
        given = (found[1] or "").strip() if found else ""
        first = commands[wanted].split("\n")[0].strip() if given else ""
        if given and (given == first or (len(given) >= WRAPPED and first.startswith(given))):
            starts.append((at, wanted))
            wanted += 1
    ends = [*(at for at, _ in starts[1:]), len(lines)] if starts else []
    done = is_idle(screen)
    return [
        Exchange(commands[n], _answer(lines[at:end], commands[n]), is_ended=done or end < len(lines))
        for (at, n), end in zip(starts, ends, strict=True)
    ]


def _answer(lines: list[str], command: str) -> str:
    """Without prompts and without the echo of what was typed, which a terminal breaks where it is full."""
    typed = {line.strip() for line in command.splitlines()}
    kept = [line for line in lines[1:] if not PROMPT.match(line.strip()) and line.lstrip("> ").strip() not in typed]
    echo = "".join(command.split())
    while kept and len(piece := "".join(kept[0].split())) > 2 and piece in echo and len(lines[0]) >= WRAPPED:
        kept = kept[1:]
    return "\n".join(kept).strip("\n")


def exchanges(text: str) -> Iterator[Exchange]:
    """The commands that a text shows behind a prompt, each with the lines up to the next one or to the end of the
    quote. A prompt, or the end of a quoted screen, shows that the command before has ended."""
    command, answer = "", list[str]()
    for given, line in _told(text.splitlines()):
        if given is None and not QUOTE.match(line):
            answer.append(line)
            continue
        if command:
            yield _exchange(command, answer, is_ended=True)
        command, answer = given or "", []
    if command:
        yield _exchange(command, answer, is_ended=False)


def _exchange(command: str, answer: list[str], *, is_ended: bool) -> Exchange:
    text = "\n".join(answer).strip("\n")
    codes = [int(found[1]) for found in ENDED.finditer(text)]
    return Exchange(command.strip("\n"), ENDED.sub("", text).strip("\n"), codes[-1] if codes else None, is_ended)


def _told(lines: list[str]) -> Iterator[tuple[str | None, str]]:
    """Each line with the command that it gives, whole; None for a line that gives none."""
    at = 0
    while at < len(lines):
        found = PROMPT.match(lines[at].strip())
        at += 1
        if found is None:
            yield None, lines[at - 1]
            continue
        given = (found[1] or "").strip()
        here = HERE.search(given)
        while here is not None and at < len(lines) and lines[at].lstrip().startswith(">"):
            part = lines[at].lstrip()[1:].removeprefix(" ")
            given += f"\n{part}"
            at += 1
            if part == here[1]:
                break
        yield given, ""
