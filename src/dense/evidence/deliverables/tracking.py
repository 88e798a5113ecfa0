"""What the task asks for, followed through the trace: who made it, who showed it, what became of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from dense.evidence.deliverables.sightings import count, is_named, is_named_more, may_be, sightings
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name, normalise_path, same_file
from dense.evidence.requirements.requirement import Requirement
from dense.knowledge.programs import programs_that
from dense.text.search import contains_any, lower_ascii, one_byte_each
from dense.trajectory import Step

MOST = 12
"""How many deliverables are followed. A task that names more is a listing, hardly all of which is asked for."""
ABSENT = ("no such file", "cannot open", "can't open", "cannot access", "not found", "does not exist", "enoent")
"""What a line says of a file that is not there: programs say it in English where the locale is C."""
HEAD = 64 * 1024
"""How much of a text is looked through for a name."""
SHORTEST_PART = 4
"""How long a part of a name is that is looked for by itself."""
IN_PLACE = ("sed -i", "perl -pi", "perl -i", "git apply", "git checkout", "patch ", ">>")
OLD_TEXTS = frozenset(["old_str", "old_string", "oldText", "old_text", "insert_line", "search", "old_code"])
UPDATES = "*** Update File"
"""What edits a file that is there: commands, arguments of tools, a line of a patch."""
OR_ECHO = re.compile(
    r"\|\|\s*(?:\(\s*|\{\s*)?echo\s+(?:-\w+\s+)?(\"[^\"\n$`]{1,120}\"|'[^'\n]{1,120}'|[^\s;&|)}>'\"]{1,120}+)(?!\s*>)"
)
"""What a command says instead of an error."""
LISTING = re.compile(r"(?:^|&&|;|\n)\s*ls((?:\s+-[A-Za-z1]+)*)\s+['\"]?(/[^\s;&|'\"*?$]*)['\"]?\s*(?=$|&&|;|\n)")
"""A plain listing of one folder: its options, its path."""
PARTS = re.compile(r"&&|[;|\n]")
REMOVES = re.compile(r"\b(?:rm|mv|unlink|shred|del|remove)\b")
SHELLS = programs_that("shell") | {"-bash", "/bin/sh", "/bin/bash", "sudo", "env"}
CUT = ("runcated", "omitted", "elided", "...", "erminal", "more lines")
"""Words of what is not all there."""
LONGEST_MESSAGE = 300
"""A text of a tool that is longer than this, and nothing says that it is an error, is contents."""


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
    is_swept: bool = False
    """Whether that action did not name it: it removed what fits a pattern, or the folder."""
    elsewhere: tuple[tuple[int, str], ...] = ()
    """Actions that wrote a file of its name in another place, each with that path."""
    is_seen_in_place: bool = False
    """Whether an action that shows it names it with its whole path; looked for only where `elsewhere` holds one."""
    is_missed_in_place: bool = False
    """Whether the last look in vain was for its whole path."""
    is_named_apart: bool = False
    """Whether an action that did more than look, or what came back, names a file that ends in its name and is not
    it: it may be it all the same."""
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


def track(wanted: Sequence[Requirement], facts: Sequence[ActionFacts], steps: Sequence[Step]) -> list[Tracked]:
    """The files among the deliverables, each followed through all actions."""
    files = [one for one in wanted if one.kind == "file" and one.role == "deliverable" and is_plain(one.subject)]
    given = [_given(step) for step in steps] if files else []
    came = [[seen.text[:HEAD] for seen in step.observations if seen.origin == "tool"] for step in steps if files]
    return [_followed(one, facts, steps, given, came) for one in files[:MOST]]


def is_plain(path: str) -> bool:
    """Whether a path names one file: no pattern, no placeholder, no folder."""
    return not set(path) & set("*?<>{}[]$") and "." in base_name(path) and not path.endswith("/")


def _given(step: Step) -> str:
    """What the calls of a step are given, as one text."""
    return "\0".join([str(value)[:HEAD] for call in step.calls for value in call.arguments.values()])


def _followed(
    wanted: Requirement,
    facts: Sequence[ActionFacts],
    steps: Sequence[Step],
    given: Sequence[str],
    came: Sequence[list[str]],
) -> Tracked:
    """What becomes of a file. `given` and `came`: what each step's calls are given, and what its tools give back."""
    path = wanted.subject
    name = base_name(path)
    made: list[int] = []
    tried: list[int] = []
    shown: list[int] = []
    missed: list[int] = []
    elsewhere: list[tuple[int, str]] = []
    removed: int | None = None
    is_swept = is_apart = is_missed_in_place = False
    programs: set[str] = set()
    for fact, typed, texts in zip(facts, given, came, strict=True):
        effects = fact.effects
        is_typed = name in typed
        named = [(text, text.find(name)) for text in texts if name in text]
        if not (is_typed or named or effects.writes or effects.deletes or effects.scripts or "ls" in effects.runs):
            continue  # most are like this
        is_called = is_typed and is_named(typed, path)
        writes = bool(effects.writes) and True in [_is_written(one, path, is_typed) for one in effects.writes]
        others = [one for one in effects.writes if base_name(one) == name] if effects.writes and not writes else ()
        if others and is_called:  # its bare name is that of the other one, in the folder that the command went to
            is_called = any(one.is_same and one.path != name for one in sightings(typed, path))
        runs = bool(programs) and True in [base_name(script) in programs for script in effects.scripts]
        by_itself = is_called and not _only_looks(fact) and not _only_writes(fact)
        if writes or runs or by_itself:
            # An action that writes it and then runs a check has written it, whatever the check says.
            is_tried = fact.has_failed and not (writes and fact.is_check)
            is_tried = is_tried or (is_called and "|| echo" in typed and _gave_up(typed, texts, path))
            (tried if is_tried else made).append(fact.action)
        if is_called and effects.writes:
            programs |= {base_name(one) for one in effects.writes if not same_file(one, path)}
        elif (is_typed or others) and not is_called:
            is_apart = is_apart or not _only_looks(fact)
            if not fact.has_failed:
                elsewhere += [(fact.action, one) for one in others]
        may_show = named or is_called or (made and "ls" in effects.runs)
        is_there = _sight(fact, typed if is_called else "", texts, named, path, made) if may_show else None
        is_apart = is_apart or bool(named and is_there is None and not is_called)
        if is_there is False:
            missed.append(fact.action)
            is_missed_in_place = path[0] == "/" and (not named or any(path in text for text, _ in named))
        elif is_there:
            shown.append(fact.action)
        if effects.deletes and not writes:
            is_gone = any(same_file(one, path) for one in effects.deletes)
            is_again = is_gone and bool(made) and made[-1] == fact.action and _names_last(typed, name)
            if not is_again and (is_gone or (made and not fact.has_failed and _sweeps(effects.deletes, path))):
                removed, is_swept = fact.action, not is_gone
    if removed is not None and made and made[-1] > removed:
        removed = None
    is_old = not made or _was_there(path, made[0], shown, facts, steps)
    is_in_place = bool(elsewhere) and any(path in text for n in shown for text in (given[n - 1], *came[n - 1]))
    return Tracked(
        wanted,
        tuple(made),
        tuple(tried),
        tuple(shown),
        tuple(missed),
        removed,
        is_swept,
        tuple(elsewhere),
        is_in_place,
        is_missed_in_place,
        is_apart,
        is_old,
    )


def _sight(
    fact: ActionFacts,
    typed: str,
    texts: Sequence[str],
    named: Sequence[tuple[str, int]],
    path: str,
    made: Sequence[int],
) -> bool | None:
    """Whether an action shows a file, looks for it in vain, or does neither. `typed`: what names it, empty for nothing;
    `named`: those of the texts that came back that hold its name, with the place; `made`: the actions that made it."""
    is_there = _is_there(named, typed, path, fact) if named else None
    if is_there is False or (made and made[-1] < fact.action and _lists_without(fact, texts, path)):
        return False
    if typed and _only_looks(fact):
        if "|| echo" in typed and _gave_up(typed, texts, path):
            return False
        return is_there or (not fact.has_failed and not fact.result.is_empty) or None
    return is_there


def _is_written(written: str, path: str, is_typed: bool) -> bool:
    """Whether what an action writes is a file, or its folder, by an action that names it: `mv /tmp/a.txt /app`."""
    if same_file(written, path):
        return may_be(written, path)
    return is_typed and written[:1] == "/" and normalise_path(written).removesuffix("/.") == path.rpartition("/")[0]


def _names_last(typed: str, name: str) -> bool:
    """Whether the last part of a command that names a file is none that removes it: `rm -f a; make a`."""
    last = [part for part in PARTS.split(typed) if name in part][-1:]
    return not any(REMOVES.search(part) for part in last)


def _sweeps(gone: Sequence[str], path: str) -> bool:
    """Whether a pattern that was removed fits a file in its folder, or a folder that was removed holds it."""
    at, _, name = path.rpartition("/")
    for one in gone:
        folder, _, pattern = one.rstrip("/").rpartition("/")
        if set(pattern).isdisjoint("*?["):
            if len(one) > 1 and path.startswith(one.rstrip("/") + "/"):
                return True
        elif (folder == at or (folder in ("", ".") and at[:1] != "/")) and fnmatchcase(name, pattern):
            return True
    return False


def _gave_up(typed: str, texts: Sequence[str], path: str) -> bool:
    """Whether a command that names a file came to what it says instead of an error: `cp a b || echo skipped`."""
    for found in OR_ECHO.finditer(typed):
        start = max(typed.rfind(";", 0, found.start()), typed.rfind("\n", 0, found.start())) + 1
        said = found[1].strip("'\"")
        if is_named(typed[start : found.start()], path) and any(said in text.splitlines() for text in texts):
            return True
    return False


def _lists_without(fact: ActionFacts, texts: Sequence[str], path: str) -> bool:
    """Whether an action lists the folder of a file, all of it, and the file is not among what came back."""
    if path[0] != "/" or "ls" not in fact.effects.runs or fact.has_failed or not texts:
        return False
    folder, _, name = path.rpartition("/")
    for text in fact.commands:
        for found in LISTING.finditer(text):
            is_whole = name[0] != "." or "a" in found[1] or "A" in found[1]
            if (found[2].rstrip("/") or "/") == (folder or "/") and "d" not in found[1] and is_whole:
                return not any(name in came or _may_be_cut(came, found[0].strip(" ;&\n")) for came in texts)
    return False


def _was_there(path: str, made: int, shown: Sequence[int], facts: Sequence[ActionFacts], steps: Sequence[Step]) -> bool:
    """Whether a file was there before the first action that made or changed it: it was seen or read before, or that
    action edits it in place."""
    if shown and shown[0] < made:
        return True
    if any(
        not fact.has_failed and any(same_file(path, one) for one in fact.effects.reads) for fact in facts[: made - 1]
    ):
        return True
    return is_edit(path, facts[made - 1], steps[made - 1])


def is_edit(path: str, fact: ActionFacts, step: Step) -> bool:
    """Whether an action changes a file that must be there for it."""
    name = base_name(path)
    if any(mark in text and name in text for text in fact.commands for mark in IN_PLACE):
        return True
    return any(
        not OLD_TEXTS.isdisjoint(call.arguments) or any(UPDATES in str(value) for value in call.arguments.values())
        for call in step.calls
    )


def may_be_made(one: Tracked, facts: Sequence[ActionFacts], steps: Sequence[Step]) -> bool:
    """Whether a program that ran without failure may have made a file whose name nobody wrote in full: it names the
    folder, or the name without its ending, and puts the rest together. A look in vain since speaks against it."""
    if one.tried:
        return False
    missed = one.missed[-1] if one.missed else 0
    folder, name = one.subject.replace("\\", "/").rpartition("/")[::2]
    parts = [name.rpartition(".")[0]]
    if folder.strip("/").count("/"):  # one that is deeper than the place where everything lies
        parts.append(folder)
    parts = [part for part in parts if len(part) >= SHORTEST_PART]
    programs: set[str] = set()
    for fact, step in zip(facts, steps, strict=True):
        done = fact.effects
        is_since = fact.action > missed and not fact.has_failed
        if is_since and any(base_name(script) in programs for script in done.scripts):
            return True
        if not (done.scripts or done.writes) or not _has_part(step, parts):
            continue
        if done.scripts and is_since:
            return True
        programs |= set(map(base_name, done.writes))
    return False


def _has_part(step: Step, parts: Sequence[str]) -> bool:
    texts = [str(value)[:HEAD].replace("\\", "/") for call in step.calls for value in call.arguments.values()]
    return any(part in text for part in parts for text in texts)


def _may_be_cut(came: str, listed: str) -> bool:
    """Whether what a listing gave may lack something: it is long, says so, or is the screen of a terminal, which shows
    the command and perhaps not yet what it gives."""
    return len(came) >= HEAD or not came.strip() or listed in came or contains_any(came, CUT)


def _is_there(texts: Sequence[tuple[str, int]], typed: str, path: str, fact: ActionFacts) -> bool | None:
    """Whether texts of a tool that hold its name show a file, say that there is none, or do neither. What the action
    itself says about it is echo, as often as it is typed: a terminal repeats every command."""
    if True in [_is_absent(text, path, fact) for text, _ in texts]:
        return False
    is_elsewhere = path[0] == "/" and bool(fact.effects.reads) and _looks_elsewhere(fact.effects.reads, path)
    return True if is_named_more(texts, path, count(typed, path) if typed else 0, is_elsewhere) else None


def _looks_elsewhere(reads: Sequence[str], path: str) -> bool:
    """Whether all that is looked at lies where a file does not: its bare name is then another's."""
    return all(one[0] == "/" and not path.startswith(one.rstrip("/") + "/") and one != path for one in reads if one)


def _is_absent(text: str, path: str, fact: ActionFacts) -> bool:
    """Whether a line that names a file says that there is no such file."""
    low = lower_ascii(one_byte_each(text))
    is_contents = not fact.has_failed and _only_looks(fact)
    for words in ABSENT:
        place = low.find(words)
        while place >= 0:
            start, end = low.rfind("\n", 0, place) + 1, low.find("\n", place)
            line = text[start : end if end >= 0 else len(text)]
            is_of_it = low[place + len(words) : place + len(words) + 4] != " in "  # of something in it
            if is_of_it and is_named(line, path) and not (is_contents and _is_shown_only(line, text, fact)):
                return True
            place = low.find(words, end) if end >= 0 else -1
    return False


def _is_shown_only(line: str, text: str, fact: ActionFacts) -> bool:
    """Whether a line that speaks of a missing file stands in what a look shows, and is no word of a program's own."""
    if not fact.effects.runs:
        return len(text) > LONGEST_MESSAGE
    head = line.partition(":")[0].strip()
    return base_name(head) not in fact.effects.runs and head not in SHELLS


def _only_looks(fact: ActionFacts) -> bool:
    """Whether an action only looks at things."""
    done = fact.effects
    return fact.phase in {"explore", "verify"} and not done.changes_files and not done.scripts


def _only_writes(fact: ActionFacts) -> bool:
    """Whether an action only writes files, so that a name in it may stand in a program that did not run yet."""
    done = fact.effects
    return bool(done.writes) and not done.scripts and not done.tests and not set(done.runs) - {"cat", "tee", "echo"}
