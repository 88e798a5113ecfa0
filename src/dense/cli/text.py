"""Text for the terminal. A trace is untrusted: its control and direction characters never reach the screen.

Whatever is written to a terminal is escaped by `dense.text.terminal`; a `SafeConsole` adds colours. Nothing else in
`dense` may make a console or open the terminal (`tests/cli/test_terminal.py`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, override

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from dense.text.clip import clip_end
from dense.text.terminal import GuardedStream, escaped


class SafeConsole(Console):
    """The console of all commands: escapes what it is given to print, and adds colours on a terminal.

    Its reader may leave: that is no error (`| head`)."""

    @property
    @override
    def file(self) -> IO[str]:
        """The terminal behind the guard: this console escapes by itself."""
        stream = super().file
        return stream.screen if isinstance(stream, GuardedStream) else stream

    @file.setter
    def file(self, new_file: IO[str]) -> None:
        self._file = new_file

    @override
    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        """The pieces of what is printed, escaped if they are text."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=escaped(segment.text))

    @override
    def on_broken_pipe(self) -> None:
        """Let the command's own handling of it decide, instead of an exit code of its own."""
        raise BrokenPipeError


def printable(text: str) -> str:
    """The text on one line, without control and direction characters."""
    return escaped(" ".join(text.split()))


def shortened(text: str, width: int) -> str:
    """The beginning of the text, at most this long."""
    clean = printable(text[: width * 4])
    return clip_end(clean, width)


def other_files(kinds: Counter[str]) -> str:
    """How many files are no traces, by how their names end."""
    total = sum(kinds.values())
    each = ", ".join(f"{count} {kind or 'without a suffix'}" for kind, count in kinds.most_common(6))
    return f"{total} {'file' if total == 1 else 'files'} of no known format ({printable(each)})"


def format_bytes(count: int) -> str:
    """A number of bytes with its unit: 12 KB."""
    number = float(count)
    for unit in ("B", "KB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}" if unit == "B" or number >= 10 else f"{number:.1f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def ranges(numbers: Iterable[int]) -> str:
    """Numbers with runs as ranges: 3, 7-9, 12."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)
