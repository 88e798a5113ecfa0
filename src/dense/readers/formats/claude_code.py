"""`claude-code`: sessions of Claude Code, `~/.claude/projects/<folder>/<session>.jsonl`, and its stream-json output.

A line each. One response of the model spans several lines with one `message.id`: they are one action, and its usage is
that of the last line. Tool results are `type: user` lines. Most other line types are bookkeeping.

- Sub-agents are in `<session>/subagents/agent-*.jsonl` (older: beside the session, or as `isSidechain` lines within
  it; in stream-json: lines with `parent_tool_use_id`) and nest in the step whose call started them.
- A long output is kept in `<session>/tool-results/`, with a preview in the line: the whole text is taken where the file
  is there.
- What was undone by a rewind did happen, so all lines are read in the order in which they were written.
- Summaries made by a compaction repeat what is there already and are left out.
- A session that was resumed or forked into a new file holds a copy of the earlier lines: the earlier file is not read
  by itself if the new one has all of it. A session whose first line has its parent in another file of the folder goes
  on from there: the earlier lines are read first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.chat import add_part, describe, usage_of
from dense.readers.content import text_of
from dense.readers.embedded import element
from dense.readers.files import HEAD_RECORDS, TraceRecord
from dense.readers.folders.continuations import SESSION, earlier_lines, parent_of_session
from dense.readers.json_value import first_string, flag, is_obj, is_seq, number, obj, string
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation, steps_of_lines
from dense.readers.stream import StepBuilder, Stream
from dense.readers.task import task_of, unwrap_prompt
from dense.trajectory import Source, Step, Task, Trajectory

BOOKKEEPING = frozenset(
    """
    agent-color agent-name agent-setting ai-title api-request api-request-blob api-request-shape atis-latch attachment
    content-replacement cost-state custom-title file-history-snapshot last-prompt marble-origami-commit
    marble-origami-snapshot mode permission-mode pr-link progress queue-operation rate_limit_event speculation-accept
    started stream_event summary system tag task-summary tools-used worktree-state
    """.split()
)
"""Line types that are no turn of anybody."""
OWN_COMMANDS = frozenset(
    """
    /add-dir /agents /branch /bug /clear /compact /config /context /copy /cost /doctor /effort /exit /export /fast
    /feedback /fork /help /hooks /ide /login /logout /mcp /memory /model /output-style /permissions /plugin
    /privacy-settings /quit /release-notes /rename /resume /rewind /status /statusline /tasks /terminal-setup /theme
    /todos /upgrade /usage /vim
    """.split()
)
"""Commands to the program itself: no instruction to the agent."""
MAX_PERSISTED = 16 << 20
"""A kept output that is larger stays a preview."""

COMMAND = ("<command-name>", "<command-message>")
"""How a message begins that is a command, with its arguments."""

_EXIT_CODE = re.compile(r"(?:Error: )?Exit code (\d{1,10})\b")


class ClaudeCode:
    name = "claude-code"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_line(obj(record)) for record in head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        session = _Session(location, _Agents(location.path))
        if stream := session.stream(records):
            yield stream
        else:  # a main agent that did nothing must not hide the others
            yield from session.orphans()


def _is_side(line: dict[str, Any]) -> bool:
    """Whether a line is a sub-agent's."""
    return line.get("isSidechain") is True or string(line.get("parent_tool_use_id")) is not None


def _is_line(line: dict[str, Any]) -> bool:
    kind = string(line.get("type"))
    if kind in ("user", "assistant"):
        marks = ("parentUuid", "isSidechain", "parent_tool_use_id", "sessionId")
        return is_obj(line.get("message")) and any(mark in line for mark in marks)
    if kind == "summary":
        return "leafUuid" in line
    if kind == "system":
        return line.get("subtype") == "init" and "claude_code_version" in line
    return kind in BOOKKEEPING and ("sessionId" in line or "snapshot" in line)


class _Agents:
    """The sub-agents' files of a session. Each is handed out once, so files cannot nest in a circle."""

    def __init__(self, session: Path) -> None:
        folder = session.parent if session.parent.name == "subagents" else session.with_suffix("") / "subagents"
        self.files = {path.stem.removeprefix("agent-"): path for path in sorted(folder.glob("agent-*.jsonl"))}
        self.beside = session.parent
        self.taken = {session.stem.removeprefix("agent-")}
        self.by_call: dict[str, str] = {}
        for name, path in self.files.items():
            if call_id := _started_by(path):
                self.by_call[call_id] = name

    def take(self, name: str) -> Path | None:
        """The file of an agent, if it is there and nobody has taken it."""
        if name in self.taken:
            return None
        self.taken.add(name)
        if name in self.files:
            return self.files[name]
        path = self.beside / f"agent-{name}.jsonl"
        return path if re.fullmatch(r"[A-Za-z0-9_-]{1,128}", name) and path.is_file() else None

    def left(self) -> list[str]:
        """The agents that nobody has taken."""
        return [name for name in self.files if name not in self.taken]


def _started_by(path: Path) -> str | None:
    """The call that started an agent, by the note that newer versions lay beside its file."""
    import msgspec

    try:
        return string(obj(msgspec.json.decode(path.with_suffix(".meta.json").read_bytes())).get("toolUseId"))
    except (OSError, msgspec.DecodeError, RecursionError, ValueError):
        return None


class _Session:
    """Goes through the lines of one agent and builds its steps."""

    def __init__(self, location: TraceLocation, agents: _Agents, side: bool = False) -> None:
        self.location, self.agents = location, agents
        self.notices = location.notices
        self.is_side = side
        self.id = self.version = self.model = None
        self.prompts: list[str] = []
        self.commands: list[str] = []
        self.expansions: list[str] = []
        self.builder: StepBuilder | None = None
        self.response: str | None = None
        self.cost: float | None = None
        self.time: str | None = None
        self.roots: dict[str, str] = {}
        self.sides: dict[str, tuple[_Session, list[Step], Source]] = {}

    def stream(self, records: Iterator[TraceRecord]) -> Stream | None:
        head = list(islice(records, HEAD_RECORDS))
        turns = [line for line in (obj(record.value) for record in head) if line.get("type") in ("user", "assistant")]
        # The file of a sub-agent, read by itself, has nothing but its lines; in a session they may come first.
        self.is_side = self.is_side or (bool(turns) and all(map(_is_side, turns)))
        named = (line for line in (obj(record.value) for record in head) if "uuid" in line)
        first_line = next(named, dict[str, Any]())
        before: Iterator[TraceRecord] = iter(())
        if not self.is_side and parent_of_session(first_line):
            self.learn(first_line)  # the session is the one that goes on
            before = earlier_lines(self.location.path, first_line, self.notices)
        steps = self.steps(chain(before, head, records))
        first = next(steps, None)
        if first is None:
            return None
        stream = Stream(
            format=ClaudeCode.name,
            id=self.id or self.location.path.stem,
            source=Source(self.location.name),
            notices=self.notices,
        )
        stream.agent, stream.agent_version, stream.model = ClaudeCode.name, self.version, self.model
        stream.task = self.task()
        stream.steps = self.with_cost(chain((first,), steps), stream)
        return stream

    def with_cost(self, steps: Iterator[Step], stream: Stream) -> Iterator[Step]:
        yield from steps
        stream.cost_usd = self.cost

    def task(self) -> Task | None:
        """The user's words; if they are only a command, the command and what it expands to."""
        return task_of(self.prompts) or task_of(self.commands + self.expansions)

    def steps(self, records: Iterator[TraceRecord]) -> Iterator[Step]:
        yield from steps_of_lines(records, self.feed, self.notices)
        if done := self.close(is_last=True):
            yield done

    def feed(self, line: dict[str, Any], source: Source) -> Step | None:
        """Take one line; the step that it completes, if it does."""
        kind = string(line.get("type"))
        if kind not in ("user", "assistant"):
            self.bookkeeping(kind, line, source)
            return None
        message = line.get("message")
        if not is_obj(message):
            self.notices.skip(f"{kind} line without a message", source)
            return None
        if _is_side(line) and not self.is_side:
            self.feed_side(line, source)
            return None
        self.learn(line)
        self.time = string(line.get("timestamp"))
        if kind == "assistant":
            return self.act(line, message, source)
        self.hear(line, message, source)
        return None

    def bookkeeping(self, kind: str | None, line: dict[str, Any], source: Source) -> None:
        if kind == "result":
            self.cost = number(line.get("total_cost_usd"))
        elif kind == "cost-state":
            self.cost = None if line.get("hasUnknownModelCost") else number(line.get("totalCostUSD"))
        elif kind == "system" and line.get("subtype") == "init":
            self.learn(line)
            self.model = self.model or string(line.get("model"))
        elif kind not in BOOKKEEPING:
            self.notices.skip(f"unknown line type {kind!r}" if kind else "line without a type", source)

    def learn(self, line: dict[str, Any]) -> None:
        if self.id is None:
            self.id = first_string(
                (
                    line.get("agentId") if line.get("isSidechain") else None,
                    line.get("sessionId"),
                    line.get("session_id"),
                )
            )
        if self.version is None:
            self.version = first_string((line.get("version"), line.get("claude_code_version")))

    def act(self, line: dict[str, Any], message: dict[str, Any], source: Source) -> Step | None:
        """A line of a response: it opens a step, or adds to the one that its response has opened."""
        model = string(message.get("model"))
        if model == "<synthetic>":  # not the model's words: an error or a filler of the program
            if self.builder is not None and (text := text_of(message.get("content"))):
                self.builder.observe(text, origin="system", is_error=flag(line.get("isApiErrorMessage")))
            return None
        response = first_string((message.get("id"), line.get("requestId"), line.get("uuid")))
        done = None
        if self.builder is None or response is None or response != self.response:
            done = self.close()
            self.builder, self.response = StepBuilder(source=source, timestamp=string(line.get("timestamp"))), response
            if self.model is None:
                self.model = model
            elif model != self.model:
                self.builder.model = model
        content = message.get("content")
        for part in content if is_seq(content) else [content]:
            if is_obj(part):
                add_part(self.builder, part)
            else:
                self.builder.message.append(text_of(part))
        self.builder.usage = usage_of(message.get("usage")) or self.builder.usage
        return done

    def hear(self, line: dict[str, Any], message: dict[str, Any], source: Source) -> None:
        """A line of the user: results of tools, words, or both."""
        if line.get("isCompactSummary") is True:
            return
        content = message.get("content")
        parts = content if is_seq(content) else [content]
        results = [part for part in parts if is_obj(part) and part.get("type") == "tool_result"]
        words = [part for part in parts if not (is_obj(part) and part.get("type") == "tool_result")]
        for part in results:
            # What the program notes beside the message is of its only result.
            self.result(part, obj(line.get("toolUseResult")) if len(results) == 1 else {}, source)
        if text := text_of(words):
            self.words(text, line.get("isMeta") is True)

    def words(self, text: str, is_meta: bool) -> None:
        command = element(text, "command-name") if text.lstrip().startswith(COMMAND) else ""
        if command:
            text = f"{command} {element(text, 'command-args')}".strip()
        elif not unwrap_prompt(text):
            return
        if self.builder is not None:
            # A command to the program itself asks the agent for nothing.
            origin = "system" if is_meta or command in OWN_COMMANDS else "user"
            self.builder.observe(text, origin=origin, timestamp=self.time)
        elif command:
            if command not in OWN_COMMANDS:
                self.commands.append(text)
        else:
            (self.expansions if is_meta else self.prompts).append(text)

    def result(self, part: dict[str, Any], detail: dict[str, Any], source: Source) -> None:
        if self.builder is None:
            self.notices.skip("tool result before any action", source)
            return
        text, is_error = text_of(part.get("content")), flag(part.get("is_error"))
        code = _EXIT_CODE.match(text) if is_error else None
        if kept := string(detail.get("persistedOutputPath")):
            text = self.persisted(kept, source) or text
        call_id = string(part.get("tool_use_id"))
        self.builder.observe(text, call_id, is_error=is_error, exit_code=int(code[1]) if code else None)
        if name := string(detail.get("agentId")):
            self.builder.subagents += self.subagent(name)

    def persisted(self, kept: str, source: Source) -> str | None:
        """The output that was too long for the line. Only the file's name is trusted, and only in the session's own
        folder."""
        *_, owner, _, name = ["", "", *re.split(r"[/\\]", kept)]
        own = self.location.path
        session = own.parent.parent if own.parent.name == "subagents" else own.with_suffix("")
        if SESSION.fullmatch(f"{owner}.jsonl") and not (session / "tool-results" / name).exists():
            session = session.with_name(owner)  # a copied line of the session that this one goes on from
        path = session / "tool-results" / name
        try:
            if path.is_symlink() or not path.is_file():
                self.notices.note(f"the kept output {describe(name)} is not there; its preview stays", source)
            elif path.stat().st_size > MAX_PERSISTED:
                self.notices.note(f"the kept output {describe(name)} is too large; its preview stays", source)
            else:
                return path.read_text(encoding="utf-8", errors="replace")
        except (OSError, ValueError):
            self.notices.note(f"the kept output {describe(name)} cannot be read; its preview stays", source)
        return None

    def close(self, is_last: bool = False) -> Step | None:
        """The open step, with the sub-agents that its calls started; the last has those of which it is not known."""
        builder, self.builder = self.builder, None
        if builder is None:
            return None
        for call in builder.calls:
            if name := self.agents.by_call.get(call.id or ""):
                builder.subagents += self.subagent(name)
        builder.subagents += self.close_sides()
        for name in self.agents.left() if is_last and not self.is_side else []:
            self.notices.note(f"sub-agent {name} is linked to no call", Source(self.location.name))
            builder.subagents += self.subagent(name)
        return builder.build()

    def subagent(self, name: str) -> Iterator[Trajectory]:
        """The sub-agent of this name from its own file, once."""
        path = self.agents.take(name)
        if path is None:
            return
        file = self.location.beside(path)
        location = TraceLocation(path, file.name, Notices(self.notices.strict))
        file.notices = location.notices
        try:
            if stream := _Session(location, self.agents, side=True).stream(file.records()):
                yield stream.collect()
            else:
                self.notices.items += location.notices.take()
                self.notices.skip("no step in the sub-agent's file", Source(file.name))
        except (NoTrajectory, OSError) as error:
            self.notices.skip(f"the sub-agent's file cannot be read ({error})", Source(file.name))

    def feed_side(self, line: dict[str, Any], source: Source) -> None:
        """A sub-agent's line within the session: lines of one agent hang together by their parents."""
        uuid, parent = string(line.get("uuid")) or "", string(line.get("parentUuid"))
        root = string(line.get("parent_tool_use_id")) or (self.roots.get(parent, parent) if parent else uuid)
        self.roots[uuid] = root
        if root not in self.sides:
            self.sides[root] = (_Session(self.location, self.agents, side=True), [], source)
        session, steps, _ = self.sides[root]
        if done := session.feed(line, source):
            steps.append(done)

    def orphans(self) -> Iterator[Stream]:
        """The sub-agents of a session without a step of its own."""
        for name in [*self.agents.files]:
            if (path := self.agents.take(name)) is not None:
                file = self.location.beside(path)
                location = TraceLocation(path, file.name, self.notices)
                if stream := _Session(location, self.agents, side=True).stream(file.records()):
                    yield stream

    def close_sides(self) -> Iterator[Trajectory]:
        """The sub-agents that ran within the session while the step was open."""
        for number_, (session, steps, source) in enumerate(self.sides.values()):
            if done := session.close():
                steps.append(done)
            if steps:
                identity = f"{self.id or self.location.path.stem}/side-{source.line or number_}"
                stream = Stream(
                    format=ClaudeCode.name, id=identity, source=source, notices=Notices(), steps=iter(steps)
                )
                stream.agent, stream.agent_version, stream.model = ClaudeCode.name, self.version, session.model
                stream.task = session.task()
                yield stream.collect()
        self.sides.clear()
        self.roots.clear()
