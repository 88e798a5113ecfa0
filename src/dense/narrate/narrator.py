"""Puts the actions of one trajectory into words: titles, summaries and facets, for stretches of any length."""

from __future__ import annotations

from collections.abc import Sequence

from dense.evidence.links.action_links import ActionLinks
from dense.evidence.links.attempts import Attempt
from dense.evidence.links.origins import Origins
from dense.narrate.actions import NarratedAction
from dense.narrate.elsewhere import TellsElsewhere, nowhere
from dense.narrate.facets import Facets, facet
from dense.narrate.stretch import Stretch
from dense.narrate.summaries import Brief, Stays, Summary
from dense.narrate.titles import attempt_title, title, told_apart
from dense.trajectory import Step


class Narrator:
    """Tells what actions did. Every level of the tree asks for the same ones again: each is told once.

    It lives as long as the study of its trajectory. Actions are known by their numbers."""

    def __init__(
        self,
        history: ActionLinks,
        steps: Sequence[Step],
        origins: Origins | None = None,
        stays: Stays | None = None,
        submitted: str = "",
        elsewhere: TellsElsewhere = nowhere,
    ) -> None:
        self._history = history
        self._steps = steps
        self._origins = origins or Origins(steps, None)
        self._stays = stays
        self._submitted = submitted
        self._elsewhere = elsewhere
        self._all: list[NarratedAction] = []
        self._summaries: dict[tuple[int, int], Summary] = {}
        self._briefs: dict[tuple[int, int], Brief] = {}
        self._words: dict[tuple[int, int], dict[str, str]] = {}

    @property
    def _deeds(self) -> list[NarratedAction]:
        """All actions with their words. The words are made when they are asked for, the rest is little."""
        if not self._all:
            history = self._history
            self._all = [
                NarratedAction(facts, step, history.phase(facts.action))
                for facts, step in zip(history.facts, self._steps, strict=True)
            ]
        return self._all

    def deed(self, action: int) -> NarratedAction:
        """An action with its words."""
        return self._deeds[action - 1]

    def digest(self, first: int, last: int) -> dict[str, str]:
        """Title, summary and facets of the actions from `first` to `last`, by name."""
        if (first, last) not in self._words:
            self.prepare([(first, last)])
        return self._words.pop((first, last))

    def prepare(self, spans: Sequence[tuple[int, int]]) -> None:
        """Tells several stretches, by their first and last actions, before they are asked for. One part after the other
        for all of them: what a part needs stays in the caches."""
        summaries = [self._summary(*span) for span in spans]
        self._summaries.update(zip(spans, summaries, strict=True))
        stretches = [summary.stretch for summary in summaries]
        told = [summary.told() for summary in summaries]
        facets = [Facets(one, self._elsewhere, said) for one, said in zip(stretches, told, strict=True)]
        parts = {
            "title": told_apart(
                [title(stretch.deeds, stretch.products) for stretch in stretches],
                [stretch.deeds for stretch in stretches],
            ),
            "summary": told,
            "artifacts": [facet(one.artifacts()) for one in facets],
            "final_state": [facet(one.final_state()) for one in facets],
            "key_values": [facet(one.key_values()) for one in facets],
            "key_mechanisms": [facet(one.key_mechanisms()) for one in facets],
            "critical_order": [facet(one.critical_order()) for one in facets],
            "dead_ends": [facet(one.dead_ends()) for one in facets],
            "open_issues": [facet(one.open_issues()) for one in facets],
        }
        for place, span in enumerate(spans):
            self._words[span] = {name: told[place] for name, told in parts.items()}

    def final(self, first: int, last: int, parts: Sequence[tuple[int, int]] = (), *, tells_left: bool) -> str:
        """The summary after reconciliation: the way that worked and what verified it, of a whole by its `parts`. Issues
        report what is left, if there are any. It is asked for last, so what was kept for it is let go."""
        summary = self._summaries.pop((first, last), None) or self._summary(first, last)
        if parts:
            briefs = [self._briefs.pop(span, None) or self._summary(*span).brief() for span in parts]
            return summary.of_parts(briefs, tells_left=tells_left, submitted=self._submitted)
        self._briefs[first, last] = summary.brief()
        return summary.told(tells_left=tells_left)

    def attempt_title(self, attempt: Attempt) -> str:
        """What a stretch of tries was after, and how it ended."""
        return attempt_title(self._deeds[attempt.first - 1 : attempt.last], is_recovered=attempt.recovery is not None)

    def _summary(self, first: int, last: int) -> Summary:
        stretch = Stretch(self._deeds[first - 1 : last], self._history, self._origins)
        return Summary(stretch, self._stays)
