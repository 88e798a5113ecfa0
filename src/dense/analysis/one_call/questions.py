"""The three questions of the fast profile: the whole attempt, one window of it, and the closing of all windows."""

from __future__ import annotations

from msgspec import Struct

from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.asking.questions import Question
from dense.analysis.one_call.answer import Pieces


class Look(Question, frozen=True, kw_only=True):
    """A question that shows a whole stretch of the attempt."""

    look_tokens: int
    """How many tokens the prompt may have."""


class Whole(Look, frozen=True, kw_only=True):
    """What is the whole tree of this attempt?"""

    actions: tuple[TranscriptAction, ...]
    """All actions."""

    @property
    def subject(self) -> str:
        return f"a{self.actions[0].first} to a{self.actions[-1].last}"


class Window(Look, frozen=True, kw_only=True):
    """What are the subtasks of this part of the attempt?"""

    actions: tuple[TranscriptAction, ...]
    """The actions of the window."""
    number: int
    """Which window, from 1."""
    count: int
    """How many windows there are."""
    total: int
    """How many actions the attempt has."""

    @property
    def subject(self) -> str:
        return f"a{self.actions[0].first} to a{self.actions[-1].last}"


class WindowDigest(Struct, frozen=True):
    """What a window, or several of them together, came to."""

    first: int
    last: int
    pieces: Pieces


class Closing(Look, frozen=True, kw_only=True):
    """What do these windows come to together?"""

    digests: tuple[WindowDigest, ...]
    """The windows in order."""
    ending: tuple[TranscriptAction, ...]
    """The last actions as they were recorded."""
    evidence: tuple[tuple[int, str], ...]
    """The lines that the issues quote, with their actions."""
    total: int
    """How many actions the attempt has."""
    is_final: bool = True
    """Whether these are all windows. If not, another closing call follows."""

    @property
    def subject(self) -> str:
        return f"a{self.digests[0].first} to a{self.digests[-1].last}"


type OneCallQuestion = Whole | Window | Closing
