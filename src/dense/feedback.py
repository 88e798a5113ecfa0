"""The noun that a method gives: feedback, and what a recipient gets of it."""

from __future__ import annotations

from msgspec import Struct


class Feedback(Struct, frozen=True, omit_defaults=True):
    """What one attempt taught, ready to be delivered."""

    report: str
    """The report itself: `feedback.txt`."""
    message: str
    """What the recipient gets: wrapper, report, separator, task: `message.txt`."""
    dropped: tuple[str, ...] = ()
    """What had to go to keep the budget, in the order in which it went."""
    key: str = ""
    """What all markers of the report begin with; empty where there is no report."""
