"""Puts the actions of one trace into words: titles and summaries, for stretches of any length."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from msgspec import Struct

from dense.analysis.evidence.links.action_links import ActionLinks
from dense.analysis.evidence.links.attempts import Attempt
from dense.analysis.evidence.links.origins import Origins
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.stretch import NarratedStretch
from dense.analysis.wording.summaries import Remains, StretchSummary
from dense.analysis.wording.titles import attempt_title, distinct_titles, title
from dense.trajectory import Step

type Span = tuple[int, int]
"""The first and the last action of a stretch."""


class NarratedDigest(Struct, frozen=True):
    """The words for a stretch."""

    title: str
    summary: str
    stretch: NarratedStretch
    look: int
    """The action whose output the summary quotes as proof; 0 for none."""


class Narrator:
    """Describes actions and stretches of one trace. Actions are given by their numbers; each is described once.

    `remains`: whether a changed file is there at the end. `submission`: what is submitted, as sentences."""

    def __init__(
        self,
        links: ActionLinks,
        steps: Sequence[Step],
        origins: Origins | None = None,
        remains: Remains | None = None,
        submission: str = "",
    ) -> None:
        self._links = links
        self._steps = steps
        self._origins = origins or Origins(steps, None)
        self._remains = remains
        self._submission = submission
        self._summaries: dict[Span, StretchSummary] = {}

    @cached_property
    def _actions(self) -> list[NarratedAction]:
        facts = zip(self._links.facts, self._steps, strict=True)
        return [NarratedAction(fact, step, self._links.phase(fact.action)) for fact, step in facts]

    def action(self, number: int) -> NarratedAction:
        """An action with its words."""
        return self._actions[number - 1]

    def digests(self, spans: Sequence[Span]) -> list[NarratedDigest]:
        """Title and summary of neighbouring stretches, whose titles differ if that is possible."""
        summaries = [self._summary(*span) for span in spans]
        stretches = [summary.stretch for summary in summaries]
        titles = distinct_titles(
            [title(one.actions, one.products) for one in stretches], [one.actions for one in stretches]
        )
        return [
            NarratedDigest(text, summary.text(), summary.stretch, summary.proof.look)
            for text, summary in zip(titles, summaries, strict=True)
        ]

    def final_summary(self, first: int, last: int, parts: Sequence[Span] = (), *, with_failures: bool) -> str:
        """The summary after reconciliation, of a whole by its `parts`. Issues report what is left, if there are any."""
        summary = self._summary(first, last)
        if not parts:
            return summary.text(with_failures=with_failures)
        digests = [self._summary(*span).digest() for span in parts]
        return summary.of_parts(digests, with_failures=with_failures, submission=self._submission)

    def attempt_title(self, attempt: Attempt) -> str:
        """What an attempt was after, and how it ended."""
        return attempt_title(self._actions[attempt.first - 1 : attempt.last], is_recovered=attempt.recovery is not None)

    def _summary(self, first: int, last: int) -> StretchSummary:
        """The summary of a stretch: made once, asked for before reconciliation and after it."""
        if (first, last) not in self._summaries:
            stretch = NarratedStretch(self._actions[first - 1 : last], self._links, self._origins)
            self._summaries[first, last] = StretchSummary(stretch, self._remains)
        return self._summaries[first, last]
