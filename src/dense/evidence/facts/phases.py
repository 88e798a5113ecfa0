"""What an action was for, by what its calls did. A call that no table knows is judged by the verb in its name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

from dense.evidence.actions.effects import Effects
from dense.evidence.facts.families import own_scripts
from dense.evidence.facts.files import base_name
from dense.knowledge.programs import (
    LASTING_COMMANDS,
    LOOKERS,
    LOOKING_SUBCOMMANDS,
    SETUP_COMMANDS,
    has_subcommands,
    is_python,
    program_name,
    programs_that,
)
from dense.knowledge.tools import (
    CHANGING_VERBS,
    HAND_OVERS,
    LOOKING_VERBS,
    PYTHONS,
    TALKERS,
    own_name,
    tools_of_kind,
    tools_that,
)
from dense.trajectory import ToolCall

Phase = Literal[
    "explore",  # looks at what is there: lists, reads, searches, asks
    "setup",  # installs, fetches, configures, starts services
    "produce",  # writes or changes files
    "run",  # runs a program that is no test and writes nothing that is known
    "verify",  # tests, checks, reads back what was made
    "deliver",  # hands over: submits, answers, marks the task as done
    "talk",  # says something and does nothing
]
MAY_HAND_OVER = HAND_OVERS | PYTHONS
DELEGATES = tools_that("delegates")
CODE_RUNNERS = tools_of_kind("python", "chat_terminal")
SHELL_HAND_OVER = "FINAL_OUTPUT"
SHELL_HAND_OVERS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
VERB_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
SETTERS = programs_that("sets_up")
ARCHIVERS = programs_that("archives")
QUESTIONS = (" --version", " --help")
LOGS = (".log", ".out", ".err", ".pid", ".lock")
PLACES = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 - recognised, not used


def phase_of(
    calls: Sequence[ToolCall], names: Sequence[str], texts: Sequence[str], effects: Effects, family: str
) -> Phase:
    if hands_over(calls, names, texts):
        return "deliver"
    if not names or (not texts and TALKERS.issuperset(names) and effects == NOTHING):
        return "run" if not DELEGATES.isdisjoint(names) else "talk"
    if effects.tests:
        is_product = any(not is_scratch(path) and "test" not in path for path in effects.writes)
        return "produce" if is_product else "verify"
    if effects.installs or effects.services:
        return "setup"
    if (effects.writes or effects.deletes) and not (effects.scripts and texts and not is_told(effects, texts)):
        return changing_phase(effects, family)
    return looking_phase(names, texts, effects, family)


NOTHING = Effects()


def is_told(effects: Effects, texts: Sequence[str]) -> bool:
    """Whether the commands themselves name something of what they change. What only a program that they run changes was
    told when that was written."""
    changed = (*effects.writes[:8], *effects.deletes[:8])
    return any(stands_in(base_name(path), text) for path in changed for text in texts)


def stands_in(name: str, text: str) -> bool:
    """Whether a name stands in a text, and not only as the end of a longer one."""
    at = text.find(name)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_-."):
        at = text.find(name, at + 1)
    return at >= 0


def hands_over(calls: Sequence[ToolCall], names: Sequence[str], texts: Sequence[str]) -> bool:
    if not MAY_HAND_OVER.isdisjoint(names):
        for call, name in zip(calls, names, strict=True):
            if name in HAND_OVERS or (name in PYTHONS and "final_answer(" in first_text(call)):
                return True
    for text in texts:
        if SHELL_HAND_OVER in text and "echo" in text and any(mark in text for mark in SHELL_HAND_OVERS):
            return True
        if "submit" in text and text.split(None, 1)[:1] == ["submit"]:
            return True
    return False


def first_text(call: ToolCall) -> str:
    return next((value for value in call.arguments.values() if isinstance(value, str)), "")


def changing_phase(effects: Effects, family: str) -> Phase:
    if not effects.deletes and False not in [path.endswith(LOGS) for path in effects.writes]:
        return "run"
    only_sets = family in SETUP_COMMANDS
    if not only_sets and effects.runs:
        only_sets = program_name(effects.runs[0]) in SETTERS and SETTERS.issuperset(map(program_name, effects.runs))
    return "setup" if only_sets and not own_scripts(effects) else "produce"


def looking_phase(names: Sequence[str], texts: Sequence[str], effects: Effects, family: str) -> Phase:
    if own_scripts(effects):
        return "run"
    telling = [name for word in effects.runs if (name := program_name(word)) not in LOOKERS]
    if not telling:
        is_setting = bool(texts) and not (effects.reads or effects.network or effects.runs)
        return "setup" if is_setting else "explore"
    if not texts and len(telling) == len(effects.runs):
        if not CODE_RUNNERS.isdisjoint(names):
            return "explore" if effects.reads else "run"
        return verb_phase(effects.runs[0])
    if ARCHIVERS.issuperset(telling):
        return "explore"  # nothing is written: contents are listed
    if family in SETUP_COMMANDS or SETTERS.issuperset(telling):
        return "setup"
    program, _, verb = family.partition(" ")
    if verb in LOOKING_SUBCOMMANDS and has_subcommands(program):
        return "explore"
    if family in LASTING_COMMANDS:
        return "run"
    # Code on the command line that reads files and writes none looks at them; so does what asks an address.
    if len(telling) == 1 and (effects.network or True in [mark in text for text in texts for mark in QUESTIONS]):
        return "explore"
    return "explore" if effects.reads and all(map(is_python, telling)) else "run"


def is_scratch(path: str) -> bool:
    """Whether a file is a log or lies where nothing is meant to stay."""
    return path.endswith(LOGS) or path.startswith(PLACES)


@lru_cache(1024)
def verb_phase(name: str) -> Phase:
    """What a tool that no table knows is for, by the first verb in its name."""
    for part in VERB_PARTS.findall(own_name(name)[:100]):
        word = part.lower()
        if word in LOOKING_VERBS:
            return "explore"
        if word in CHANGING_VERBS:
            return "produce"
    return "run"
