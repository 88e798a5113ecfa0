"""What a stretch of actions did that a rerun can use: the way that worked, what showed that it did, what is left.

The same rules serve a stretch of three actions and the whole attempt: of many changes the files are told, of few the
commands. Failures that were overcome stay out of the summary; they are dead ends. Nothing is called done unless an
observation shows it, and what the agent says of itself is quoted as its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from dense.actions.files import UNNAMED
from dense.actions.tools import known
from dense.analyst.answers import SummaryAnswer
from dense.analyst.rules.commands_told import SHOWING, short_command
from dense.analyst.rules.facts import Facts, same_file
from dense.analyst.rules.files import base_name, is_passing
from dense.analyst.rules.messages import intent
from dense.analyst.rules.outputs_told import main_failure
from dense.analyst.rules.phrases import Deed
from dense.analyst.rules.quoting import capital, listed, one_line, paths_told, quoted, sentence, ticked
from dense.analyst.rules.sequence import History
from dense.analyst.rules.titles import products, title
from dense.analyst.rules.tools_told import change_told
from dense.observations import values
from dense.tree import NONE, Leaf, Node, Subtask, leaves

if TYPE_CHECKING:
    from dense.analyst.rules.analysis import Analysis
    from dense.analyst.rules.findings import Finding

DEEDS: WeakKeyDictionary[History, dict[int, Deed]] = WeakKeyDictionary()
"""The words of a trajectory's actions, as long as its history lives: every level of the tree asks for them again."""
LONGEST = 500
ITEMS = 5
"""How many things a facet lists."""
ABSENT = {"no_such_command": "command not found", "no_such_module": "no such module"}
COMMITTING = {"git commit": "changes are committed", "git push": "changes are pushed"}
SLIPS = frozenset({"syntax", "usage", "tool"})
"""Families of errors that say nothing about the task once the call was put right."""
EMPTY = re.compile(r"nothing$|\d+ lines?$")
FEW = 2
"""So many changes are told each by itself; of more the files."""
MOST_FAILURES = 40
"""So many failures are gone through for a facet, from the end."""


def digest(members: Sequence[Node], facts_of: Callable[[Leaf], Facts], history: History) -> SummaryAnswer:
    """Title, summary and facets of consecutive nodes, whatever their level."""
    known_deeds = DEEDS.setdefault(history, {})
    deeds = [_deed(leaf, facts_of, history, known_deeds) for member in members for leaf in leaves(member)]
    told = Stretch(deeds, history)
    return SummaryAnswer(
        subtitle=title(deeds, told.products),
        summary=told.summary(),
        artifacts=_facet(told.artifacts()),
        final_state=_facet(told.final_state()),
        key_values=_facet(told.key_values()),
        key_mechanisms=_facet(told.key_mechanisms()),
        critical_order=_facet(told.critical_order()),
        dead_ends=_facet(told.dead_ends()),
        open_issues=_facet(told.open_issues()),
    )


def final(subtask: Subtask, analysis: Analysis, still_open: Sequence[Finding] = ()) -> str:
    """The summary after reconciliation: the way that worked and what verified it. What is left is told by issues."""
    history = analysis.history
    known_deeds = DEEDS.setdefault(history, {})
    deeds = [_deed(leaf, lambda one: analysis.of(one.action), history, known_deeds) for leaf in leaves(subtask)]
    return Stretch(deeds, history).summary(tells_left=not still_open)


def _deed(leaf: Leaf, facts_of: Callable[[Leaf], Facts], history: History, known_deeds: dict[int, Deed]) -> Deed:
    found = known_deeds.get(leaf.action)
    if found is None or found.step is not leaf.step:
        facts = facts_of(leaf)
        phase = history.phase(leaf.action) if history.of(leaf.action) is not None else facts.phase
        found = known_deeds[leaf.action] = Deed(facts, leaf.step, phase)
    return found


def _facet(items: Iterable[str]) -> str:
    """Items of a facet, each once."""
    found = list(dict.fromkeys(items))
    more = f"; and {len(found) - ITEMS} more" if len(found) > ITEMS else ""
    return "; ".join(found[:ITEMS]) + more if found else NONE


class Stretch:
    """Consecutive actions, and what can be said of them."""

    def __init__(self, deeds: Sequence[Deed], history: History) -> None:
        self.deeds = deeds
        self.history = history
        self.by_action = {deed.action: place for place, deed in enumerate(deeds)}
        self.worked = [deed for deed in deeds if not deed.has_failed]
        self.failed = [deed for deed in deeds if deed.has_failed]
        self.changes = [deed for deed in self.worked if _is_change(deed)]
        self.products = products(deeds)
        self.made = self.products.made
        self.agents = {deed.step.agent for deed in deeds}
        self.last_success = max((deed.action for deed in self.worked if _is_success(deed)), default=0)
        self.last_pass = max((deed.action for deed in self.worked if deed.has_passed), default=0)
        self.left = [deed for deed in self.failed if self._is_left(deed)]

    # The summary

    def summary(self, *, tells_left: bool = True) -> str:
        """One to four sentences: the way, the proof, the last word, what is left."""
        if not self.deeds:
            return "Nothing was done."
        proof = self._proof()
        word = self._last_word()
        left = self._left_told() if tells_left or not (self.changes or self.last_success) else ""
        room = LONGEST - len(left) - len(proof) - len(word) - 3
        way = self._way(max(room, 160))
        told = " ".join(filter(None, [way, proof, word, left])) or sentence(self._did(self.deeds[-1]))
        return told if told.strip() else "Nothing was done."

    def _way(self, room: int) -> str:
        """What was done that worked, in order, as much as there is room for; where there is too much, the last of
        it."""
        clauses = [*self._setups(), *self._changes_told(), *self._runs_told()] or self._removals()
        if not self.changes:
            clauses += self._looks_told()[-1:] if clauses and self._ends_looking() else []
            clauses = clauses or self._looks_told()
            clauses += self._replies() if len(self.agents) > 1 else []
        while len(clauses) > 1 and sum(map(len, clauses)) + 2 * len(clauses) > room:
            clauses.pop(0 if len(clauses) > 2 else 1)
        return sentence("; ".join(clauses)) if clauses else ""

    def _replies(self) -> list[str]:
        """What other agents said in answer to the one that called them last."""
        caller = next((deed.step.agent for deed in reversed(self.worked) if deed.step.calls), None)
        replies = [deed for deed in self.worked if deed.phase == "talk" and deed.step.agent not in (caller, None)]
        return [self._told(deed) for deed in replies[-2:]] if caller is not None else []

    def _ends_looking(self) -> bool:
        """Whether something was found by looking after the last run."""
        found = next((deed for deed in reversed(self.worked[-8:]) if deed.phase == "run" or _is_found(deed)), None)
        return found is not None and found.phase != "run"

    def _setups(self) -> list[str]:
        found = [deed for deed in self.worked if deed.phase == "setup" and _is_setup(deed) and not _is_change(deed)]
        return list(dict.fromkeys(self._did(deed) for deed in found[-2:]))

    def _removals(self) -> list[str]:
        return [self._did(deed) for deed in self.worked if deed.facts.effects.deletes][-2:]

    def _changes_told(self) -> list[str]:
        """Few changes each by itself; of many the files, and the last one."""
        told = [self._change(deed) for deed in self.changes[-FEW:]]
        if len(self.changes) <= FEW and len(set(told)) == len(self.changes):
            return told
        last = told[-1]
        named = [path for path in self.made if "." in base_name(path) and base_name(path) not in last]
        return [f"changed {paths_told(named[-40:], 4)}", last] if named else [last]

    def _change(self, deed: Deed) -> str:
        """A change with what came back, or with the agent's own words for it where the change is too long to tell."""
        told = self._told(deed)
        if _is_silent(deed) and not told.endswith(")") and deed.step.message.strip():
            return f"{told} ({quoted(intent(deed.step.message, 90), 90)})"
        return told

    def _runs_told(self) -> list[str]:
        """The last runs that showed something, after the last change where there was one."""
        after = self.changes[-1].action if self.changes else 0
        runs = [deed for deed in self.worked if deed.phase == "run" and deed.action > after and not deed.is_check]
        told = [self._told(deed) for deed in runs[-4:] if not EMPTY.match(deed.saw)]
        return told[-2:]

    def _looks_told(self) -> list[str]:
        """What was looked at, by the files; and what was seen where that is short enough to be quoted."""
        looks = [deed for deed in self.worked if deed.phase in ("explore", "verify") and not deed.is_check]
        reads = (path for deed in looks[-40:] for path in deed.facts.effects.reads[:8])
        paths = dict.fromkeys(path for path in reads if path not in (".", "./"))
        told = [f"looked at {paths_told(paths, 4)}"] if paths else []
        short = [deed for deed in looks[-8:] if _is_quotable(deed)][-2:]
        if len(short) < 2:
            short = [deed for deed in looks[-8:] if deed in short or _is_telling(deed)][-2:]
        told += [self._told(deed) for deed in short]
        if told:
            return told
        if looks:
            return [listed([self._did(deed) for deed in looks[:3]])]
        talks = [deed for deed in self.worked if deed.phase == "talk"]
        return [self._told(deed) for deed in talks[-2:]]

    def _proof(self) -> str:
        """The last check that passed, or the last look at what was made. One from before the last change says so."""
        changed = self.changes[-1].action if self.changes else 0
        passed = next((deed for deed in reversed(self.worked) if deed.has_passed), None)
        if passed is not None and passed.action >= changed:
            return "" if passed in self.changes[-FEW:] else f"{self._check(passed)}: {passed.saw}."
        if changed and (looked := self._look_at_made(changed)):
            return looked
        if passed is None:
            return ""
        return f"{self._check(passed)}: {passed.saw}, before the last change."

    def _look_at_made(self, changed: int) -> str:
        """The last look after a change at something that was made, such as shows it shortly before others."""
        names = {base_name(path) for path in self.made}
        looks = [deed for deed in self.worked[-40:] if deed.phase == "verify" and deed.action > changed]
        looks = [deed for deed in looks if names & {base_name(path) for path in deed.facts.effects.reads}]
        if not looks:
            return ""
        deed = next((one for one in reversed(looks) if _is_quotable(one)), looks[-1])
        seen = deed.saw
        what = paths_told(deed.facts.effects.reads, 2)
        return f"Looked at {what} afterwards." if EMPTY.match(seen) else f"Looking at {what} showed {seen}."

    def _check(self, deed: Deed) -> str:
        tests = deed.facts.effects.tests
        return short_command(tests[-1], 100) if tests else capital(self._did(deed))

    def _last_word(self) -> str:
        """A hand-over at the end, with what is claimed in it."""
        deed = self.deeds[-1]
        if len(self.deeds) < 2 or deed in self.left:
            return ""
        answer = sentence(deed.saw) if deed.facts.is_answered else ""
        if deed.phase == "deliver":
            return f"{sentence(self._did(deed))} {answer}".strip()
        return answer if deed.phase == "talk" else ""

    def _left_told(self) -> str:
        told = list(dict.fromkeys(self._failure(deed) for deed in self.left[-3:]))
        if not told:
            return ""
        while len(told) > 1 and sum(map(len, told)) > LONGEST // 2:
            told.pop(0)
        how = "Still failing" if self.left[-1].is_check else "Did not work"
        return f"{how}: {'; '.join(told)}."

    def _failure(self, deed: Deed) -> str:
        """What failed: what was missing, or the command and the line that tells."""
        failures = deed.facts.seen.failures
        failure = main_failure(failures) if failures else None
        if failure is not None and failure.family in ABSENT and failure.subject:
            return f"{ticked(failure.subject, 60)}: {ABSENT[failure.family]}"
        return f"{self._try(deed)}: {deed.saw}"

    def _try(self, deed: Deed) -> str:
        """What was tried, by its command alone where it has one."""
        told = self._did(deed)
        return told.removeprefix("ran ") if told.startswith("ran `") else told

    def _did(self, deed: Deed) -> str:
        told = deed.did
        return f"{ticked(deed.step.agent, 30)} {told}" if len(self.agents) > 1 and deed.step.agent else told

    def _told(self, deed: Deed) -> str:
        """What was done, and what came back where that tells something."""
        told = self._did(deed)
        if _is_silent(deed):
            return told
        seen = deed.saw
        return told if EMPTY.match(seen) else f"{told}: {seen}"

    # What was left

    def _is_left(self, deed: Deed) -> bool:
        """Whether a failure is still one at the end of the stretch: nothing did the same and worked; and where
        something was only not there, or a call was wrong, nothing else worked in its place."""
        if _only_looks(deed):
            return False
        if len(deed.facts.effects.tests) > 1 and not self._all_passed(deed):
            return True
        if self._recovery(deed) is not None:
            return False
        return (self.last_pass if deed.is_check else self.last_success) < deed.action

    def _recovery(self, deed: Deed) -> Deed | None:
        place = self.by_action.get(self.history.recovered_by(deed.action) or 0)
        return None if place is None else self.deeds[place]

    def _all_passed(self, deed: Deed) -> bool:
        """Whether each of several checks of one action is passed by a later one: their results are not told apart."""
        wanted = {_check_name(text) for text in deed.facts.effects.tests}
        for other in reversed(self.worked):
            if other.action <= deed.action or not wanted:
                break
            if other.has_passed:
                wanted -= {_check_name(text) for text in other.facts.effects.tests}
        return not wanted

    # Facets

    def artifacts(self) -> Iterator[str]:
        shown = self._shown_alone()
        for path in reversed(self.made):
            seen = shown.get(base_name(path))
            yield f"{ticked(path, 80)} (read back: {seen})" if seen else ticked(path, 80)

    def _shown_alone(self) -> dict[str, str]:
        """Short contents of files that an action looked at alone, after they were written."""
        found: dict[str, str] = {}
        for deed in self.worked[-40:]:
            if deed.phase != "verify" or deed.is_check:
                continue
            reads = {base_name(path) for path in deed.facts.effects.reads}
            is_shown = not deed.facts.effects.runs or not SHOWING.isdisjoint(deed.facts.effects.runs)
            if len(reads) == 1 and is_shown and _is_quotable(deed):
                found[reads.pop()] = deed.saw
        return found

    def final_state(self) -> Iterator[str]:
        for deed in self.worked:
            effects = deed.facts.effects
            if effects.installs:
                yield f"installed {listed([ticked(name, 40) for name in effects.installs], 4)}"
            for text in effects.services:
                yield f"running: {ticked(text, 90)}"
            gone = [path for path in effects.deletes if not is_passing(path)]
            if gone:
                yield f"removed {paths_told(gone)}"
            if deed.facts.family in COMMITTING:
                yield COMMITTING[deed.facts.family]

    def key_values(self) -> Iterator[str]:
        """Values that two actions agree on: one made or printed them, a later one showed them again."""
        found: dict[str, str] = {}
        shows = [n for n, deed in enumerate(self.deeds) if deed.phase == "verify" and _shows_data(deed)]
        for place in shows[-12:]:
            deed = self.deeds[place]
            text = deed.output
            if not text or len(text) > 800:
                continue
            earlier = self._evidence(place)
            for value in values(text)[:12] if earlier else ():
                if len(value.text) <= 60 and _has_word(earlier, value.text):
                    found[value.name] = value.text
        for name, text in found.items():
            yield f"{one_line(name, 40)} {ticked(text, 60)}"

    def _evidence(self, place: int) -> str:
        """What the actions right before wrote or printed, apart from looks."""
        before = [deed for deed in self.deeds[max(0, place - 6) : place] if deed.phase in ("produce", "run", "verify")]
        return "\n".join(
            part
            for deed in before
            if not deed.has_failed
            for part in (deed.output[:2000], *(text[:2000] for text in deed.facts.commands))
        )

    def key_mechanisms(self) -> Iterator[str]:
        """What made the difference between what failed and what worked."""
        for deed, recovery, between in self._recoveries():
            mends = [change for other in (*between, recovery) for change in _changes(other)]
            if mends:
                yield from mends[-2:]
            elif not _only_looks(deed) and not deed.is_check and not any(_is_change(other) for other in between):
                yield from filter(None, [_other_way(deed, recovery)])

    def _recoveries(self) -> Iterator[tuple[Deed, Deed, Sequence[Deed]]]:
        """Failures with what recovered them within the stretch, and what worked in between."""
        for deed in self.failed[-MOST_FAILURES:]:
            recovery = self._recovery(deed)
            if recovery is not None:
                first, last = self.by_action[deed.action] + 1, self.by_action[recovery.action]
                between = self.deeds[max(first, last - 12) : last]
                yield deed, recovery, [other for other in between if not other.has_failed]

    def critical_order(self) -> Iterator[str]:
        """What had to come first: something failed for want of it, it was put there, and then the same worked."""
        for deed, recovery, between in self._recoveries():
            families = {failure.family for failure in deed.facts.seen.failures}
            for other in between:
                effects = other.facts.effects
                if effects.installs and families & ABSENT.keys():
                    first = f"install {listed([ticked(name, 40) for name in effects.installs])}"
                elif effects.services and families & {"connection", "http", "no_such_file"}:
                    first = f"start {ticked(effects.services[0], 80)}"
                elif effects.writes and "no_such_file" in families and self._made_wanted(deed, other):
                    first = f"make {paths_told(effects.writes)}"
                else:
                    continue
                yield f"{first} before {self._try(recovery)}"

    def _made_wanted(self, failed: Deed, maker: Deed) -> bool:
        wanted = [failure.subject for failure in failed.facts.seen.failures if failure.family == "no_such_file"]
        return any(same_file(path, subject) for path in maker.facts.effects.writes for subject in wanted if subject)

    def dead_ends(self) -> Iterator[str]:
        """Failures that a rerun can avoid, by what was missing or by the command and its last line. A check that fails
        is no dead end, nor is a slip that was put right at once."""
        for deed in self.failed[-MOST_FAILURES:]:
            failures = deed.facts.seen.failures
            is_lacking = any(failure.family in ABSENT for failure in failures)
            if not failures or (not is_lacking and (deed.is_check or _only_looks(deed))):
                continue
            recovery = self._recovery(deed)
            is_slip = main_failure(failures).family in SLIPS
            if is_slip and recovery is not None and recovery.action <= deed.action + 2:
                continue
            yield self._failure(deed)

    def open_issues(self) -> Iterator[str]:
        for deed in self.left[-3:]:
            yield self._failure(deed)
        last = self.changes[-1] if self.changes else None
        if last is None or last.has_failed or last.is_check or last.facts.effects.scripts:
            return
        later = [deed for deed in self.deeds if deed.action > last.action]
        if not any(deed.phase in ("verify", "run") or deed.is_check for deed in later):
            names = [path for path in last.facts.effects.writes if path in self.made and "." in base_name(path)]
            if names:
                yield f"unverified: {paths_told(names)} after the last change"


def _is_change(deed: Deed) -> bool:
    """Whether it made something that stays: a file, or a change through a tool of the task's own."""
    effects = deed.facts.effects
    if not effects.writes:
        return deed.phase == "produce" and not effects.deletes
    return any(not is_passing(path) and base_name(path) != ".git" for path in effects.writes)


def _only_looks(deed: Deed) -> bool:
    """Whether it gets nothing done by itself, also where it looks for what was made: that something is not there is an
    answer."""
    return deed.facts.phase in ("explore", "talk")


def _is_setup(deed: Deed) -> bool:
    effects = deed.facts.effects
    return bool(effects.installs or effects.services or effects.network)


def _is_silent(deed: Deed) -> bool:
    """Whether what comes back is only the harness's word that a file was written."""
    effects = deed.facts.effects
    is_plain = not (effects.scripts or effects.tests or deed.facts.commands)
    return bool(effects.writes) and (is_plain or UNNAMED in effects.writes) and not deed.has_failed


def _is_found(deed: Deed) -> bool:
    return deed.phase == "explore" and _is_quotable(deed)


def _is_telling(deed: Deed) -> bool:
    """Whether a look is more than reading or listing: its command says what was looked for."""
    return not deed.did.startswith(("read ", "listed ", "ran `ls"))


def _is_quotable(deed: Deed) -> bool:
    """Whether what came back is short enough to stand in a sentence."""
    return not deed.facts.seen.is_empty and deed.saw.startswith("`")


def _is_success(deed: Deed) -> bool:
    """Whether an action that did not fail got something done, as against looking."""
    if deed.phase == "verify":
        return deed.has_passed
    return deed.phase in ("run", "produce", "setup")


CODE = (".py", ".js", ".ts", ".tsx", ".c", ".h", ".cpp", ".go", ".rs", ".java", ".rb", ".sh", ".php", ".cs", ".md")


def _shows_data(deed: Deed) -> bool:
    """Whether what is shown are values, and not a program in which values stand."""
    return not deed.has_failed and not any(path.endswith(CODE) for path in deed.facts.effects.reads)


def _check_name(text: str) -> str:
    """A check without its options: `python3 -m unittest -v` and `python3 -m unittest` are one."""
    return " ".join(word for word in text.split()[:6] if not word.startswith("-"))


def _has_word(text: str, word: str) -> bool:
    """Whether a value stands in a text by itself."""
    at = text.find(word) if word else -1
    while at >= 0:
        end = at + len(word)
        if not (at and text[at - 1].isalnum()) and not (end < len(text) and text[end].isalnum()):
            return True
        at = text.find(word, end)
    return False


SUBSTITUTION = re.compile(r"\bs([/|#@,])")


def _changes(deed: Deed) -> Iterator[str]:
    """The short changes of an action: `old` → `new` in a file."""
    where = paths_told(deed.facts.effects.writes[-1:])
    for text in deed.facts.commands:
        if "sed -i" not in text[:2000] or (found := SUBSTITUTION.search(text[:2000])) is None:
            continue
        parts = text[found.end() : 2000].split(found[1])
        if len(parts) >= 3 and max(len(parts[0]), len(parts[1])) <= 80 and parts[0]:
            yield f"{ticked(parts[0])} → {ticked(parts[1])} in {where}" if parts[1] else f"without {ticked(parts[0])}"
    if not deed.facts.commands and deed.facts.effects.writes:
        for call in deed.step.calls[:4]:
            if told := change_told(known(call), 70):
                yield f"{told} in {where}"


def _other_way(failed: Deed, worked: Deed) -> str:
    """The command that worked instead of the one that failed, where both are of one kind."""
    if not failed.facts.commands or not worked.facts.commands or failed.facts.gist == worked.facts.gist:
        return ""
    before, after = short_command(failed.facts.commands[-1], 80), short_command(worked.facts.commands[-1], 80)
    return f"{after} works, {before} does not" if before != after else ""
