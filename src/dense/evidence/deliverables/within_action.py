"""The order within one action: what it typed into a file, and what it ran after that. A terminal takes several commands
at once, and a shell text has several statements."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from dense.evidence.actions import Effects, effects
from dense.evidence.actions.shell.heredocs import take_heredocs
from dense.evidence.actions.shell.statements import blocks, program
from dense.evidence.actions.tool_calls import is_shell, parse_call, shell_text
from dense.evidence.facts.paths import is_among
from dense.knowledge.programs import LOOKERS, program_name, programs_that
from dense.trajectory import Source, Step, ToolCall

TYPING = frozenset({"cat", "tee", "echo", "printf"})
"""Programs that put what was typed into a file."""
NO_RUNS = (
    LOOKERS
    | programs_that("shows", "lists", "quiet", "sets_up", "archives", "detaches")
    | {"git", "cp", "mv", "rm", "mkdir", "touch", "chmod", "ln", "sed", "tee", "sleep", "cd", "echo", "printf"}
)
"""Programs that try nothing."""
ECHOED = re.compile(r"^\s*(?:sudo )?(?:echo|printf)(?: -\w+)*|\d?>>?\s*[^\s'\"]+\s*$")
"""What is around the words of `echo words > file`."""
MAX_TEXT_CHARS = 50_000


class Unit(Struct, frozen=True):
    """One statement of a shell text, or one call of another tool."""

    effects: Effects
    typed: str = ""
    """What it puts into a file as it was typed."""

    def writes(self, path: str) -> bool:
        return is_among(path, self.effects.writes)


def _units(step: Step) -> Iterator[Unit]:
    for call in step.calls:
        parsed = parse_call(call)
        if not is_shell(parsed):
            typed = max((value for value in parsed.arguments.values() if isinstance(value, str)), key=len, default="")
            yield Unit(effects(Step(Source(""), calls=(call,))), typed if parsed.kind in ("write", "editor") else "")
            continue
        text, heredocs = take_heredocs((shell_text(parsed) or "")[:MAX_TEXT_CHARS], take_open=True)
        for part in filter(str.strip, blocks(text)):
            typed = "\n".join(heredoc.body for place, heredoc in heredocs.items() if place in part)
            typed = typed or ECHOED.sub("", part).replace("\\n", "\n").strip(" '\"")
            done = effects(Step(Source(""), calls=(ToolCall("bash", {"command": part}),)))
            yield Unit(done, typed if program(part) in TYPING and "|" not in part else "")


def typed_contents(step: Step, path: str) -> str:
    """What an action typed into a file, if no program made it; empty otherwise."""
    writers = [one for one in _units(step) if one.writes(path)]
    return writers[-1].typed if writers else ""


def runs_after_writing(step: Step, path: str) -> bool:
    """Whether an action runs a program after its last statement that writes a file, or that runs a program file which
    may write it."""
    done = list(_units(step))
    writers = [place for place, one in enumerate(done) if one.writes(path)]
    writers = writers or [place for place, one in enumerate(done) if one.effects.scripts]
    last = writers[-1] if writers else len(done)
    return any(tries_something(one.effects) for one in done[last + 1 :])


def tries_something(done: Effects) -> bool:
    """Whether a program runs that may fail for what a file holds."""
    return any(program_name(word) not in NO_RUNS for word in done.runs)
