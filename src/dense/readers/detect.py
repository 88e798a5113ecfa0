"""Finds the reader of a file by its content.

The table is the list of all formats, by short name. Its order matters where one format is a special case of another: a
`messages` file is claimed last, because half of the other formats contain messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from importlib import import_module
from itertools import chain, islice
from typing import Any

from dense.errors import DenseError, NotATrace, NoTrajectory, UnknownFormat
from dense.readers.files import HEAD_RECORDS, EventFolder, TraceFile, TraceRecord
from dense.readers.json_value import is_seq
from dense.readers.notices import Notices
from dense.readers.reader import Reader, TraceLocation
from dense.readers.stream import Stream
from dense.trajectory import Source

READERS = {
    "dense": "dense.readers.formats.native:Native",
    "qwen-code": "dense.readers.formats.coding_agents.qwen_code:QwenCode",
    "claude-code": "dense.readers.formats.claude_code:ClaudeCode",
    "atif": "dense.readers.formats.atif:Atif",
    "codex": "dense.readers.formats.codex.reader:Codex",
    "inspect": "dense.readers.formats.inspect.reader:InspectLog",
    "mini-swe-agent": "dense.readers.formats.mini_swe_agent:MiniSweAgent",
    "swe-agent": "dense.readers.formats.swe_agent:SweAgent",
    "openhands": "dense.readers.formats.openhands.reader:OpenHands",
    "droid": "dense.readers.formats.coding_agents.droid:Droid",
    "kimi-cli": "dense.readers.formats.coding_agents.kimi_cli:KimiCli",
    "gemini-cli": "dense.readers.formats.gemini_cli:GeminiCli",
    "pi": "dense.readers.formats.pi:Pi",
    "openclaw": "dense.readers.formats.pi:OpenClaw",
    "opencode": "dense.readers.formats.coding_agents.opencode:Opencode",
    "copilot-cli": "dense.readers.formats.coding_agents.copilot_cli:CopilotCli",
    "cursor": "dense.readers.formats.coding_agents.cursor:Cursor",
    "cline": "dense.readers.formats.coding_agents.cline:Cline",
    "goose": "dense.readers.formats.coding_agents.goose:Goose",
    "terminal-bench-1": "dense.readers.formats.terminal_bench:TerminalBench",
    "otel": "dense.readers.formats.otel.reader:Otel",
    "tau-bench": "dense.readers.formats.tau_bench:TauBench",
    "who-and-when": "dense.readers.formats.who_and_when:WhoAndWhen",
    "agentrx": "dense.readers.formats.who_and_when:AgentRx",
    "pochi": "dense.readers.formats.messages:Pochi",
    "messages": "dense.readers.formats.messages:Messages",
}


CONTAINERS: dict[str, str] = {
    "archive": "dense.readers.formats.inspect.reader:InspectLog",
    "sqlite": "dense.readers.formats.coding_agents.databases:SqliteStore",
    "parquet": "dense.readers.formats.parquet:ParquetRows",
}
"""Who reads files that are no JSON, by their shape: `read_container` chooses by what is in them."""


@cache
def reader(name: str) -> Reader:
    """The reader of a format: by its short name, or a class of the user's own as `module:Class`."""
    path = READERS.get(name, name)
    if ":" not in path:
        raise UnknownFormat(f"unknown format {name!r}; known are {', '.join(READERS)}, and any `module:Class`")
    return _load(path)


@cache
def _load(path: str) -> Any:
    module, _, cls = path.partition(":")
    try:
        return getattr(import_module(module), cls)()
    except (ImportError, AttributeError, ValueError) as error:
        raise UnknownFormat(f"the reader {path!r} cannot be loaded: {error}") from None


def streams(file: TraceFile | EventFolder, forced: str | None = None) -> Iterator[Stream]:
    """The trajectories of one file, by the reader that claims it or the one that is forced."""
    location = TraceLocation(file.path, file.name, file.notices)
    if isinstance(file, TraceFile) and (container := CONTAINERS.get(file.shape)):
        yield from _load(container).read_container(file, location, forced)
        return
    if (claimed := _claimed(file, forced)) is not None:
        chosen, records = claimed
        yield from chosen.read(_ahead(records), location)
        return
    if forced:
        # Not even a forced reader claims it: it gets the records in the first way, and says what it cannot make out.
        for records in islice(_record_lists(file), 1):
            yield from reader(forced).read(_ahead(records), location)
        return
    raise NotATrace(
        f"{file.name}: not a trace of a known format ({', '.join(READERS)}). If it is one, name it with --format, or"
        " write a reader for it (docs/add-a-reader.md)"
    )


def is_recognised(file: TraceFile | EventFolder) -> bool:
    """Whether a reader claims the file, by its first records."""
    file = replace(file, notices=Notices())  # what is met here is reported when the file is read
    try:
        if isinstance(file, TraceFile) and file.shape in CONTAINERS:
            return True
        return _claimed(file, None) is not None
    except (DenseError, OSError, RecursionError):
        return False


def _claimed(file: TraceFile | EventFolder, forced: str | None) -> tuple[Reader, Iterator[TraceRecord]] | None:
    """The reader that claims a file, and the records to give it."""
    for records in _record_lists(file):
        head = list(islice(records, HEAD_RECORDS))
        values = [record.value for record in head]
        for name in [forced] if forced else READERS:
            if (chosen := reader(name)).claims(values):
                return chosen, chain(head, records)
    return None


def _record_lists(file: TraceFile | EventFolder) -> Iterator[Iterator[TraceRecord]]:
    """The ways in which a file can be taken as records."""
    if isinstance(file, EventFolder):
        yield file.records()
        return
    shape = file.shape
    if shape == "empty" and not file.notices.items:
        raise NoTrajectory(f"{file.name}: the file is empty; the run was probably killed before it wrote anything")
    if shape == "packed":
        raise NotATrace(f"{file.name}: an archive; unpack it and give its folder (.gz and .zst files are read as is)")
    if shape == "lines":
        yield file.records()
    elif shape == "document":
        documents = file.documents()
        yield iter(documents)
        if len(documents) == 1 and is_seq(documents[0].value):
            yield (TraceRecord(item, Source(file.name, index=index)) for index, item in enumerate(documents[0].value))


def _ahead(records: Iterable[TraceRecord]) -> Iterator[TraceRecord]:
    """The same records, each handed out when the next good one is known: damage behind the last is then reported with
    it."""
    iterator = iter(records)
    record = next(iterator, None)
    while record is not None:
        coming = next(iterator, None)
        yield record
        record = coming
