"""What the readers of coding agents share: a session on its way to steps, record by record.

`AgentSession` is for formats with events of their own, `ChatSession` for those that keep chat messages in a wrapper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from dense.readers.chat import Chat
from dense.readers.files import TraceRecord
from dense.readers.json_value import is_obj, objs
from dense.readers.reader import TraceLocation
from dense.readers.stream import StepBuilder, Stream
from dense.readers.task import task_of
from dense.trajectory import Source, Step, Usage


class AgentSession:
    """Goes through the records of one session. A subclass has a name and `feed`."""

    name = ""

    def __init__(self, location: TraceLocation, source: Source | None = None) -> None:
        self.location = location
        self.source = source or location.source()
        self.id: str | None = None
        self.version: str | None = None
        self.model: str | None = None
        self.prompts: list[str] = []
        self.builder: StepBuilder | None = None
        self.usage: Usage | None = None
        """The program's own total; None if the steps add up to it."""

    def feed(self, line: dict[str, Any], source: Source) -> Step | None:
        """Take one record; the step that it completes, if it does."""
        raise NotImplementedError

    def close(self) -> Step | None:
        """The step that is open."""
        builder, self.builder = self.builder, None
        return None if builder is None else builder.build()

    def act(
        self, source: Source, model: str | None, time: str | None, usage: Usage | None = None
    ) -> tuple[Step | None, StepBuilder]:
        """Open a step: the one before it, which is complete now, and the new one."""
        done = self.close()
        self.builder = builder = StepBuilder(source=source, timestamp=time, usage=usage)
        if self.model is None:
            self.model = model
        elif model is not None and model != self.model:
            builder.model = model
        return done, builder

    def said(self, text: str, time: str | None, *, is_own: bool = False) -> None:
        """What a person said, or the program itself."""
        if self.builder is not None:
            self.builder.observe(text, origin="system" if is_own else "user", timestamp=time)
        elif not is_own:
            self.prompts.append(text)

    def stream(self, records: Iterable[TraceRecord]) -> Iterator[Stream]:
        """The session, if the agent does anything in it."""
        steps = self.steps(records)
        first = next(steps, None)
        if first is None:
            return
        stream = Stream(
            format=self.name, id=self.id or self.default_id(), source=self.source, notices=self.location.notices
        )
        stream.agent, stream.agent_version, stream.model = self.name, self.version, self.model
        stream.task, stream.usage = task_of(self.prompts), self.usage
        stream.steps = chain((first,), steps)
        yield stream

    def default_id(self) -> str:
        """The ID of a session that does not say its own."""
        return self.location.path.stem

    def steps(self, records: Iterable[TraceRecord]) -> Iterator[Step]:
        """The steps. The first is handed out when the second begins: by then the prompts are complete."""
        for record in records:
            if not is_obj(record.value):
                self.location.notices.skip("not an object", record.source)
            elif done := self.feed(record.value, record.source):
                yield done
        if done := self.close():
            yield done


class ChatSession(AgentSession):
    """A session of chat messages. A subclass has `messages`: what a record holds of them."""

    def __init__(self, location: TraceLocation, source: Source | None = None) -> None:
        super().__init__(location, source)
        self.chat = Chat(notices=location.notices)
        self.prompts = self.chat.prompts

    def messages(self, line: dict[str, Any], source: Source) -> Iterable[dict[str, Any]]:
        """The messages in a record, in OpenAI's or Anthropic's dialect."""
        raise NotImplementedError

    def steps(self, records: Iterable[TraceRecord]) -> Iterator[Step]:
        """The steps of all messages."""
        for record in records:
            if not is_obj(record.value):
                self.location.notices.skip("not an object", record.source)
                continue
            for message in self.messages(record.value, record.source):
                done = self.chat.feed(message, record.source)
                self.model = self.model or self.chat.model
                if done:
                    yield done
        if done := self.chat.finish():
            yield done


def parts_of(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of a message's content, a plain text as one part."""
    content = message.get("content")
    return [{"type": "text", "text": content}] if isinstance(content, str) else objs(content)
