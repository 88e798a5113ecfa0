"""`qwen-code`: sessions of Qwen Code, `~/.qwen/projects/<folder>/chats/<id>.jsonl`.

A line each, like Claude Code's (`uuid`, `parentUuid`, `sessionId`, `type`), but with Gemini's parts in `message`:
`text` (with `thought` for thinking), `functionCall`, `functionResponse`. An `assistant` line is one action;
`tool_result` lines hold the results.

- `system` lines are telemetry, snapshots, commands and compressions of the history, which take nothing away.
- A shell's result is a list of fields (`Command:`, `Output:`, `Error:`, `Exit Code:`): output and exit code are taken
  out of it; the repeated command is no output.
- Input tokens count what the cache served."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dense.readers.content import arguments_of, text_of
from dense.readers.files import TraceRecord
from dense.readers.formats.coding_agents.sessions import AgentSession
from dense.readers.json_value import obj, objs, string, whole
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.readers.task import unwrap_prompt
from dense.trajectory import Source, Step, ToolCall, Usage

_SHELL = re.compile(
    r"Command: .*?\nDirectory: [^\n]*\n(?:Output|Stdout): (?P<output>.*?)\n(?:Error|Stderr): (?P<error>.*?)\n"
    r"(?:Exit Code|Code): (?P<code>-?\d{1,10}|\(none\))",
    re.DOTALL,
)
NOTHING = ("(none)", "(empty)")


class QwenCode:
    name = "qwen-code"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_line(obj(record)) for record in head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        yield from _Session(location).stream(records)


def _is_line(line: dict[str, Any]) -> bool:
    if "sessionId" not in line or "uuid" not in line:
        return False
    return line.get("type") in ("user", "assistant", "tool_result") and isinstance(
        obj(line.get("message")).get("parts"), list
    )


class _Session(AgentSession):
    """Goes through the lines and builds the steps."""

    name = QwenCode.name

    def feed(self, line: dict[str, Any], source: Source) -> Step | None:
        self.id = self.id or string(line.get("sessionId"))
        self.version = self.version or string(line.get("version"))
        kind, time = line.get("type"), string(line.get("timestamp"))
        parts = objs(obj(line.get("message")).get("parts"))
        if kind == "assistant":
            return self.answer(line, parts, source, time)
        if kind in ("user", "tool_result"):
            self.hear(parts, source, time)
        elif kind != "system":
            self.location.notices.skip(f"unknown line type {str(kind)[:60]!r}", source)
        return None

    def answer(
        self, line: dict[str, Any], parts: list[dict[str, Any]], source: Source, time: str | None
    ) -> Step | None:
        usage = _usage(obj(line.get("usageMetadata")))
        done, builder = self.act(source, string(line.get("model")), time, usage)
        for part in parts:
            if call := obj(part.get("functionCall")):
                name = string(call.get("name")) or "?"
                builder.calls.append(ToolCall(name, arguments_of(call.get("args")), string(call.get("id"))))
            elif part.get("thought") is True:
                builder.reasoning.append(text_of(part.get("text")))
            else:
                builder.message.append(text_of(part))
        return done

    def hear(self, parts: list[dict[str, Any]], source: Source, time: str | None) -> None:
        for part in parts:
            if answer := obj(part.get("functionResponse")):
                self.result(answer, source)
            elif text := unwrap_prompt(text_of(part)):
                self.said(text, time)

    def result(self, answer: dict[str, Any], source: Source) -> None:
        if self.builder is None:
            self.location.notices.skip("result of a call before any action", source)
            return
        response = obj(answer.get("response"))
        error = text_of(response.get("error"))
        text, code = shell_result(text_of(response.get("output")) or error)
        is_error = True if error else None
        self.builder.observe(text, string(answer.get("id")), is_error=is_error, exit_code=code)


def shell_result(text: str) -> tuple[str, int | None]:
    """The output and the exit code of a shell's result; any other text as it is."""
    match = _SHELL.match(text) if text.startswith("Command: ") else None
    if match is None:
        return text, None
    parts = [match[name] for name in ("output", "error") if match[name] not in NOTHING]
    return "\n".join(parts), int(match["code"]) if match["code"][0] != "(" else None


def _usage(counts: dict[str, Any]) -> Usage | None:
    total, read = whole(counts.get("promptTokenCount")), whole(counts.get("cachedContentTokenCount"))
    output, thought = whole(counts.get("candidatesTokenCount")), whole(counts.get("thoughtsTokenCount"))
    if total is None and output is None:
        return None
    del thought  # part of the output here
    return Usage(None if total is None else max(total - (read or 0), 0), read, None, output)
