"""Outputs, each given to the call that printed it, as the program printed it.

A terminal shows what several commands printed on one screen; the prompts on it say where each begins. Some harnesses
record an output as JSON. Evidence is read from steps without either."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import structs

from dense.evidence.actions.tool_calls import is_shell, parse_call, shell_text
from dense.evidence.observations.result import ObservedFailure
from dense.text.envelopes import open_envelope
from dense.trajectory import Observation, Step, ToolCall

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
        Observation(part, call.id, seen.origin) for call, part in zip(calls, parts, strict=True) if part is not None
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
    found: list[str | None] = [None] * len(commands)
    for index, end in zip(order, ends, strict=True):
        found[index] = screen[places[index] : end]
    return found


def _typed_command(typed: str, commands: Sequence[str], after: int) -> int | None:
    """The next command that was typed at a prompt; a long one may go on in the next line of the screen."""
    if not typed:
        return None
    for index in range(after, len(commands)):
        command = commands[index]
        if command and (command == typed or (len(typed) >= MIN_WRAPPED_CHARS and command.startswith(typed))):
            return index
    return None
