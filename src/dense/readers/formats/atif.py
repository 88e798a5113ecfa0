"""`atif`: Harbor's trajectories (ATIF-v1.0 to v1.8), `jobs/<job>/<trial>/agent/trajectory.json`.

One document: `steps[]` with `source` system, user or agent. Each agent step is a step of ours, with these exceptions:
- `is_copied_context` marks what a sub-agent or a continuation repeats of its parent: left out.
- Some writers put a tool's output into an agent step of its own, linked by `extra.tool_call_id` only: it is an
  observation.
- `continued_trajectory_ref` names the file in which the attempt goes on: read on there, without the prompts that hand
  it over. User and system steps before the first action are prompts; later ones are observations. Sub-agents, embedded
  or in files beside, nest in the step whose result refers to them. Each is read once, so they cannot nest in a circle.
- A converter puts behind what the agent saw a second copy of it (`[stdout]`), or the whole file before and after an
  edit (`[metadata] {…}`): left out, because no agent saw it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from dense.errors import NoTrajectory
from dense.readers.chat import describe
from dense.readers.content import arguments_of, text_of
from dense.readers.embedded import spoken_calls
from dense.readers.files import TraceRecord
from dense.readers.folders.harbor import task_beside, task_name
from dense.readers.formats.codex.code_mode import program
from dense.readers.json_value import first_string, flag, is_obj, number, obj, objs, seq, string, whole
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation, fitting_documents, location_of_row, unique_id
from dense.readers.stream import StepBuilder, Stream
from dense.readers.task import task_of, unwrap_prompt
from dense.trajectory import Source, Step, Task, ToolCall, Trajectory, Usage

MAX_DEPTH = 8
"""How deep sub-agents are followed."""


class Atif:
    name = "atif"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_atif(record) for record in head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        ids: set[str] = set()
        for record in fitting_documents(
            records, _has_actions, location.notices, "an ATIF trajectory with a step of the agent"
        ):
            if stream := _Reading(record.value, record.source, location).stream():
                stream.id = unique_id(stream.id, location_of_row(record.source), ids)
                yield stream
            else:
                location.notices.skip("trajectory without a step of the agent", record.source)


def _has_actions(value: Any) -> bool:
    """Whether the agent acts in the document, or may do so in the one that continues it."""
    if not _is_atif(value):
        return False
    return "continued_trajectory_ref" in value or any(step.get("source") == "agent" for step in objs(value["steps"]))


def _is_atif(value: Any) -> bool:
    document = obj(value)
    if not isinstance(document.get("steps"), list):
        return False
    if str(document.get("schema_version")).startswith("ATIF"):
        return True
    return is_obj(document.get("agent")) and any(
        "step_id" in step and "source" in step for step in objs(document["steps"])
    )


class _Reading:
    """One attempt on its way to steps. `prompts` gathers what came before the first action, `taken` the names of the
    files that are read with it."""

    def __init__(
        self,
        document: dict[str, Any],
        source: Source,
        location: TraceLocation,
        depth: int = 0,
        taken: set[str] | None = None,
    ) -> None:
        self.document, self.source, self.location, self.depth = document, source, location, depth
        self.taken = {location.path.name} if taken is None else taken
        self.model = string(obj(document.get("agent")).get("model_name"))
        self.own = obj(obj(document.get("extra")).get("dense"))
        """What our converter noted; its document is taken as it is written, because the first reader did the rest."""
        self.prompts: list[str] = []
        self.copied_prompts: list[str] = []
        self.call_ids: set[str] = set()
        self.programs: dict[str, str | None] = {}
        """The only call in each program of the `exec` tool, by the id of the tool's call; None if it has several."""
        self.indices: Sequence[int] = ()
        self.builder: StepBuilder | None = None

    def stream(self) -> Stream | None:
        """The attempt, or None if the agent did nothing in it."""
        agent = obj(self.document.get("agent"))
        names = (self.document.get("session_id"), self.document.get("trajectory_id"), Path(self.source.path).stem)
        stream = Stream(
            format=Atif.name, id=first_string(names) or "", source=self.source, notices=self.location.notices
        )
        steps = self.steps(stream)
        first = next(steps, None)
        if first is None:
            return None
        stream.agent, stream.agent_version = (_known(agent.get(key), self.own) for key in ("name", "version"))
        stream.model, stream.task = self.model, self.task()
        stream.steps = chain((first,), steps)
        return stream

    def task(self) -> Task | None:
        """The instruction. A continuation that is read by itself has it among what it copied."""
        if self.own:
            return _own_task(self.prompts, obj(self.own.get("task")))
        name = None if self.depth else task_name(self.location.path)
        task = task_of(self.prompts, name)
        if task is None and not self.depth:
            task = task_beside(self.location.path)
        return task or task_of(self.copied_prompts[:1], name)

    def steps(self, stream: Stream) -> Iterator[Step]:
        for document, name, is_continued in self.documents():
            handed_over = not is_continued
            stream.usage = _total(document.get("final_metrics")) or stream.usage
            inner = objs(document.get("subagent_trajectories"))
            embedded = {key: t for t in inner for key in _identities(t)[1:]}
            embedded |= {key: t for t in inner for key in _identities(t)[:1]}
            main, side = _apart(seq(document["steps"]))
            for index, value in main:
                source = _at(self.source, name, self.indices[index] if self.indices else index)
                if not is_obj(value):
                    self.location.notices.skip("step is not an object", source)
                elif value.get("is_copied_context") is True:
                    if value.get("source") == "user" and self.builder is None:
                        self.copied_prompts.append(text_of(value.get("message")))
                elif value.get("source") == "agent":
                    handed_over = True
                    if not self.is_result(value):
                        if self.builder is not None:
                            yield self.builder.build()
                        self.builder = self.open(value, source)
                    self.observe(value, source, embedded)
                elif value.get("source") in ("user", "system"):
                    # What hands an attempt over to its continuation repeats the task and sums up what is known.
                    if handed_over:
                        self.hear(value, source, embedded)
                else:
                    self.location.notices.skip(f"step with unknown source {describe(value.get('source'))}", source)
                if index in side and self.builder is not None:
                    self.builder.subagents += self.sidechains(side[index], name)
                elif index in side:
                    self.location.notices.skip("steps of a sub-agent before any action", source)
        if self.builder is not None:
            yield self.builder.build()

    def documents(self) -> Iterator[tuple[dict[str, Any], str, bool]]:
        """This document and those that continue it: the value, the file's name, whether it is a continuation."""
        yield self.document, self.source.path, False
        reference = string(self.document.get("continued_trajectory_ref"))
        while reference and (record := self.beside(reference, "the continuation")):
            yield record.value, record.source.path, True
            reference = string(record.value.get("continued_trajectory_ref"))
        if reference and self.builder is not None:
            self.builder.observe(f"The record continues in {describe(reference)}.", origin="system")

    def beside(self, reference: str, what: str) -> TraceRecord | None:
        """A trajectory in another file of the same folder, once. A reference never leads out of it."""
        name = Path(reference).name
        if name in self.taken:
            self.location.notices.note(f"{what} {describe(reference)} was read already", self.source)
            return None
        self.taken.add(name)
        try:
            record = self.location.beside(self.location.path.parent / name).document()
        except (NoTrajectory, OSError, ValueError):
            self.location.notices.note(f"{what} {describe(reference)} is not there or cannot be read", self.source)
            return None
        if not _is_atif(record.value):
            self.location.notices.skip(f"{what} is not an ATIF trajectory", record.source)
            return None
        return record

    def open(self, value: dict[str, Any], source: Source) -> StepBuilder:
        """A new action."""
        model = string(value.get("model_name"))
        builder = StepBuilder(source=source, timestamp=_time(value), usage=_step_usage(value.get("metrics")))
        if self.model is None:
            self.model = model
        elif model is not None and model != self.model and _short(model) != _short(self.model):
            builder.model = model
        message = text_of(value.get("message"))
        builder.reasoning.append(text_of(value.get("reasoning_content")))
        builder.calls += [call for item in objs(value.get("tool_calls")) for call in self.calls(_call(item))]
        self.call_ids.update(call.id for call in builder.calls if call.id)
        if self.own:
            builder.agent = string(obj(value.get("extra")).get("agent"))
        elif not builder.calls and (spoken := spoken_calls(message, _answer_of(value))):
            message, builder.calls = spoken.text, spoken.calls
        if not (builder.calls and _is_filler(message, builder.calls[0])):
            builder.message.append(message)
        return builder

    def calls(self, call: ToolCall) -> list[ToolCall]:
        """A call, or those of the JavaScript program that Codex's `exec` runs."""
        if call.name != "exec":
            return [call]
        code = string(call.arguments.get("input")) or string(call.arguments.get("code"))
        if code is None or (parsed := program(code, call.id)) is None:
            return [call]
        self.programs[call.id or ""] = parsed.calls[0].id if len(parsed.calls) == 1 else None
        return parsed.calls

    def is_result(self, value: dict[str, Any]) -> bool:
        """Whether an agent step is only the output of a call of a step before."""
        if "extra" not in value or value.get("tool_calls"):
            return False
        return string(obj(value["extra"]).get("tool_call_id")) in self.call_ids

    def observe(self, value: dict[str, Any], source: Source, embedded: dict[str, dict[str, Any]]) -> None:
        """The results of an agent step, or of a system step that did something itself."""
        if self.builder is None:
            return
        extra = obj(value.get("extra"))
        results = objs(obj(value.get("observation")).get("results"))
        if not results and self.is_result(value):
            results = [{"content": value.get("message")}]
        for result in results:
            call_id = string(result.get("source_call_id")) or string(extra.get("tool_call_id"))
            call_id = self.programs.get(call_id or "", call_id)
            if (content := result.get("content")) is not None:
                text = text_of(content) if self.own else _without_copies(text_of(content))
                if noted := obj(result.get("extra")):
                    self.note(text, call_id, noted)
                else:
                    self.builder.observe(text, call_id)
            for reference in objs(result.get("subagent_trajectory_ref")):
                self.builder.subagents += self.subagent(reference, source, embedded)

    def note(self, text: str, call_id: str | None, noted: dict[str, Any]) -> None:
        """A result of which the writer notes more than the text."""
        if self.builder is not None:
            self.builder.observe(
                text,
                call_id or string(noted.get("call_id")),
                is_error=flag(noted.get("is_error"), noted.get("tool_result_is_error")),
                exit_code=whole(noted.get("exit_code")),
                timestamp=string(noted.get("timestamp")),
            )

    def hear(self, value: dict[str, Any], source: Source, embedded: dict[str, dict[str, Any]]) -> None:
        """A step of the user or of the system."""
        text = text_of(value.get("message"))
        if self.builder is None:
            if value.get("source") == "user" and text:
                self.prompts.append(text)
            elif text and (unwrap_prompt(text) != text):
                self.prompts.append(text)  # early versions of Terminus-2 sent the wrapped instruction as the system
            return
        if text:
            origin, is_error = value["source"], flag(obj(value.get("extra")).get("is_error"))
            self.builder.observe(text, origin=origin, is_error=is_error, timestamp=_time(value))
        self.observe(value, source, embedded)

    def subagent(
        self, reference: dict[str, Any], source: Source, embedded: dict[str, dict[str, Any]]
    ) -> Iterator[Trajectory]:
        """The trajectory that a result refers to."""
        if self.depth >= MAX_DEPTH:
            self.location.notices.note("sub-agents nested too deeply; the rest is left out", source)
            return
        document = next((embedded[key] for key in _identities(reference)[:1] if key in embedded), None)
        if document is not None:
            for key in [key for key, value in embedded.items() if value is document]:
                del embedded[key]
            record = TraceRecord(document, Source(source.path, source.line, source.index, part="sub-agent"))
        elif path := string(reference.get("trajectory_path")):
            record = self.beside(path, "the sub-agent's trajectory")
        else:
            self.location.notices.note("a sub-agent's trajectory is referred to that is not there or was read", source)
            return
        if record is not None and _is_atif(record.value):
            yield from self.nested(record.value, record.source)

    def sidechains(self, steps: list[tuple[int, dict[str, Any]]], name: str) -> Iterator[Trajectory]:
        """Sub-agents whose steps the writer laid among those of the parent, distinguished by `extra.agent_id`."""
        groups: dict[str, dict[int, dict[str, Any]]] = {}
        for index, step in steps:
            agent_id = string(obj(step.get("extra")).get("agent_id")) or ""
            plain = {**step, "extra": {**obj(step.get("extra")), "is_sidechain": False}}
            groups.setdefault(agent_id, {})[index] = plain
        for agent_id, group in groups.items():
            document = {"agent": self.document.get("agent"), "session_id": agent_id or "sub-agent"}
            document["steps"] = [*group.values()]
            yield from self.nested(document, Source(name, index=min(group)), tuple(group))

    def nested(self, document: dict[str, Any], source: Source, indices: Sequence[int] = ()) -> Iterator[Trajectory]:
        """A sub-agent; `indices` are the indices of its steps if they are among those of others."""
        reading = _Reading(document, source, self.location, self.depth + 1, self.taken)
        reading.indices = indices
        stream = reading.stream()
        if stream is not None:
            stream.notices = Notices()  # notices about a sub-agent belong to the whole attempt
            yield stream.collect()


def _apart(steps: list[Any]) -> tuple[list[tuple[int, Any]], dict[int, list[tuple[int, dict[str, Any]]]]]:
    """The main steps with their indices, and the sidechain steps by the index of the main step that they follow."""
    main: list[tuple[int, Any]] = []
    side: dict[int, list[tuple[int, dict[str, Any]]]] = {}
    for index, step in enumerate(steps):
        if main and is_obj(step) and obj(step.get("extra")).get("is_sidechain") is True:
            side.setdefault(main[-1][0], []).append((index, step))
        else:
            main.append((index, step))
    return main, side


def _at(source: Source, name: str, index: int) -> Source:
    return Source(name, source.line if name == source.path else None, index, source.part)


def _identities(value: dict[str, Any]) -> list[str]:
    """The names of a trajectory; the first is its own, the second often that of all that belong together."""
    return [key for name in ("trajectory_id", "session_id") if (key := string(value.get(name)))]


def _call(value: dict[str, Any]) -> ToolCall:
    name, call_id = string(value.get("function_name")) or "?", string(value.get("tool_call_id"))
    if "extra" in value and obj(value["extra"]).get("id", call_id) is None:
        call_id = None  # our converter made it up
    return ToolCall(name, arguments_of(value.get("arguments")), call_id)


def _answer_of(value: dict[str, Any]) -> str | None:
    """What the first result of a step says; None if there is none."""
    results = objs(obj(value.get("observation")).get("results"))
    return text_of(results[0].get("content")) if results else None


def _is_filler(message: str, call: ToolCall) -> bool:
    """Harbor writes "Executed NAME ID" where the agent said nothing."""
    return message == f"Executed {call.name} {call.id or ''}".strip()


def _time(step: dict[str, Any]) -> str | None:
    return string(step.get("timestamp")) or string(obj(step.get("extra")).get("timestamp"))


def _known(value: Any, own: dict[str, Any]) -> str | None:
    """A name or version; our converter fills in a word where there is none."""
    return None if own and value == "unknown" else string(value)


def _own_task(prompts: list[str], noted: dict[str, Any]) -> Task | None:
    """The task that our converter wrote: the first step, and what ATIF has no field for."""
    try:
        return msgspec.convert({**noted, "instruction": prompts[0]}, Task) if prompts else None
    except msgspec.ValidationError:
        return task_of(prompts)


def _short(model: str) -> str:
    return model.rpartition("/")[2]


def _step_usage(metrics: Any) -> Usage | None:
    counts = obj(metrics)
    written = whole(obj(counts.get("extra")).get("cache_creation_input_tokens"))
    return _usage(
        counts.get("prompt_tokens"),
        counts.get("cached_tokens"),
        written,
        counts.get("completion_tokens"),
        counts.get("cost_usd"),
    )


def _total(metrics: Any) -> Usage | None:
    counts = obj(metrics)
    written = whole(obj(counts.get("extra")).get("total_cache_creation_input_tokens"))
    keys = ("total_prompt_tokens", "total_cached_tokens", "total_completion_tokens", "total_cost_usd")
    prompt, cached, output, cost = (counts.get(key) for key in keys)
    return _usage(prompt, cached, written, output, cost)


def _usage(prompt: Any, cached: Any, written: int | None, output: Any, cost: Any) -> Usage | None:
    """ATIF counts the cache inside the prompt."""
    total, read = whole(prompt), whole(cached)
    fresh = None if total is None else total - (read or 0)
    if fresh is not None and written is not None and fresh >= written:
        fresh -= written
    usage = Usage(None if fresh is None else max(fresh, 0), read, written, whole(output), number(cost))
    return usage if usage != Usage() else None


METADATA = "\n[metadata] {"
COPIES = frozenset({"originalFile", "structuredPatch", "file", "filenames", "noOutputExpected"})
"""Keys of what a recorder notes of a call beside what the agent saw."""
STDOUT = "\n[stdout]\n"


def _without_copies(text: str) -> str:
    """What came back, without the recorder's copy of it."""
    at = text.rfind(METADATA)
    if at >= 0:
        try:
            noted = msgspec.json.decode(text[at + len(METADATA) - 1 :].encode())
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            noted = None
        if is_obj(noted) and not COPIES.isdisjoint(noted):
            text = text[:at].rstrip("\n")
    at = text.rfind(STDOUT)
    return text[:at].rstrip("\n") if at >= 0 and text[at + len(STDOUT) :].strip() == text[:at].strip() else text
