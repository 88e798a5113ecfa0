"""What the task asks for, followed through the trace: who made it, who showed it, what became of it."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from dense.analyst.rules.facts import Facts, same_file
from dense.analyst.rules.files import base_name
from dense.redact.words import lowered, matching, one_byte_each
from dense.requirements.requirement import Requirement
from dense.trajectory import Step

MOST = 12
"""How many deliverables are followed. A task that names more is a listing, hardly all of which is asked for."""
ABSENT = ("no such file", "cannot open", "can't open", "cannot access", "not found", "does not exist", "enoent")
"""What a line says of a file that is not there: programs say it in English where the locale is C."""
ANY_ABSENT = "(?i)" + "|".join(ABSENT)
HEAD = 64 * 1024
"""How much of a text is looked through for a name."""
SHORTEST_PART = 4
"""How long a part of a name is that is looked for by itself."""
IN_PLACE = ("sed -i", "perl -pi", "perl -i", "git apply", "git checkout", "patch ", ">>")
OLD_TEXTS = frozenset(["old_str", "old_string", "oldText", "old_text", "insert_line", "search", "old_code"])
UPDATES = "*** Update File"
"""What edits a file that is there: commands, arguments of tools, a line of a patch."""


class Tracked(Struct, frozen=True):
    """What the trace shows of one file that the task asks for. Actions by number, in order."""

    requirement: Requirement
    made: tuple[int, ...] = ()
    """Actions that wrote it, or ran a program that names it, and did not fail."""
    tried: tuple[int, ...] = ()
    """Actions that were to make it and failed."""
    shown: tuple[int, ...] = ()
    """Actions whose observation shows it: its contents, or its name in a listing or a message."""
    missed: tuple[int, ...] = ()
    """Actions that looked for it in vain."""
    removed: int | None = None
    """The action that removed it, where nothing made it again."""
    is_old: bool = False
    """Whether it was there before the first action that changed it, or none did: to see it then shows nothing."""

    @property
    def subject(self) -> str:
        return self.requirement.subject

    @property
    def is_missing(self) -> bool:
        """Whether the trace shows that it is not there: nobody made it and nobody saw it, or it was looked for in vain
        since."""
        there = max((*self.made, *self.shown), default=0)
        return there == 0 or max(self.missed, default=0) > there

    @property
    def is_shown(self) -> bool:
        """Whether it was seen after it was last made."""
        return bool(self.shown) and self.shown[-1] > max(self.made, default=0)


def track(wanted: Sequence[Requirement], facts: Sequence[Facts], steps: Sequence[Step]) -> list[Tracked]:
    """The files among the deliverables, each followed through all actions."""
    files = [one for one in wanted if one.kind == "file" and one.role == "deliverable" and _is_plain(one.subject)]
    given = [_given(step) for step in steps] if files else []
    came = [[seen.text[:HEAD] for seen in step.observations if seen.origin == "tool"] for step in steps if files]
    return [_followed(one, facts, steps, given, came) for one in files[:MOST]]


def _is_plain(path: str) -> bool:
    """Whether a path names one file: no pattern, no placeholder, no folder."""
    return not set(path) & set("*?<>{}[]$") and "." in base_name(path) and not path.endswith("/")


def _given(step: Step) -> str:
    """What the calls of a step are given, as one text."""
    return "\0".join([str(value)[:HEAD] for call in step.calls for value in call.arguments.values()])


def _followed(
    wanted: Requirement, facts: Sequence[Facts], steps: Sequence[Step], given: Sequence[str], came: Sequence[list[str]]
) -> Tracked:
    """What becomes of a file. `given` and `came`: what each step's calls are given, and what its tools give back."""
    name = base_name(wanted.subject)
    made: list[int] = []
    tried: list[int] = []
    shown: list[int] = []
    missed: list[int] = []
    removed: int | None = None
    programs: set[str] = set()
    for fact, typed, texts in zip(facts, given, came, strict=True):
        is_named = name in typed
        effects = fact.effects
        writes = True in [same_file(path, wanted.subject) for path in effects.writes]
        runs = bool(programs) and True in [base_name(script) in programs for script in effects.scripts]
        by_itself = is_named and not _only_looks(fact) and not _only_writes(fact)
        if writes or runs or by_itself:
            # An action that writes it and then runs a check has written it, whatever the check says.
            is_tried = fact.has_failed and not (writes and fact.is_check)
            (tried if is_tried else made).append(fact.action)
        if is_named and effects.writes:
            programs |= {base_name(path) for path in effects.writes if not same_file(path, wanted.subject)}
        is_there = _is_there(texts, typed.count(name) if is_named else 0, name)
        if is_there is False:
            missed.append(fact.action)
        elif is_there or (is_named and _only_looks(fact) and not fact.has_failed and not fact.seen.is_empty):
            shown.append(fact.action)
        if effects.deletes and not writes and any(same_file(path, wanted.subject) for path in effects.deletes):
            removed = fact.action
    if removed is not None and made and made[-1] > removed:
        removed = None
    is_old = not made or _was_there(wanted.subject, made[0], shown, facts, steps)
    return Tracked(wanted, tuple(made), tuple(tried), tuple(shown), tuple(missed), removed, is_old)


def _was_there(path: str, made: int, shown: Sequence[int], facts: Sequence[Facts], steps: Sequence[Step]) -> bool:
    """Whether a file was there before the first action that made or changed it: it was seen or read before, or that
    action edits it in place."""
    if shown and shown[0] < made:
        return True
    if any(
        not fact.has_failed and any(same_file(path, one) for one in fact.effects.reads) for fact in facts[: made - 1]
    ):
        return True
    first, name = facts[made - 1], base_name(path)
    if any(mark in text and name in text for text in first.commands for mark in IN_PLACE):
        return True
    return any(
        not OLD_TEXTS.isdisjoint(call.arguments) or any(UPDATES in str(value) for value in call.arguments.values())
        for call in steps[made - 1].calls
    )


def may_be_made(one: Tracked, facts: Sequence[Facts], steps: Sequence[Step]) -> bool:
    """Whether a program that ran without failure may have made a file whose name nobody wrote in full: it names the
    folder, or the name without its ending, and puts the rest together. A look in vain speaks against it."""
    if one.missed or one.tried:
        return False
    folder, name = one.subject.replace("\\", "/").rpartition("/")[::2]
    parts = [name.rpartition(".")[0]]
    if folder.strip("/").count("/"):  # one that is deeper than the place where everything lies
        parts.append(folder)
    parts = [part for part in parts if len(part) >= SHORTEST_PART]
    programs: set[str] = set()
    for fact, step in zip(facts, steps, strict=True):
        done = fact.effects
        if not fact.has_failed and any(base_name(script) in programs for script in done.scripts):
            return True
        if not (done.scripts or done.writes) or not _has_part(step, parts):
            continue
        if done.scripts and not fact.has_failed:
            return True
        programs |= set(map(base_name, done.writes))
    return False


def _has_part(step: Step, parts: Sequence[str]) -> bool:
    texts = [str(value)[:HEAD].replace("\\", "/") for call in step.calls for value in call.arguments.values()]
    return any(part in text for part in parts for text in texts)


def _is_there(texts: Sequence[str], said: int, name: str) -> bool | None:
    """Whether what a tool gave back shows a file of this name, says that there is none, or does neither. What the
    action itself says about it, so many times, is echo: a terminal repeats every command."""
    texts = [text for text in texts if name in text]
    if not texts:
        return None
    if True in [_is_absent(text, name) for text in texts]:
        return False
    return True if not said or sum([text.count(name) for text in texts]) > said else None


def _is_absent(text: str, name: str) -> bool:
    """Whether a line that holds a name says that there is no such file."""
    if not matching(ANY_ABSENT)(one_byte_each(text)):
        return False  # most are like this
    low = lowered(text)
    for words in ABSENT:
        place = low.find(words)
        while place >= 0:
            start, end = low.rfind("\n", 0, place) + 1, low.find("\n", place)
            if name in text[start : end if end >= 0 else len(text)]:
                return True
            place = low.find(words, end) if end >= 0 else -1
    return False


def _only_looks(fact: Facts) -> bool:
    """Whether an action only looks at things."""
    done = fact.effects
    return fact.phase in {"explore", "verify"} and not done.changes_files and not done.scripts


def _only_writes(fact: Facts) -> bool:
    """Whether an action only writes files, so that a name in it may stand in a program that did not run yet."""
    done = fact.effects
    return bool(done.writes) and not done.scripts and not done.tests and not set(done.runs) - {"cat", "tee", "echo"}
