"""`dense`: our own normalised trajectories, as `dense read --json` prints them. Reading them back loses nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from dense.readers.files import TraceRecord
from dense.readers.json_value import obj
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream
from dense.trajectory import SCHEMA, Trajectory

FAMILY = SCHEMA.partition("/")[0]


class Native:
    name = "dense"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(str(obj(record).get("schema")).startswith(f"{FAMILY}/") for record in head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        for record in records:
            try:
                read = msgspec.convert(record.value, Trajectory)
            except msgspec.ValidationError as error:
                schema = obj(record.value).get("schema")
                reason = str(error) if schema == SCHEMA else f"schema {schema!r}; this version reads {SCHEMA!r}"
                location.notices.skip(f"not a normalised trajectory: {reason}", record.source)
                continue
            location.notices.items.extend(read.notices)
            yield Stream(
                format=read.format,
                id=read.id,
                source=read.source,
                notices=location.notices,
                steps=iter(read.steps),
                agent=read.agent,
                agent_version=read.agent_version,
                model=read.model,
                task=read.task,
                usage=read.usage,
                is_normalised=True,
            )
