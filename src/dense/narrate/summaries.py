"""What a stretch of actions did that a rerun can use: the way that worked, what showed that it did, what is left.

The same rules serve a stretch of three actions and the whole attempt: of many changes the files are told, of few the
commands. Failures that were overcome stay out of the summary; they are dead ends. Nothing is called done unless an
observation shows it, and what the agent says of itself is quoted as its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from dense.evidence.ending.handovers import final_answer
from dense.evidence.ending.rejections import find_rejections, is_value, submitted_answer
from dense.evidence.facts.fruitless_searches import is_vain
from dense.evidence.facts.paths import base_name
from dense.knowledge.programs import LASTING_COMMANDS
from dense.narrate.action_traits import check_name, is_change, is_found, is_quotable, is_setup, is_telling
from dense.narrate.actions import NarratedAction
from dense.narrate.changes import change, standing
from dense.narrate.commands import short_command
from dense.narrate.handovers import describe_handover, describe_rejections, last_handover
from dense.narrate.messages import says_nothing
from dense.narrate.outputs import shown
from dense.narrate.quoting import capital, listed, paths_told, sentence
from dense.narrate.stretch import Stretch, is_bare
from dense.text.quoting import ticked

LONGEST = 500
LONGEST_WHOLE = 700
MOST_PARTS = 3
"""So many parts are told of a whole, the last ones that came to something."""
FEW = 2
"""So many changes are told each by itself; of more the files."""
MANY = 12
"""So many changes are looked at, whether a later one replaced them."""
MAX_CONTENTS_CHARS = 160


type Stays = Callable[[str], bool]
"""Whether a file that was changed is, with its change, among what is there at the end of the attempt."""


class Brief(Struct, frozen=True):
    """What a part of the attempt came to, for the summary of the whole."""

    clause: str
    """Its last product or result, as a sentence; empty for none."""
    proof: str
    """What showed it, as a sentence; empty for none."""
    check: str
    """The check that passed, by its name."""
    passed: int
    """The action with it; 0 for none."""
    is_product: bool
    """Whether something was made or changed that is there at the end."""
    is_scratch: bool
    """Whether all that was made or changed is gone at the end."""


class Parts(Struct, frozen=True):
    """What the words for a stretch are made of, whether they are many or few."""

    standing: list[NarratedAction]
    """Its last changes, without those that later ones replaced."""
    changes: list[str]
    """Few changes each by itself; of many the files, and the last one."""
    runs: list[str]
    """The last runs that showed something, after the last change where there was one."""
    proof: str
    """The last check that passed, or the last look at what was made, as a sentence; empty for none."""
    proved: int
    """The action of the check; 0 where it is a look."""


class Summary:
    """The summary of a stretch. Its parts are told once, whether what is left is told with them or not."""

    def __init__(self, stretch: Stretch, stays: Stays | None = None) -> None:
        self.stretch = stretch
        self._stays = stays
        self._made_of: Parts | None = None
        self._word: str | None = None
        self._left: str | None = None
        self._told: dict[str, str] = {}
        """What was told, by what was left: it is mostly the same at the second time."""

    def told(self, *, tells_left: bool = True) -> str:
        """One to four sentences: the way, the proof, the last word, what is left."""
        stretch = self.stretch
        if not stretch.deeds:
            return "Nothing was done."
        proof, word = self._parts.proof, self._last_word
        is_told = stretch.changes or stretch.last_success or self._results()
        left = self._left_told if tells_left or not is_told else ""
        if left in self._told:
            return self._told[left]
        room = LONGEST - len(left) - len(proof) - len(word) - 3
        way = self._way(max(room, 160))
        told = " ".join([part for part in (way, proof, left, word) if part]) or sentence(stretch.did(stretch.deeds[-1]))
        self._told[left] = told = told if told.strip() else "Nothing was done."
        return told

    def brief(self) -> Brief:
        """The last product and the check of it, or the last result."""
        stretch, parts = self.stretch, self._parts
        changes = stretch.changes
        lasting: list[NarratedAction] = []
        is_scratch = False
        if changes and not self._lasts(changes[-1]):
            lasting = [deed for deed in parts.standing if self._lasts(deed)]
            is_scratch = not lasting and len(changes) <= MANY and any(deed.facts.effects.writes for deed in changes)
        if lasting:
            clauses = [self._change(lasting[-1])]
        else:
            clauses = parts.changes if changes and not is_scratch else [*self._led(parts.runs), *self._results()]
        if not clauses and not parts.proof:
            clauses = [stretch.told(deed) for deed in stretch.worked[-8:] if is_found(deed) and not is_vain(deed)]
        passed = self._passed
        tests = passed.facts.effects.tests if passed is not None else ()
        return Brief(
            sentence(clauses[-1]) if clauses else "",
            parts.proof,
            check_name(tests[-1]) if tests else "",
            parts.proved,
            bool(changes) and not is_scratch,
            is_scratch,
        )

    def _led(self, runs: Sequence[str]) -> list[str]:
        """The last run, with what led to it."""
        return ["; ".join([*self._lead(), runs[-1]])] if runs else []

    def _lasts(self, deed: NarratedAction) -> bool:
        """Whether a change is of something that is there at the end of the attempt."""
        stays = self._stays
        return stays is None or True in [stays(path) for path in deed.facts.effects.writes[:8]]

    @property
    def _parts(self) -> Parts:
        if self._made_of is None:
            changes = standing(self.stretch.changes[-MANY:])
            proof, proved = self._proved()
            self._made_of = Parts(changes, self._changes_told(changes), self._runs_told(), proof, proved)
        return self._made_of

    def of_parts(self, briefs: Sequence[Brief], *, tells_left: bool, submitted: str = "") -> str:
        """The summary of a whole by its parts: what is handed in, where that is known, what each came to, the last
        word, what is left. What came before the first product only led to it."""
        changed = next((deed.action for deed in reversed(self.stretch.changes[-MANY:]) if self._lasts(deed)), 0)
        first = next((n for n, brief in enumerate(briefs) if brief.is_product), 0)
        last_of = {brief.check: n for n, brief in enumerate(briefs) if brief.proof}
        proofs = [
            _dated(one, changed) if last_of.get(one.check) == n or not one.check else "" for n, one in enumerate(briefs)
        ]
        told = [f"{brief.clause} {proof}".strip() for brief, proof in zip(briefs[first:], proofs[first:], strict=True)]
        kept = list(dict.fromkeys(filter(None, told)))[-MOST_PARTS:]
        has_scratch = any(brief.is_scratch for brief in briefs)
        if len(kept) < 2 - has_scratch or len(self.stretch.agents) > 1:
            return " ".join(filter(None, [submitted, self.told(tells_left=tells_left)]))
        left = self._left_told if tells_left else ""
        room = LONGEST_WHOLE - len(self._last_word) - len(left) - len(submitted)
        while len(kept) > 1 and sum(map(len, kept)) > room:
            kept.pop(0)
        return " ".join(filter(None, [submitted, *kept, left, self._last_word]))

    def _way(self, room: int) -> str:
        """What was done that worked, in order, as much as there is room for; where there is too much, the last of
        it."""
        clauses = self._clauses()
        while len(clauses) > 1 and sum(map(len, clauses)) + 2 * len(clauses) > room:
            clauses.pop(0 if len(clauses) > 2 else 1)
        return sentence("; ".join(clauses)) if clauses else ""

    def _clauses(self) -> list[str]:
        clauses = [*self._setups(), *self._parts.changes, *self._parts.runs] or self._removals()
        if results := self._results():
            return [*clauses, *results]
        if not self.stretch.changes:
            clauses = [*self._lead(), *clauses]
            clauses += self._looks_told()[-1:] if clauses and self._ends_looking() else []
            clauses = clauses or self._looks_told()
            clauses += self._replies() if len(self.stretch.agents) > 1 else []
        return clauses

    def _lead(self) -> list[str]:
        """What was found right before the last run, which it may have led to."""
        deeds = self.stretch.deeds
        at = next((n for n in range(len(deeds) - 1, 0, -1) if deeds[n].phase == "run" and not deeds[n].has_failed), 0)
        found = deeds[at - 1] if at else None
        if found is None or found.has_failed or not is_found(found) or not is_telling(found) or is_vain(found):
            return []
        return [self.stretch.told(found)]

    def _results(self) -> list[str]:
        """What was worked out by actions that failed after that."""
        if not self.stretch.failed or not (contents := self.stretch.products.contents):
            return []
        texts = [(path, shown(text, MAX_CONTENTS_CHARS, has_run=False)) for path, text in contents]
        return [f"wrote {paths_told([path])}, which holds {text}" for path, text in texts if text[0] == "`"][-2:]

    def _replies(self) -> list[str]:
        """What other agents said in answer to the one that called them last."""
        caller = next((deed.step.agent for deed in reversed(self.stretch.worked) if deed.step.calls), None)
        replies = [
            deed
            for deed in self.stretch.worked
            if deed.phase == "talk" and deed.step.agent not in (caller, None) and not says_nothing(deed.step)
        ]
        return [self.stretch.told(deed) for deed in replies[-2:]] if caller is not None else []

    def _ends_looking(self) -> bool:
        """Whether something was found by looking after the last run."""
        found = next(
            (deed for deed in reversed(self.stretch.worked[-8:]) if deed.phase == "run" or is_found(deed)), None
        )
        return found is not None and found.phase != "run"

    def _setups(self) -> list[str]:
        found = [
            deed for deed in self.stretch.worked if deed.phase == "setup" and is_setup(deed) and not is_change(deed)
        ]
        return list(dict.fromkeys([self.stretch.did(deed) for deed in found[-2:]])) if found else []

    def _removals(self) -> list[str]:
        removals = [deed for deed in self.stretch.worked if deed.facts.effects.deletes or deed.facts.effects.undoes]
        return [self.stretch.did(deed) for deed in removals[-2:]]

    def _changes_told(self, changes: Sequence[NarratedAction]) -> list[str]:
        if len(self.stretch.changes) <= MANY and len(changes) <= FEW:
            told = [self._change(deed) for deed in changes]
            if len(changes) < 2 or told[0] != told[1]:
                return told
        last = self._change(changes[-1])
        named = [path for path in self.stretch.made if "." in base_name(path) and base_name(path) not in last]
        return [f"changed {paths_told(named[-40:], 4)}", last] if named else [last]

    def _change(self, deed: NarratedAction) -> str:
        """A change with what came back, or with what it is."""
        return change(deed, self.stretch.did(deed) if deed.phase == "run" else self.stretch.told(deed))

    def _runs_told(self) -> list[str]:
        after = self.stretch.last_change
        runs = [
            deed for deed in self.stretch.worked if deed.phase == "run" and deed.action > after and not deed.is_check
        ]
        if after:
            runs = [deed for deed in runs if deed.facts.family not in LASTING_COMMANDS]
        told: list[str] = []
        for deed in reversed(runs[-4:]):
            if len(told) < 2 and not is_bare(deed.output_text):
                told.insert(0, self.stretch.told(deed))
        return told or [self.stretch.did(deed) for deed in runs[-1:]]

    def _looks_told(self) -> list[str]:
        """What was looked at, by the files; and what was seen where that is short enough to be quoted."""
        looks = [deed for deed in self.stretch.worked if deed.phase in ("explore", "verify") and not deed.is_check]
        reads = (path for deed in looks[-40:] for path in deed.facts.effects.reads[:8])
        paths = dict.fromkeys(path for path in reads if path not in (".", "./"))
        told = [f"looked at {paths_told(paths, 4)}"] if paths else []
        short = [deed for deed in looks[-8:] if is_quotable(deed) and not is_vain(deed)][-2:]
        if len(short) < 2:
            short = [deed for deed in looks[-8:] if deed in short or (is_telling(deed) and not is_vain(deed))][-2:]
        told += dict.fromkeys([self.stretch.told(deed) for deed in short])
        if told:
            return told
        if looks:
            return [listed([self.stretch.did(deed) for deed in looks[:3]])]
        talks = [deed for deed in self.stretch.worked if deed.phase == "talk" and not says_nothing(deed.step)]
        return list(dict.fromkeys([self.stretch.told(deed) for deed in talks[-2:]]))

    def _proved(self) -> tuple[str, int]:
        """The proof, with the action of the check. One from before the last change says so."""
        changed, passed = self.stretch.last_change, self._passed
        if passed is not None and passed.action >= changed:
            if taken := self._taken_back(passed.action):
                return (
                    f"{self._check(passed)}: {passed.output_text}, before the changes were taken back at a{taken}.",
                    0,
                )
            is_told = passed in self.stretch.changes[-FEW:]
            return "" if is_told else f"{self._passing(passed)}.", passed.action
        if changed and (looked := self._look_at_made(changed)):
            return looked, 0
        if passed is None:
            return "", 0
        return f"{self._passing(passed)}, before the last change.", passed.action

    @property
    def _passed(self) -> NarratedAction | None:
        """The check that is told: the last one that passed; before one that only compares or compiles, one that
        counted its tests since the last change."""
        passed, changed = self.stretch.passed, self.stretch.last_change
        if passed is None or passed.action < changed or passed.facts.result.tests:
            return passed
        counted = (deed for deed in reversed(self.stretch.worked) if deed.has_passed and deed.facts.result.tests)
        found = next(counted, None)
        return found if found is not None and found.action >= changed else passed

    def _passing(self, deed: NarratedAction) -> str:
        """A check with what it showed."""
        check, seen = self._check(deed), deed.output_text
        if seen == "nothing":
            return f"{check} printed nothing"
        return f"{check} printed {seen} and no error" if is_bare(seen) else f"{check}: {seen}"

    def _taken_back(self, passed: int) -> int:
        """The action after a check that took changes back to what a repository holds; 0 for none."""
        if not self.stretch.history.has_removals:
            return 0
        return next((d.action for d in self.stretch.worked if d.action > passed and d.facts.effects.undoes), 0)

    def _look_at_made(self, changed: int) -> str:
        """The last look after a change at something that was made, such as shows it shortly before others."""
        names = {base_name(path) for path in self.stretch.made}
        looks = [deed for deed in self.stretch.worked[-40:] if deed.phase == "verify" and deed.action > changed]
        looks = [deed for deed in looks if names & {base_name(path) for path in deed.facts.effects.reads}]
        if not looks:
            return ""
        deed = next((one for one in reversed(looks) if is_quotable(one)), looks[-1])
        seen = deed.output_text
        what = paths_told(deed.facts.effects.reads, 2)
        made = self.stretch.history.reads_back(deed.action)
        if made is not None and self.stretch.origins.is_guess(deed.output, made):
            return f"{what} holds what was typed there; no output had shown that."
        return f"Looked at {what} afterwards." if is_bare(seen) else f"Looking at {what} showed {seen}."

    def _check(self, deed: NarratedAction) -> str:
        tests = deed.facts.effects.tests
        return short_command(tests[-1], 100) if tests else capital(self.stretch.did(deed))

    @property
    def _last_word(self) -> str:
        """A hand-over at the end, with what is claimed in it."""
        if self._word is None:
            self._word = self._tell_last_word()
        return self._word

    def _tell_last_word(self) -> str:
        deed = self.stretch.deeds[-1]
        if len(self.stretch.deeds) < 2 or deed in self.stretch.left[-1:]:
            return ""
        is_last = self.stretch.history.is_last(deed.action)
        if not is_last and deed.phase not in ("deliver", "talk"):
            return ""
        answer = sentence(deed.output_text) if deed.facts.is_followed_by_user else ""
        given = final_answer(deed.step) if is_last else ""
        answered = f"The answer that was given: {ticked(given, 120)}." if given else ""
        if deed.phase == "deliver":
            handed = sentence(told) if (told := self._handed_over()) else ""
            return " ".join(filter(None, [handed, answer, "" if given in handed else answered, self._rejected()]))
        return " ".join(filter(None, [self._rejected(), answer if deed.phase == "talk" else answered]))

    def _rejected(self) -> str:
        """The answers that were not taken before the last one, for the whole: nobody is to hand them in again."""
        deeds = self.stretch.deeds
        if self.stretch.first != 1 or not self.stretch.history.is_last(deeds[-1].action):
            return ""
        handed = [deed for deed in deeds[:-1] if deed.phase == "deliver"]
        found = find_rejections([deed.facts for deed in handed], [deed.step for deed in handed])
        return (
            f"Answers that were not taken before: {describe_rejections(found, self.stretch.origins)}." if found else ""
        )

    def _handed_over(self) -> str:
        """The hand-over; what it says is missing only where no check shows the contrary."""
        deed = last_handover(self.stretch.deeds) or self.stretch.deeds[-1]
        if len(self.stretch.agents) > 1:
            return self.stretch.did(deed)
        told = describe_handover(deed, with_lacking=self.stretch.last_pass <= self.stretch.last_change)
        answer = submitted_answer(deed.facts, deed.step)
        if not is_value(answer):
            return told
        return (
            f"{told}, which no output had shown"
            if told and self.stretch.origins.is_guess(answer, deed.action)
            else told
        )

    @property
    def _left_told(self) -> str:
        if self._left is None:
            self._left = self._tell_left() if self.stretch.left else ""
        return self._left

    def _tell_left(self) -> str:
        told = list(dict.fromkeys([self.stretch.failure(deed) for deed in self.stretch.left[-3:]]))
        while len(told) > 1 and sum(map(len, told)) > LONGEST // 2:
            told.pop(0)
        last = self.stretch.left[-1]
        how = "Could not run" if last.could_not_run else "Still failing" if last.is_check else "Did not work"
        return f"{how}: {'; '.join(told)}."


def _dated(brief: Brief, changed: int) -> str:
    """The proof of a part; one that a change of a later part followed says so."""
    is_stale = brief.proof and 0 < brief.passed < changed and not brief.proof.endswith("before the last change.")
    return f"{brief.proof.removesuffix('.')}, before the last change." if is_stale else brief.proof
