"""What a rerun needs of a stretch, item by item: what exists, which values held, what made the difference, what had to
come first, what led nowhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from dense.actions.observations.result import values
from dense.evidence.facts.paths import base_name, is_temporary, same_file
from dense.evidence.links.origins import has_word
from dense.knowledge.errors import NO_SUCH_FILE
from dense.narrate.actions import NarratedAction
from dense.narrate.changes import MAX_EDIT_TEXT_CHARS, remaining_changes, small_changes
from dense.narrate.commands import LOOKING, SHOWING, short_command
from dense.narrate.outputs import main_failure
from dense.narrate.phrases import listed, paths_text
from dense.narrate.stretch import NarratedStretch
from dense.text.quoting import as_text, code_span, one_line
from dense.tree import NONE, Facets

if TYPE_CHECKING:
    from dense.detectors.assessment import TraceAssessment

MAX_ITEMS = 5
MAX_FAILURES = 40
"""How many failures are read for a facet, the last ones."""
MAX_LOOKS = 12
MAX_TYPED_ACTIONS = 40
"""How many actions back a value is searched for in what the agent typed."""
MAX_BETWEEN = 12
"""How many actions before a recovery may have brought it about."""
MAX_VALUE_OUTPUT_CHARS = 800
COMMITTED = {"git commit": "changes are committed", "git push": "changes are pushed"}
HEADINGS = frozenset("rootdir platform cachedir plugins configfile inifile dtype name length testing running".split())
"""Names under which runners and printed tables say something of themselves."""


type Explained = Callable[[int, int], frozenset[int]]
"""The failures within a stretch, by its first and last action, that are no dead ends of their own."""


def explained_failures(assessment: TraceAssessment, first: int, last: int) -> frozenset[int]:
    """Failures that a shortcut describes, and those that only show what the task is. An attempt that covers two actions
    of a stretch is a shortcut in it."""
    attempts = [one for one in assessment.attempts_in(first, last) if min(one.last, last) > max(one.first, first)]
    described = [action for attempt in attempts for action in attempt.failed]
    return frozenset([*described, *filter(assessment.evidence.is_baseline, range(first, last + 1))])


def describe_facets(stretch: NarratedStretch, explained: frozenset[int], quoted: frozenset[int]) -> Facets:
    """The facets of a stretch. `quoted`: actions whose output the summary above quotes already."""
    facets = _FacetItems(stretch, explained)
    return Facets(
        artifacts=_joined(facets.artifacts(quoted)),
        final_state=_joined(facets.final_state()),
        key_values=_joined(facets.key_values()),
        key_mechanisms=_joined(facets.key_mechanisms()),
        critical_order=_joined(facets.critical_order()),
        dead_ends=_joined(facets.dead_ends()),
    )


def _joined(items: Sequence[str]) -> str:
    """The items of a facet, each once."""
    items = list(dict.fromkeys(items))
    more = f"; and {len(items) - MAX_ITEMS} more" if len(items) > MAX_ITEMS else ""
    return ("; ".join(items[:MAX_ITEMS]) or NONE) + more


class _FacetItems:
    """The facets of a stretch, each as its items."""

    def __init__(self, stretch: NarratedStretch, explained: frozenset[int]) -> None:
        self.stretch = stretch
        self.explained = explained

    def artifacts(self, quoted: frozenset[int]) -> list[str]:
        """The files that are there, with short contents that an action showed after they were written."""
        shown: dict[str, NarratedAction] = {}
        for action in self.stretch.worked[-MAX_TYPED_ACTIONS:]:
            reads = {base_name(path) for path in action.facts.effects.reads}
            runs = action.facts.effects.runs
            is_shown = not runs or (LOOKING.issuperset(runs) and not SHOWING.isdisjoint(runs))
            is_look = action.phase == "verify" and not action.is_check and is_shown
            if len(reads) == 1 and is_look and action.is_quotable:
                shown[reads.pop()] = action
        items: list[str] = []
        for path in reversed(self.stretch.kept_files):
            look = shown.get(base_name(path))
            if look is not None and self.stretch.is_guess(look):
                items.append(f"{code_span(path)} (as the agent typed it: no output had shown that)")
            elif look is not None and look.action not in quoted:
                items.append(f"{code_span(path)} (read back: {look.output_text})")
            else:
                items.append(code_span(path))
        return items

    def final_state(self) -> list[str]:
        items: list[str] = []
        for action in self.stretch.worked:
            effects = action.facts.effects
            if effects.installs:
                items.append(f"installed {listed([code_span(name, 40) for name in effects.installs], 4)}")
            items += [f"running: {code_span(text, 90)}" for text in effects.services]
            if removed := [path for path in effects.deletes if not is_temporary(path)]:
                items.append(f"removed {paths_text(removed)}")
            if action.facts.family in COMMITTED:
                items.append(COMMITTED[action.facts.family])
        return items

    def key_values(self) -> list[str]:
        """Values that two actions agree on: one made or printed them, a later one showed them again, and the agent does
        not call them wrong."""
        found: dict[str, str] = {}
        shows = [action for action in self.stretch.actions if action.phase == "verify" and action.shows_data]
        for action in shows[-MAX_LOOKS:]:
            is_right = len(action.output) <= MAX_VALUE_OUTPUT_CHARS and not self.stretch.links.complaint(action.action)
            shown = values(action.output if is_right else "")
            several = {one.name for one in shown if any(one.name == two.name and one.text != two.text for two in shown)}
            for value in shown[:12]:
                if (
                    value.name not in several
                    and len(value.text) <= 60
                    and _is_named(value.name)
                    and self._is_computed(action, value.text)
                ):
                    found[value.name] = value.text
        return [f"{one_line(name, 40)} {code_span(text, 60)}" for name, text in found.items()]

    def _is_computed(self, look: NarratedAction, value: str) -> bool:
        """Whether a program printed or made a value before an action shows it, and the agent had not typed it."""
        place = look.action - self.stretch.first
        for action in self.stretch.actions[max(0, place - 6) : place]:
            is_run = not action.has_failed and action.phase in ("produce", "run", "verify")
            if is_run and has_word(action.output[:2000], value):
                return not self._is_typed(action.action, value)
        maker = self.stretch.links.of(self.stretch.links.reads_back(look.action) or 0)
        is_made = maker is not None and maker.action != look.action and bool(maker.effects.scripts)
        return is_made and not self._is_typed(look.action, value)

    def _is_typed(self, action: int, value: str) -> bool:
        """Whether the agent wrote a value in a call, up to an action."""
        first = self.stretch.first
        before = self.stretch.links.facts[max(0, first - 1 - MAX_TYPED_ACTIONS) : max(0, first - 1)]
        if any(has_word(text, value) for fact in before for text in (*fact.commands, fact.signature)):
            return True
        inside = self.stretch.actions[: action - first + 1][-MAX_TYPED_ACTIONS:]
        return any(has_word(text, value) for one in inside for text in _typed_texts(one))

    def key_mechanisms(self) -> list[str]:
        """What made the difference between what failed and what worked."""
        items: list[str] = []
        for failed, recovery, between in self._recoveries:
            fixes = [change.text for one in remaining_changes([*between, recovery]) for change in small_changes(one)]
            if fixes:
                items += fixes[-2:]
            elif not failed.only_looks and not failed.is_check and not any(one.is_change for one in between):
                items += filter(None, [_other_command(failed, recovery)])
        return items

    @cached_property
    def _recoveries(self) -> list[tuple[NarratedAction, NarratedAction, list[NarratedAction]]]:
        """Failures with what recovered them within the stretch, and what worked in between."""
        found: list[tuple[NarratedAction, NarratedAction, list[NarratedAction]]] = []
        for failed in self.stretch.failed[-MAX_FAILURES:]:
            if (recovery := self.stretch.recovery(failed)) is not None:
                between = self.stretch.after(failed)[: recovery.action - failed.action - 1][-MAX_BETWEEN:]
                found.append((failed, recovery, [one for one in between if not one.has_failed]))
        return found

    def critical_order(self) -> list[str]:
        """What had to come first: something failed for want of it, it was put there, and then the same worked."""
        items: list[str] = []
        for failed, recovery, between in self._recoveries:
            families = [failure.family for failure in failed.facts.result.failures]
            wanted = [one.subject for one in failed.facts.result.failures if one.family is NO_SUCH_FILE]
            for action in between:
                effects = action.facts.effects
                if effects.installs and any(one.is_missing_dependency for one in families):
                    first = f"install {listed([code_span(name, 40) for name in effects.installs])}"
                elif any(same_file(path, subject) for path in effects.writes for subject in wanted if subject):
                    first = f"make {paths_text(effects.writes)}"
                else:
                    continue
                items.append(f"{first} before {recovery.command_text}")
        return items

    def dead_ends(self) -> list[str]:
        """Failures to avoid that no shortcut describes: no failing checks, no calls corrected at once."""
        items: list[str] = []
        for action in self.stretch.failed[-MAX_FAILURES:]:
            failures = action.facts.result.failures
            is_missing = any(failure.family.is_missing_dependency for failure in failures)
            is_known = action.action in self.explained or action.phase == "talk"
            is_look = action.only_looks and not action.facts.effects.network
            if not failures or is_known or (not is_missing and (action.is_check or is_look)):
                continue
            recovery = self.stretch.recovery(action)
            is_corrected = recovery is not None and recovery.action <= action.action + 2
            is_mistake = main_failure(failures).family.is_call_mistake
            if not (is_mistake and is_corrected):
                items.append(f"{self.stretch.failure_text(action)}{self._instead(action)}")
        if self.stretch.changes:
            return items
        looks = [action for action in self.stretch.worked[-MAX_LOOKS:] if action.found_nothing]
        return [*items, *[f"{self.stretch.action_text(look)}: nothing found" for look in looks]]

    def _instead(self, action: NarratedAction) -> str:
        """The check that ran instead of one whose runner is missing."""
        later = self.stretch.after(action)[:MAX_BETWEEN] if action.could_not_run else ()
        ran = next((one for one in later if one.facts.effects.tests and not one.could_not_run), None)
        return f" ({short_command(ran.facts.effects.tests[-1], 60)} runs)" if ran is not None else ""


def _is_named(name: str) -> bool:
    """Whether a name says what a value is: a number does not, nor does the heading of a runner."""
    return any(map(str.isalpha, name)) and name.lower() not in HEADINGS


def _typed_texts(action: NarratedAction) -> Iterator[str]:
    """What the agent wrote in the calls of an action."""
    yield from action.facts.commands
    for call in action.step.calls[:8]:
        for value in call.arguments.values():
            yield as_text(value)[:MAX_EDIT_TEXT_CHARS]


def _other_command(failed: NarratedAction, worked: NarratedAction) -> str:
    """The command that worked instead of the failed one, if both are of one kind."""
    if not failed.facts.commands or not worked.facts.commands or failed.facts.signature == worked.facts.signature:
        return ""
    before, after = short_command(failed.facts.commands[-1], 80), short_command(worked.facts.commands[-1], 80)
    return f"{after} works, {before} does not" if before != after else ""
