"""Terminal screens as text: which commands were given, what came back, and whether they have ended.

The agent ends each of its commands with an `echo` of the exit code and a letter of its own, as people do who type
ahead: a command has ended when its letter is on the screen."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PROMPT = re.compile(r"^(?:\[?[\w.-]+@[\w.-]+[: ][^\s\]#$]*\]?|(?:ba)?sh-[\d.]+)[#$](?: (.*))?$")
"""`root@host:/app# ls`, `[root@host app]# ls`, `bash-5.2$ ls`."""
MARK = re.compile(r'; echo "exit \$\? \(\w+\)"')
ENDED = re.compile(r"exit (\d+) \((\w+)\)[ \t]*$", re.MULTILINE)
"""At the end of a line: the output before it need not have ended with one."""
HERE = re.compile(r"<<'?(\w+)'?")
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

    @property
    def failed(self) -> bool:
        """By its exit code; without one, by the words of trouble in what came back. A pipe hides what is not there."""
        if self.code is None:
            return TROUBLE.search(self.answer) is not None
        return self.code != 0 or "command not found" in self.answer

    @property
    def worked(self) -> bool:
        """Whether the end was seen, and was good."""
        return self.code == 0

    @property
    def complaint(self) -> str:
        """The last line that tells of trouble; the last line of all where none does."""
        lines = [line.strip() for line in self.answer.splitlines() if line.strip()]
        telling = [line for line in lines if TROUBLE.search(line)] or lines
        return telling[-1] if telling else ""


def letter(number: int) -> str:
    """The mark of a run's command: a, b, … z, then ba, bb, …"""
    name = ""
    while True:
        number, rest = divmod(number, 26)
        name = chr(ord("a") + rest) + name
        if number == 0:
            return name


def marked(command: str, name: str) -> str:
    """The command as it is typed: the mark stands at the end of its first line where a text for it follows."""
    first, *rest = command.split("\n")
    if HERE.search(first):
        return "\n".join([f'{first}; echo "exit $? ({name})"', *rest]) + "\n"
    return f'{command}; echo "exit $? ({name})"\n'


def unmarked(command: str) -> str:
    """The command as it was meant."""
    return MARK.sub("", command, count=1).strip("\n")


def ends(text: str) -> dict[str, int]:
    """The exit codes that a text shows, by the marks of their commands."""
    return {found[2]: int(found[1]) for found in ENDED.finditer(text)}


def exchanges(text: str) -> Iterator[Exchange]:
    """The commands that a text shows behind a prompt, each with the lines up to the next one."""
    command, answer = "", list[str]()
    for given, line in _told(text.splitlines()):
        if given is None:
            answer.append(line)
            continue
        if command:
            yield _exchange(command, answer)
        command, answer = given, []
    if command:
        yield _exchange(command, answer)


def _exchange(command: str, answer: list[str]) -> Exchange:
    text = "\n".join(answer).strip("\n")
    codes = [int(found[1]) for found in ENDED.finditer(text)]
    return Exchange(unmarked(command), ENDED.sub("", text).strip("\n"), codes[-1] if codes else None)


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
