"""How an attempt was graded: a type of its own, which no trajectory leads to.

Readers of trajectories never build one. Whoever may see grades (a privileged method, a measurement after the fact) asks
`dense.readers.outcomes` for them by path.
"""

from __future__ import annotations

from msgspec import Struct


class Outcome(Struct, frozen=True, omit_defaults=True):
    """What a verifier, a benchmark or a person said of one attempt."""

    trajectory_id: str
    """The trajectory that it is about."""
    path: str
    """The file that says so."""
    reward: float | None = None
    """The number, where there is one; None is not graded, which is not zero."""
    verifier_output: str = ""
    """What the verifier printed."""
    detail: dict[str, object] = {}
    """The recorded grade fields, as they are."""

    @property
    def passed(self) -> bool | None:
        """Strict pass: a reward of exactly one."""
        return None if self.reward is None else self.reward == 1
