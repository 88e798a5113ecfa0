"""How the actions of a trace relate: which one repairs, repeats, reads back, recovers or breaks which.

`ActionLinks` goes once over all facts, forwards. A link goes to the nearest earlier action that fits, and whether it
fits depends on nothing before that one: the links of a part of a trace are those of the whole, as far as both ends are
in the part. Only the first change is a matter of the whole."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase

from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import NO_TARGETS, base_name, normalise_path, same_file
from dense.analysis.evidence.facts.phases import Phase

MAX_PATHS = 12
"""How many paths of one action are looked up."""
MAX_LOOSE_DISTANCE = 3
"""How far apart two actions may be if nothing but their order relates them."""
NAMED_IN_ERROR = re.compile(r"'([A-Za-z_]\w{2,})'")
"""What an error names: `name 'decode' is not defined`."""
MIN_CODE_LINE_CHARS = 12
"""Shorter lines of code are in any program."""


def worked_on(fact: ActionFacts) -> tuple[str, ...]:
    """Base names of what an action works on, or looks at if it works on nothing."""
    return tuple([base_name(path) for path in (fact.products or fact.targets)[:8] if path not in NO_TARGETS])


def attempted_things(fact: ActionFacts) -> tuple[str, ...]:
    """Base names of what an attempt is about: code that names nothing by itself, a check by nothing."""
    paths = fact.products or fact.targets
    if not paths:
        return () if fact.is_check else (fact.signature,)
    return tuple([base_name(path) for path in paths[:4]])


def is_meant_to_change(fact: ActionFacts) -> bool:
    """Whether an action was to change files by itself, and not by a program that it runs."""
    effects = fact.effects
    return bool(effects.writes or effects.deletes) and not (effects.scripts or effects.tests)


def only_shows(fact: ActionFacts) -> bool:
    """Whether an action runs nothing of the project's own and changes nothing."""
    effects = fact.effects
    return not (effects.writes or effects.deletes or effects.scripts or effects.tests or effects.installs)


def is_change(fact: ActionFacts) -> bool:
    """Whether the same command may give something else afterwards."""
    return fact.phase in ("produce", "setup", "run") or bool(fact.effects.writes or fact.effects.deletes)


def changes_product(fact: ActionFacts, check: ActionFacts) -> bool:
    """Whether a change is to what a check tests, and not to the test."""
    written = fact.effects.writes
    are_tests = all("test" in base_name(path).lower() for path in written)
    return bool(written) and not are_tests and not share_file(written, check.targets)


def is_retry(failed: ActionFacts, fact: ActionFacts) -> bool:
    """Whether the same is tried again: the same family on something that both name."""
    if not failed.family or (failed.family != fact.family and failed.family not in fact.effects.runs):
        return False
    if not failed.targets or not fact.targets:
        is_near = fact.action - failed.action < MAX_LOOSE_DISTANCE
        return fact.is_check or (is_near and not fact.targets and not failed.targets)
    return share_file(fact.targets, failed.targets)


def is_repair(failed: ActionFacts, fact: ActionFacts) -> bool:
    """Whether a change is for a failure: it changes what failed or what the failing line names, or installs what was
    missing; or a check has just failed and this changes a product."""
    if fact.effects.installs:
        return any(failure.family.is_missing_dependency for failure in failed.result.failures)
    if failed.is_check and fact.phase == "produce" and fact.action - failed.action <= MAX_LOOSE_DISTANCE:
        return True
    changed = fact.effects.writes + fact.effects.deletes
    if share_file(changed, failed.products) or share_file(changed, failed.targets):
        return True
    names = [name for path in changed[:MAX_PATHS] if (name := base_name(path))]
    texts = [text for failure in failed.result.failures for text in (failure.subject, failure.line)]
    return any(name in text for name in names for text in texts)


def is_corrected_code(failed: ActionFacts, fact: ActionFacts) -> bool:
    """Whether code on a command line does what other code failed to: it has what the error names, or most lines."""
    if fact.result.is_empty or failed.targets:
        return False
    named = [match[1] for failure in failed.result.failures if (match := NAMED_IN_ERROR.search(failure.line))]
    if any(name in fact.signature for name in named):
        return True
    lines = {line for line in failed.signature.split("\n", MAX_PATHS) if len(line) >= MIN_CODE_LINE_CHARS}
    return len(lines) > 1 and 2 * len(lines.intersection(fact.signature.split("\n"))) >= len(lines)


def share_file(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two lists of paths may name the same file."""
    return any(same_file(path, other) for path in some[:MAX_PATHS] for other in others[:MAX_PATHS])


REACH = 10
"""How many actions may lie between a failure and what belongs to it."""
MAX_OPEN_FAILURES = 6
"""How many failures are kept open for a repair."""
MAX_SAME_NAME = 8
"""How many files of one base name are kept apart."""
MAX_REMOVALS = 40
"""How many removed folders and patterns are remembered."""
LOCAL_HOSTS = ("localhost", "127.0.0.1", "0.0.0.0", "[::1]")  # noqa: S104 - recognised, not bound


class PathLog:
    """The last position at which each file was touched, found by base name."""

    def __init__(self) -> None:
        self._positions: dict[str, dict[str, int]] = {}
        self.latest = -1
        """The last position at which anything was touched."""

    def note(self, paths: Iterable[str], position: int) -> None:
        for path in paths:
            self.latest = position
            known = self._positions.setdefault(base_name(path), {})
            known.pop(path, None)
            known[path] = position
            if len(known) > MAX_SAME_NAME:
                del known[next(iter(known))]

    def last(self, paths: Sequence[str]) -> int | None:
        """The latest position at which one of these was touched."""
        positions = [
            position
            for path in paths[:MAX_PATHS]
            for known, position in self._positions.get(base_name(path), {}).items()
            if same_file(known, path)
        ]
        return max(positions, default=None)


class OpenFailures:
    """Failures by what was attempted, the same family on the same things, until it works."""

    def __init__(self) -> None:
        self._open: dict[str, dict[str, list[int]]] = {}
        self._changes: set[int] = set()
        """The failures of actions that were to change something."""

    def fail(self, fact: ActionFacts, position: int) -> None:
        of_family = self._open.setdefault(fact.family, {})
        if is_meant_to_change(fact):
            self._changes.add(position)
        for name in attempted_things(fact) or ("",):
            of_family.setdefault(name, []).append(position)

    def succeed(self, fact: ActionFacts) -> list[int]:
        """Close the failures that this success recovers. A check that names nothing covers all of its family; looking
        at something does not do what a change failed to do."""
        of_family = self._open.get(fact.family, {})
        names = attempted_things(fact)
        kept = self._changes if names and only_shows(fact) else set[int]()
        recovered: set[int] = set()
        for name in names or list(of_family):
            positions = of_family.pop(name, [])
            recovered.update(position for position in positions if position not in kept)
            if left := [position for position in positions if position in kept]:
                of_family[name] = left
        return sorted(recovered)


class ActionLinks:
    """The facts of consecutive actions with the links between them. Actions are given and returned by their numbers."""

    def __init__(self, facts: Sequence[ActionFacts], complaint: Callable[[int], str] = lambda _: "") -> None:
        """`complaint`: what the agent says is wrong with the result of an action; with one, it recovers nothing."""
        self.facts, self.complaint = facts, complaint
        self._first = facts[0].action if facts else 1
        self._repaired: dict[int, int] = {}
        self.repairs = self._repaired.get
        """The failed action that this one fixes: it changes what failed, or installs what was missing."""
        self._retried: dict[int, int] = {}
        self.retries = self._retried.get
        """The failed action that this one tries again, changed or not."""
        self._repeated: dict[int, int] = {}
        self.repeats = self._repeated.get
        """The earlier action that was the same, with nothing changed in between."""
        self._recovered: dict[int, int] = {}
        self.recovered_by = self._recovered.get
        """The first later action that did what failed here, and did not fail."""
        self._broken: dict[int, tuple[int, int]] = {}
        self.broke = self._broken.get
        """The runs of a check before and after this change, if nothing else changed and it broke the check."""
        self._read_back: dict[int, int] = {}
        self.reads_back = self._read_back.get
        """The action that last wrote what this one shows or runs, or started the service that it asks."""
        self.failure_ends = list(range(len(facts)))
        """The last position that repairs or retries a failure at a position; itself if nothing does."""
        self.worked_on = [worked_on(fact) for fact in facts]
        """The names of what the action at a position works on."""
        self._writes = PathLog()
        self._removals = PathLog()
        self._wide_removals: deque[tuple[str, int]] = deque(maxlen=MAX_REMOVALS)
        changes = (n for n, fact in enumerate(facts) if fact.phase == "produce")
        self._first_change = next(changes, len(facts))
        self._link()

    def of(self, action: int) -> ActionFacts | None:
        """The facts of an action."""
        position = action - self._first
        return self.facts[position] if 0 <= position < len(self.facts) else None

    def is_gone(self, path: str) -> bool:
        """Whether a file was removed, or its changes reverted, and it was not written again."""
        written, removed = self._writes.last([path]), self._removals.last([path])
        last_write = -1 if written is None else written
        if removed is not None and removed > last_write:
            return True
        return any(at > last_write and is_within(path, wide) for wide, at in self._wide_removals)

    @property
    def has_removals(self) -> bool:
        """Whether anything was removed or reverted at all."""
        return self._removals.latest >= 0

    def gives_up(self, action: int) -> bool:
        """Whether it is the last try at something that never worked, and the agent went on without it."""
        position = action - self._first
        if not 0 <= position < len(self.facts) - 1:
            return False
        has_failed = self.facts[position].has_failed and action not in self._recovered
        return has_failed and self.failure_ends[position] == position

    def phase(self, action: int) -> Phase:
        """What it was for, in its sequence: to look at what was made is to verify, the last message delivers."""
        phase = self.facts[action - self._first].phase
        if phase == "explore":
            return "verify" if action in self._read_back else phase
        return "deliver" if phase == "talk" and self.is_last(action) else phase

    def is_last(self, action: int) -> bool:
        return action - self._first == len(self.facts) - 1

    def write_position(self, position: int) -> int:
        """The position of the write that the action at this one shows or runs; -1 if there is none."""
        return self._read_back.get(position + self._first, self._first - 1) - self._first

    def _link(self) -> None:
        failures = OpenFailures()
        is_open: deque[int] = deque(maxlen=MAX_OPEN_FAILURES)
        signatures: dict[str, int] = {}
        passed: dict[str, int] = {}
        service = spoken = -1
        changes: deque[int] = deque([-1, -1], maxlen=2)
        for n, fact in enumerate(self.facts):
            if fact.phase != "talk":
                self._link_to_write(fact, service)
                if fact.signature and fact.phase != "deliver":
                    self._link_to_repeated(n, fact, signatures, max(changes[-1], spoken + 1))
                self._link_to_failures(n, fact, is_open, failures)
                self._note_removals(n, fact)
                if fact.is_check:
                    self._link_to_broken(n, fact, passed, changes)
                effects = fact.effects
                self._writes.note([path for path in effects.writes[:MAX_PATHS] if path not in effects.undoes], n)
                service = n if effects.services else service
                if is_change(fact):
                    changes.append(n)
            spoken = n if fact.is_followed_by_user else spoken

    def _link_to_write(self, fact: ActionFacts, service: int) -> None:
        effects = fact.effects
        if fact.phase in ("produce", "deliver"):
            return
        written = self._writes.last(effects.scripts + effects.reads)
        asks_local = any(host in address for address in effects.network[:MAX_PATHS] for host in LOCAL_HOSTS)
        position = max(-1 if written is None else written, service if asks_local else -1)
        if position >= 0:
            self._read_back[fact.action] = self._first + position

    def _link_to_repeated(self, n: int, fact: ActionFacts, signatures: dict[str, int], changed: int) -> None:
        before = signatures.get(fact.signature, -1)
        if before >= changed and not any("sleep" in text[:200] for text in fact.commands):
            self._repeated[fact.action] = self.facts[before].action
        signatures[fact.signature] = n

    def _link_to_failures(self, n: int, fact: ActionFacts, is_open: deque[int], failures: OpenFailures) -> None:
        """Link an action to the nearest open failures that it tries again or repairs, and to those it recovers."""
        while is_open and n - is_open[0] > REACH:
            is_open.popleft()
        retried = self._link_to_retried(n, fact, is_open)
        if fact.has_failed:
            failures.fail(fact, n)
            is_open.append(n)
        elif fact.is_answered:
            for j in self._recoveries(fact, retried, failures):
                self._recovered[self.facts[j].action] = fact.action
                if j in is_open:
                    is_open.remove(j)

    def _link_to_retried(self, n: int, fact: ActionFacts, is_open: deque[int]) -> ActionFacts | None:
        """The nearest open failure that an action tries again, if there is one."""
        effects, action = fact.effects, fact.action
        may_repair = bool(effects.writes or effects.deletes or effects.installs) and fact.phase != "run"
        retried: ActionFacts | None = None
        for j in reversed(is_open):
            failed = self.facts[j]
            is_linked = False
            if retried is None and is_retry(failed, fact):
                self._retried[action] = failed.action
                retried, is_linked = failed, True
            if may_repair and failed.phase != "explore" and is_repair(failed, fact):
                self._repaired[action] = failed.action
                may_repair, is_linked = False, True
            # A check that fails before anything was changed says what the task is; the agent did not fail.
            if is_linked and not (failed.is_check and j < self._first_change):
                self.failure_ends[j] = n
        return retried

    def _recoveries(self, fact: ActionFacts, retried: ActionFacts | None, failures: OpenFailures) -> list[int]:
        """The failures that an action which went well recovers, as far as the agent does not reject its result."""
        recovered = failures.succeed(fact) if not fact.is_check or fact.result.is_fine else []
        if not recovered and not fact.targets and retried is not None and is_corrected_code(retried, fact):
            recovered = [retried.action - self._first]
        if recovered and not fact.has_passed and self.complaint(fact.action):
            for j in recovered:
                failures.fail(self.facts[j], j)
            return []
        return recovered

    def _link_to_broken(self, n: int, fact: ActionFacts, passed: dict[str, int], changes: deque[int]) -> None:
        """A check that passed and now counts failures was broken by the only change in between."""
        before = passed.get(fact.family)
        if fact.has_passed:
            passed[fact.family] = n
        elif fact.has_failed and before is not None:
            del passed[fact.family]
            change = changes[-1]
            is_only = changes[-2] <= before < change < n
            if is_only and any(run.failed for run in fact.result.tests) and changes_product(self.facts[change], fact):
                self._broken[self.facts[change].action] = (self.facts[before].action, fact.action)

    def _note_removals(self, n: int, fact: ActionFacts) -> None:
        """What does not exist any more, or is as it was before. What was moved exists under another name."""
        removed = (fact.effects.deletes, fact.effects.undoes) if not fact.has_failed else ()
        for paths in removed:
            self._removals.note(paths[:MAX_REMOVALS], n)
            if not fact.effects.writes:
                wide = [path for path in paths[:MAX_PATHS] if "*" in path or "." not in base_name(path)]
                self._wide_removals += [(path, n) for path in wide if path not in NO_TARGETS]


def is_within(path: str, wide: str) -> bool:
    """Whether a file is in a folder, or matches a pattern."""
    if "*" in wide:
        return fnmatchcase(base_name(path), base_name(wide))
    return f"/{normalise_path(wide).removeprefix('/')}/" in f"/{path}"
