"""`inspect`: the logs of Inspect AI, `logs/*.eval` or `logs/*.json`. A log holds many samples, each an attempt.

An `.eval` file is a ZIP archive: `header.json` (or `_journal/start.json` while a run is under way) tells of the run;
each sample is one member `samples/<id>_epoch_<n>.json` or, in newer logs, a folder `samples/<id>_epoch_<n>/` with
`sample.json` and its messages, events and attachments in chunks. Since 0.3.206 the members are compressed with zstd
(method 93), which the ZIP module of Python 3.12 cannot undo. A `.json` log is the header with `samples` in it. Two
samples are in memory at a time, the one that is read and the one before it.

Traps, and what we decided:
- Long texts are `attachment://` references into the sample's attachments (by hash, or by index where chunked).
- `messages` is the conversation as it stood at the end. Where it was compacted on the way, or where a solver kept it to
  itself, the model calls among the `events` tell what happened.
- The totals of a sample (`model_usage`) count what its scorers spent, so the events are added up instead where there
  are any.
- `target`, `scores`, `metadata`, `store` and what scorers did are never looked at. A multiple-choice task is taken from
  the message that shows the choices to the agent, since `input` lacks them.
- The same sample may be run in several epochs: the ID has both.
- The `react` agent takes its `submit` call out of the conversation when it ends; the call is taken from the events.
- An agent that a tool call started is a sub-agent; one that was handed the conversation speaks in `messages` itself.
- What ended a sample (an error, a limit) is the last thing that its last step observes.
"""

from __future__ import annotations

import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from dense.errors import NotATrace
from dense.readers.chat import AGENT_ROLES, Chat, role_of, usage_of
from dense.readers.content import compact, text_of
from dense.readers.files import MAX_RECORD_BYTES, TraceRecord
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import first_string, is_obj, is_seq, number, obj, objs, seq, string, whole
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream, held_back
from dense.trajectory import Observation, Source, Step, Task, Trajectory, Usage

ZSTD = 93
ATTACHMENT = "attachment://"
SAMPLE = re.compile(r"samples/(?P<name>.+)_epoch_(?P<epoch>\d+)(?:\.json|/sample\.json)")
CHUNK = re.compile(r"(?P<start>\d+)\.json")
GRADING = frozenset({"scorer", "scorers"})
"""Spans in which a model grades."""


class InspectLog:
    name = "inspect"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_log(record) for record in head[:1])

    def read(self, records: Iterator[TraceRecord], place: TraceLocation) -> Iterator[Stream]:
        for record in records:
            if not _is_log(record.value):
                place.notices.skip("not an Inspect log", record.source)
                continue
            log = record.value
            samples = seq(log.get("samples"))
            if not samples:
                place.notices.note(_no_sample(log), record.source)
            yield from held_back(_Log(log, self.name, place).streams(enumerate(samples), record.source), place.notices)

    def read_archive(self, archive: zipfile.ZipFile, place: TraceLocation) -> Iterator[Stream]:
        """The samples of an `.eval` file, one after the other."""
        with archive:
            members = _Members(archive, place)
            log = members.header()
            if log is None:
                raise NotATrace(f"{place.name}: a ZIP archive, but not an Inspect log: no header.json in it")
            names = [name for name in members.names if SAMPLE.fullmatch(name)]
            if not names:
                place.notices.note(_no_sample(log), place.source())
            samples = ((None, members.sample(name)) for name in names)
            yield from held_back(_Log(log, self.name, place).streams(samples, place.source()), place.notices)


def _is_log(value: Any) -> bool:
    info = obj(obj(value).get("eval"))
    return "version" in obj(value) and "status" in obj(value) and string(info.get("task")) is not None


def _no_sample(log: dict[str, Any]) -> str:
    status = string(log.get("status")) or "unknown"
    reason = string(obj(log.get("error")).get("message"))
    return f"no sample was logged: the status of the run is {status!r}" + (f" ({reason})" if reason else "")


@dataclass
class _Members:
    """The members of an `.eval` archive, read whole, one at a time."""

    archive: zipfile.ZipFile
    place: TraceLocation
    names: dict[str, zipfile.ZipInfo] = field(init=False)

    def __post_init__(self) -> None:
        # A member that was written again has two entries; the later one is valid.
        self.names = {info.filename: info for info in self.archive.infolist()}

    def header(self) -> dict[str, Any] | None:
        """What the log says of the whole run."""
        start = obj(self._value("_journal/start.json"))
        header = self._value("header.json")
        found = obj(header) or ({"status": "started"} | start if start else {})
        return found if is_obj(found.get("eval")) else None

    def sample(self, name: str) -> Any:
        """A sample; one that lies in chunks is put together as if it were a single member."""
        sample = self._value(name)
        if not name.endswith("/sample.json") or not is_obj(sample):
            return sample
        folder = name.removesuffix("sample.json")
        pool = self._chunks(f"{folder}messages/")
        attachments = {str(index): text for index, text in enumerate(self._chunks(f"{folder}attachments/"))}
        whole_sample = {"events": self._chunks(f"{folder}events/"), "attachments": attachments}
        whole_sample |= {"messages": _referred(sample.get("message_refs"), pool), "events_data": {"messages": pool}}
        return sample | whole_sample

    def _chunks(self, folder: str) -> list[Any]:
        starts = [
            (int(match["start"]), name)
            for name in self.names
            if name.startswith(folder) and (match := CHUNK.fullmatch(name.removeprefix(folder)))
        ]
        return [item for _, name in sorted(starts) for item in seq(self._value(name))]

    def _value(self, name: str) -> Any:
        if name not in self.names:
            return None
        source = self.place.source(part=name)
        try:
            value, mended = decode(self._bytes(self.names[name]))
        except BadJson as error:
            self.place.notices.skip(str(error), source)
            return None
        except Exception as error:  # each way of compressing has errors of its own
            self.place.notices.skip(f"the member cannot be decompressed ({error})", source)
            return None
        if mended:
            self.place.notices.repair(mended, source)
        return value

    def _bytes(self, info: zipfile.ZipInfo) -> bytes:
        if info.file_size > MAX_RECORD_BYTES:
            raise ValueError(f"more than {MAX_RECORD_BYTES >> 20} MiB")
        if info.compress_type != ZSTD:
            return self.archive.read(info)
        import zstandard

        packed = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(self._raw(info)), read_across_frames=True)
        # One byte more than there should be shows that the size is wrong, however much lies behind it.
        data = packed.read(info.file_size + 1)
        if len(data) != info.file_size or zlib.crc32(data) != info.CRC:
            raise ValueError("wrong size or checksum")
        return data

    def _raw(self, info: zipfile.ZipInfo) -> bytes:
        """The member's bytes as they lie in the archive, behind its local header of variable length."""
        file = self.archive.fp
        if file is None or info.flag_bits & 1 or info.compress_size > MAX_RECORD_BYTES:
            raise ValueError("encrypted" if info.flag_bits & 1 else "too large")
        file.seek(info.header_offset)
        head = file.read(30)
        if len(head) < 30 or not head.startswith(b"PK\x03\x04"):
            raise ValueError("no local header")
        file.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), io.SEEK_CUR)
        return file.read(info.compress_size)


@dataclass
class _Log:
    """One log: what is known of the run, and the samples as trajectories."""

    log: dict[str, Any]
    format: str
    place: TraceLocation
    used: set[str] = field(default_factory=set[str])

    def streams(self, samples: Iterable[tuple[int | None, Any]], source: Source) -> Iterator[Stream]:
        for index, sample in samples:
            if is_obj(sample):
                yield from self._stream(sample)
            elif index is not None:
                self.place.notices.skip("not a sample", msgspec.structs.replace(source, part=f"sample {index}"))

    def _stream(self, value: dict[str, Any]) -> Iterator[Stream]:
        name = self._name(value)
        notices = Notices(self.place.notices.strict)
        sample = _Sample(value, notices, self.place.source(part=name))
        chat = Chat(notices)
        steps = sample.steps(chat)
        if not steps:
            self.place.notices.items += notices.take()
            self.place.notices.note("no step of an agent in this sample", sample.source)
            return
        info = obj(self.log.get("eval"))
        agent = string(info.get("solver")) or _last_solver(self.log)
        yield Stream(
            self.format,
            name,
            sample.source,
            notices,
            iter(steps),
            agent,
            _version(agent, obj(info.get("packages"))),
            next((model for model in (string(info.get("model")),) if model != "none/none"), None) or chat.model,
            sample.task(chat, string(info.get("task"))),
            sample.usage(),
        )

    def _name(self, sample: dict[str, Any]) -> str:
        name = stem = f"{_id_text(sample.get('id'))}_epoch_{_id_text(sample.get('epoch'))}"
        again = 1
        while name in self.used:
            again += 1
            name = f"{stem}#{again}"
        self.used.add(name)
        return name


@dataclass
class _Sample:
    """One sample: its conversation, and what the events add to it."""

    value: dict[str, Any]
    notices: Notices
    source: Source

    def __post_init__(self) -> None:
        self.attachments = obj(self.value.get("attachments"))
        self.pool = seq(obj(self.value.get("events_data")).get("messages"))
        self.missing: set[str] = set()
        self.events = _Events.of(seq(self.value.get("events")))

    def steps(self, chat: Chat) -> list[Step]:
        """The steps of the sample's own agent."""
        messages = [TraceRecord(m, self._at(index)) for index, m in enumerate(seq(self.value.get("messages")))]
        has_acts = any(map(_is_act, messages))
        if self.events.compacted or not has_acts:
            as_called = self._as_called(self.events.within(None), messages)
            messages = as_called or (messages if has_acts else [*messages, *self._output()])
        steps = self._steps(chat, messages, self.events.within(None), frozenset())
        if steps:
            steps[-1] = _with(steps[-1], list(self._end()))
        return steps

    def task(self, chat: Chat, run: str | None) -> Task | None:
        given = self._resolved(self.value.get("input"))
        words = [m.get("content") for m in objs(given) if role_of(m) == "user"] if is_seq(given) else [given]
        text = "\n\n".join(filter(None, map(text_of, words)))
        if seq(self.value.get("choices")) or not text:
            text = "\n\n".join(chat.prompts) or text
        return Task(text, "/".join(filter(None, (run, _id_text(self.value.get("id")))))) if text else None

    def usage(self) -> Usage | None:
        """What the attempt cost: all model calls but those of scorers."""
        if self.events.calls:
            return _sum(call.usage for call in self.events.calls if not call.grades)
        return _sum(map(_usage, obj(self.value.get("model_usage")).values()))

    def _steps(
        self, chat: Chat, messages: list[TraceRecord], own: list[_ModelCall], inside: frozenset[str]
    ) -> list[Step]:
        """The steps of one agent, each with what the events know of its model call and its tool calls."""
        by_id = {call.message_id: call for call in self.events.calls if call.message_id}
        # Logs before 0.3.70 have no message IDs; where each call gave one message they still correspond by their order.
        in_order = iter(own if len(own) == sum(map(_is_act, messages)) else ())
        calls = [
            by_id.get(string(obj(record.value).get("id")) or "", call)
            for record in messages
            if _is_act(record)
            for call in (next(in_order, None),)
        ]
        # Each message of the agent opens a step, so the steps and the calls go together.
        steps = chat.steps(self._normal_records(messages, iter(calls)))
        return [self._told(step, call, inside) for step, call in zip(steps, calls, strict=False)]

    def _normal_records(self, messages: list[TraceRecord], calls: Iterator[_ModelCall | None]) -> Iterator[TraceRecord]:
        for record in messages:
            message = record.value
            if _is_act(record):
                call = next(calls, None)
                if call and seq(obj(call.message).get("tool_calls")) and not seq(message.get("tool_calls")):
                    message = call.message
            yield TraceRecord(_normal(self._resolved(message)) if is_obj(message) else message, record.source)

    def _told(self, step: Step, call: _ModelCall | None, inside: frozenset[str]) -> Step:
        answered = {observation.call_id for observation in step.observations}
        tools = [self.events.tools[c.id] for c in step.calls if c.id in self.events.tools]
        late = [said for tool in tools if tool.id not in answered and (said := self._result(tool))]
        subagents = [
            found
            for tool in tools
            if tool.agent_span and tool.agent_span not in inside
            for found in self._subagent(tool, tool.agent_span, inside | {tool.agent_span})
        ]
        step = _with(step, late) if late else step
        if call is None:
            return msgspec.structs.replace(step, subagents=tuple(subagents)) if subagents else step
        return msgspec.structs.replace(
            step, usage=call.usage, timestamp=call.timestamp, subagents=tuple(subagents) or step.subagents
        )

    def _result(self, tool: _ToolEvent) -> Observation | None:
        text = text_of(self._resolved(tool.error or tool.result))
        return Observation(text, tool.id, is_error=True if tool.error else None) if text else None

    def _subagent(self, tool: _ToolEvent, span: str, inside: frozenset[str]) -> Iterator[Trajectory]:
        own = self.events.within(span)
        chat = Chat(self.notices)
        steps = self._steps(chat, self._as_called(own, []), own, inside)
        if steps:
            source = msgspec.structs.replace(self.source, part=f"{self.source.part} {tool.function}")
            task = Task("\n\n".join(chat.prompts)) if chat.prompts else None
            usage = _sum(call.usage for call in own)
            yield Trajectory("inspect", span, source, tool.function, None, chat.model, task, tuple(steps), usage)

    def _as_called(self, calls: list[_ModelCall], last: list[TraceRecord]) -> list[TraceRecord]:
        """The messages in the order in which they were first shown to the model, then what came after the last call."""
        seen: set[str] = set()
        found: list[TraceRecord] = []

        def add(message: Any, source: Source) -> None:
            key = string(obj(message).get("id")) or compact(message)
            if is_obj(message) and key not in seen:
                seen.add(key)
                found.append(TraceRecord(message, source))

        for call in calls:
            source = self._at(call.index, " events")
            for message in call.inputs or _referred(call.input_refs, self.pool):
                add(message, source)
            add(call.message, source)
        for record in last if found else ():
            add(record.value, record.source)
        return found

    def _output(self) -> list[TraceRecord]:
        message = _first_message(self.value.get("output"))
        return [TraceRecord(message, self.source)] if message else []

    def _end(self) -> Iterator[Observation]:
        """What ended the sample before its agent did."""
        limit = obj(self.value.get("limit"))
        if limit:
            reason = string(limit.get("reason")) or f"{limit.get('type')} limit reached: {limit.get('limit')}"
            yield Observation(reason, origin="system")
        if error := string(obj(self.value.get("error")).get("message")):
            yield Observation(self._resolved(error), origin="system", is_error=True)

    def _at(self, index: int, what: str = "") -> Source:
        return msgspec.structs.replace(self.source, part=f"{self.source.part}{what}", index=index)

    def _resolved(self, value: Any) -> Any:
        """The same value with its attachments put in."""
        if isinstance(value, str):
            return self._attached(value) if value.startswith(ATTACHMENT) else value
        if is_seq(value):
            return [self._resolved(item) for item in value]
        if is_obj(value):
            return {key: self._resolved(item) for key, item in value.items()}
        return value

    def _attached(self, reference: str) -> str:
        text = self.attachments.get(reference.removeprefix(ATTACHMENT))
        if isinstance(text, str):
            return text
        if reference not in self.missing:
            self.missing.add(reference)
            self.notices.skip(f"{reference} is not among the attachments", self.source)
        return reference


def _is_act(record: TraceRecord) -> bool:
    return role_of(obj(record.value)) in AGENT_ROLES


def _with(step: Step, more: list[Observation]) -> Step:
    return msgspec.structs.replace(step, observations=(*step.observations, *more))


def _normal(message: dict[str, Any]) -> dict[str, Any]:
    """A message as `Chat` takes it."""
    message = message | {"timestamp": None, "usage": None}
    if string(message.get("tool_error")):
        message["error"] = message["tool_error"]
    carried = first_string(seq(message.get("tool_call_id")))
    if role_of(message) == "user" and carried:
        return message | {"role": "tool", "tool_call_id": carried}
    if role_of(message) == "user" and obj(message.get("metadata")).get("summary") is True:
        return message | {"role": "system"}
    if is_seq(message.get("content")):
        message["content"] = [normal for part in message["content"] for normal in _normal_parts(part)]
    return message


def _normal_parts(part: Any) -> Iterator[Any]:
    """A part of content: what only a provider understands is left out, a server-side call is followed by its result."""
    kind = obj(part).get("type")
    if kind == "data":
        return
    if kind == "reasoning" and obj(part).get("redacted") is True:
        yield part | {"reasoning": None}
        return
    yield part
    if kind == "tool_use" and ("result" in part or "error" in part):
        error = string(part.get("error"))
        result = {"type": "tool_result", "tool_use_id": part.get("id"), "is_error": error is not None}
        yield result | {"content": error or part.get("result")}


@dataclass(frozen=True)
class _ModelCall:
    """One call of a model, as an event tells it."""

    index: int
    message: dict[str, Any] | None
    inputs: list[Any]
    input_refs: Any
    usage: Usage | None
    timestamp: str | None
    spans: tuple[tuple[str, str], ...]
    """The ID and the kind of each span around it, the outermost first."""

    @property
    def grades(self) -> bool:
        return any(kind in GRADING for _, kind in self.spans)

    @property
    def message_id(self) -> str | None:
        return string(obj(self.message).get("id"))

    def is_of(self, agent_span: str | None) -> bool:
        """Whether this agent itself (None is the sample's own) made the call and got an answer."""
        ids = [span for span, _ in self.spans]
        start = 0 if agent_span is None else ids.index(agent_span) if agent_span in ids else None
        if start is None or self.message is None:
            return False
        return not any(kind in GRADING or kind == "tool" for _, kind in self.spans[start:])


@dataclass(frozen=True)
class _ToolEvent:
    """One tool call, as an event tells it."""

    id: str
    function: str
    result: Any
    error: str | None
    agent_span: str | None
    """The span of the agent that it started, unless that agent went on with the same conversation."""


@dataclass(frozen=True)
class _Events:
    """What the events tell beyond the conversation."""

    calls: list[_ModelCall]
    tools: dict[str, _ToolEvent]
    compacted: bool

    @classmethod
    def of(cls, events: list[Any]) -> _Events:
        found = cls([], {}, any(event.get("event") == "compaction" for event in objs(events)))
        spans: dict[str, tuple[tuple[str, str], ...]] = {}
        steps: list[tuple[str, str]] = []
        for index, event in enumerate(events):
            kind = obj(event).get("event")
            if kind == "span_begin":
                around = spans.get(str(event.get("parent_id")), ())
                spans[str(event.get("id"))] = (*around, (str(event.get("id")), str(event.get("type"))))
            elif kind == "step" and event.get("action") == "begin":
                steps.append(("", str(event.get("type"))))
            elif kind == "step" and steps:
                steps.pop()
            elif kind == "model":
                around = spans.get(str(event.get("span_id")), tuple(steps))
                found.calls.append(_model_call(event, index, around))
            elif kind == "tool" and (tool := _tool_event(event)):
                found.tools[tool.id] = tool
        return found

    def within(self, agent_span: str | None) -> list[_ModelCall]:
        """The model calls of one agent."""
        return [call for call in self.calls if call.is_of(agent_span)]


def _model_call(event: dict[str, Any], index: int, spans: tuple[tuple[str, str], ...]) -> _ModelCall:
    output = event.get("output")
    return _ModelCall(
        index,
        _first_message(output),
        seq(event.get("input")),
        event.get("input_refs"),
        _usage(obj(output).get("usage")),
        string(event.get("timestamp")),
        spans,
    )


def _tool_event(event: dict[str, Any]) -> _ToolEvent | None:
    call_id = string(event.get("id"))
    if call_id is None:
        return None
    handed_over = string(event.get("agent")) is not None
    return _ToolEvent(
        call_id,
        string(event.get("function")) or "?",
        event.get("result"),
        string(obj(event.get("error")).get("message")),
        None if handed_over else string(event.get("agent_span_id")),
    )


def _first_message(output: Any) -> dict[str, Any] | None:
    return next((obj(choice.get("message")) for choice in objs(obj(output).get("choices"))), None) or None


def _usage(value: Any) -> Usage | None:
    usage = usage_of(value)
    cost = number(obj(value).get("total_cost"))
    return usage if usage is None or cost is None else msgspec.structs.replace(usage, cost_usd=cost)


def _sum(found: Iterable[Usage | None]) -> Usage | None:
    total: Usage | None = None
    for usage in found:
        total = usage if total is None else total + usage if usage else total
    return total


def _referred(references: Any, pool: list[Any]) -> list[Any]:
    """The messages that `[start, end)` ranges name."""
    ranges = [(whole(pair[0]), whole(pair[1])) for pair in seq(references) if is_seq(pair) and len(pair) == 2]
    return [message for start, end in ranges if start is not None and end is not None for message in pool[start:end]]


def _last_solver(log: dict[str, Any]) -> str | None:
    solvers = [string(step.get("solver")) for step in objs(obj(log.get("plan")).get("steps"))]
    return next(filter(None, reversed(solvers)), None)


def _version(agent: str | None, packages: dict[str, Any]) -> str | None:
    """The version of the package that has the solver; one without a package is Inspect's own or the user's."""
    package, slash, _ = (agent or "").partition("/")
    return string(packages.get(package if slash else "inspect_ai"))


def _id_text(value: Any) -> str:
    return value if isinstance(value, str) else compact(value)
