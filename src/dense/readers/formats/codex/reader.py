"""`codex`: rollouts of Codex, `~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl` (cold ones `.jsonl.zst`), and its event
streams.

A rollout has a line `{timestamp, type, payload}` each. `response_item` lines are what model and tools said, `event_msg`
lines repeat the same for the user interface and are ignored. Early rollouts have the items without an envelope. One
response of the model (reasoning, message, calls) is one action: it ends where an output or a count of its tokens
stands.

Streams that hold events only (`codex exec --json`, logs of the user interface) are read by `codex_events`.

- The `exec` tool runs a JavaScript program: the calls inside (`tools.exec_command({cmd})`, `tools.apply_patch(…)`) are
  the calls of the step, each with the output that the program's harness recorded for it, else with the texts that the
  program printed of its result. A program without calls stays a call of `exec`.
- A summary made for a compaction is an answer to the program, not an action; `replacement_history` repeats what is
  there already.
- The rollout of a sub-agent names its parent; it nests in the step whose `spawn_agent` call started it, or in the last
  one if no call is known to have.
- The rollout of a fork names the session that it goes on from, and how many of its lines count: they are read first.
- Rollouts without envelopes have each output right behind its call. Later ones among them mark where a response ends
  (`record_type: state`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, islice
from pathlib import Path
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.chat import describe, tool_call
from dense.readers.content import text_of
from dense.readers.files import HEAD_RECORDS, TraceRecord, first_value
from dense.readers.folders.continuations import earlier_rollout, history_base
from dense.readers.formats.codex.code_mode import CodeProgram, program
from dense.readers.formats.codex.code_results import RanCommand, observed
from dense.readers.formats.codex.event_stream import EventStream, is_event, usage_of_codex
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import first_string, is_obj, obj, seq, string, whole
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation, steps_of_lines
from dense.readers.stream import StepBuilder, Stream
from dense.readers.task import task_of, unwrap_prompt
from dense.trajectory import Origin, Source, Step, Task, ToolCall, Trajectory, Usage

CALLS = frozenset(
    {
        "function_call",
        "custom_tool_call",
        "local_shell_call",
        "web_search_call",
        "tool_search_call",
        "image_generation_call",
    }
)
OUTPUTS = frozenset(
    {"function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"}
)
SPOKEN = frozenset({"message", "reasoning", "agent_message"})
PASSED_ITEMS = frozenset(
    {"ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger", "other", "item_reference"}
)
PASSED_LINES = frozenset({"event_msg", "world_state", "inter_agent_communication_metadata", "state", "turn_context"})

MAX_DEPTH = 4
"""How deep sub-agents are followed: rollouts can name each other as parents."""

_EXIT_CODE = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,9})$", re.MULTILINE)


class Codex:
    name = "codex"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_rollout(line) or is_event(line) for line in map(obj, head))

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        head = list(islice(records, HEAD_RECORDS))
        lines = [obj(record.value) for record in head]
        # The first line that says so: what is before it may be damaged.
        of_events = next((is_event(line) for line in lines if is_event(line) or _is_rollout(line)), False)
        reading = EventStream(location) if of_events else _Rollout(location)
        before = earlier_rollout(location.path, lines[0], location.notices) if lines and history_base(lines[0]) else ()
        if stream := reading.stream(chain(head[:1], before, head[1:], records)):
            yield stream


def _is_rollout(line: dict[str, Any]) -> bool:
    kind = line.get("type")
    if is_obj(line.get("payload")):
        return kind in ("session_meta", "response_item", "turn_context", "event_msg", "compacted")
    if kind in ("function_call", "function_call_output", "local_shell_call"):
        return "call_id" in line
    return ("instructions" in line and "timestamp" in line and "id" in line) or line.get("record_type") == "state"


class _Rollout:
    """Goes through the lines and builds the steps."""

    def __init__(self, location: TraceLocation, depth: int = 0) -> None:
        self.location, self.notices, self.depth = location, location.notices, depth
        self.id: str | None = None
        self.version: str | None = None
        self.model: str | None = None
        self.prompts: list[str] = []
        self.builder: StepBuilder | None = None
        self.ended = False
        self.is_marked = False
        self.usage: Usage | None = None
        self.waiting: list[_Child] | None = None
        self.programs: dict[str, CodeProgram] = {}
        self.ran: list[RanCommand] = []

    def stream(self, records: Iterator[TraceRecord]) -> Stream | None:
        steps = self.steps(records)
        first = next(steps, None)
        if first is None:
            return None
        identity = self.id or self.location.path.name.partition(".")[0]
        stream = Stream(format=Codex.name, id=identity, source=Source(self.location.name), notices=self.notices)
        stream.agent, stream.agent_version, stream.model = Codex.name, self.version, self.model
        stream.task = task_of(self.prompts)
        stream.steps = self.with_usage(chain((first,), steps), stream)
        return stream

    def with_usage(self, steps: Iterator[Step], stream: Stream) -> Iterator[Step]:
        yield from steps
        stream.usage = self.usage

    def steps(self, records: Iterator[TraceRecord]) -> Iterator[Step]:
        yield from steps_of_lines(records, self.feed, self.notices)
        if done := self.close(is_last=True):
            yield done

    def feed(self, line: dict[str, Any], source: Source) -> Step | None:
        """Take one line; the step that it completes, if it does."""
        kind, payload = string(line.get("type")), obj(line.get("payload"))
        if kind == "response_item":
            return self.item(payload, source, string(line.get("timestamp")))
        if kind == "session_meta":
            self.learn(payload)
        elif kind == "turn_context":
            self.model = self.model or string(payload.get("model"))
        elif kind == "token_usage_record":
            self.count(usage_of_codex(payload.get("usage")), None)
        elif kind == "event_msg":
            self.event(payload)
        elif kind == "compacted":
            self.compacted(string(payload.get("message")) or "")
        elif kind in CALLS | OUTPUTS | SPOKEN | PASSED_ITEMS and "payload" not in line:
            return self.item(line, source, string(line.get("timestamp")))
        elif "instructions" in line and "id" in line:
            self.learn(line)
        elif line.get("record_type") == "state":
            self.is_marked = self.ended = True
        elif kind not in PASSED_LINES:
            self.notices.skip(f"unknown line type {describe(line.get('type'))}", source)
        return None

    def learn(self, meta: dict[str, Any]) -> None:
        self.id = self.id or first_string((meta.get("id"), meta.get("session_id")))
        self.version = self.version or string(meta.get("cli_version"))

    def event(self, payload: dict[str, Any]) -> None:
        if payload.get("type") == "token_count":
            info = obj(payload.get("info"))
            self.count(usage_of_codex(info.get("last_token_usage")), usage_of_codex(info.get("total_token_usage")))
        elif self.programs:
            item = obj(payload.get("item")) if payload.get("type") == "item_completed" else payload
            if item.get("type") in ("CommandExecution", "exec_command_end"):
                words = [str(word) for word in seq(item.get("command"))]
                self.ran.append(
                    RanCommand(
                        words[-1] if words else "",
                        text_of(item.get("aggregated_output")),
                        whole(item.get("exit_code")),
                    )
                )

    def calls(self, call: ToolCall) -> list[ToolCall]:
        """The calls that an item makes: one, or those of the program that it runs."""
        code = string(call.arguments.get("input")) or string(call.arguments.get("code"))
        if call.name != "exec" or code is None or (parsed := program(code, call.id)) is None:
            return [call]
        self.programs[call.id or ""] = parsed
        self.ran = []
        return parsed.calls

    def count(self, last: Usage | None, total: Usage | None) -> None:
        """A response's tokens come after its last item."""
        self.usage = total or self.usage
        if self.builder is not None and last is not None and (self.builder.calls or self.builder.message):
            self.builder.usage = self.builder.usage or last
            self.ended = True

    def compacted(self, message: str) -> None:
        """The open step was the summary that the program asked for, if the new history ends with it."""
        builder = self.builder
        if builder is None or builder.calls or builder.observations:
            return
        if builder.message and message.endswith("\n\n".join(builder.message)):
            self.builder = None

    def item(self, item: dict[str, Any], source: Source, timestamp: str | None) -> Step | None:
        kind = string(item.get("type"))
        if kind in OUTPUTS:
            self.output(item, source)
        elif kind in CALLS:
            builder, done = self.act(source, timestamp)
            builder.calls += self.calls(_call(item))
            return done
        elif kind == "reasoning":
            builder, done = self.act(source, timestamp)
            builder.reasoning.append(text_of(item.get("summary")) or text_of(item.get("content")))
            return done
        elif kind == "message":
            return self.message(item, source, timestamp)
        elif kind == "agent_message":
            self.words(
                text_of([p for p in seq(item.get("content")) if obj(p).get("type") != "encrypted_content"]),
                "system",
                timestamp,
            )
        elif kind not in PASSED_ITEMS:
            self.notices.skip(f"unknown item type {describe(kind)}", source)
        return None

    def act(self, source: Source, timestamp: str | None) -> tuple[StepBuilder, Step | None]:
        """The step that something of the agent belongs to: the open one, or a new one if that has ended and is
        complete."""
        if self.builder is not None and not self.ended:
            return self.builder, None
        done = self.close()
        self.builder = StepBuilder(source=source, timestamp=timestamp)
        return self.builder, done

    def message(self, item: dict[str, Any], source: Source, timestamp: str | None) -> Step | None:
        text = text_of(item.get("content"))
        if item.get("role") == "assistant":
            builder, done = self.act(source, timestamp)
            builder.message.append(text)
            return done
        if item.get("role") == "user":
            self.words(text, "user", timestamp)
        elif item.get("role") not in ("developer", "system"):
            self.notices.skip(f"message with unknown role {describe(item.get('role'))}", source)
        return None

    def words(self, text: str, origin: Origin, timestamp: str | None) -> None:
        if not text:
            return
        if self.builder is None:
            self.prompts.append(text)
        elif unwrap_prompt(text):
            self.builder.observe(text, origin=origin, timestamp=timestamp)
            self.ended = True

    def output(self, item: dict[str, Any], source: Source) -> None:
        if self.builder is None:
            self.notices.skip("output of a call before any action", source)
            return
        call_id = string(item.get("call_id"))
        if (parsed := self.programs.pop(call_id or "", None)) is not None:
            calls, observations = observed(parsed, item.get("output"), self.ran, call_id or "exec")
            index = self.builder.calls.index(parsed.calls[0]) if parsed.calls[0] in self.builder.calls else 0
            self.builder.calls[index : index + len(parsed.calls)] = calls
            self.builder.observations += observations
            self.ran = []
        else:
            text, code = _output(item.get("output") if "output" in item else item.get("tools"))
            is_error = True if text.startswith("Script failed\n") else None
            self.builder.observe(text, call_id, exit_code=code, is_error=is_error)
        self.ended = self.ended or not self.is_marked

    def close(self, is_last: bool = False) -> Step | None:
        """The open step, with the sub-agents that its calls started; the last has those of which it is not known."""
        builder, self.builder, self.ended = self.builder, None, False
        if builder is None or not (builder.calls or any(builder.message) or any(builder.reasoning)):
            return None
        for call in builder.calls:
            if call.name == "spawn_agent" and (child := self.started(call, builder)):
                builder.subagents += self.subagent(child, string(call.arguments.get("message")))
        for child in [*self.children()] if is_last else []:
            self.notices.note(f"sub-agent {child.id} is linked to no call", Source(self.location.name))
            builder.subagents += self.subagent(child, None)
        return builder.build()

    def children(self) -> list[_Child]:
        """The sub-agents of this rollout that no step has yet, in the order of their start."""
        if self.waiting is None:
            folder = self.location.path.parent
            family = _families(folder, folder.stat().st_mtime_ns) if self.depth < MAX_DEPTH else {}
            self.waiting = list(family.get(self.id or "", []))
        return self.waiting

    def started(self, call: ToolCall, builder: StepBuilder) -> _Child | None:
        """The sub-agent that a call started: the one that its output names, or where it has none, the next in time."""
        said = " ".join(o.text for o in builder.observations if o.call_id == call.id)
        if not said:
            return next(iter(self.children()), None)
        named = [child for child in self.children() if child.id in said or (child.name and child.name in said)]
        return max(named, key=lambda child: len(child.name), default=None)  # one name may begin another

    def subagent(self, child: _Child, asked: str | None) -> Iterator[Trajectory]:
        """A sub-agent from its own rollout, once. What it was asked is in the call; the rollout has it
        encrypted."""
        self.children().remove(child)
        file = self.location.beside(child.path)
        location = TraceLocation(child.path, file.name, Notices(self.notices.strict))
        file.notices = location.notices
        try:
            if stream := _Rollout(location, self.depth + 1).stream(file.records()):
                stream.task = Task(asked) if asked else stream.task
                yield stream.collect()
            else:
                self.notices.items += location.notices.take()
                self.notices.note("no step in the sub-agent's rollout", Source(file.name))
        except (NoTrajectory, OSError) as error:
            self.notices.skip(f"the sub-agent's rollout cannot be read ({error})", Source(file.name))


def _call(item: dict[str, Any]) -> ToolCall:
    kind = str(item.get("type"))
    identity = first_string((item.get("call_id"), item.get("id")))
    if kind == "local_shell_call":
        return ToolCall("local_shell", obj(item.get("action")), identity)
    if kind == "web_search_call":
        return ToolCall("web_search", obj(item.get("action")), identity)
    if kind in ("tool_search_call", "image_generation_call"):
        arguments = {key: item[key] for key in ("arguments", "revised_prompt") if item.get(key) is not None}
        return ToolCall(kind.removesuffix("_call"), arguments, identity)
    call = tool_call({**item, "id": identity})
    namespace = string(item.get("namespace"))
    if kind == "custom_tool_call":  # free text, even where it looks like JSON
        return ToolCall(call.name, {"input": text_of(item.get("input"))}, identity)
    return (
        ToolCall(f"{namespace}.{call.name}", call.arguments, identity)
        if namespace and namespace.startswith("mcp")
        else call
    )


def _output(output: Any) -> tuple[str, int | None]:
    """A call's output and exit code: plain text with the code in it, parts, or JSON text with the code beside the
    output."""
    if isinstance(output, str) and output.startswith('{"output":'):
        try:
            inner = obj(decode(output.encode())[0])
        except BadJson:
            inner = {}
        if isinstance(inner.get("output"), str):
            return inner["output"], whole(obj(inner.get("metadata")).get("exit_code"))
    text = text_of(output)
    header, has_output, _ = text[:400].partition("\nOutput:\n")
    code = _EXIT_CODE.search(header) if has_output else None
    return text, int(code[1]) if code else None


@dataclass(frozen=True)
class _Child:
    """A sub-agent's rollout in the same folder."""

    id: str
    name: str
    path: Path


def parent_of(path: Path) -> tuple[str, _Child] | None:
    """The parent of a sub-agent's rollout, by its first line, and who it is itself."""
    meta = obj(obj(first_value(path)).get("payload"))
    spawn = obj(obj(obj(meta.get("source")).get("subagent")).get("thread_spawn"))
    parent = first_string((meta.get("parent_thread_id"), spawn.get("parent_thread_id")))
    identity = string(meta.get("id"))
    if parent is None or identity is None or parent == identity:
        return None
    return parent, _Child(identity, string(spawn.get("agent_path")) or "", path)


@lru_cache(maxsize=64)
def _families(folder: Path, changed: int) -> dict[str, list[_Child]]:
    """The sub-agents in a folder, by parent, in the order of their start; `changed` renews what is remembered."""
    del changed
    family: dict[str, list[_Child]] = {}
    for path in sorted(folder.glob("rollout-*.jsonl*")):
        if child := parent_of(path):
            family.setdefault(child[0], []).append(child[1])
    return family
