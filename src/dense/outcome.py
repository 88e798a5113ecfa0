"""How an attempt was graded: a type of its own, which no trajectory leads to.

Readers of trajectories never build one. Whoever may see grades (a privileged method, a measurement after the fact) asks
`dense.readers.outcomes` for them by path.
"""

from __future__ import annotations

from msgspec import Struct


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What a verifier said of one attempt."""

    trial: str
    """The folder of the trial that it is about."""
    reward: float | None = None
    """The reward; None is not graded, which is not zero."""
    rewards: dict[str, float] = {}
    """All numbers that the verifier gave, by name."""
    verifier_output: str = ""
    """What the verifier printed."""
    exception: str | None = None
    """What ended the run before its time, where something did: a time-out may still have been graded."""

    @property
    def passed(self) -> bool | None:
        """Strict pass: a reward of exactly one."""
        return None if self.reward is None else self.reward == 1
