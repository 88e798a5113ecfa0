"""Consecutive actions in the books that their words are made from: what worked, what failed, what was made, what is
left."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dense.evidence.deliverables.products import Products, products
from dense.evidence.links.action_links import ActionLinks
from dense.evidence.links.origins import Origins
from dense.narrate.action_traits import check_name, is_change, is_silent, is_success, only_looks
from dense.narrate.actions import NarratedAction
from dense.narrate.outputs import main_failure
from dense.text.quoting import ticked

SHORTEST_ECHO = 24
"""So much of a command that comes back shows that only the command came back."""


class Stretch:
    """Consecutive actions, and what is known of them together."""

    def __init__(
        self,
        deeds: Sequence[NarratedAction],
        history: ActionLinks,
        origins: Origins,
    ) -> None:
        self.deeds = deeds
        self.history = history
        self.origins = origins
        self.first = deeds[0].action if deeds else 0
        self.worked: list[NarratedAction] = []
        self.failed: list[NarratedAction] = []
        self.changes: list[NarratedAction] = []
        self.agents = {deed.step.agent for deed in deeds}
        self.last_success = 0
        self.passed: NarratedAction | None = None
        """The last check that passed."""
        self._products: Products | None = None
        for deed in deeds:
            if deed.has_failed:
                self.failed.append(deed)
                continue
            self.worked.append(deed)
            if is_change(deed):
                self.changes.append(deed)
            if is_success(deed):
                self.last_success = deed.action
            if deed.has_passed:
                self.passed = deed
        self.last_pass = self.passed.action if self.passed is not None else 0
        self.last_change = self.changes[-1].action if self.changes else 0
        self.left = [deed for deed in self.failed if self._is_left(deed)]

    @property
    def products(self) -> Products:
        """What became of the files that it wrote."""
        if self._products is None:
            self._products = products(self.deeds)
        return self._products

    @property
    def made(self) -> tuple[str, ...]:
        """The files that it made or changed and that are still there at its end."""
        return self.products.made

    # What became of failures

    def recovery(self, deed: NarratedAction) -> NarratedAction | None:
        """What did the same later, within the stretch, and worked."""
        place = (self.history.recovered_by(deed.action) or 0) - self.first
        return self.deeds[place] if 0 <= place < len(self.deeds) else None

    def between(self, deed: NarratedAction, recovery: NarratedAction, most: int) -> Sequence[NarratedAction]:
        """The last deeds between a failure and its recovery."""
        end = recovery.action - self.first
        return self.deeds[max(deed.action - self.first + 1, end - most) : end]

    def _is_left(self, deed: NarratedAction) -> bool:
        """Whether a failure is still one at the end of the stretch: nothing did the same and worked; and where
        something was only not there, or a call was wrong, nothing else worked in its place."""
        if only_looks(deed) and not self._asks_service(deed):
            return False
        if len(deed.facts.effects.tests) > 1 and not self._all_passed(deed):
            return True
        if self.recovery(deed) is not None:
            return False
        return (self.last_pass if deed.is_check else self.last_success) < deed.action

    def _asks_service(self, deed: NarratedAction) -> bool:
        """Whether it asks a service that was started before: no answer from that is a failure."""
        return bool(deed.facts.effects.network) and self.history.reads_back(deed.action) is not None

    def _all_passed(self, deed: NarratedAction) -> bool:
        """Whether each of several checks of one action is passed by a later one: their results are not told apart."""
        return all(self._last_passed.get(check_name(text), 0) > deed.action for text in deed.facts.effects.tests)

    @cached_property
    def _last_passed(self) -> dict[str, int]:
        """The last action that passed a check, for each."""
        passed = (deed for deed in self.worked if deed.has_passed)
        return {check_name(text): deed.action for deed in passed for text in deed.facts.effects.tests}

    # Clauses

    def did(self, deed: NarratedAction) -> str:
        """What was done, and by whom where there are several."""
        told = deed.action_text
        return f"{ticked(deed.step.agent, 30)} {told}" if len(self.agents) > 1 and deed.step.agent else told

    def told(self, deed: NarratedAction) -> str:
        """What was done, and what came back where that tells something."""
        told = self.did(deed)
        if is_silent(deed):
            return told
        seen = deed.output_text
        return told if is_bare(seen) or is_echo(told, seen) else f"{told}: {seen}"

    def tried(self, deed: NarratedAction) -> str:
        """What was tried, by its command alone where it has one."""
        told = self.did(deed)
        return told[4:] if told[:4] == "ran " else told

    def failure(self, deed: NarratedAction) -> str:
        """What failed: what was missing, or the command and the line that tells."""
        failures = deed.facts.result.failures
        failure = main_failure(failures) if failures else None
        if failure is not None and failure.missing_dependency:
            lacks = "no such package" if deed.facts.effects.installs else failure.family.label
            return f"{ticked(failure.subject, 60)}: {lacks}"
        return f"{self.tried(deed)}: {deed.output_text}"


def is_bare(seen: str) -> bool:
    """Whether what came back is told by its size only: that tells nothing."""
    return seen == "nothing" or (seen[:1].isdigit() and seen.partition(" ")[2] in ("line", "lines"))


def is_echo(told: str, seen: str) -> bool:
    """Whether only the command came back."""
    if seen[:1] != "`" or told[:5] != "ran `":
        return False
    ran, shown = told[4:].rstrip("`…"), seen.rstrip("`…")
    length = min(len(ran), len(shown))
    return length > SHORTEST_ECHO and ran[:length] == shown[:length]
