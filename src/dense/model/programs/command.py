"""`exec:COMMAND`: any command that reads a prompt on its standard input and prints an answer."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from dense.errors import UnknownModel
from dense.model.programs.program import ProcessEnding, Start, Workplace, no_answer
from dense.model.wires.wire import WireFailure, WireReply
from dense.trajectory import Usage


def words_of(command: str) -> tuple[str, ...]:
    """The words of a command; no shell reads it."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise UnknownModel(f"--model exec:…: the command cannot be read ({error})") from None
    if not words:
        raise UnknownModel("--model exec:COMMAND: which command?")
    return words


def start(model: str, workplace: Workplace, environment: Mapping[str, str]) -> Start:
    """The program is looked up from where we were called: it works in an empty folder."""
    del workplace
    program, *arguments = words_of(model)
    path = shutil.which(program, path=environment.get("PATH"))
    return Start((str(Path(path).absolute()) if path else program, *arguments))


def read(ending: ProcessEnding) -> WireReply | WireFailure:
    """What it printed is the answer, if it ended well and printed anything."""
    text = ending.output.decode("utf-8", "replace")
    if ending.code != 0 or not text.strip():
        return no_answer(ending)
    return WireReply(text, "stop", Usage())
