"""What kind of text an observation is: what programs said as they ran, contents that were shown, a tool's answer."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from dense.evidence.actions import Effects, commands, effects
from dense.knowledge.programs import LOOKING_SUBCOMMANDS, SHOWERS, programs_that
from dense.trajectory import Observation, Step, ToolCall

Kind = Literal["ran", "shown", "answered"]

GIT = re.compile(r"git(?<!\wgit)(?: -C \S+| --no-pager| -c \S+| -P)* ([a-z-]+)")
LOG_READERS = frozenset("docker docker-compose podman kubectl systemctl service supervisorctl".split())
LOGS = re.compile(
    r"\b(?:docker|podman|kubectl|compose|docker-compose|systemctl|service|supervisorctl)\b[^|;&\n]{0,200}?"
    r" (?:logs?|status|describe)\b"
)
ANSWERERS = programs_that("answers")
"""Programs whose exit code 1 says no."""
HIDDEN = ("2>/dev/null", "2> /dev/null", "&>/dev/null", "&> /dev/null")
LAST_PROGRAM = re.compile(r"(?:^|&&|\|\||[|;\n&(!])\s*(?:(?:sudo|time|then|do|else|if|command)\s+)*([\w./\[-]+)")
HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
QUOTED = re.compile(r"'[^']*+(?:'|$)|\"(?:[^\"\\]|\\.)*+(?:\"|$)", re.DOTALL)
LOG_FILES = (
    *(".log", ".out", ".err", ".output"),
    *("out.txt", "output.txt", "result.txt", "results.txt", "log.txt"),
)
"""How the names of files end that hold what programs said."""


class Setting(Struct, frozen=True, gc=False):
    """What is known of an action when its observation is read."""

    kind: Kind
    programs: tuple[str, ...] = ()
    """What ran, by name."""
    commands: tuple[str, ...] = ()
    """The shell texts."""
    is_called: bool = True
    """Whether the action called anything, as far as the trace tells."""
    shows_logs: bool = False
    """Whether it only shows files that hold what programs said."""

    def echoes(self, line: str) -> bool:
        """Whether a line is a piece of what was typed, which a terminal shows again."""
        typed = line[2:].strip() if line.startswith(("> ", "+ ")) else line
        return len(typed) >= 8 and any(typed in command for command in self.commands)


def setting_after(step: Step, done: Effects, texts: tuple[str, ...]) -> Setting:
    """What kind of text to expect after a step that ran these shell texts."""
    names = tuple([plain_name(name) for name in done.runs])
    if not texts and "python" not in done.runs:
        return Setting("answered", names, is_called=bool(step.calls))
    if done.scripts or done.installs or done.services:
        return Setting("ran", names, texts)
    for name in names:
        if name not in SHOWERS and not shows(name, texts):
            return Setting("ran", names, texts)
    if not names and not done.reads:
        return Setting("ran", names, texts)
    shows_logs = bool(done.reads) and False not in [path.endswith(LOG_FILES) for path in done.reads]
    return Setting("shown", names, texts, shows_logs=shows_logs)


def setting_of_call(step: Step, observation: Observation) -> Setting | None:
    """The same for the one call that an observation answers."""
    for call in step.calls:
        if call.id is not None and call.id == observation.call_id:
            return setting_of(step, call)
    return None


def setting_of(step: Step, call: ToolCall) -> Setting:
    alone = Step(step.source, calls=(call,))
    return setting_after(alone, effects(alone), commands(alone))


def shows(name: str, texts: tuple[str, ...]) -> bool:
    """Whether a program that is not known to only show things does so as it was called here."""
    if name == "git":
        return LOOKING_SUBCOMMANDS.issuperset([verb for text in texts for verb in GIT.findall(text)])
    return name in LOG_READERS and any(LOGS.search(text) for text in texts)


@lru_cache(1024)
def plain_name(program: str) -> str:
    """`/usr/bin/Grep` is `grep`."""
    return program.rpartition("/")[2].lower()


def last_program(text: str) -> str:
    """The program that decides about the exit code of a shell text, as far as a quick look tells."""
    bare = QUOTED.sub("x", without_bodies(text)[-2000:]).strip().rstrip(";")
    found = LAST_PROGRAM.findall(bare)
    return plain_name(found[-1]) if found else ""


def decides(texts: tuple[str, ...]) -> bool:
    """Whether an exit code of 0 means that every command of the texts went well: no pipes, no lists but `&&`."""
    if not texts:
        return False
    bare = QUOTED.sub("x", without_bodies(texts[-1])[:4000]).strip().rstrip(";")
    return not any(mark in bare for mark in ("|", ";", "\n"))


def answers_by_code(setting: Setting, text: str) -> bool:
    """Whether an exit code of 1 is an answer, given what came with it: nothing was found, the files differ; or a
    program was asked for what may not be there, and its complaint was thrown away."""
    last = setting.commands[-1:]
    if setting.kind == "shown" and any(mark in command for command in last for mark in HIDDEN):
        return len(text) < 4_000
    return any(last_program(command) in ANSWERERS for command in last)


def without_bodies(text: str) -> str:
    """A shell text without the bodies of its heredocs."""
    if "<<" not in text:
        return text
    kept: list[str] = []
    end = ""
    for line in text.split("\n"):
        if end:
            if line.strip() == end:
                end = ""
            continue
        kept.append(line)
        if found := HEREDOC.search(line):
            end = found[1]
    return "\n".join(kept)
