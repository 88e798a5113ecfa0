"""All errors that `dense` raises on purpose.

    DenseError              anything that `dense` reports by itself; the command line prints it without a traceback
    ├── AnalystFailed       an analyst has no reply to one question; whoever asked takes a fallback and goes on
    ├── BadConfig           an experiment's file cannot be used
    ├── BadScript           a file of scripted answers cannot be read
    ├── ExperimentChanged   an experiment is not the one that its store holds; results would be mixed
    ├── ExperimentLocked    another process writes to this experiment
    ├── MissingInput        a method needs what this trace does not have: a task, an outcome
    ├── ModelError          a language model could not be used
    │   ├── CallFailed      one call failed after all tries; it fails the run that made it
    │   ├── KeyRefused      the key is missing, wrong or out of credit; stops the run
    │   ├── NotRecorded     a replay has no answer to this request; stops the run
    │   ├── SpendingLimit   the next call could cost more than is left; stops the run, which can be resumed
    │   ├── UnknownModel    no such provider, model or address; stops the run
    │   ├── UnknownPrice    a spending limit was given for a model whose price is not known
    │   └── Unreachable     the server was never reached; stops the run
    ├── NoTrajectory        a path holds no trajectory that can be read: missing, empty, unknown, or no step in it
    │   └── NotATrace       a file whose content no reader claims
    ├── OutputInUse         another process writes to this output folder
    ├── UnansweredCalls     calls for feedback failed for good: what fallbacks make of it is not the method's feedback
    ├── UnusableAnswer      answers came, and none of them could be used; a new try asks anew
    ├── SkippedRecords      `strict` was asked for and a record was skipped
    ├── UnknownFormat       a format was named that does not exist
    ├── UnknownMethod       a method was named that does not exist, or that is none
    └── WrongUsage          options that do not go together, or a value that none can have; exit code 2

A damaged record is no exception: it becomes a `Notice` on the trajectory, and reading goes on.
"""

from __future__ import annotations

from pathlib import Path
from traceback import walk_tb
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

__all__ = [
    "AnalystFailed",
    "BadConfig",
    "BadScript",
    "CallFailed",
    "DenseError",
    "ExperimentChanged",
    "ExperimentLocked",
    "KeyRefused",
    "MissingInput",
    "ModelError",
    "NoTrajectory",
    "NotATrace",
    "NotRecorded",
    "OutputInUse",
    "SkippedRecords",
    "SpendingLimit",
    "UnansweredCalls",
    "UnknownFormat",
    "UnknownMethod",
    "UnknownModel",
    "UnknownPrice",
    "Unreachable",
    "UnusableAnswer",
    "WrongUsage",
    "describe_exception",
    "install_hint",
]

DISTRIBUTION = "dense-feedback"
"""The name of this package for installers; the name `dense` on PyPI belongs to another project."""
MAX_EXCEPTION_CHARS = 300
"""Characters of an exception's own words in one line."""


class DenseError(Exception):
    """Base of all errors that `dense` raises on purpose. Its text says what is wrong, where, and what to do."""


class NoTrajectory(DenseError):
    """A path in which no trajectory was found."""


class NotATrace(NoTrajectory):
    """A file whose content no reader claims."""


class SkippedRecords(DenseError):
    """A record was skipped although strict reading was asked for."""


class UnknownFormat(DenseError):
    """A format name that no reader has."""


class UnknownMethod(DenseError):
    """A method that no table, entry point or module has, or a class that is no method."""


class MissingInput(DenseError):
    """A method needs the task or the outcome of an attempt, and the trace has none."""


class AnalystFailed(DenseError):
    """An analyst has no reply to one question. The text names the question."""


class BadConfig(DenseError):
    """An experiment's file that cannot be used. The text names the file and each place in it."""


class ExperimentChanged(DenseError):
    """Tasks, prompts or configuration differ from those that the store's results come from. The text says what."""


class ExperimentLocked(DenseError):
    """Another process holds the experiment. The text says which."""


class BadScript(DenseError):
    """A file of scripted answers that is missing or not in its format."""


class ModelError(DenseError):
    """A language model could not be used."""


class CallFailed(ModelError):
    """One call that failed after all tries. Of the model's errors, the only one that is about a single question."""

    def __init__(self, text: str, tries: tuple[Any, ...] = (), *, is_too_long: bool = False) -> None:
        super().__init__(text)
        self.tries = tries
        """Every try, as `dense.model.CallTry`: some may have been billed."""
        self.is_too_long = is_too_long
        """Whether the prompt does not fit the model: asking again is useless, asking less is not."""


class KeyRefused(ModelError):
    """The provider's key is missing, wrong, or out of credit. The text names the environment variable."""


class NotRecorded(ModelError):
    """A replay was asked what was not asked when it was recorded."""


class OutputInUse(DenseError):
    """Another process writes to this output folder. The text says which."""


class WrongUsage(DenseError):
    """Options that do not go together, or a value that none of them can have."""


class UnansweredCalls(DenseError):
    """Calls for feedback failed for good. The text says how many of how many, and why. A new try asks them again."""


class UnusableAnswer(DenseError):
    """A method can do nothing without the answer to a question, and none that came could be used."""


class SpendingLimit(ModelError):
    """A call was not started because it could have passed the limit. What was answered before is in the cache."""


class UnknownModel(ModelError):
    """A model's name, its provider or its address leads nowhere."""


class UnknownPrice(ModelError):
    """A spending limit cannot be kept where prices are not known."""


class Unreachable(ModelError):
    """No connection to the provider's server was ever made."""


def install_hint(extra: str = "") -> str:
    """The command that installs this package with an optional part, from where it was installed itself.

    `pip install -e '/src/dense[harbor]'` for a checkout, `pip install 'dense-feedback[harbor]'` for a package index."""
    from importlib.metadata import PackageNotFoundError, distribution  # 20 ms that only an error message pays

    try:
        record = distribution(DISTRIBUTION).read_text("direct_url.json")  # none if it came from an index
    except PackageNotFoundError:
        record = None
    origin = msgspec.json.decode(record or "{}", type=_Origin)
    part = f"[{extra}]" if extra else ""
    if origin.dir_info is not None:
        option = "-e " if origin.dir_info.get("editable") else ""
        return f"pip install {option}'{unquote(urlsplit(origin.url).path)}{part}'"
    url = "{vcs}+{url}@{commit_id}".format(url=origin.url, **origin.vcs_info) if origin.vcs_info else origin.url
    return f"pip install '{DISTRIBUTION}{part}{f' @ {url}' if url else ''}'"


class _Origin(msgspec.Struct):
    """What an installer records of a package that came from no index (PEP 610)."""

    url: str = ""
    dir_info: dict[str, object] | None = None
    vcs_info: dict[str, str] | None = None


def describe_exception(error: BaseException, module: str) -> str:
    """One line on an exception of somebody else's code: its type, its text, and the last line of `module` in its trace.

    If a method calls us or a library wrongly, its own line is what its author looks for. Without such a line, the last
    line of all is named."""
    text = f"{type(error).__name__}: {_text_of(error)}".removesuffix(": ")
    frames = list(walk_tb(error.__traceback__))
    own = [entry for entry in frames if entry[0].f_globals.get("__name__") == module]
    if not frames:
        return text
    frame, line = (own or frames)[-1]
    return f"{text} ({Path(frame.f_code.co_filename).name}:{line}, in {frame.f_code.co_name})"


def _text_of(error: BaseException) -> str:
    """Its text on one line. An exception of somebody's own may fail even at that."""
    try:
        text = " ".join(str(error)[: 4 * MAX_EXCEPTION_CHARS].split())
    except Exception:
        return ""
    return text if len(text) <= MAX_EXCEPTION_CHARS else text[: MAX_EXCEPTION_CHARS - 1] + "…"
