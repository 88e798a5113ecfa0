"""What harnesses and terminals add to an output: exit codes, failure marks, several commands on one screen."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, structs

from dense.analysis.actions.calls import is_shell, parse_call, shell_text
from dense.analysis.actions.observations.result import ObservedFailure
from dense.knowledge.harnesses import FAILURE_MARK, LEADING_CODE, REFUSALS, RUNNING, STOPPED, TRAILING_CODE
from dense.text.envelopes import open_envelope
from dense.text.guarded import GuardedPattern
from dense.trajectory import Observation, Step, ToolCall

HEAD_CHARS, TAIL_CHARS = 400, 600
"""Characters from the start and from the end in which a wrapper may be."""


class HarnessNotice(Struct, frozen=True, gc=False):
    """What the harness says of an output."""

    code: int | None = None
    """The exit code."""
    is_error: bool = False
    """Whether the text is marked as an error."""
    refusal: str = ""
    """The line by which the harness itself refused."""
    time_out: str = ""
    """The line that says that time ran out."""


def harness_notice(text: str, code: int | None = None) -> HarnessNotice:
    """What the harness says at the head and the tail of a text. A recorded code is not overruled."""
    head, tail = text[:HEAD_CHARS], text[-TAIL_CHARS:]
    start = head.lstrip()
    if code is None:
        # Some outputs begin with an earlier code, so the end goes first.
        match = ENDING_CODE.search(tail) or LEADING_CODE.match(start)
        code = int(next(group for group in match.groups() if group is not None)) if match else None
    refusal = first_line(start) if start.startswith(REFUSALS) else ""
    may_be_stopped = "timed out" in f"{head}{tail}".lower()
    stopped = (STOPPED.search(head) or STOPPED.search(tail)) if may_be_stopped else None
    return HarnessNotice(code, text.endswith(FAILURE_MARK), refusal, stopped[0].strip() if stopped else "")


def first_line(text: str) -> str:
    """The first line that is not blank."""
    return text.strip().partition("\n")[0].strip()


# Commands that were left running

MAX_SESSION_CHARS = 600
ENDING_CODE = GuardedPattern(TRAILING_CODE)


def running_session(text: str) -> str:
    """The name of the session in which a command runs on; empty if it ended."""
    for part in (text[:MAX_SESSION_CHARS], text[-MAX_SESSION_CHARS:]):
        if "unning" in part and (match := RUNNING.search(part)):
            return match[1]
    return ""


def awaited_commands(steps: Sequence[Step], commands: Sequence[Sequence[str]]) -> dict[int, int]:
    """The place of each step that only asks for the output of a running command, and of the one that started it."""
    sessions: dict[str, int] = {}
    starters: dict[int, int] = {}
    for index, step in enumerate(steps if not all(commands) else ()):
        if sessions and step.calls and not commands[index]:
            names = [value for call in step.calls for value in call.arguments.values() if isinstance(value, str | int)]
            started = next((sessions[str(name)] for name in names if str(name) in sessions), None)
            if started is not None:
                starters[index] = started
        if commands[index]:
            for seen in step.observations:
                if session := running_session(seen.text):
                    sessions[session] = index
    return starters


# What terminals add to an output


MAX_HEAD_CHARS, MAX_TAIL_CHARS = 24_576, 40_960
"""Longer observations are read at their head and their tail only."""

CONTROL = re.compile(r"\x1b(?:\[[0-9;?]{0,40}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")


def clean_output(text: str) -> str:
    """The text with a line feed in front, without control sequences, carriage returns and the middle of a long one."""
    if len(text) > MAX_HEAD_CHARS + MAX_TAIL_CHARS:
        text = text[:MAX_HEAD_CHARS] + "\n" + text[-MAX_TAIL_CHARS:]
    if "\x1b" in text:
        text = CONTROL.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return "\n" + text


def new_part(text: str, commands: Sequence[str]) -> str:
    """A screen from where this action's first command was typed: what is above is older."""
    first = next((line for command in commands if len(line := command.strip().partition("\n")[0][:60]) > 1), None)
    start = max(text.rfind(f"# {first}"), text.rfind(f"$ {first}")) if first else -1
    return text[text.rfind("\n", 0, start) :] if start >= 0 else text


# Several commands on one screen

LOGIN = re.compile(
    r"(?:^|\n)(?:\([\w.-]{1,40}\) ?){0,3}"
    r"([\w.-]{1,64}@[\w.-]{1,64}:|\[[\w.-]{1,64}@[\w.-]{1,64} |(?:bash|sh|zsh)-[\d.]{1,8}(?=[#$]))"
)
"""The beginning of a prompt, at the beginning of a line."""
PROMPT_REST = r"[^\n#$]{0,200}[#$](?: ([^\n]*)|(?=\n|\Z))"
"""The rest of a prompt, with what was typed behind it. Output that does not end with a line feed stands before it."""
MIN_WRAPPED_CHARS = 20
"""A terminal breaks no line earlier, so a shorter text is no beginning of a command."""
MAX_SCREEN_CHARS = 200_000


def separated(step: Step) -> Step:
    """The step with an observation for each call whose output is known apart; itself if nothing changes."""
    if not step.observations:
        return step
    if "{" in [seen.text.lstrip()[:1] for seen in step.observations]:
        step = structs.replace(step, observations=tuple(map(_opened, step.observations)))
    seen = step.observations[0]
    if len(step.observations) > 1 or seen.origin == "user" or seen.exit_code is not None or not step.calls:
        return step
    texts = [_typed(call) for call in step.calls]
    parts = split_screen(seen.text[:MAX_SCREEN_CHARS], texts) if sum(map(bool, texts)) > 1 else None
    if parts is None:
        return step
    calls = [structs.replace(call, id=call.id or f"call {n}") for n, call in enumerate(step.calls)]
    observations = [
        Observation(text=part, call_id=call.id, origin=seen.origin)
        for call, part in zip(calls, parts, strict=True)
        if part is not None
    ]
    return structs.replace(step, calls=tuple(calls), observations=tuple(observations))


def failed_calls(step: Step, failures: Sequence[ObservedFailure]) -> tuple[ToolCall, ...]:
    """The calls whose own answers show the failures of a step; all of them if that is not known."""
    if len(step.calls) < 2:
        return step.calls
    ids = {seen.call_id for seen in step.observations if seen.exit_code or seen.is_error or _shows(seen, failures)}
    return tuple([call for call in step.calls if call.id is not None and call.id in ids]) or step.calls


def _shows(seen: Observation, failures: Sequence[ObservedFailure]) -> bool:
    return any(failure.line in seen.text for failure in failures)


def _opened(seen: Observation) -> Observation:
    opened = open_envelope(seen.text)
    if opened.text == seen.text:
        return seen
    code = opened.exit_code if seen.exit_code is None else seen.exit_code
    return structs.replace(seen, text=opened.text, exit_code=code)


def _typed(call: ToolCall) -> str:
    """The first line that a call types into a shell; empty if it types none."""
    parsed = parse_call(call)
    text = (shell_text(parsed) or "").strip() if is_shell(parsed) else ""
    return text.partition("\n")[0].strip()


def split_screen(screen: str, commands: Sequence[str]) -> list[str | None] | None:
    """What each command printed, with the prompt before it; None for those that the screen does not show. None as a
    whole if fewer than two can be distinguished. Empty commands are none."""
    login = LOGIN.search(screen)
    if login is None:
        return None
    places: dict[int, int] = {}
    """Where the prompt of each command is."""
    after = 0
    for prompt in re.finditer(re.escape(login[1]) + PROMPT_REST, screen):
        index = _typed_command((prompt[1] or "").strip(), commands, after)
        if index is not None:
            places[index] = prompt.start()
            after = index + 1
    if not places:
        return None
    first = min(places)
    before = next((index for index in range(first - 1, -1, -1) if commands[index]), None)
    if before is not None:
        places[before] = 0  # its prompt is above the screen
    if len(places) < 2:
        return None
    order = sorted(places)
    ends = [*(places[index] for index in order[1:]), len(screen)]
    outputs: list[str | None] = [None] * len(commands)
    for index, end in zip(order, ends, strict=True):
        outputs[index] = screen[places[index] : end]
    return outputs


def _typed_command(typed: str, commands: Sequence[str], after: int) -> int | None:
    """The next command that was typed at a prompt; a long one may go on in the next line of the screen."""
    if not typed:
        return None
    for index in range(after, len(commands)):
        command = commands[index]
        if command and (command == typed or (len(typed) >= MIN_WRAPPED_CHARS and command.startswith(typed))):
            return index
    return None
