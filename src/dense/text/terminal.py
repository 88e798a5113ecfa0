"""The terminal's door: what is written to a terminal shows text and does nothing else that a text asks for.

`guard_terminal` puts a `GuardedStream` in the place of each standard stream that is a terminal: whatever is written to
it, by whomever, is escaped. Only the commands' console writes colours past it, and escapes its texts itself. To a pipe
or a file the bytes stay."""

from __future__ import annotations

import codecs
import io
import re
import sys
import unicodedata
from typing import IO, Any, TextIO, cast, override

UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
"""Unicode categories of what controls a terminal, turns the direction of a text or is invisible."""


class _Escapes(dict[int, str | int]):
    """What is shown for each character, filled as characters are met."""

    def __missing__(self, code: int) -> str | int:
        is_unsafe = unicodedata.category(chr(code)) in UNSAFE
        self[code] = shown = "\N{REPLACEMENT CHARACTER}" if is_unsafe else code
        return shown


_ESCAPES = _Escapes({ord(blank): blank for blank in "\n\t"})


def escaped(text: str) -> str:
    """The text with a mark for each control and direction character; line feeds and tabs stay."""
    return text if text.isprintable() else text.translate(_ESCAPES)


def is_text(name: str) -> bool:
    """Whether a name has bytes in UTF-8: a file's name need not."""
    return name.isascii() or not any("\ud800" <= character <= "\udfff" for character in name)


def plain_line(text: str) -> str:
    """The text on one line, with a mark for each control and direction character; as it is if there is none."""
    is_plain = text.isprintable() or (escaped(text) == text and not {"\n", "\t"}.intersection(text))
    return text if is_plain else escaped(" ".join(text.split()))


def plain_json(data: bytes) -> bytes:
    """JSON with each character written out that acts on whatever shows the file; it says the same."""
    text = data.decode("utf-8")
    return data if escaped(text) == text else _ACTING.sub(_written_out, text).encode()


_ACTING = re.compile("[^\x00-\x7e]")


def _written_out(match: re.Match[str]) -> str:
    """A character of a JSON string as its escape, if it is unsafe."""
    if escaped(match[0]) == match[0]:
        return match[0]
    data = match[0].encode("utf-16-be")
    return "".join(f"\\u{data[at] << 8 | data[at + 1]:04x}" for at in range(0, len(data), 2))


class GuardedStream(io.TextIOBase):
    """A terminal that shows text and does nothing else that a text asks for."""

    def __init__(self, screen: TextIO) -> None:
        self.screen = screen
        """The terminal itself, for a `SafeConsole` alone."""
        self._bytes = _GuardedBytes(self)

    @property
    def buffer(self) -> IO[bytes]:
        """The same for bytes."""
        return cast("IO[bytes]", self._bytes)

    @property
    @override
    def encoding(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.screen.encoding

    @override
    def write(self, text: str, /) -> int:
        self.screen.write(escaped(text))
        return len(text)

    @override
    def flush(self) -> None:
        self.screen.flush()

    @override
    def writable(self) -> bool:
        return True

    @override
    def isatty(self) -> bool:
        return True

    @override
    def fileno(self) -> int:
        return self.screen.fileno()


class _GuardedBytes(io.RawIOBase):
    """The bytes of a guarded stream: UTF-8, or what looks like it."""

    def __init__(self, stream: GuardedStream) -> None:
        self._stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    @override
    def write(self, data: Any, /) -> int:
        self._stream.write(self._decoder.decode(bytes(data)))
        return len(data)

    @override
    def flush(self) -> None:
        self._stream.flush()

    @override
    def writable(self) -> bool:
        return True


def guard_terminal() -> None:
    """Escape what is written to standard streams that are terminals. To others, lone surrogates (of a file name that is
    no UTF-8, say) are written as `\\udcff`, because no encoding has them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
            if stream.isatty():
                setattr(sys, name, GuardedStream(cast("TextIO", stream)))


def write_over(line: str) -> None:
    """Put a line in the place of the last one on the error stream's terminal; an empty one removes it."""
    stream = sys.stderr.screen if isinstance(sys.stderr, GuardedStream) else sys.stderr
    stream.write(f"\r{escaped(line)}\x1b[K")
    stream.flush()
