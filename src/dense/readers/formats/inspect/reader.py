"""`inspect`: the logs of Inspect AI, `logs/*.eval` or `logs/*.json`. A log holds many samples, each an attempt.

An `.eval` file is a ZIP archive: `header.json` (or `_journal/start.json` while a run is under way) describes the run;
each sample is one member `samples/<id>_epoch_<n>.json` or, in newer logs, a folder `samples/<id>_epoch_<n>/` with
`sample.json` and its messages, events and attachments in chunks. Since 0.3.206 the members are compressed with zstd
(method 93), which the ZIP module of Python 3.12 cannot undo. A `.json` log is the header with `samples` in it. Two
samples are in memory at a time, the one that is read and the one before it.

Traps, and what we decided:
- Long texts are `attachment://` references into the sample's attachments (by hash, or by index where chunked).
- `messages` is the conversation as it stood at the end. Where it was compacted on the way, or where a solver kept it to
  itself, the model calls among the `events` show what happened.
- The totals of a sample (`model_usage`) count what its scorers spent, so the events are added up instead where there
  are any.
- `target`, `scores`, `metadata`, `store` and what scorers did are never looked at. A multiple-choice task is taken from
  the message that shows the choices to the agent, because `input` lacks them.
- The same sample may be run in several epochs: the ID has both.
- The `react` agent takes its `submit` call out of the conversation when it ends; the call is taken from the events.
- An agent that a tool call started is a sub-agent; one that was handed the conversation speaks in `messages` itself.
- What ended a sample (an error, a limit) is the last thing that its last step observes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from dense.errors import NotATrace
from dense.readers.chat import Chat
from dense.readers.files import TraceFile, TraceRecord
from dense.readers.formats.inspect.archive import SAMPLE_NAME, ArchiveMembers
from dense.readers.formats.inspect.sample import InspectSample, id_text
from dense.readers.json_value import is_obj, obj, objs, seq, string
from dense.readers.notices import Notices
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream, held_back
from dense.trajectory import Source


class InspectLog:
    name = "inspect"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_log(record) for record in head[:1])

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        for record in records:
            if not _is_log(record.value):
                location.notices.skip("not an Inspect log", record.source)
                continue
            log = record.value
            samples = seq(log.get("samples"))
            if not samples:
                location.notices.note(_no_sample(log), record.source)
            yield from held_back(
                _Log(log, self.name, location).streams(enumerate(samples), record.source), location.notices
            )

    def read_container(self, file: TraceFile, location: TraceLocation, forced: str | None) -> Iterator[Stream]:
        """The samples of an `.eval` file, one after the other."""
        if forced not in (None, self.name):
            raise NotATrace(f"{file.name}: an archive, which can be read as {self.name} only")
        with file.archive() as archive:
            members = ArchiveMembers(archive, location)
            log = members.header()
            if log is None:
                raise NotATrace(
                    f"{location.name}: a ZIP archive, but not an Inspect log; unpack it and give its folder"
                )
            names = [name for name in members.names if SAMPLE_NAME.fullmatch(name)]
            if not names:
                location.notices.note(_no_sample(log), location.source())
            samples = ((None, members.sample(name)) for name in names)
            yield from held_back(_Log(log, self.name, location).streams(samples, location.source()), location.notices)


def _is_log(value: Any) -> bool:
    info = obj(obj(value).get("eval"))
    return "version" in obj(value) and "status" in obj(value) and string(info.get("task")) is not None


def _no_sample(log: dict[str, Any]) -> str:
    status = string(log.get("status")) or "unknown"
    reason = string(obj(log.get("error")).get("message"))
    return f"no sample was logged: the status of the run is {status!r}" + (f" ({reason})" if reason else "")


@dataclass
class _Log:
    """One log: what is known of the run, and the samples as trajectories."""

    log: dict[str, Any]
    format: str
    location: TraceLocation
    used: set[str] = field(default_factory=set[str])

    def streams(self, samples: Iterable[tuple[int | None, Any]], source: Source) -> Iterator[Stream]:
        for index, sample in samples:
            if is_obj(sample):
                yield from self._stream(sample)
            elif index is not None:
                self.location.notices.skip("not a sample", msgspec.structs.replace(source, part=f"sample {index}"))

    def _stream(self, value: dict[str, Any]) -> Iterator[Stream]:
        name = self._name(value)
        notices = Notices(self.location.notices.strict)
        sample = InspectSample(value, notices, self.location.source(part=name))
        chat = Chat(notices=notices)
        steps = sample.steps(chat)
        if not steps:
            self.location.notices.items += notices.take()
            self.location.notices.note("no step of an agent in this sample", sample.source)
            return
        info = obj(self.log.get("eval"))
        agent = string(info.get("solver")) or _last_solver(self.log)
        yield Stream(
            format=self.format,
            id=name,
            source=sample.source,
            notices=notices,
            steps=iter(steps),
            agent=agent,
            agent_version=_version(agent, obj(info.get("packages"))),
            model=next((model for model in (string(info.get("model")),) if model != "none/none"), None) or chat.model,
            task=sample.task(chat, string(info.get("task"))),
            usage=sample.usage(),
        )

    def _name(self, sample: dict[str, Any]) -> str:
        name = stem = f"{id_text(sample.get('id'))}_epoch_{id_text(sample.get('epoch'))}"
        again = 1
        while name in self.used:
            again += 1
            name = f"{stem}#{again}"
        self.used.add(name)
        return name


def _last_solver(log: dict[str, Any]) -> str | None:
    solvers = [string(step.get("solver")) for step in objs(obj(log.get("plan")).get("steps"))]
    return next(filter(None, reversed(solvers)), None)


def _version(agent: str | None, packages: dict[str, Any]) -> str | None:
    """The version of the package that has the solver; one without a package is Inspect's own or the user's."""
    package, slash, _ = (agent or "").partition("/")
    return string(packages.get(package if slash else "inspect_ai"))
