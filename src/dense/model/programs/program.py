"""The nouns: a program that can be asked, how it is started, how it ended, and what its words about failures mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Literal, cast

import msgspec
from msgspec import Struct

from dense.model.providers import Provider
from dense.model.wires.failures import NO_CREDIT, TOO_LONG, failure_of
from dense.model.wires.wire import WireFailure, WireReply
from dense.trajectory import Usage

GUARD = "DENSE_ANALYST"
"""In the environment of every program that we start: our hooks do nothing where it is set, so that no analysis is
analysed."""
SYSTEM_TEXT = "You answer one request. Use no tools.\n"
"""The system text of every program. All else goes through standard input, which no program takes for settings."""
MAX_OUTPUT_TOKENS = 24_000
"""The longest answer that is asked for, thoughts included, where a program can be told; what a limit counts with."""

NOT_LOGGED_IN = re.compile(
    r"not logged in|please (run )?/?log ?in|invalid auth method|set an auth method|invalid api key|unauthorized"
    r"|authentication|\b401\b|oauth token|api key (is )?(missing|required|not found)|no (api )?key",
    re.IGNORECASE,
)
USED_UP = re.compile(
    r"hit your .{0,40}limit|usage limit|quota|credit balance|billing|payment required|insufficient.{0,10}balance",
    re.IGNORECASE,
)
NO_SUCH_MODEL = re.compile(
    r"issue with the selected model|model.{0,40}(not found|does not exist|not supported)|modelnotfound|unknown model",
    re.IGNORECASE,
)


class Workplace(Struct, frozen=True):
    """The private folder of one call, of mode 0700. It goes when the call has ended."""

    folder: Path

    @property
    def empty(self) -> Path:
        """Where the program works: nothing is in it."""
        return self.folder / "work"

    @property
    def settings(self) -> Path:
        """What the program needs in files: our settings, never the project's."""
        return self.folder / "settings"

    @property
    def temporary(self) -> Path:
        """The program's folder for temporary files: reports of failed requests hold the prompt."""
        return self.folder / "tmp"

    @property
    def system_text(self) -> Path:
        """The file with `SYSTEM_TEXT`."""
        return self.settings / "system.md"

    def prepare(self) -> None:
        """Make the folders and the system text."""
        for folder in (self.empty, self.settings, self.temporary):
            folder.mkdir(mode=0o700)
        self.system_text.write_text(SYSTEM_TEXT, encoding="utf-8")


class Start(Struct, frozen=True):
    """How a program is started."""

    command: tuple[str, ...]
    """The program and its arguments; never a word of the prompt."""
    environment: Mapping[str, str] = {}
    """Variables besides the user's own."""
    without: tuple[str, ...] = ()
    """Variables of the user that it must not see."""


class ProcessEnding(Struct, frozen=True):
    """How a program ended."""

    code: int
    """The exit code; negative for a signal."""
    output: bytes
    """What it printed."""
    errors: bytes
    """The end of its error stream."""


type Starter = Callable[[str, Workplace, Mapping[str, str]], Start]
"""From a model's name (empty for the program's own choice), the workplace and the user's environment."""
type OutputReader = Callable[[ProcessEnding], WireReply | WireFailure]


class ModelProgram(Struct, frozen=True, kw_only=True):
    """A program that can be asked."""

    provider: Provider
    """Its name, where its models' prices are listed, and its context window."""
    executable: str
    """What must be on the PATH; empty for a command of the user's own."""
    start: Starter
    read: OutputReader
    login: str
    """What to do if it is not logged in."""
    usual_model: str = ""
    """The dearest model that it takes by itself: limits and estimates count with its price if nothing else is known."""
    overhead_tokens: int = 0
    """About what it adds to a prompt, by measurement."""

    @property
    def allowance(self) -> Usage:
        """What a call may take besides what the request says."""
        return Usage(input=2 * self.overhead_tokens, output=MAX_OUTPUT_TOKENS)


def failure(text: str, status: int | None = None, *, usage: Usage | None = None) -> WireFailure:
    """What a program's own words, and the HTTP status that it names, mean: for this call, or for all."""
    line = clipped(text)
    if (
        status is not None
        and 300 <= status < 600
        and isinstance(known := failure_of(status, text.encode()), WireFailure)
    ):
        then: Literal["again", "dead", "too long", "key", "model"] = known.then
    else:
        then = "again"
    for pattern, meaning in ((TOO_LONG, "too long"), (NO_SUCH_MODEL, "model"), (USED_UP, "key"), (NO_CREDIT, "key")):
        if pattern.search(line):
            return WireFailure(text=line, then=cast("Any", meaning), status=status, usage=usage)
    return WireFailure(text=line, then="key" if NOT_LOGGED_IN.search(line) else then, status=status, usage=usage)


def no_answer(ending: ProcessEnding) -> WireFailure:
    """For an end without an answer: an exit code of 0 is no success, because interrupted programs give it too."""
    last = last_line(ending.errors) or last_line(ending.output)
    how = f"signal {-ending.code}" if ending.code < 0 else f"exit code {ending.code}"
    said = failure(last) if last else WireFailure(text="", then="again")
    text = f"it ended without an answer ({how}{f': {said.text}' if last else ''})"
    return msgspec.structs.replace(said, text=text, may_be_billed=said.then == "again")


def last_line(stream: bytes) -> str:
    """The last line with a word in it."""
    lines = stream.decode("utf-8", "replace").splitlines()
    return clipped(next((line for line in reversed(lines) if re.search(r"\w", line)), ""))


def clipped(text: str) -> str:
    """A program's words on one line."""
    return " ".join(text.split())[:300]


def json_object(content: bytes) -> dict[str, Any]:
    """The JSON object that a stream is; empty if it is none."""
    try:
        value = msgspec.json.decode(content)
    except (msgspec.MsgspecError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def json_lines(content: bytes) -> Iterator[dict[str, Any]]:
    """The JSON objects of a stream of lines; other lines are passed over."""
    for line in content.splitlines():
        if event := json_object(line):
            yield event


def member(value: object, *names: str) -> Any:
    """What is inside of nested objects; None if it is not there."""
    for name in names:
        value = cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None
    return value


def text_of(value: object) -> str:
    return value if isinstance(value, str) else ""


def count_of(value: object) -> int | None:
    """A number of tokens; None for what is none: negative, or no whole number."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def usd_of(value: object) -> float | None:
    """A cost that a program reports; None for what is none. 0 is none either: a program without prices says so."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if isfinite(value) and value > 0 else None
