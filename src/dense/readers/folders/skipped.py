"""What a walk through a folder does not read, counted by kind: nothing is left out without a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

type SkipKind = Literal["unsearched", "part", "trial", "link", "broken"]

WORDS: dict[SkipKind, tuple[str, str, str]] = {
    "unsearched": ("folder", "folders", "never searched (.git, node_modules, …)"),
    "part": ("file", "files", "read with the trace that they belong to (sub-agents, continuations, kept outputs)"),
    "trial": ("file", "files", "of trials beside their trajectory (settings, results, verifier, logs)"),
    "link": ("path", "paths", "met before under another name"),
    "broken": ("link", "links", "to nothing"),
}


@dataclass
class Skipped:
    """Counts what a walk passes over, with the first example of each kind."""

    counts: dict[SkipKind, int] = field(default_factory=dict[SkipKind, int])
    first: dict[SkipKind, Path] = field(default_factory=dict[SkipKind, Path])

    def add(self, kind: SkipKind, path: Path, count: int = 1) -> None:
        """Note a path, or so many below it."""
        if count:
            self.counts[kind] = self.counts.get(kind, 0) + count
            self.first.setdefault(kind, path)

    def lines(self) -> Iterator[str]:
        """One line for each kind."""
        for kind, count in self.counts.items():
            singular, plural, why = WORDS[kind]
            yield f"{count} {singular if count == 1 else plural} {why}, such as {self.first[kind]}"
