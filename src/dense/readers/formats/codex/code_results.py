"""What came back of the calls in a program of Codex's `exec` tool: each output to its own call, where that is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from dense.readers.content import text_of
from dense.readers.formats.codex.code_mode import CodeProgram
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import is_seq, obj, whole
from dense.trajectory import Observation, ToolCall

_HEADER = re.compile(r"Script (?:completed|failed|running)[^\n]*\n(?:Wall time[^\n]*\n)?(?:Output:\n)?")


class RanCommand(NamedTuple):
    """A command as the program's harness recorded it."""

    command: str
    output: str
    exit_code: int | None


def observed(
    program: CodeProgram, output: Any, ran: Sequence[RanCommand], call_id: str
) -> tuple[list[ToolCall], list[Observation]]:
    """The calls as they were made, and what came back of each as far as that is known.

    A recorded command that the program's text does not show is a call of its own, and takes the place of those whose
    arguments could not be known. Without records, a printed text belongs to the call whose result it shows. What
    belongs to no single call answers the whole action."""
    texts, has_failed = printed(output)
    calls, observations = _by_records(program, ran, call_id) if ran else (program.calls, _by_prints(program, texts))
    if observations is None:
        alone = calls[0].id if len(calls) == 1 else None
        text, code = command_result(texts[0]) if len(texts) == 1 else ("\n".join(texts), None)
        return calls, [Observation(text=text, call_id=alone, is_error=True if has_failed else None, exit_code=code)]
    shown = "\n".join(observation.text for observation in observations)
    rest = [text for text in texts if command_result(text)[0].strip() not in shown]
    if rest or has_failed:
        observations = [*observations, Observation(text="\n".join(rest), is_error=True if has_failed else None)]
    return calls, observations


def _by_records(
    program: CodeProgram, ran: Sequence[RanCommand], call_id: str
) -> tuple[list[ToolCall], list[Observation] | None]:
    waiting = list(ran)
    calls: list[ToolCall] = []
    observations: list[Observation] = []
    for number, call in enumerate(program.calls):
        match = next((command for command in waiting if call.arguments.get("cmd") == command.command), None)
        if match is not None:
            waiting.remove(match)
            observations.append(Observation(text=match.output, call_id=call.id, exit_code=match.exit_code))
        elif number in program.computed and call.name == "exec_command" and waiting:
            continue
        calls.append(call)
    for number, command in enumerate(waiting, len(program.calls) + 1):
        calls.append(ToolCall("exec_command", {"cmd": command.command}, f"{call_id}.{number}"))
        observations.append(
            Observation(text=command.output, call_id=f"{call_id}.{number}", exit_code=command.exit_code)
        )
    return calls, observations


def _by_prints(program: CodeProgram, texts: Sequence[str]) -> list[Observation] | None:
    """What each call returned, if every printed text shows the result of one call; else None."""
    if len(program.calls) == 1 or len(texts) != len(program.prints) or None in program.prints or not texts:
        return None
    grouped: dict[int, list[str]] = {}
    for number, text in zip(program.prints, texts, strict=True):
        grouped.setdefault(number or 0, []).append(text)
    observations: list[Observation] = []
    for number, shown in sorted(grouped.items()):
        text, code = command_result(shown[0]) if len(shown) == 1 else ("\n".join(shown), None)
        observations.append(Observation(text=text, call_id=program.calls[number].id, exit_code=code))
    return observations


def printed(output: Any) -> tuple[list[str], bool]:
    """The texts that a program printed, without the harness's header, and whether it failed."""
    parts = [text_of(part) for part in (output if is_seq(output) else [output])]
    header = _HEADER.match(parts[0])
    if header is None:
        return parts, False
    rest = parts[0][header.end() :]
    return [text for text in (rest, *parts[1:]) if text], header[0].startswith("Script failed")


def command_result(text: str) -> tuple[str, int | None]:
    """A command's result that a program printed whole: `{"exit_code": …, "output": …}`."""
    if text.lstrip().startswith("{") and '"output"' in text:
        try:
            value = obj(decode(text.encode())[0])
        except BadJson:
            value = {}
        if isinstance(value.get("output"), str) and ("exit_code" in value or "chunk_id" in value):
            return value["output"], whole(value.get("exit_code"))
    return text, None
