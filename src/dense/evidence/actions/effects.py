"""What an action did to the world, as far as its calls show."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from dense.trajectory import Step

UNNAMED = "{open file}"
"""Means the file that an editor has open, which an earlier step named."""


class Effects(Struct, frozen=True, omit_defaults=True, gc=False):
    """What the calls of one step did, or tried to do. Paths and names as they were written, in order, each once."""

    reads: tuple[str, ...] = ()
    """Files and folders that were looked at."""
    writes: tuple[str, ...] = ()
    """Files that were created or changed."""
    deletes: tuple[str, ...] = ()
    """Files that were removed."""
    runs: tuple[str, ...] = ()
    """Programs that were run: `python3`, `make`, `./solve`."""
    tests: tuple[str, ...] = ()
    """Commands that test or check something."""
    installs: tuple[str, ...] = ()
    """Packages that were installed."""
    services: tuple[str, ...] = ()
    """Long-lived processes that were started."""
    network: tuple[str, ...] = ()
    """Addresses that were asked, and what was searched for on the web."""
    scripts: tuple[str, ...] = ()
    """Program files that were run, by an interpreter or by themselves: `solve.py`, `./solve`."""
    undoes: tuple[str, ...] = ()
    """Those among the written files that were taken back to what a repository holds, and not written again."""
    builds: tuple[str, ...] = ()
    """Commands that build something: programs, pages, images."""
    modes: tuple[str, ...] = ()
    """Files whose permissions or owner were changed: their contents are as they were."""

    @property
    def changes_files(self) -> bool:
        """Whether it writes or removes anything."""
        return bool(self.writes or self.deletes or self.modes)

    @property
    def is_key(self) -> bool:
        """Whether it is kept by rule: it changes files, runs tests, builds or installs something."""
        return bool(self.changes_files or self.tests or self.installs or self.builds)


type EffectsOf = Callable[[Step], Effects]
"""What gives the effects of a step: `dense.evidence.actions.effects`, or an `EffectsCache`."""
