"""What an action was for, by its calls, or by the verb in an unknown call's name; which agent of several acted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Literal

from msgspec.structs import replace

from dense.analysis.actions.effects import Effects
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.facts.paths import base_name, is_temporary
from dense.analysis.evidence.facts.traits import own_scripts
from dense.knowledge.file_names import LOG_ENDINGS
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
    LOOKING_VERBS,
    PYTHONS,
    is_talk,
    known_tool,
    own_name,
    plain_name,
    tools_of_kind,
)
from dense.text.search import contains_any
from dense.trajectory import Step, Trajectory

Phase = Literal[
    "explore",  # looks at what is there: lists, reads, searches, asks
    "setup",  # installs, fetches, configures, starts services
    "produce",  # writes or changes files
    "run",  # runs a program that is no test and writes nothing that is known
    "verify",  # tests, checks, reads back what was made
    "deliver",  # hands over: submits, answers, marks the task as done
    "talk",  # says something and does nothing
]
CHAT_TERMINALS = tools_of_kind("chat_terminal")
SETTERS = programs_that("sets_up")
ARCHIVERS = programs_that("archives")
SHELL_HAND_OVERS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
NAME_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
QUESTION_OPTIONS = (" --version", " --help")
NO_EFFECTS = Effects()
MAX_IDLE_CHARS = 20_000
IDLE_STARTS = (":", "true", "false", "echo ", "printf ", "sleep ", "wait", "}", ",", "]", "<|")
QUOTED = re.compile(r"""'[^']*'|"(?:[^"$`\\]|\\.|\$\?)*\"|\d>&\d|2>/dev/null""", re.DOTALL)
HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1(.*?)^\s*\2\s*$", re.DOTALL | re.MULTILINE)
IDLE = re.compile(
    r"\s*(?::(?:[\s=}\])][^>$`]*)?|(?:true|false|echo|printf|sleep|wait)\b[^|<>$`]*|[},\]].*|<\|.*)?\s*", re.DOTALL
)
BREAK = re.compile(r"&&|\|\||[;\n]")


def phase_of(names: Sequence[str], commands: Sequence[str], effects: Effects, family: str) -> Phase:
    if _hands_over(names, commands):
        return "deliver"
    if commands and all(map(runs_nothing, commands)):
        return "talk"
    if not names or (not commands and all(map(is_talk, names)) and effects == NO_EFFECTS):
        return "run" if any("delegates" in known_tool(name).traits for name in names) else "talk"
    if effects.tests:
        is_product = any(not is_temporary(path) and "test" not in path for path in effects.writes)
        return "produce" if is_product else "verify"
    if effects.installs or effects.services:
        return "setup"
    if (effects.writes or effects.deletes) and not (effects.scripts and commands and not _is_named(effects, commands)):
        return _changing_phase(effects, family)
    return _looking_phase(names, commands, effects, family)


def runs_nothing(text: str) -> bool:
    """Whether a shell text runs nothing: the null command with words, a heredoc or a pipe behind it, words that are
    printed, waiting, a piece of a tool call's own syntax."""
    if not text.lstrip().startswith(IDLE_STARTS):
        return False
    bare = QUOTED.sub("", HEREDOC.sub("", text[:MAX_IDLE_CHARS]))
    return all(map(IDLE.fullmatch, BREAK.split(bare)))


def _is_named(effects: Effects, commands: Sequence[str]) -> bool:
    """Whether the commands name a file that they change. What only a program changes is its author's work."""
    changed = (*effects.writes[:8], *effects.deletes[:8])
    return any(_has_name(text, base_name(path)) for path in changed for text in commands)


def _has_name(text: str, name: str) -> bool:
    """Whether a text has a name, and not only as the end of a longer one."""
    at = text.find(name)
    while at > 0 and (text[at - 1].isalnum() or text[at - 1] in "_-."):
        at = text.find(name, at + 1)
    return at >= 0


def _hands_over(names: Sequence[str], commands: Sequence[str]) -> bool:
    return any("hands_over" in known_tool(name).traits for name in names) or any(map(_submits, commands))


def _submits(text: str) -> bool:
    is_submit = text.lstrip()[:6] == "submit" and text.split(None, 1)[0] == "submit"
    return is_submit or ("echo" in text and contains_any(text, SHELL_HAND_OVERS))


def _changing_phase(effects: Effects, family: str) -> Phase:
    if not effects.deletes and all(path.endswith(LOG_ENDINGS) for path in effects.writes):
        return "run"
    runs = list(map(program_name, effects.runs))
    only_sets = family in SETUP_COMMANDS or (bool(runs) and SETTERS.issuperset(runs))
    return "setup" if only_sets and not own_scripts(effects) else "produce"


class _Look:
    """An action that changes no file."""

    def __init__(self, names: Sequence[str], commands: Sequence[str], effects: Effects, family: str) -> None:
        self.names, self.commands, self.effects, self.family = names, commands, effects, family
        self.acting = [name for word in effects.runs if (name := program_name(word)) not in LOOKERS]
        """The programs that it ran and that do more than look."""

    @property
    def only_sets(self) -> bool:
        """Whether it only sets variables, or goes to a folder."""
        return bool(self.commands) and not (self.effects.reads or self.effects.network or self.effects.runs)

    @property
    def only_tools(self) -> bool:
        """Whether only tools other than shells ran something."""
        return not self.commands and len(self.acting) == len(self.effects.runs)

    @property
    def runs_code(self) -> bool:
        return any(name in PYTHONS or name in CHAT_TERMINALS for name in self.names)

    @property
    def has_looking_verb(self) -> bool:
        name, _, verb = self.family.partition(" ")
        return verb in LOOKING_SUBCOMMANDS and has_subcommands(name)

    @property
    def asks(self) -> bool:
        """Whether one program asks an address, or a question."""
        options = (option for text in self.commands for option in QUESTION_OPTIONS if option in text)
        return len(self.acting) == 1 and bool(self.effects.network or next(options, ""))


LOOKING_PHASES: tuple[tuple[Callable[[_Look], bool], Phase | None], ...] = (
    (lambda look: bool(own_scripts(look.effects)), "run"),
    (lambda look: not look.acting and look.only_sets, "setup"),
    (lambda look: not look.acting, "explore"),
    (lambda look: look.only_tools and look.runs_code and bool(look.effects.reads), "explore"),
    (lambda look: look.only_tools and look.runs_code, "run"),
    # The name of the tool says it.
    (lambda look: look.only_tools, None),
    # Nothing is written: contents are listed.
    (lambda look: ARCHIVERS.issuperset(look.acting), "explore"),
    (lambda look: look.family in SETUP_COMMANDS or SETTERS.issuperset(look.acting), "setup"),
    (lambda look: look.has_looking_verb, "explore"),
    (lambda look: look.family in LASTING_COMMANDS, "run"),
    (lambda look: look.asks, "explore"),
    # Code on the command line that reads files and writes none looks at them.
    (lambda look: bool(look.effects.reads) and all(map(is_python, look.acting)), "explore"),
    (lambda _: True, "run"),
)
"""The phase of an action that changes no file: the first row that applies."""


def _looking_phase(names: Sequence[str], commands: Sequence[str], effects: Effects, family: str) -> Phase:
    look = _Look(names, commands, effects, family)
    phase: Phase | None = next(phase for applies, phase in LOOKING_PHASES if applies(look))
    return _verb_phase(effects.runs[0]) if phase is None else phase


def _verb_phase(name: str) -> Phase:
    """What a tool that no table knows is for, by the first verb in its name."""
    for part in NAME_PARTS.findall(own_name(name)[:100]):
        if part.lower() in LOOKING_VERBS:
            return "explore"
        if part.lower() in CHANGING_VERBS:
            return "produce"
    return "run"


# Several agents

MAX_SUBAGENT_DEPTH = 4
MAX_SUBAGENT_STEPS = 2000
MAX_ADDRESS_SEARCH = 600
"""How much of an observation is searched for the address of a page."""
ADDRESS = re.compile(r"\b(?:https?|file)://[^\s<>\"'`\])}]{1,400}")
FENCE = "```"
HUMANS = frozenset({"user", "human", "userproxy", "admin"})
"""Speakers that nothing is delegated to."""


def with_subagents(step: Step, done: Effects) -> Effects:
    """The effects of an action, with the files that its agents wrote and removed."""
    writes, deletes = dict.fromkeys(done.writes), dict.fromkeys(done.deletes)
    for inner in islice(subagent_steps(step.subagents), MAX_SUBAGENT_STEPS):
        if not any(observation.is_error for observation in inner.observations):
            own = effects(inner)
            writes.update(dict.fromkeys(own.writes))
            deletes.update(dict.fromkeys(own.deletes))
    return replace(done, writes=tuple(path for path in writes if path not in deletes), deletes=tuple(deletes))


def subagent_steps(agents: tuple[Trajectory, ...], depth: int = 0) -> Iterator[Step]:
    """The actions of agents and of the agents that these started, in order."""
    for agent in agents:
        for step in agent.steps:
            yield step
            if depth < MAX_SUBAGENT_DEPTH:
                yield from subagent_steps(step.subagents, depth + 1)


def team_of(steps: Sequence[Step]) -> frozenset[str]:
    """The plain names of the agents, if there are several."""
    agents = {step.agent for step in steps if step.agent}
    return frozenset(map(plain_name, agents)) - HUMANS if len(agents) > 1 else frozenset()


def delegated_to(step: Step, team: frozenset[str]) -> str:
    """The agent that a step delegates to; empty if it does something itself."""
    if any(observation.origin == "tool" for observation in step.observations):
        return ""
    is_delegation = bool(step.calls) and all(plain_name(call.name) in team for call in step.calls)
    return step.calls[0].name if is_delegation else ""


def acts_without_call(step: Step, team: frozenset[str]) -> bool:
    """Whether something came back to an agent that called nothing: in a team any tool output, else only the exit code
    of a program, because a harness answers an empty message too."""
    outputs = [
        observation for observation in step.observations if observation.origin == "tool" and observation.text.strip()
    ]
    return bool(outputs) and (
        bool(team) or (has_code(step) and any(output.exit_code is not None for output in outputs))
    )


def has_code(step: Step) -> bool:
    """Whether a message has code that somebody ran for the agent."""
    return FENCE in step.message


def address_of(step: Step) -> str:
    """The page that an agent was shown, or says that it is at."""
    texts = [observation.text for observation in step.observations if observation.origin == "tool"]
    for text in (*texts, step.message):
        if match := ADDRESS.search(text[:MAX_ADDRESS_SEARCH]):
            return match[0].rstrip(".,;")
    return ""
