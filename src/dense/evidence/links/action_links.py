"""How the actions of a trajectory hang together: what repairs, repeats, reads back, recovers or breaks what.

`History` goes once over all facts, forwards, and keeps small books: files by base name, failures that are still open,
checks by family. A link always goes to the nearest earlier action that fits, and whether it fits depends on nothing
before that one: a history of a part of the trajectory has the same links as one of the whole, as far as both ends lie
in the part. Only where the first change lies is a matter of the whole."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from dense.evidence.facts.facts import NO_TARGETS, ActionFacts, Phase, plain_name, same_file
from dense.evidence.facts.files import base_name
from dense.evidence.facts.targets import normalise_path
from dense.knowledge.program import words

REACH = 10
"""How many actions may lie between a failure and what belongs to it."""
SOON = 3
"""How many where nothing but the order tells that it belongs to it."""
MOST_OPEN = 6
"""How many failures are kept open for a repair."""
MOST_PATHS = 8
"""How many files of one base name are told apart."""
FEW = 12
"""How many paths of one action are looked up."""
MOST_WIDE = 40
"""How many removed folders and patterns are kept in mind."""
MOVING = words("""
    scroll scrolldown scrollup pagedown pageup wait sleep snapshot browsersnapshot browserscroll browserwaitfor
    screenshot takescreenshot browsertakescreenshot next goback back press presskey browserpresskey bashoutput
    taskoutput writestdin sendkeys typekeys sendinput taskget tasklist todoread getstatus
""")
"""Tools that are called again because something else may be there by now."""
UNDOING = frozenset(["git checkout", "git restore", "git reset", "git stash", "git clean"])
NAMED = re.compile(r"'([A-Za-z_]\w{2,})'")
"""What an error names: `name 'decode' is not defined`."""
LONG_LINE = 12
"""Shorter lines of code are in any program."""
LOCAL = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]")  # noqa: S104 - recognised, not bound


class Paths:
    """Where files were last touched, found by base name. Of one name only the latest few are kept."""

    def __init__(self) -> None:
        self._at: dict[str, dict[str, int]] = {}
        self.latest = -1
        """The last position at which anything was touched."""

    def note(self, paths: Iterable[str], position: int) -> None:
        for path in paths:
            self.latest = position
            known = self._at.setdefault(base_name(path), {})
            known.pop(path, None)
            known[path] = position
            if len(known) > MOST_PATHS:
                del known[next(iter(known))]

    def last(self, paths: Sequence[str]) -> int | None:
        """The latest position at which one of these was touched."""
        found = -1
        for path in paths[:FEW]:
            known_by_name = self._at.get(base_name(path))
            for known, position in reversed(known_by_name.items()) if known_by_name else ():
                if position <= found:
                    break
                if same_file(known, path):
                    found = position
                    break
        return found if found >= 0 else None


class Attempts:
    """Failures by what was attempted, until it works: the same family on the same things."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, list[int]]] = {}
        self._changes: set[int] = set()
        """Those that were to change something."""

    def fail(self, fact: ActionFacts, position: int) -> None:
        of_family = self._open.setdefault(fact.family, {})
        if may_change(fact):
            self._changes.add(position)
        for name in things(fact) or ("",):  # nothing named: all of it
            of_family.setdefault(name, []).append(position)

    def succeed(self, fact: ActionFacts) -> list[int]:
        """The failures that this success takes back."""
        of_family = self._open.get(fact.family)
        if not of_family:
            return []
        names = things(fact)
        if names and self._changes and only_shows(fact):
            return self._succeed_looking(of_family, names)
        if not names:
            # A check that names nothing covers everything of its family.
            del self._open[fact.family]
            return sorted({position for positions in of_family.values() for position in positions})
        return sorted({position for name in names for position in of_family.pop(name, ())})

    def _succeed_looking(self, of_family: dict[str, list[int]], names: Sequence[str]) -> list[int]:
        """The same for a look: it does not do what a change failed to do."""
        found: set[int] = set()
        for name in names:
            known = of_family.pop(name, [])
            found.update(position for position in known if position not in self._changes)
            if left := [position for position in known if position in self._changes]:
                of_family[name] = left
        return sorted(found)


def may_change(fact: ActionFacts) -> bool:
    """Whether an action, by itself and not by a program that it runs, was to change files."""
    effects = fact.effects
    return bool(effects.writes or effects.deletes) and not (effects.scripts or effects.tests)


def only_shows(fact: ActionFacts) -> bool:
    """Whether an action runs nothing of the project's own and changes nothing."""
    effects = fact.effects
    return not (effects.writes or effects.deletes or effects.scripts or effects.tests or effects.installs)


def things(fact: ActionFacts) -> tuple[str, ...]:
    """Base names of what an attempt is about. Code on a command line that names nothing is about itself; a check that
    names nothing is about everything."""
    paths = fact.products or fact.targets
    if not paths:
        return () if fact.is_check else (fact.signature,)
    return tuple([base_name(path) for path in paths[:4]])


def names(fact: ActionFacts) -> tuple[str, ...]:
    """Base names of what an action works on; of what it looks at where it works on nothing."""
    return tuple([base_name(path) for path in (fact.products or fact.targets)[:8] if path not in NO_TARGETS])


class ActionLinks:
    """All facts of a trajectory with the links between them. Actions go in and come out by their numbers.

    `has_changed`: these are a part of a trajectory, and something was changed before it."""

    def __init__(self, facts: Sequence[ActionFacts], *, has_changed: bool = False) -> None:
        count = len(facts)
        self.facts = facts
        self._position = {fact.action: n for n, fact in enumerate(facts)}
        self._repaired: dict[int, int] = {}
        self._retried: dict[int, int] = {}
        self._repeated: dict[int, int] = {}
        self._recovered: dict[int, int] = {}
        self._broken: dict[int, tuple[int, int]] = {}
        """From action to action; what stands below goes by positions."""
        self._read_backs: list[int | None] = [None] * count
        self._lost: dict[int, tuple[str, int | None]] = {}
        self._undone: dict[int, int] = {}
        self._held = list(range(count))
        self._names = [names(fact) for fact in facts]
        self._last_written = Paths()
        self._last_removed = Paths()
        self._removed_wide: deque[tuple[str, int]] = deque(maxlen=MOST_WIDE)
        changes = (n for n, fact in enumerate(facts) if fact.phase == "produce")
        self._first_change = 0 if has_changed else next(changes, count)
        self._go()
        read_back = zip(facts, self._read_backs, strict=True)
        self._read_back = {fact.action: facts[found].action for fact, found in read_back if found is not None}
        self._harmful = {*self._broken, *[facts[n].action for n in (*self._undone, *self._lost)]}

    # What others ask

    def __len__(self) -> int:
        return len(self.facts)

    def of(self, action: int) -> ActionFacts | None:
        """The facts of an action, by its number."""
        position = self._position.get(action)
        return None if position is None else self.facts[position]

    def repairs(self, action: int) -> int | None:
        """The failed action that this one mends: it changes what failed, or installs what was missing."""
        return self._repaired.get(action)

    def retries(self, action: int) -> int | None:
        """The failed action that this one tries again, changed or not."""
        return self._retried.get(action)

    def repeats(self, action: int) -> int | None:
        """The earlier action that was the same, with nothing changed in between."""
        return self._repeated.get(action)

    def reads_back(self, action: int) -> int | None:
        """The action that last wrote what this one shows or runs, or started the service that it asks."""
        return self._read_back.get(action)

    def recovered_by(self, action: int) -> int | None:
        """The first later action that did what failed here, and did not fail."""
        return self._recovered.get(action)

    def broke(self, action: int) -> tuple[int, int] | None:
        """The check that had passed before this change and failed after it, both runs, where nothing else changed."""
        return self._broken.get(action)

    def may_harm(self, action: int) -> bool:
        """Whether it broke a check, took back everything or removed something, as far as is known at that time."""
        return action in self._harmful

    def undoes(self, action: int) -> int | None:
        """The last change, where this action takes back everything though a check had passed, and nothing is written
        or brought back afterwards."""
        position = self._position.get(action, -1)
        found = self._undone.get(position)
        return None if found is None or self._last_written.latest > position else self.facts[found].action

    def loses(self, action: int) -> tuple[str, int | None] | None:
        """A file that it removes for good, and the action that wrote it; None for one that was only read before."""
        position = self._position.get(action, -1)
        found = self._lost.get(position)
        if found is None:
            return None
        again = self._last_written.last([found[0]])
        if again is not None and again > position:
            return None
        return found[0], None if found[1] is None else self.facts[found[1]].action

    def is_gone(self, path: str) -> bool:
        """Whether a file was removed, or its changes taken back, and it was not written again."""
        if not self.has_removals:
            return False
        removed = self._last_removed.last([path])
        if removed is None and not self._removed_wide:
            return False
        written = self._last_written.last([path])
        since = -1 if written is None else written
        if removed is not None and removed > since:
            return True
        return any(at > since and is_within(path, wide) for wide, at in self._removed_wide)

    @property
    def has_removals(self) -> bool:
        """Whether anything was removed or taken back at all."""
        return self._last_removed.latest >= 0

    def gives_up(self, action: int) -> bool:
        """Whether it is the last try at something that never worked, and the agent went on without it."""
        position = self._position.get(action)
        if position is None or position >= len(self.facts) - 1:
            return False
        has_failed = self.facts[position].has_failed and action not in self._recovered
        return has_failed and self._held[position] == position

    def phase(self, action: int) -> Phase:
        """What it was for, seen in sequence: looking at what was made is verifying, the last word hands over."""
        position = self._position[action]
        phase = self.facts[position].phase
        if phase == "explore":
            return "verify" if action in self._read_back else phase
        return "deliver" if phase == "talk" and position == len(self.facts) - 1 else phase

    def is_repair(self, action: int) -> bool:
        return self.repairs(action) is not None

    def is_repeat(self, action: int) -> bool:
        return self.repeats(action) is not None

    def is_read_back(self, action: int) -> bool:
        """Whether it shows what was written before. Running it is something else."""
        return self.reads_back(action) is not None and self.phase(action) == "verify"

    def is_last(self, action: int) -> bool:
        return self._position.get(action) == len(self.facts) - 1

    def held_until(self, position: int) -> int:
        """The last position that belongs to a failure at this one: a repair or another try within reach. Itself where
        nothing does."""
        return self._held[position]

    def wrote_before(self, position: int) -> int:
        """The position of the write that the one at this position shows or runs; -1 where there is none."""
        found = self._read_backs[position]
        return -1 if found is None else found

    def worked_on(self, position: int) -> tuple[str, ...]:
        """The names of what the action at a position works on."""
        return self._names[position]

    # One pass over all

    def _go(self) -> None:
        writes, reads, attempts = self._last_written, Paths(), Attempts()
        is_open: deque[int] = deque(maxlen=MOST_OPEN)
        gists: dict[str, int] = {}
        passed: dict[str, int] = {}
        service = last_check = spoken = -1
        changes: deque[int] = deque([-1, -1], maxlen=2)
        for n, fact in enumerate(self.facts):
            if fact.phase == "talk":
                spoken = n if fact.is_followed_by_user else spoken
                continue
            effects = fact.effects
            self._read_backs[n] = self._find_written(fact, writes, service)
            if fact.signature and fact.phase != "deliver":
                self._note_repeat(n, fact, gists, max(changes[-1], spoken + 1))
            self._note_attempt(n, fact, is_open, attempts)
            if effects.deletes:
                self._note_loss(n, effects.deletes, writes, reads)
                self._note_removal(n, effects.deletes)
            if effects.undoes:
                self._note_removal(n, effects.undoes)
            if fact.family in UNDOING and "." in effects.writes + effects.deletes:
                self._note_undoing(n, writes, last_check)
            if fact.is_check:
                self._note_check(n, fact, passed, changes)
                last_check = n if fact.has_passed else -1
            if effects.undoes:
                writes.note([path for path in effects.writes[:FEW] if path not in effects.undoes], n)
            elif effects.writes:
                writes.note(effects.writes[:FEW], n)
            if effects.reads:
                reads.note(effects.reads[:FEW], n)
            if effects.services:
                service = n
            if is_change(fact):
                changes.append(n)
            spoken = n if fact.is_followed_by_user else spoken

    def _find_written(self, fact: ActionFacts, writes: Paths, service: int) -> int | None:
        effects = fact.effects
        if fact.phase in ("produce", "deliver"):
            return None
        found = writes.last(effects.scripts + effects.reads) if effects.scripts or effects.reads else None
        if service >= 0 and any(local in address for address in effects.network[:FEW] for local in LOCAL):
            return service if found is None else max(found, service)
        return found

    def _note_repeat(self, n: int, fact: ActionFacts, gists: dict[str, int], changed: int) -> None:
        before = gists.get(fact.signature, -1)
        if before >= changed and not is_waiting(fact):
            self._repeated[fact.action] = self.facts[before].action
        gists[fact.signature] = n

    def _note_attempt(self, n: int, fact: ActionFacts, is_open: deque[int], attempts: Attempts) -> None:
        """Ties an action to the nearest open failure that it tries again or repairs."""
        while is_open and n - is_open[0] > REACH:
            is_open.popleft()
        effects, action = fact.effects, fact.action
        may_mend = bool(effects.writes or effects.deletes or effects.installs) and fact.phase != "run"
        kinds = (fact.family, *effects.runs)
        retried: ActionFacts | None = None
        for j in reversed(is_open):
            failed = self.facts[j]
            is_linked = False
            if retried is None and failed.family in kinds and is_retry(failed, fact, n - j):
                self._retried[action] = failed.action
                retried, is_linked = failed, True
            if may_mend and failed.phase != "explore" and is_mending(failed, fact, n - j):
                self._repaired[action] = failed.action
                may_mend, is_linked = False, True
            # A check that fails before anything was changed tells what the task is; it is no failure of the agent's.
            if is_linked and not (failed.is_check and j < self._first_change):
                self._held[j] = n
        if fact.has_failed:
            attempts.fail(fact, n)
            is_open.append(n)
            return
        taken_back = attempts.succeed(fact) if not fact.is_check or fact.result.is_fine else []
        if not taken_back and not fact.targets and retried is not None and is_mended_code(retried, fact):
            taken_back = [self._position[retried.action]]
        for j in taken_back:
            self._recovered[self.facts[j].action] = action
            if j in is_open:
                is_open.remove(j)

    def _note_check(self, n: int, fact: ActionFacts, passed: dict[str, int], changes: deque[int]) -> None:
        """A check that had passed and counts failures now was broken by the only change in between, unless that
        changed the check."""
        before = passed.get(fact.family)
        if fact.has_passed:
            passed[fact.family] = n
        elif fact.has_failed and before is not None:
            del passed[fact.family]
            change = changes[-1]
            is_only = changes[-2] <= before < change < n
            if is_only and any(run.failed for run in fact.result.tests) and changes_product(self.facts[change], fact):
                self._broken[self.facts[change].action] = (self.facts[before].action, fact.action)

    def _note_loss(self, n: int, deleted: Sequence[str], writes: Paths, reads: Paths) -> None:
        for path in deleted[:FEW]:
            writer = writes.last([path])
            if writer is not None or reads.last([path]) is not None:
                self._lost[n] = (path, writer)
                return

    def _note_removal(self, n: int, deleted: Sequence[str]) -> None:
        """What is not there any more, or is as it was before."""
        if self.facts[n].has_failed:
            return
        self._last_removed.note(deleted[:MOST_WIDE], n)
        if self.facts[n].effects.writes:
            return  # what was moved is there under another name
        self._removed_wide += [
            (path, n)
            for path in deleted[:FEW]
            if path not in NO_TARGETS and ("*" in path or "." not in base_name(path))
        ]

    def _note_undoing(self, n: int, writes: Paths, last_check: int) -> None:
        """Taking back the whole tree, where a check had passed after the last change. What takes back a single file
        tidies up more often than it destroys."""
        writer = writes.latest
        if -1 < writer < last_check:
            self._undone[n] = writer


def is_within(path: str, wide: str) -> bool:
    """Whether a file lies in a folder, or fits a pattern."""
    if "*" in wide:
        return fnmatchcase(base_name(path), base_name(wide))
    return f"/{normalise_path(wide).removeprefix('/')}/" in f"/{path}"


def is_change(fact: ActionFacts) -> bool:
    """Whether afterwards the same command may give something else."""
    return fact.phase in ("produce", "setup", "run") or bool(fact.effects.writes or fact.effects.deletes)


def changes_product(fact: ActionFacts, check: ActionFacts) -> bool:
    """Whether a change is to what is tested, and not to the test."""
    written = fact.effects.writes
    are_tests = all("test" in base_name(path).lower() for path in written)
    return bool(written) and not are_tests and not shares(written, check.targets)


def is_waiting(fact: ActionFacts) -> bool:
    return True in ["sleep" in text[:200] for text in fact.commands] or plain_name(fact.family) in MOVING


def is_retry(failed: ActionFacts, fact: ActionFacts, distance: int) -> bool:
    """Whether the same is tried again: the same family on something that both name."""
    if not failed.family or (failed.family != fact.family and failed.family not in fact.effects.runs):
        return False
    if not failed.targets or not fact.targets:
        return fact.is_check or (distance < SOON and not fact.targets and not failed.targets)
    return shares(fact.targets, failed.targets)


def is_mended_code(failed: ActionFacts, fact: ActionFacts) -> bool:
    """Whether code on a command line does what other such code failed to: it says again what the error names, or most
    of its lines."""
    if fact.result.is_empty or failed.targets:
        return False
    named = [found[1] for failure in failed.result.failures if (found := NAMED.search(failure.line))]
    if any(name in fact.signature for name in named):
        return True
    lines = {line for line in failed.signature.split("\n", FEW) if len(line) >= LONG_LINE}
    return len(lines) > 1 and 2 * len(lines.intersection(fact.signature.split("\n"))) >= len(lines)


def is_mending(failed: ActionFacts, fact: ActionFacts, distance: int) -> bool:
    """Whether a change is meant for a failure of something that was to work: it changes what failed, what the failing
    line names, or installs what was missing; or a check has just failed, and this is a change to a product."""
    if fact.effects.installs:
        return any(failure.family in ("no_such_module", "no_such_command") for failure in failed.result.failures)
    if failed.is_check and fact.phase == "produce" and distance <= SOON:
        return True
    changed = fact.effects.writes + fact.effects.deletes
    if shares(changed, failed.products) or shares(changed, failed.targets):
        return True
    told = [text for failure in failed.result.failures for text in (failure.subject, failure.line)]
    names = [name for path in changed[:FEW] if (name := base_name(path))] if told else []
    return True in [name in text for name in names for text in told]


def shares(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two lists of paths may name the same file. Looked up by base name first: most share none."""
    if not some or not others:
        return False
    names = [base_name(path) for path in others[:FEW]]
    both = [path for path in some[:FEW] if base_name(path) in names]
    return any(same_file(path, other) for path in both for other in others[:FEW]) if both else False
