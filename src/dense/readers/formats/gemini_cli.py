"""`gemini-cli`: the sessions of Gemini CLI, and what it prints with `--output-format stream-json`.

A session is `~/.gemini/tmp/<project>/chats/session-<time>-<id>.jsonl`: a line with `sessionId` and `projectHash`, then
a line each for a message (`type` user, gemini, info, warning, error) and for a control record. Its sub-agents lie in
`chats/<session ID>/<agent ID>.jsonl`. Older versions wrote one `.json` with `{sessionId, messages[]}`.

Traps, and what we decided:
- A message is written again, with the same ID, when its tokens or its tool calls are known: the last one counts.
- `$rewindTo` takes back a message and all after it. They are no part of the attempt.
- `$set.messages` states the history again: when a session is resumed, and when it was compressed, which gives copies
  with new IDs, a summary as a user's message and an answer to it that no model gave. Nothing that was recorded before
  goes away by it; of what is new in it, only the user's words are taken, as the harness's.
- Tool results are in `toolCalls[].result` and again in a user's message; the second is taken only where the first is
  missing.
- The first user message is a description of the machine (`<session_context>`); lines that begin with `/` or `?` are
  commands to the program.
- `tokens.input` counts what the cache served, and `tokens.output` does not count thoughts.
- stream-json has no boundary between responses: a response ends where a tool result comes.

Because a later record can take back or replace an earlier one, a session is held in memory; stream-json is read lazily.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from dense.errors import DenseError
from dense.readers.chat import describe
from dense.readers.content import arguments_of, compact, text_of
from dense.readers.files import TraceRecord
from dense.readers.json_value import first_string, is_obj, is_seq, obj, objs, seq, string, whole
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation
from dense.readers.stream import StepBuilder, Stream
from dense.readers.task import task_of, unwrap_prompt
from dense.trajectory import Source, Step, ToolCall, Trajectory, Usage

AGENT = "gemini-cli"
SILENT = frozenset({"info", "warning"})
COMMANDS = ("/", "?", "<session_context>")
"""How a user's message begins that the program does not send to the model, or sends by itself."""
STREAM_TYPES = frozenset({"init", "message", "tool_use", "tool_result", "error", "result"})
FILE_NAME = re.compile(r"[\w-][\w.-]*")
MAX_DEPTH = 8
"""Sub-agents of sub-agents are followed so far."""


class GeminiCli:
    name = "gemini-cli"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(map(_is_header, head[:5])) or any(map(_is_init, head[:5]))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        first = next(records, None)
        if first is None:
            return
        records = chain([first], records)
        if string(obj(first.value).get("type")) in STREAM_TYPES and "id" not in obj(first.value):
            yield from _read_stream_json(records, location, self.name)
            return
        if is_seq(obj(first.value).get("messages")):
            for record in records:
                session = _Session(location=location, format=self.name)
                session.take_document(record)
                yield from session.streams()
            return
        session = _Session(location=location, format=self.name)
        for record in records:
            session.take(record)
        yield from session.streams()


def _is_header(value: Any) -> bool:
    record = obj(value)
    return isinstance(record.get("sessionId"), str) and isinstance(record.get("projectHash"), str)


def _is_init(value: Any) -> bool:
    record = obj(value)
    return record.get("type") == "init" and all(isinstance(record.get(key), str) for key in ("session_id", "model"))


@dataclass
class _Session:
    """The messages of a session after all control records so far."""

    location: TraceLocation
    format: str
    depth: int = 0
    id: str | None = None
    messages: dict[str, TraceRecord] = field(default_factory=dict[str, TraceRecord])
    restated: set[str] = field(default_factory=set[str])
    """Messages that only a restated history has."""
    copies: dict[str, str] = field(default_factory=dict[str, str])
    """A copy's ID → the ID of the message that it repeats."""
    subagents: set[str] = field(default_factory=set[str])
    """Files of sub-agents that were read with a step."""

    def take(self, record: TraceRecord) -> None:
        value = record.value
        if not is_obj(value):
            self.location.notices.skip(f"not a record: {describe(value)}", record.source)
        elif isinstance(value.get("$rewindTo"), str):
            self._rewind(value["$rewindTo"], record.source)
        elif "$set" in value:
            self._restate(objs(obj(value["$set"]).get("messages")), record.source)
        elif isinstance(value.get("id"), str):
            before = self.messages.get(value["id"])
            self.messages[value["id"]] = TraceRecord(value, before.source) if before else record
        elif isinstance(value.get("sessionId"), str):
            self.id = self.id or value["sessionId"]
        else:
            self.location.notices.skip(f"unknown record: {describe(value)}", record.source)

    def take_document(self, record: TraceRecord) -> None:
        """The whole session as one value, as older versions wrote it."""
        document = obj(record.value)
        self.id = string(document.get("sessionId"))
        for index, message in enumerate(seq(document.get("messages"))):
            source = Source(record.source.path, line=record.source.line, index=index)
            if is_obj(message):
                self.messages[f"{index}"] = TraceRecord(message, source)
            else:
                self.location.notices.skip(f"not a message: {describe(message)}", source)

    def streams(self) -> Iterator[Stream]:
        model, steps, prompts = self._steps()
        if not steps:
            return
        stream = Stream(
            format=self.format,
            id=self.id or self.location.path.stem,
            source=self.location.source(),
            notices=self.location.notices,
        )
        stream.agent, stream.model, stream.task = AGENT, model, task_of(prompts)
        stream.steps = iter(steps)
        yield stream
        if self.depth == 0:
            yield from self._other_subagents()

    def _rewind(self, to: str, source: Source) -> None:
        ids = list(self.messages)
        to = self.copies.get(to, to)
        if to not in self.messages:
            self.location.notices.skip(f"rewind to a message that is not there: {to}", source)
            return
        for gone in ids[ids.index(to) :]:
            del self.messages[gone]

    def _restate(self, messages: list[dict[str, Any]], source: Source) -> None:
        known = {_kind_and_words(record.value): key for key, record in self.messages.items()}
        has_acted = any(kind == "gemini" for kind, _ in known)
        for message in messages:
            key, content = string(message.get("id")), _kind_and_words(message)
            if key is None or key in self.messages or _results(message):
                continue
            if content in known:
                self.copies[key] = known[content]
            # A model's message is recorded when it is made; what is new here is a copy, or an answer that was made up.
            elif not has_acted or content[0] != "gemini" or string(message.get("model")):
                self.messages[key] = TraceRecord(message, source)
                if has_acted:
                    self.restated.add(key)

    def _steps(self) -> tuple[str | None, list[Step], list[str]]:
        model: str | None = None
        prompts: list[str] = []
        builders: list[StepBuilder] = []
        for key, (message, source) in self.messages.items():
            kind = string(message.get("type"))
            if kind == "gemini":
                builders.append(self._builder(message, source))
                model = model or string(message.get("model"))
                builders[-1].model = None if builders[-1].model == model else builders[-1].model
            elif kind == "user":
                self._user(message, key in self.restated, builders, prompts)
            elif kind == "error":
                if builders and (text := _text(message.get("content"))):
                    builders[-1].observe(text, origin="system", is_error=True)
            elif kind not in SILENT:
                self.location.notices.skip(f"message of unknown type {describe(message.get('type'))}", source)
        return model, [builder.build() for builder in builders], prompts

    def _user(self, message: dict[str, Any], restated: bool, builders: list[StepBuilder], prompts: list[str]) -> None:
        for result in _results(message):
            _answer(builders, result)
        # A hook's words come before the prompt in the same message.
        text = unwrap_prompt(_text(message.get("displayContent")) or _words(message))
        if not text.strip() or text.lstrip().startswith(COMMANDS):
            return
        if builders:
            origin = "system" if restated else "user"
            builders[-1].observe(text, origin=origin, timestamp=string(message.get("timestamp")))
        elif not restated:
            prompts.append(text)

    def _builder(self, message: dict[str, Any], source: Source) -> StepBuilder:
        builder = StepBuilder(
            source=source, model=string(message.get("model")), timestamp=string(message.get("timestamp"))
        )
        builder.usage = _usage(message.get("tokens"))
        content = message.get("content")
        parts = [part for part in content if is_obj(part)] if is_seq(content) else []
        builder.message.append(_words(message))
        thoughts = [_text(part.get("text")) for part in parts if part.get("thought") is True]
        builder.reasoning += [_thought(thought) for thought in objs(message.get("thoughts"))] or thoughts
        recorded = objs(message.get("toolCalls"))
        for call in recorded:
            builder.calls.append(_call(call))
            self._observe(builder, call)
        if not recorded:
            builder.calls += [_call(obj(part["functionCall"])) for part in parts if "functionCall" in part]
        return builder

    def _observe(self, builder: StepBuilder, call: dict[str, Any]) -> None:
        call_id, status = string(call.get("id")), call.get("status")
        if call.get("result") is not None:
            is_error = {"success": False, "error": True, "cancelled": True}.get(str(status))
            builder.observe(_result_text(call["result"], call_id), call_id, is_error=is_error)
        agent = string(call.get("agentId"))
        if agent and FILE_NAME.fullmatch(agent) and self.depth < MAX_DEPTH and self.id:
            builder.subagents += self._subagent(f"{agent}.jsonl")

    def _subagent(self, name: str) -> list[Trajectory]:
        if name in self.subagents or not self.id or not FILE_NAME.fullmatch(self.id):
            return []
        chats = self.location.path.parent if self.depth == 0 else self.location.path.parent.parent
        path = chats / self.id / name
        if not path.is_file():
            return []
        self.subagents.add(name)
        location = TraceLocation(path, self.location.beside(path).name, Notices(self.location.notices.strict))
        session = _Session(location=location, format=self.format, depth=self.depth + 1)
        try:
            for record in location.beside(path).records():
                session.take(record)
        except (DenseError, OSError) as error:
            self.location.notices.skip(f"the sub-agent cannot be read ({error})", location.source())
        return [stream.collect() for stream in session.streams()]

    def _other_subagents(self) -> Iterator[Stream]:
        """Sub-agents that no step names, as older versions do not."""
        if not self.id or not FILE_NAME.fullmatch(self.id):
            return
        for path in sorted((self.location.path.parent / self.id).glob("*.jsonl")):
            for trajectory in self._subagent(path.name):
                yield Stream(
                    format=self.format,
                    id=trajectory.id,
                    source=trajectory.source,
                    notices=self.location.notices,
                    steps=iter(trajectory.steps),
                    agent=trajectory.agent,
                    model=trajectory.model,
                    task=trajectory.task,
                    usage=trajectory.usage,
                )


def _answer(builders: list[StepBuilder], result: dict[str, Any]) -> None:
    """A result in a user's message, for the call that has none yet."""
    call_id = string(result.get("id"))
    for builder in reversed(builders):
        if any(call.id == call_id for call in builder.calls):
            if all(observation.call_id != call_id for observation in builder.observations):
                builder.observe(_response_text(result), call_id)
            return


def _results(message: dict[str, Any]) -> list[dict[str, Any]]:
    return [obj(part["functionResponse"]) for part in objs(message.get("content")) if "functionResponse" in part]


def _kind_and_words(message: dict[str, Any]) -> tuple[str, str]:
    return str(message.get("type")), _words(message)


def _words(message: dict[str, Any]) -> str:
    """What a message says: its text, without thoughts, calls and results. What comes with a result is part of it."""
    content = message.get("content")
    if not is_seq(content):
        return _text(content)
    if _results(message):
        return ""
    said = [part for part in content if not is_obj(part) or not ("functionCall" in part or part.get("thought") is True)]
    return _text(said)


def _text(content: Any) -> str:
    """Parts of the Gemini API as text."""
    if is_seq(content):
        return "\n".join(filter(None, map(_text, content)))
    if is_obj(content):
        if "functionResponse" in content:
            return _response_text(obj(content["functionResponse"]))
        if "fileData" in content:
            return f"[file: {first_string((obj(content['fileData']).get('fileUri'),)) or '?'}]"
        if set(content) <= {"thoughtSignature", "videoMetadata"}:
            return ""
    return text_of(content)


def _result_text(result: Any, call_id: str | None) -> str:
    """The result of one call; a masked history may have put the results of its siblings beside it."""
    parts = seq(result) if is_seq(result) else [result]
    responses = [part for part in parts if "functionResponse" in obj(part)]
    others = {string(obj(part["functionResponse"]).get("id")) for part in responses} - {call_id, None}
    own = [part for part in parts if string(obj(obj(part).get("functionResponse")).get("id")) not in others]
    return _text(own if call_id and len(own) < len(parts) and own else parts)


def _response_text(response: dict[str, Any]) -> str:
    value = response.get("response")
    content = [obj(value)[key] for key in ("output", "error") if obj(value).get(key) is not None]
    text = _text(content) if content else text_of(value) if not is_obj(value) else compact(value)
    return "\n".join(filter(None, (text, _text(seq(response.get("parts"))))))


def _thought(thought: dict[str, Any]) -> str:
    return "\n".join(filter(None, (_text(thought.get("subject")), _text(thought.get("description")))))


def _call(call: dict[str, Any]) -> ToolCall:
    return ToolCall(string(call.get("name")) or "?", arguments_of(call.get("args")), string(call.get("id")))


def _usage(tokens: Any) -> Usage | None:
    counts = obj(tokens)
    prompt, output = whole(counts.get("input")), whole(counts.get("output"))
    cached, thoughts, tool = (whole(counts.get(key)) for key in ("cached", "thoughts", "tool"))
    if prompt is None and output is None:
        return None
    return Usage(
        None if prompt is None else max(prompt - (cached or 0), 0) + (tool or 0),
        cached,
        None,
        None if output is None else output + (thoughts or 0),
    )


def _read_stream_json(records: Iterator[TraceRecord], location: TraceLocation, name: str) -> Iterator[Stream]:
    stream = Stream(format=name, id=location.path.stem, source=location.source(), notices=location.notices, agent=AGENT)
    prompts: list[str] = []
    steps = _stream_json_steps(records, stream, prompts)
    first = next(steps, None)
    if first is not None:
        stream.task = task_of(prompts)
        stream.steps = chain([first], steps)
        yield stream


def _stream_json_steps(records: Iterator[TraceRecord], stream: Stream, prompts: list[str]) -> Iterator[Step]:
    builder: StepBuilder | None = None
    for record in records:
        value, source = obj(record.value), record.source
        kind = string(value.get("type"))
        acts = kind == "tool_use" or (kind == "message" and value.get("role") == "assistant")
        if acts and (builder is None or builder.observations):
            if builder is not None:
                yield _joined(builder)
            builder = StepBuilder(source=source, timestamp=string(value.get("timestamp")))
        if acts and builder is not None:
            _act(builder, value)
        elif kind == "init":
            stream.id, stream.model = string(value.get("session_id")) or stream.id, string(value.get("model"))
        elif kind == "message" and value.get("role") == "user":
            _said(builder, prompts, _text(value.get("content")))
        elif kind == "tool_result" and builder is not None:
            _stream_result(builder, value)
        elif kind == "error" and builder is not None:
            builder.observe(_text(value.get("message")), origin="system", is_error=value.get("severity") == "error")
        elif kind == "result":
            stream.usage = _stream_usage(value.get("stats")) or stream.usage
        elif kind not in STREAM_TYPES or kind == "message":
            stream.notices.skip(f"unknown record: {describe(record.value)}", source)
    if builder is not None:
        yield _joined(builder)


def _act(builder: StepBuilder, value: dict[str, Any]) -> None:
    if value.get("type") == "message":
        builder.message.append(_text(value.get("content")))
        return
    name = string(value.get("tool_name")) or "?"
    builder.calls.append(ToolCall(name, arguments_of(value.get("parameters")), string(value.get("tool_id"))))


def _joined(builder: StepBuilder) -> Step:
    """The step, its message put together from the pieces in which it came."""
    builder.message = ["".join(builder.message)]
    return builder.build()


def _said(builder: StepBuilder | None, prompts: list[str], text: str) -> None:
    if builder is None:
        prompts.append(text)
    else:
        builder.observe(text, origin="user")


def _stream_result(builder: StepBuilder, value: dict[str, Any]) -> None:
    """The error's own message is what the model saw; `output` is what a person was shown."""
    text = _text(obj(value.get("error")).get("message")) or _text(value.get("output"))
    is_error = {"success": False, "error": True}.get(str(value.get("status")))
    builder.observe(text, string(value.get("tool_id")), is_error=is_error)


def _stream_usage(stats: Any) -> Usage | None:
    """Thoughts are in the total alone."""
    counts = obj(stats)
    total, prompt, cached = (whole(counts.get(key)) for key in ("total_tokens", "input_tokens", "cached"))
    if total is None or prompt is None:
        return None
    return Usage(max(prompt - (cached or 0), 0), cached, None, max(total - prompt, 0))
