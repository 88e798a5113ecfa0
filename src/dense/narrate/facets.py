"""What a rerun needs of a stretch, item by item: what is there, which values held, what made the difference, what came
first, what led nowhere, what is open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

from dense.evidence.facts.fruitless_searches import is_vain
from dense.evidence.facts.paths import base_name, is_temporary, same_file
from dense.evidence.links.origins import has_word
from dense.evidence.observations import values
from dense.knowledge.errors import NO_SUCH_FILE
from dense.narrate.action_traits import is_change, is_quotable, only_looks, shows_data
from dense.narrate.actions import NarratedAction
from dense.narrate.changes import MOST_TEXT, small_changes, standing
from dense.narrate.commands import LOOKING, SHOWING, short_command
from dense.narrate.elsewhere import Elsewhere, TellsElsewhere, nowhere
from dense.narrate.outputs import main_failure
from dense.narrate.quoting import listed, paths_told
from dense.narrate.stretch import Stretch
from dense.text.quoting import one_line, plain_text, ticked
from dense.tree import NONE

ITEMS = 5
"""How many things a facet lists."""
COMMITTING = {"git commit": "changes are committed", "git push": "changes are pushed"}
GUESSED = "as the agent typed it: no output had shown that"
READ_BACK = "read back: "
MOST_FAILURES = 40
"""So many failures are gone through for a facet, from the end."""
MOST_TYPED = 40
"""So many actions back it is looked for whether a value was typed."""
MOST_VAIN = 12
"""So many actions back it is looked for such as found nothing."""
MOST_BETWEEN = 12
"""So many deeds before a recovery may be what brought it about."""


def facet(items: Sequence[str]) -> str:
    """Items of a facet, each once."""
    if not items:
        return NONE
    found = list(dict.fromkeys(items)) if len(items) > 1 else items
    more = f"; and {len(found) - ITEMS} more" if len(found) > ITEMS else ""
    return "; ".join(found[:ITEMS]) + more


class Facets:
    """The facets of a stretch, each as its items."""

    def __init__(self, stretch: Stretch, elsewhere: TellsElsewhere = nowhere, said: str = "") -> None:
        self.stretch = stretch
        self.said = said
        """The summary that the facets stand below."""
        self._elsewhere = elsewhere

    @cached_property
    def elsewhere(self) -> Elsewhere:
        """What others tell of the stretch. Asked for only where something would be told twice."""
        return self._elsewhere(self.stretch.first, self.stretch.deeds[-1].action)

    def artifacts(self) -> list[str]:
        made = self.stretch.made
        if not made:
            return []
        history = self.stretch.history
        if history.has_removals:
            made = [path for path in made if not history.is_gone(path)]  # others were only to find something out
        shown = self._shown_alone()
        told = [(ticked(path, 80), shown.get(base_name(path), "")) for path in reversed(made)]
        return [f"{path} ({seen})" if seen and not self._is_said(seen) else path for path, seen in told]

    def _is_said(self, seen: str) -> bool:
        """Whether the summary shows the contents of a file."""
        return seen.startswith(READ_BACK) and seen.removeprefix(READ_BACK) in self.said

    def _shown_alone(self) -> dict[str, str]:
        """Short contents of files that an action looked at alone, after they were written."""
        found: dict[str, str] = {}
        for deed in self.stretch.worked[-40:]:
            if deed.phase != "verify" or deed.is_check:
                continue
            reads = {base_name(path) for path in deed.facts.effects.reads}
            ran = deed.facts.effects.runs
            is_shown = not ran or (LOOKING.issuperset(ran) and not SHOWING.isdisjoint(ran))
            if len(reads) == 1 and is_shown and is_quotable(deed):
                found[reads.pop()] = GUESSED if self._is_guess(deed) else f"{READ_BACK}{deed.output_text}"
        return found

    def _is_guess(self, deed: NarratedAction) -> bool:
        """Whether what a look shows was typed into the file, and nothing had shown it before."""
        made = self.stretch.history.reads_back(deed.action)
        return made is not None and self.stretch.origins.is_guess(deed.output, made)

    def final_state(self) -> list[str]:
        told: list[str] = []
        for deed in self.stretch.worked:
            effects = deed.facts.effects
            if effects.installs:
                told.append(f"installed {listed([ticked(name, 40) for name in effects.installs], 4)}")
            for text in effects.services:
                told.append(f"running: {ticked(text, 90)}")
            if effects.deletes and (gone := [path for path in effects.deletes if not is_temporary(path)]):
                told.append(f"removed {paths_told(gone)}")
            if deed.facts.family in COMMITTING:
                told.append(COMMITTING[deed.facts.family])
        return told

    def key_values(self) -> list[str]:
        """Values that two actions agree on: one made or printed them, a later one showed them again."""
        found: dict[str, str] = {}
        shows = [n for n, deed in enumerate(self.stretch.deeds) if deed.phase == "verify" and shows_data(deed)]
        for place in shows[-12:]:
            deed = self.stretch.deeds[place]
            text = deed.output
            if not text or len(text) > 800:
                continue
            shown = [value for value in values(text)[:12] if len(value.text) <= 60 and is_named(value.name)]
            for value in shown:
                if self._is_computed(place, value.text):
                    found[value.name] = value.text
        return [f"{one_line(name, 40)} {ticked(text, 60)}" for name, text in found.items()]

    def _is_computed(self, place: int, value: str) -> bool:
        """Whether a value came out of a program before an action shows it, or the action shows what a program made;
        and the agent had not typed it itself before that."""
        for at in range(max(0, place - 6), place):
            deed = self.stretch.deeds[at]
            if deed.has_failed or deed.phase not in ("produce", "run", "verify"):
                continue
            if has_word(deed.output[:2000], value):
                return not self._is_typed(deed.action, value)
        deed = self.stretch.deeds[place]
        maker = self.stretch.history.reads_back(deed.action)
        if maker is None or maker == deed.action or not self.stretch.history.facts[maker - 1].effects.scripts:
            return False
        return not self._is_typed(deed.action, value)

    def _is_typed(self, action: int, value: str) -> bool:
        """Whether the agent wrote a value in a call, up to an action."""
        if any(has_word(text, value) for text in self._typed_before):
            return True
        inside = self.stretch.deeds[: action - self.stretch.first + 1]
        return any(has_word(text, value) for deed in inside[-MOST_TYPED:] for text in typed(deed))

    @cached_property
    def _typed_before(self) -> list[str]:
        """What was typed right before the stretch."""
        before = self.stretch.history.facts[
            max(0, self.stretch.first - 1 - MOST_TYPED) : max(0, self.stretch.first - 1)
        ]
        return [text for fact in before for text in (*fact.commands, fact.signature)]

    def key_mechanisms(self) -> list[str]:
        """What made the difference between what failed and what worked."""
        told: list[str] = []
        for deed, recovery, between in self._recoveries:
            mends = [change for other in standing([*between, recovery]) for change in small_changes(other)]
            if mends:
                told += mends[-2:]
            elif not only_looks(deed) and not deed.is_check and not any(is_change(other) for other in between):
                told += filter(None, [_other_way(deed, recovery)])
        return told

    @cached_property
    def _recoveries(self) -> list[tuple[NarratedAction, NarratedAction, list[NarratedAction]]]:
        """Failures with what recovered them within the stretch, and what worked in between."""
        found: list[tuple[NarratedAction, NarratedAction, list[NarratedAction]]] = []
        for deed in self.stretch.failed[-MOST_FAILURES:]:
            recovery = self.stretch.recovery(deed)
            if recovery is not None:
                between = self.stretch.between(deed, recovery, MOST_BETWEEN)
                found.append((deed, recovery, [other for other in between if not other.has_failed]))
        return found

    def critical_order(self) -> list[str]:
        """What had to come first: something failed for want of it, it was put there, and then the same worked."""
        told: list[str] = []
        for deed, recovery, between in self._recoveries:
            families = [failure.family for failure in deed.facts.result.failures]
            for other in between:
                effects = other.facts.effects
                if effects.installs and any(family.is_missing_dependency for family in families):
                    first = f"install {listed([ticked(name, 40) for name in effects.installs])}"
                elif effects.services and any(family.is_fixed_by_service for family in families):
                    first = f"start {ticked(effects.services[0], 80)}"
                elif effects.writes and NO_SUCH_FILE in families and self._made_wanted(deed, other):
                    first = f"make {paths_told(effects.writes)}"
                else:
                    continue
                told.append(f"{first} before {self.stretch.tried(recovery)}")
        return told

    def _made_wanted(self, failed: NarratedAction, maker: NarratedAction) -> bool:
        wanted = [failure.subject for failure in failed.facts.result.failures if failure.family is NO_SUCH_FILE]
        return any(same_file(path, subject) for path in maker.facts.effects.writes for subject in wanted if subject)

    def dead_ends(self) -> list[str]:
        """Failures that a rerun can avoid and no shortcut tells, by what was missing or by the command and its last
        line. A check that fails is no dead end, nor is a slip that was put right at once."""
        told: list[str] = []
        for deed in self.stretch.failed[-MOST_FAILURES:]:
            failures = deed.facts.result.failures
            is_lacking = any(failure.family.is_missing_dependency for failure in failures)
            if not failures or (not is_lacking and (deed.is_check or only_looks(deed))):
                continue
            recovery = self.stretch.recovery(deed)
            is_slip = main_failure(failures).family.is_call_mistake
            if is_slip and recovery is not None and recovery.action <= deed.action + 2:
                continue
            if deed.action not in self.elsewhere.tries:
                told.append(f"{self.stretch.failure(deed)}{self._instead(deed)}")
        return told if self.stretch.changes else [*told, *self._vain()]

    def _vain(self) -> list[str]:
        """Where something was looked for and is not."""
        looks = self.stretch.worked[-MOST_VAIN:]
        return [f"{self.stretch.did(deed)}: nothing found" for deed in looks if is_vain(deed)]

    def _instead(self, deed: NarratedAction) -> str:
        """The check that ran in the stead of one whose runner is not there."""
        if not deed.could_not_run:
            return ""
        later = self.stretch.deeds[deed.action - self.stretch.first + 1 :][:MOST_BETWEEN]
        ran = next((one for one in later if one.facts.effects.tests and not one.could_not_run), None)
        return f" ({short_command(ran.facts.effects.tests[-1], 60)} runs)" if ran is not None else ""

    def open_issues(self) -> list[str]:
        """What is left and no issue or shortcut tells, apart from tools that are not there: those lead nowhere, and
        nothing is open about them."""
        told: list[str] = []
        for deed in self.stretch.left[-3:]:
            is_absent = any(failure.family.is_missing_dependency for failure in deed.facts.result.failures)
            if not is_absent and deed.action not in self.elsewhere.issues | self.elsewhere.tries:
                told.append(self.stretch.failure(deed))
        if (names := self._unverified()) and not self.elsewhere.is_unverified:
            told.append(f"unverified: {paths_told(names)} after the last change")
        return told

    def _unverified(self) -> list[str]:
        """What the last change made, where nothing ran or looked at anything since."""
        last = self.stretch.changes[-1] if self.stretch.changes else None
        if last is None or last.has_failed or last.is_check or last.facts.effects.scripts:
            return []
        later = self.stretch.deeds[last.action - self.stretch.first + 1 :]
        if [deed for deed in later if deed.phase in ("verify", "run") or deed.is_check]:
            return []
        made, history = self.stretch.made, self.stretch.history
        names = [path for path in last.facts.effects.writes if path in made and "." in base_name(path)]
        return [path for path in names if not history.is_gone(path)] if history.has_removals else names


HEADINGS = frozenset("rootdir platform cachedir plugins configfile inifile dtype name length testing running".split())
"""Names under which runners and printed tables say something of themselves."""


def is_named(name: str) -> bool:
    """Whether a name says what a value is: a number does not, nor does the heading of a runner."""
    return any(map(str.isalpha, name)) and name.lower() not in HEADINGS


def typed(deed: NarratedAction) -> Iterator[str]:
    """What the agent wrote in the calls of an action."""
    yield from deed.facts.commands
    for call in deed.step.calls[:8]:
        for value in call.arguments.values():
            yield plain_text(value)[:MOST_TEXT]


def _other_way(failed: NarratedAction, worked: NarratedAction) -> str:
    """The command that worked instead of the one that failed, where both are of one kind."""
    if not failed.facts.commands or not worked.facts.commands or failed.facts.signature == worked.facts.signature:
        return ""
    before, after = short_command(failed.facts.commands[-1], 80), short_command(worked.facts.commands[-1], 80)
    return f"{after} works, {before} does not" if before != after else ""
