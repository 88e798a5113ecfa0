"""What an observation is to be read as: the output of programs, contents that were shown, or the answer of a tool."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from dense.analysis.actions.effects import Effects
from dense.analysis.actions.step_effects import commands, effects
from dense.knowledge.errors import ERRORS, ErrorTable
from dense.knowledge.file_names import LOG_FILES
from dense.knowledge.programs import LOOKING_SUBCOMMANDS, SHOWERS, programs_that
from dense.knowledge.test_runners import RUNNERS, RunnerTable
from dense.trajectory import Observation, Step

OutputKind = Literal["program_output", "contents", "tool_answer"]

GIT_SUBCOMMAND = re.compile(r"git(?<!\wgit)(?: -C \S+| --no-pager| -c \S+| -P)* ([a-z-]+)")
LOG_SUBCOMMAND = re.compile(
    r"\b(?:docker|podman|kubectl|compose|docker-compose|systemctl|service|supervisorctl)\b[^|;&\n]{0,200}?"
    r" (?:logs?|status|describe)\b"
)
LOG_READERS = frozenset("docker docker-compose podman kubectl systemctl service supervisorctl".split())
ANSWERERS = programs_that("answers")
"""Programs whose exit code 1 is an answer."""
PROGRAM = re.compile(r"(?:^|&&|\|\||[|;\n&(!])\s*(?:(?:sudo|time|then|do|else|if|command)\s+)*([\w./\[-]+)")
HEREDOC = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
QUOTED = re.compile(r"'[^']*+(?:'|$)|\"(?:[^\"\\]|\\.)*+(?:\"|$)", re.DOTALL)


class OutputContext(Struct, frozen=True, gc=False):
    """What is known of an action when its observation is read."""

    kind: OutputKind
    programs: tuple[str, ...] = ()
    """Names of the programs that ran."""
    commands: tuple[str, ...] = ()
    """The shell texts."""
    is_called: bool = True
    """Whether the action called a tool, as far as the trace shows."""
    shows_logs: bool = False
    """Whether it only shows files that hold what programs printed."""
    errors: ErrorTable = ERRORS
    runners: RunnerTable = RUNNERS

    def repeats(self, line: str) -> bool:
        """Whether a line is a piece of a command, as a terminal shows it again."""
        typed = line[2:].strip() if line.startswith(("> ", "+ ")) else line
        return len(typed) >= 8 and any(typed in command for command in self.commands)

    @property
    def is_answer(self) -> bool:
        """Whether exit code 1 is an answer: nothing was found, the files differ."""
        last = self.commands[-1] if self.commands else ""
        return bool(last) and last_program(last) in ANSWERERS

    @property
    def code_covers_all(self) -> bool:
        """Whether exit code 0 means that every command went well: no pipes, no lists but `&&`."""
        if not self.commands:
            return False
        bare = _without_quotes(self.commands[-1])
        return not any(mark in bare for mark in ("|", ";", "\n"))


def context_of_step(
    step: Step, done: Effects, texts: tuple[str, ...], errors: ErrorTable = ERRORS, runners: RunnerTable = RUNNERS
) -> OutputContext:
    """What to expect after a step that ran these shell texts."""
    programs = tuple([plain_name(name) for name in done.runs])
    is_shown = [name in SHOWERS or _only_shows(name, texts) for name in programs]
    kind: OutputKind = "contents"
    if not texts and "python" not in done.runs:
        kind = "tool_answer"
    elif done.scripts or done.installs or done.services or not all(is_shown) or not (programs or done.reads):
        kind = "program_output"
    shows_logs = kind == "contents" and bool(done.reads) and all(path.endswith(LOG_FILES) for path in done.reads)
    return OutputContext(
        kind=kind,
        programs=programs,
        commands=texts,
        is_called=bool(step.calls),
        shows_logs=shows_logs,
        errors=errors,
        runners=runners,
    )


def context_of_call(step: Step, observation: Observation, whole: OutputContext) -> OutputContext:
    """The same for the one call that an observation answers; the whole step's if that is not known."""
    for call in step.calls:
        if call.id is not None and call.id == observation.call_id:
            alone = Step(source=step.source, calls=(call,))
            return context_of_step(alone, effects(alone), commands(alone), whole.errors, whole.runners)
    return whole


def _only_shows(name: str, texts: tuple[str, ...]) -> bool:
    """Whether a program that may also do other things only shows something here."""
    if name == "git":
        return LOOKING_SUBCOMMANDS.issuperset([verb for text in texts for verb in GIT_SUBCOMMAND.findall(text)])
    return name in LOG_READERS and any(LOG_SUBCOMMAND.search(text) for text in texts)


@lru_cache(1024)
def plain_name(program: str) -> str:
    """`/usr/bin/Grep` is `grep`."""
    return program.rpartition("/")[2].lower()


def last_program(text: str) -> str:
    """The program that decides the exit code of a shell text, as far as a quick look shows."""
    matches = PROGRAM.findall(_without_quotes(text))
    return plain_name(matches[-1]) if matches else ""


def _without_quotes(text: str) -> str:
    """A shell text without the bodies of its heredocs and what is quoted."""
    return QUOTED.sub("x", _without_heredocs(text)[-4_000:]).strip().rstrip(";")


def _without_heredocs(text: str) -> str:
    if "<<" not in text:
        return text
    kept: list[str] = []
    end = ""
    for line in text.split("\n"):
        if end:
            end = "" if line.strip() == end else end
            continue
        kept.append(line)
        if match := HEREDOC.search(line):
            end = match[1]
    return "\n".join(kept)
