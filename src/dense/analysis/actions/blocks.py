"""The text of an action in blocks: what it called, the long texts that the calls carried, what came back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, cast

from msgspec import Struct

from dense.analysis.actions.wrappers import clean, unwrap
from dense.knowledge.programs import known_program
from dense.knowledge.tools import COMMAND_KEYS, known_tool, plain_name
from dense.trajectory import Observation, Step, ToolCall

SILENT_KEYS = frozenset(
    "timeout timeout_ms timeout_sec yield_time_ms max_output_tokens description justification is_blocking id"
    " duration append_enter sandbox_permissions security_risk is_input".split()
)
"""Arguments that say nothing about what was done."""
FLAGS = frozenset({"replace_all", "run_in_background"})
"""Arguments that say something only if they are set."""
MIN_BODY_CHARS = 60
"""A text argument of more characters, or of several lines, is a body of its own."""
COMMAND_BREAK = re.compile(r"\|\||&&|[|;&\n]")
LOOKING_GIT = frozenset("log show diff status blame ls-files grep branch".split())
STARTED = re.compile(
    r"(?:running|started|process|session|shell|background|task)\D{0,40}?\bID:?\s+[\"'`]?([\w-]{2,40})", re.IGNORECASE
)
POLL_KEYS = frozenset("bash_id session_id shell_id task_id process_id pid".split())

type BlockKind = Literal["call", "body", "output"]


class Block(Struct, frozen=True):
    """One text of an action."""

    kind: BlockKind
    """A call with its short arguments, the long text that a call carried, or an output."""
    head: str
    """What introduces it: `$` before a command, `>` before an output, the name of an argument before a body."""
    text: str
    """Cleaned and complete; may be empty for an output that is nothing but its exit code."""
    is_listing: bool = False
    """Whether it shows contents (a file, a diff, search results): words such as `error` in it report nothing."""
    step: int = 0
    """The number of the action, from 1, to which it belongs."""
    origin: Literal["", "tool", "user", "system"] = ""
    """Who an output is from; empty for anything else."""


def blocks_of(step: Step, number: int, polls: Mapping[tuple[int, str], str]) -> Iterator[Block]:
    """The blocks of a step, in order. `polls` says what to write behind calls that ask for an earlier result."""
    answers = {seen.call_id: seen for seen in step.observations if seen.call_id}
    in_order = len(step.observations) == len(step.calls)
    answered: set[int] = set()
    for index, call in enumerate(step.calls):
        command = command_of(call)
        yield from _call_blocks(call, command, number, polls.get((number, call.id or ""), ""))
        seen = answers.get(call.id) if call.id else None
        seen = seen or (step.observations[index] if in_order else None)
        if seen is not None and id(seen) not in answered:
            answered.add(id(seen))
            yield from _output_blocks(seen, [command] if command else [], _is_listing(call, command), number)
    typed = [command for call in step.calls if (command := command_of(call))]
    for seen in step.observations:
        if id(seen) not in answered:
            is_listing = len(step.calls) == 1 and _is_listing(step.calls[0], "".join(typed))
            yield from _output_blocks(seen, typed, is_listing, number)
    for agent in step.subagents:
        closing = agent.steps[-1].message.strip() if agent.steps else ""
        if any(closing and closing in seen.text for seen in step.observations):
            continue  # the call that started it returned it
        yield Block(
            kind="output",
            head=f"[sub-agent, {len(agent.steps)} actions] last said:",
            text=clean(closing),
            step=number,
        )


def command_of(call: ToolCall) -> str:
    """The shell text or code that a call runs; empty for a call of another kind."""
    kind = known_tool(plain_name(call.name)).kind
    if kind not in {"shell", "python", ""}:
        return ""
    keys = COMMAND_KEYS if kind else ("command", "cmd", "keystrokes", "script")
    for key in keys:
        value: object = call.arguments.get(key)
        if isinstance(value, list):  # Codex: ["bash", "-lc", text]
            words = [str(word) for word in cast("list[object]", value)]
            return words[-1] if len(words) == 3 and words[1].startswith("-") else " ".join(words)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def _call_blocks(call: ToolCall, command: str, number: int, background: str) -> Iterator[Block]:
    given = {
        key: value
        for key, value in call.arguments.items()
        if key not in SILENT_KEYS and (key not in FLAGS or value is not False)
    }
    if command:
        folder = next((given[key] for key in ("cwd", "workdir", "working_dir") if isinstance(given.get(key), str)), "")
        yield Block(kind="call", head=f"[in {folder}] $" if folder else "$", text=command.strip("\n"), step=number)
        return
    bodies = {key: value for key, value in given.items() if isinstance(value, str) and _is_body(value)}
    short = ", ".join(f"{key}={_json(value)}" for key, value in given.items() if key not in bodies)
    yield Block(kind="call", head="", text=f"{call.name}({short}){background}", step=number)
    for key, value in bodies.items():
        yield Block(kind="body", head=f"{key}:", text=value.strip("\n"), step=number)


def _is_body(value: str) -> bool:
    return len(value) > MIN_BODY_CHARS or "\n" in value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


def _output_blocks(seen: Observation, commands: Sequence[str], is_listing: bool, number: int) -> Iterator[Block]:
    unwrapped = unwrap(seen.text)
    code = seen.exit_code if seen.exit_code is not None else unwrapped.exit_code
    text = clean(unwrapped.text, commands)
    mark = f" exit {code}" if code else " error" if seen.is_error else ""
    speaker = "" if seen.origin == "tool" else f" from the {seen.origin}"
    if not text and not mark:
        return
    shows_contents = not mark and (is_listing or text.startswith("diff --git") or "\ndiff --git " in text)
    yield Block(
        kind="output",
        head=f">{mark}{speaker}" if text else f">{mark}{speaker} (no output)",
        text=text,
        is_listing=shows_contents,
        step=number,
        origin=seen.origin,
    )


def _is_listing(call: ToolCall, command: str) -> bool:
    """Whether a call only shows what is there."""
    if not command:
        return known_tool(plain_name(call.name)).kind == "look"
    if ">" in command.replace("2>", "").replace(">&", "") or "<<" in command:
        return False
    pieces = [words for piece in COMMAND_BREAK.split(command) if (words := piece.split())]
    return bool(pieces) and all(map(_only_looks, pieces))


def _only_looks(words: Sequence[str]) -> bool:
    name = words[0].rpartition("/")[2]
    if name == "git":
        return any(word in LOOKING_GIT for word in words[1:4])
    if name == "sed":
        return "-i" not in words
    return not known_program(name).traits.isdisjoint({"looks", "filters", "builtin", "decorates"})


def background_results(steps: Sequence[Step]) -> dict[tuple[int, str], str]:
    """What to write behind a call that asks for the result of an earlier command: which command that was."""
    if not any(POLL_KEYS & call.arguments.keys() for step in steps for call in step.calls):
        return {}
    started: dict[str, tuple[int, str]] = {}
    notes: dict[tuple[int, str], str] = {}
    for number, step in enumerate(steps, 1):
        for call in step.calls:
            asked = next((str(call.arguments[key]) for key in POLL_KEYS if key in call.arguments), "")
            if asked in started:
                action, command = started[asked]
                notes[number, call.id or ""] = f" (result of a{action}: {command})"
        command = next((text for call in step.calls if (text := command_of(call))), "")
        if not command:
            continue
        for seen in step.observations:
            for match in STARTED.finditer(seen.text[:2_000]):
                started.setdefault(match[1], (number, command.strip().split("\n", 1)[0][:120]))
    return notes
