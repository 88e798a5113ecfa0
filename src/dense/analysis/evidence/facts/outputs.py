"""A program's output without harness frames, prompts and echoed commands, and whether a search found nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.analysis.actions.calls import parse_call
from dense.analysis.actions.effects import UNNAMED
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.knowledge.harnesses import FRAME_HEAD, FRAME_TAIL, NO_OUTPUT
from dense.knowledge.programs import programs_that
from dense.knowledge.tools import PATH_KEYS
from dense.text.search import contains_any
from dense.trajectory import Observation, Step, ToolCall

MAX_HEAD_CHARS, MAX_TAIL_CHARS = 8000, 4000
"""How much of a long output is read, from either end."""
MAX_FRAME_CHARS = 300
MAX_NO_OUTPUT_CHARS = 90
PROMPT = re.compile(r"(?:\([\w.-]{1,30}\) )?[\w.-]{1,40}@[\w.-]{1,60}:[^\n#$]{0,120}[#$](?: |$)|bash-[\d.]+[#$](?: |$)")
PROMPT_SIGNS = ("@", "bash-")
"""Without one of these there is no prompt."""
OPEN_FILE = re.compile(r"\[File: ([^\n(]{1,300}) \(")
OPEN_EDITS = frozenset({"edit", "insert"})
"""Families of actions that may edit the open file without naming it."""


def program_output(facts: ActionFacts, step: Step) -> str:
    """What came back, its ends only, without harness frames, prompts and echoed commands. What the harness says beside
    a tool's answer is none."""
    answers = [
        observation for observation in step.observations[:8] if observation.origin != "system"
    ] or step.observations[:8]
    texts = [_own_output(answer, facts.commands) for answer in answers]
    return "\n".join(filter(None, texts))


def outputs_by_call(facts: ActionFacts, step: Step) -> list[tuple[ToolCall, str]]:
    """What each call printed, without those that printed nothing; empty if that is not known apart."""
    if len(step.calls) < 2 or len(step.observations) < 2:
        return []
    calls = {call.id: call for call in step.calls if call.id is not None}
    if not all(output.call_id in calls for output in step.observations):
        return []
    printed = [
        (calls[output.call_id], _own_output(output, facts.commands)) for output in step.observations if output.call_id
    ]
    return [(call, text) for call, text in printed if text.strip()]


def _own_output(observation: Observation, commands: Sequence[str]) -> str:
    text = observation.text
    if len(text) > 2 * MAX_HEAD_CHARS:
        text = text[:MAX_HEAD_CHARS] + "\n" + text[-MAX_TAIL_CHARS:]
    text = _without_frame(text)
    if len(text) < MAX_NO_OUTPUT_CHARS and NO_OUTPUT.match(text):
        return ""
    return _without_screen(text, commands)


def _without_frame(text: str) -> str:
    """Without what a harness writes before and behind an output."""
    start, end = 0, len(text)
    for _ in range(3):
        if (match := FRAME_HEAD.match(text, start)) is None:
            break
        start = match.end()
    for _ in range(4):
        near = max(end - MAX_FRAME_CHARS, start)
        line = near + text[near:end].rstrip().rfind("\n") + 1  # a frame is one line
        if (match := FRAME_TAIL.search(text, line, end)) is None:
            break
        end = match.start()
    kept = text[start:end]
    return "" if kept.isspace() else kept.strip("\n")


def _without_screen(text: str, commands: Sequence[str]) -> str:
    """A terminal's screen without prompts and what was typed at them."""
    lines = text.split("\n") if contains_any(text, PROMPT_SIGNS) else []
    if not any(map(PROMPT.match, lines)):
        return text
    kept: list[str] = []
    is_echo = False
    typed = [command.strip() for command in commands]
    for line in lines:
        if (prompt := PROMPT.match(line)) is not None:
            is_echo = line[prompt.end() :].strip() not in typed  # the command is echoed on the next lines as well
            continue
        is_typed = (
            line.startswith("> ") or line == ">" or (line.strip() and any(line in command for command in commands))
        )
        is_echo = is_echo and bool(is_typed)
        if not is_echo:
            kept.append(line)
    return "\n".join(kept).strip("\n")


def edits_open_file(facts: ActionFacts, step: Step) -> bool:
    """Whether an editor was to edit the file that it has open."""
    if facts.family not in OPEN_EDITS:
        return False
    return bool(facts.commands) or (len(step.calls) == 1 and not parse_call(step.calls[0]).texts(PATH_KEYS))


def open_file(step: Step) -> str:
    """The file that an editor says it shows."""
    for observation in step.observations:
        if (match := OPEN_FILE.search(observation.text[:MAX_HEAD_CHARS])) is not None:
            return match[1]
    return UNNAMED


# Searches that found nothing

FINDING = programs_that("finds")
LOOKING = programs_that("shows", "searches", "lists", "finds")
MAX_OUTPUT_CHARS = 200
"""What a command prints by itself is not longer."""
MAX_COMMAND_CHARS = 20_000
ECHO = re.compile(
    r"(\|\||&&|;|\n|\A)[ \t]*+(?:\{[ \t]*+)?+(?:echo|printf)[ \t]++(?:-[a-zA-Z]++[ \t]++)?+"
    r"""("[^"\n]*+"|'[^'\n]*+'|[^;&|\n}]*+)"""
)
"""What a shell text prints by itself, with the operator before it: after `&&` it says that something was found."""
PRINT = re.compile(r"""^print\(["']([^"'\n{]{1,80})["']\)""", re.MULTILINE)
"""What a program prints in any case."""
INNER_PRINT = re.compile(r"\n[ \t]++[^\n]*?\bprint\(")
"""What a program prints only if something holds."""
NOTHING = re.compile(
    r"\W{0,4}(?:no (?:files?|match(?:es)?|results?|occurrences?)\b(?: (?:were )?found)?|found 0 \w{1,20}"
    r"|0 (?:files?|match(?:es)?|results?)(?: found)?)\b[^\n]{0,120}",
    re.IGNORECASE,
)
"""How tools say that a search found nothing."""
VARIABLE = re.compile(r"\$(?:\w+|\?|\{[^}]{0,80}\})")
QUIET = re.compile(r"\s-(?:[a-zA-Z]{0,8}[qc][a-zA-Z]{0,8}|-quiet|-count)(?=\s|$)")
"""A search that is asked for something other than what it finds."""


def found_nothing(facts: ActionFacts, output: str) -> bool:
    """Whether a look found nothing: by its empty output, what its command prints then, or a tool's word."""
    if facts.has_failed or facts.phase != "explore" or facts.effects.writes:
        return False
    if not facts.commands:
        return len(output) <= MAX_OUTPUT_CHARS and NOTHING.fullmatch(output.strip()) is not None
    command = "\n".join(facts.commands)[:MAX_COMMAND_CHARS]
    is_search = not FINDING.isdisjoint(facts.effects.runs) and QUIET.search(command) is None
    if facts.result.is_empty or not output.strip():
        return is_search and LOOKING.issuperset(facts.effects.runs)
    if len(output) > MAX_OUTPUT_CHARS:
        return False
    own = _echoed(command) if is_search else _printed(command)
    lines = [line.strip() for line in output.split("\n") if line.strip()]
    return bool(lines) and all(line.startswith(tuple(own)) for line in lines)


def _echoed(command: str) -> list[str]:
    """What a shell text prints if a search found nothing, as far as it is known beforehand."""
    echoes = ECHO.findall(command)
    if any(operator == "&&" for operator, _ in echoes):
        return []
    texts = [VARIABLE.split(text.strip().strip("\"'"), maxsplit=1)[0] for _, text in echoes]
    return [text for text in texts if text.strip()]


def _printed(command: str) -> list[str]:
    """What a program prints after having searched for something, whatever it found."""
    return PRINT.findall(command) if "<<" in command and INNER_PRINT.search(command) is not None else []
