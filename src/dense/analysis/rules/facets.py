"""What a rerun needs of a stretch, fact by fact: what exists, which values held, what made the difference, what had to
come first, what led nowhere. The words are made in `dense.analysis.wording.facets`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from dense.analysis.actions.observations.result import values
from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.evidence.facts.paths import base_name, is_temporary, same_file
from dense.analysis.evidence.links.origins import has_word
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.changes import MAX_EDIT_TEXT_CHARS, remaining_changes, small_changes
from dense.analysis.wording.commands import LOOKING, SHOWING, short_command
from dense.analysis.wording.outputs import main_failure
from dense.analysis.wording.stretch import NarratedStretch
from dense.facets import Artifact, DeadEnd, Facets, KeyValue, Mechanism, Order, StateChange
from dense.knowledge.errors import NO_SUCH_FILE
from dense.text.quoting import as_text

MAX_ITEMS = 5
MAX_FAILURES = 40
"""How many failures are read for a facet, the last ones."""
MAX_LOOKS = 12
MAX_TYPED_ACTIONS = 40
"""How many actions back a value is searched for in what the agent typed."""
MAX_BETWEEN = 12
"""How many actions before a recovery may have brought it about."""
MAX_VALUE_OUTPUT_CHARS = 800
HEADINGS = frozenset("rootdir platform cachedir plugins configfile inifile dtype name length testing running".split())
"""Names under which runners and printed tables say something of themselves."""


PLACES = ("check", "action", "first", "last")
"""The fields that say where a fact shows: two that differ only in them are one."""


def explained_failures(assessment: TraceAssessment, first: int, last: int) -> frozenset[int]:
    """Failures that a shortcut describes, and those that only show what the task is. An attempt that covers two actions
    of a stretch is a shortcut in it."""
    attempts = [one for one in assessment.attempts_in(first, last) if min(one.last, last) > max(one.first, first)]
    described = [action for attempt in attempts for action in attempt.failed]
    return frozenset([*described, *filter(assessment.evidence.is_baseline, range(first, last + 1))])


def find_facets(stretch: NarratedStretch, explained: frozenset[int], quoted: frozenset[int]) -> Facets:
    """The facets of a stretch. `explained`: failures that are no dead ends; `quoted`: actions whose output the summary
    quotes already."""
    found = _FacetItems(stretch, explained)
    left_out: dict[str, int] = {}

    def kept[F: Struct](name: str, facts: Sequence[F]) -> tuple[F, ...]:
        distinct: dict[Struct, F] = {}
        for fact in facts:
            distinct.setdefault(_without_place(fact), fact)
        if len(distinct) > MAX_ITEMS:
            left_out[name] = len(distinct) - MAX_ITEMS
        return tuple(distinct.values())[:MAX_ITEMS]

    return Facets(
        artifacts=kept("artifacts", found.artifacts(quoted)),
        final_state=kept("final_state", found.final_state()),
        key_values=kept("key_values", found.key_values()),
        key_mechanisms=kept("key_mechanisms", found.key_mechanisms()),
        critical_order=kept("critical_order", found.critical_order()),
        dead_ends=kept("dead_ends", found.dead_ends()),
        left_out=left_out,
    )


class _FacetItems:
    """The facets of a stretch, each as its items."""

    def __init__(self, stretch: NarratedStretch, explained: frozenset[int]) -> None:
        self.stretch = stretch
        self.explained = explained

    def artifacts(self, quoted: frozenset[int]) -> list[Artifact]:
        """The files that are there, with short contents that an action showed after they were written."""
        shown: dict[str, NarratedAction] = {}
        for action in self.stretch.worked[-MAX_TYPED_ACTIONS:]:
            reads = {base_name(path) for path in action.facts.effects.reads}
            runs = action.facts.effects.runs
            is_shown = not runs or (LOOKING.issuperset(runs) and not SHOWING.isdisjoint(runs))
            is_look = action.phase == "verify" and not action.is_check and is_shown
            if len(reads) == 1 and is_look and action.is_quotable:
                shown[reads.pop()] = action
        items: list[Artifact] = []
        for path in reversed(self.stretch.kept_files):
            look = shown.get(base_name(path))
            if look is not None and self.stretch.is_guess(look):
                items.append(Artifact(path=path, is_guess=True))
            else:
                is_new = look is not None and look.action not in quoted
                items.append(Artifact(path=path, shown=look.output_text if look is not None and is_new else ""))
        return items

    def final_state(self) -> list[StateChange]:
        items: list[StateChange] = []
        for action in self.stretch.worked:
            effects = action.facts.effects
            if effects.installs:
                items.append(StateChange(kind="installed", names=effects.installs))
            items += [StateChange(kind="running", names=(text,)) for text in effects.services]
            if removed := [path for path in effects.deletes if not is_temporary(path)]:
                items.append(StateChange(kind="removed", names=tuple(removed)))
            if action.facts.family == "git commit":
                items.append(StateChange(kind="committed"))
            elif action.facts.family == "git push":
                items.append(StateChange(kind="pushed"))
        return items

    def key_values(self) -> list[KeyValue]:
        """Values that two actions agree on: one made or printed them, a later one showed them again, and the agent does
        not call them wrong."""
        found: dict[str, KeyValue] = {}
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
                    found[value.name] = KeyValue(name=value.name, value=value.text, check=action.action)
        return list(found.values())

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

    def key_mechanisms(self) -> list[Mechanism]:
        """What made the difference between what failed and what worked."""
        items: list[Mechanism] = []
        for failed, recovery, between in self._recoveries:
            fixes = [
                Mechanism(kind="edit", works=change.new, fails=change.old, path=change.path, action=action.action)
                for action in remaining_changes([*between, recovery])
                for change in small_changes(action)
            ]
            if fixes:
                items += fixes[-2:]
            elif not failed.only_looks and not failed.is_check and not any(one.is_change for one in between):
                items += _other_command(failed, recovery)
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

    def critical_order(self) -> list[Order]:
        """What had to come first: something failed for want of it, it was put there, and then the same worked."""
        items: list[Order] = []
        for failed, recovery, between in self._recoveries:
            failures = failed.facts.result.failures
            needs_install = any(failure.family.is_missing_dependency for failure in failures)
            wanted = [failure.subject for failure in failures if failure.family is NO_SUCH_FILE and failure.subject]
            for action in between:
                effects = action.facts.effects
                if effects.installs and needs_install:
                    order = Order(kind="install", names=effects.installs)
                elif any(same_file(path, subject) for path in effects.writes for subject in wanted):
                    order = Order(kind="make", names=effects.writes)
                else:
                    continue
                items.append(replace(order, then=recovery.command_text, action=action.action))
        return items

    def dead_ends(self) -> list[DeadEnd]:
        """Failures to avoid that no shortcut describes: no failing checks, no calls corrected at once."""
        items: list[DeadEnd] = []
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
                items.append(replace(self.stretch.failure(action), instead=self._instead(action)))
        if self.stretch.changes:
            return items
        looks = [action for action in self.stretch.worked[-MAX_LOOKS:] if action.found_nothing]
        return items + [
            DeadEnd(kind="nothing found", tried=self.stretch.action_text(look), first=look.action, last=look.action)
            for look in looks
        ]

    def _instead(self, action: NarratedAction) -> str:
        """The check that ran instead of one whose runner is missing."""
        later = self.stretch.after(action)[:MAX_BETWEEN] if action.could_not_run else ()
        ran = next((one for one in later if one.facts.effects.tests and not one.could_not_run), None)
        return short_command(ran.facts.effects.tests[-1], 60) if ran is not None else ""


def _is_named(name: str) -> bool:
    """Whether a name says what a value is: a number does not, nor does the heading of a runner."""
    return any(map(str.isalpha, name)) and name.lower() not in HEADINGS


def _typed_texts(action: NarratedAction) -> Iterator[str]:
    """What the agent wrote in the calls of an action."""
    yield from action.facts.commands
    for call in action.step.calls[:8]:
        for value in call.arguments.values():
            yield as_text(value)[:MAX_EDIT_TEXT_CHARS]


def _other_command(failed: NarratedAction, worked: NarratedAction) -> list[Mechanism]:
    """The command that worked instead of the failed one, if both are of one kind."""
    if not failed.facts.commands or not worked.facts.commands or failed.facts.signature == worked.facts.signature:
        return []
    before, after = short_command(failed.facts.commands[-1], 80), short_command(worked.facts.commands[-1], 80)
    return [Mechanism(kind="command", works=after, fails=before, action=worked.action)] if before != after else []


def _without_place(fact: Struct) -> Struct:
    return replace(fact, **{name: None for name in PLACES if name in fact.__struct_fields__})
