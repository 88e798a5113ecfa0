"""What is not done, by the trace's own evidence: opened by an action, closed only by a later one."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

FindingKind = Literal[
    "failed_check",  # a test or a check that failed, and did not pass since
    "failed_run",  # a program of the agent's own that failed, and did not work since
    "failed_deed",  # the last thing that was tried, which failed
    "unanswered",  # a service that the task asks for, which did not answer
    "unmade",  # a message that the harness did not take, so that its commands never ran
    "taken_away",  # changes that were taken back, so that none is left
    "only_new",  # a hand-over that changes nothing that was there
    "planned",  # what the agent's own list still has as not begun
    "unmet",  # something that the task asks for, and nothing made it
    "lost",  # something that was made, and removed again
    "weakened",  # tests that pass since they were changed themselves, or since fewer of them run
    "refused",  # a hand-over that was not taken
    "empty",  # a hand-over of nothing
    "broken_off",  # the trace ends in the middle of work
    "admitted",  # the agent itself says that it is not done
    "doubted",  # what a program gave last, or what is handed in, which the agent itself calls wrong or done in part
    "unverified",  # something that was made or changed, and nothing looked at it since
]


class Finding(Struct, frozen=True):
    """One thing that is open, or was."""

    kind: FindingKind
    text: str
    """What is wrong or missing and what is known about it, in words."""
    evidence: tuple[int, ...]
    """The actions that show it, by number, in order; at least one."""
    closed: int | None = None
    """The action whose observation shows the recovery; None while it is open."""
    is_serious: bool = True
    """Whether the task cannot be said to be done while it is open. What is only unverified is not serious: it leaves
    the state unknown."""
    is_fatal: bool = False
    """Whether a result that was there is wrong or gone."""

    is_tried: bool = False
    """Whether its evidence are tries at it that failed."""

    @property
    def opened(self) -> int:
        """The last action that shows it: the recovery must lie later."""
        return self.evidence[-1]
