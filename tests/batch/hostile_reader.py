"""A reader of a user's own that ends or blocks its process on some traces: `--format hostile_reader:Hostile`."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dense.readers.files import TraceRecord
from dense.readers.formats.messages import Messages
from dense.readers.reader import TraceLocation
from dense.readers.stream import Stream


class Hostile:
    name = "hostile"

    def claims(self, head: Sequence[Any]) -> bool:
        return True

    def read(self, records: Iterator[TraceRecord], place: TraceLocation) -> Iterator[Stream]:
        found = list(records)
        text = str(found[0].value)
        if "kill me" in text:
            os.kill(os.getpid(), signal.SIGKILL)
        if "take long" in text:
            time.sleep(60)
        if "be slow" in text:
            with Path(os.environ["SLOW_TRACES"]).open("a") as file:
                file.write("one\n")
            time.sleep(0.02)
        yield from Messages().read(iter(found), place)
