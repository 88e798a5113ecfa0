"""The files that the task asks for, followed through the trace: who made them, who showed them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from dense.analysis.actions.calls import ParsedCall, is_shell, parse_call, shell_text
from dense.analysis.actions.effects import Effects
from dense.analysis.actions.shell.heredocs import take_heredocs
from dense.analysis.actions.shell.statements import blocks, program, statements
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import base_name, count_sightings, is_among, is_named, same_file
from dense.analysis.evidence.requirements.requirement import Requirement
from dense.knowledge.error_words import ABSENT
from dense.knowledge.errors import EXCEPTION
from dense.knowledge.file_names import PROGRAM_ENDINGS
from dense.knowledge.programs import LOOKERS, program_name, programs_that
from dense.knowledge.tools import PATH_KEYS
from dense.text.search import contains_any, lines_with
from dense.trajectory import Source, Step, ToolCall

MAX_FILES = 12
"""A task that names more files lists them, and hardly asks for all of them."""
MAX_TEXT_CHARS = 64 * 1024
MIN_STEM_CHARS = 4
MAX_SIGHTINGS = 1_000
"""How often a file is counted in the calls of one action."""
SHOWING_PROGRAMS = programs_that("shows", "lists")
LISTING_PROGRAMS = programs_that("lists", "finds") | {"find", "git", "tree"}
"""Programs whose output names files that are there."""
NO_MAKERS = programs_that("looks", "shows", "lists", "idle", "quiet") | {"git"}
"""Programs that make no file but those that `Effects.writes` names."""
WRITES_HEREDOC = re.compile(r"^\s*(?:sudo\s+)?(?:cat|tee)\b|[;&|]\s*(?:sudo\s+)?(?:cat|tee)\b")
IN_PLACE = ("sed -i", "perl -pi", "perl -i", "git apply", "git checkout", "patch ", ">>")
OLD_TEXT_ARGUMENTS = frozenset(["old_str", "old_string", "oldText", "old_text", "insert_line", "search", "old_code"])
PATCH_UPDATE = "*** Update File"
"""What edits an existing file: commands, arguments of tools, a line of a patch."""


class TrackedFile(Struct, frozen=True):
    """What the trace shows of one file that the task asks for. Actions by number, in order."""

    requirement: Requirement
    made: tuple[int, ...] = ()
    """Actions that wrote it, or ran a program that names it, and did not fail."""
    tried: tuple[int, ...] = ()
    """Actions that were to make it and failed."""
    shown: tuple[int, ...] = ()
    """Actions whose observation shows it: its contents, or its name in a listing or a message."""
    missed: tuple[int, ...] = ()
    """Actions that looked for it and did not find it."""
    read_back: tuple[int, ...] = ()
    """Those that made it and showed its contents at once."""
    may_exist: bool = False
    """Whether it may be there although no action is known to have made it: an observation names a file of that name at
    another path, or something ran after a file that names it was written."""
    is_old: bool = False
    """Whether it was there before the first action that changed it, or none did: to see it then shows nothing."""

    @property
    def path(self) -> str:
        return self.requirement.subject

    @property
    def is_missing(self) -> bool:
        """Whether nobody made it and nobody saw it."""
        return not self.made and not self.shown

    @property
    def is_shown(self) -> bool:
        """Whether it was seen after it was last made, or by the action that did so."""
        last = max(self.made, default=0)
        return (bool(self.shown) and self.shown[-1] > last) or last in self.read_back

    @property
    def seen_at(self) -> int:
        """The last action that shows it; 0 if none does."""
        return max((*self.shown, *self.read_back), default=0)


def track_files(
    requirements: Sequence[Requirement], facts: Sequence[ActionFacts], steps: Sequence[Step]
) -> list[TrackedFile]:
    """The files among the deliverables, each followed through all actions."""
    files = [
        requirement for requirement in requirements if requirement.kind == "file" and requirement.role == "deliverable"
    ]
    ran = list({script for fact in facts for script in fact.effects.scripts}) if files else []
    files = [file for file in files if is_single_file(file.subject) or _is_program(file.subject, ran)][:MAX_FILES]
    trails = [_Trail(requirement) for requirement in files]
    for fact, step in zip(facts, steps, strict=True) if trails else ():
        texts = _texts(step)
        for trail in trails:
            trail.follow(fact, step, texts)
    return [trail.end(facts, steps) for trail in trails]


class _StepTexts(Struct, frozen=True):
    """What the calls of a step say and what came back, read once for all files."""

    calls: list[ParsedCall]
    typed: str
    """All that its calls say."""
    shown: list[str]
    """What its tools returned."""


def _texts(step: Step) -> _StepTexts:
    calls = [parse_call(call) for call in step.calls]
    typed = "\0".join([str(value)[:MAX_TEXT_CHARS] for call in calls for value in call.arguments.values()])
    shown = [output.text[:MAX_TEXT_CHARS] for output in step.observations if output.origin == "tool"]
    return _StepTexts(calls, typed, shown)


def is_single_file(path: str) -> bool:
    """Whether a path names one file: no pattern, no placeholder, no folder."""
    return not set(path) & set("*?<>{}[]$") and "." in base_name(path) and not path.endswith("/")


def _is_program(path: str, ran: Sequence[str]) -> bool:
    """Whether a path without an ending is a program that ran."""
    return "." not in base_name(path) and is_among(path, ran)


def edits_in_place(path: str, fact: ActionFacts, step: Step) -> bool:
    """Whether an action edits a file that must be there for it."""
    name = base_name(path)
    parts = (part for text in fact.commands for part in statements(_without_contents(text))[0] if name in part)
    if any(mark in part for part in parts for mark in IN_PLACE):
        return True
    return any(
        not OLD_TEXT_ARGUMENTS.isdisjoint(call.arguments)
        or any(PATCH_UPDATE in str(value) for value in call.arguments.values())
        for call in step.calls
    )


class _Trail:
    """One file, followed through the actions in their order."""

    def __init__(self, requirement: Requirement) -> None:
        self.requirement = requirement
        self.path = requirement.subject
        self.name = base_name(self.path)
        self.stem = self.name.rpartition(".")[0]
        self.is_program = not self.stem or self.name.endswith(PROGRAM_ENDINGS)
        self.programs: set[str] = set()
        """The files that the attempt wrote and that name the file."""
        self.made: list[int] = []
        self.tried: list[int] = []
        self.shown: list[int] = []
        self.missed: list[int] = []
        self.read_back: list[int] = []
        self.may_exist = False

    def follow(self, fact: ActionFacts, step: Step, texts: _StepTexts) -> None:
        """Add what one action has to do with the file."""
        act = _FileAct(self, fact, step, texts)
        case = next((case for case, applies in CASES if applies(act)), "nothing")
        if case == "talks":
            return
        if case == "runs it":
            self.shown.append(fact.action)
            return
        if case in ("makes it", "fails to make it"):
            (self.made if case == "makes it" else self.tried).append(fact.action)
            if not fact.has_failed and not fact.result.is_empty and _reads_back(fact, self.path):
                self.read_back.append(fact.action)
        is_there = _is_there(fact, act.sightings, act.naming, self.path, is_read=act.is_read)
        if is_there is not False and _shows_other_file(fact, self.path):
            is_there = None
        elif is_there is None:
            self.may_exist = self.may_exist or (not act.sightings and bool(act.naming))
        if is_there is not None:
            (self.shown if is_there else self.missed).append(fact.action)
        self.may_exist = self.may_exist or case == "may make it"

    def end(self, facts: Sequence[ActionFacts], steps: Sequence[Step]) -> TrackedFile:
        """What the trace shows of the file."""
        return TrackedFile(
            requirement=self.requirement,
            made=tuple(self.made),
            tried=tuple(self.tried),
            shown=tuple(self.shown),
            missed=tuple(self.missed),
            read_back=tuple(self.read_back),
            may_exist=self.may_exist,
            is_old=not self.made or _was_there(self.path, self.made[0], self.shown, facts, steps),
        )


class _FileAct:
    """What one action has to do with one file."""

    def __init__(self, trail: _Trail, fact: ActionFacts, step: Step, texts: _StepTexts) -> None:
        self.trail, self.fact, self.step, self.texts = trail, fact, step, texts
        path, name, effects = trail.path, trail.name, fact.effects
        self.sightings = count_sightings(texts.typed, path, MAX_SIGHTINGS) if name in texts.typed else 0
        """How often its calls name the file."""
        self.naming = [text for text in texts.shown if name in text]
        """What it returned that has the name."""
        self.writes = is_among(path, effects.writes)
        self.is_read = bool(trail.made) and not self.writes and is_among(path, effects.reads)
        self.is_run = not self.writes and is_among(path, effects.scripts)
        if self.sightings:
            trail.programs |= {base_name(written) for written in effects.writes if not same_file(written, path)}

    @property
    def only_talks(self) -> bool:
        return bool(self.texts.calls) and all(call.kind == "talk" for call in self.texts.calls)

    @property
    def runs_writer(self) -> bool:
        """Whether it runs a program that names the file. What runs after a program was made tries it."""
        trail = self.trail
        if self.is_read or (trail.made and trail.is_program):
            return False
        return bool(trail.programs) and any(base_name(path) in trail.programs for path in self.fact.effects.scripts)

    @property
    def calls_maker(self) -> bool:
        """Whether what it calls names the file, and may make it."""
        if not self.sightings or self.is_run or self.is_read or not _may_make(self.fact):
            return False
        return is_named(_acting_text(self.texts.calls), self.trail.path)

    @cached_property
    def is_to_make(self) -> bool:
        return self.writes or self.runs_writer or self.calls_maker

    @property
    def failed_afterwards(self) -> bool:
        """Whether it wrote the file, and what failed is what it ran then."""
        fact, path = self.fact, self.trail.path
        return self.writes and (fact.is_check or runs_after_writing(self.step, path) or _fails_later(fact, path))

    @property
    def may_make_unnamed(self) -> bool:
        """Whether what ran may have read the file that names it, or made it out of one with the same stem, as compilers
        do."""
        fact, trail, typed = self.fact, self.trail, self.texts.typed
        if fact.has_failed or not (fact.phase == "run" or fact.effects.services or fact.effects.builds):
            return False
        names_stem = f"{trail.stem}." in typed or (len(trail.stem) >= MIN_STEM_CHARS and is_named(typed, trail.stem))
        return bool(trail.programs) or (not fact.effects.scripts and names_stem)


CASES: tuple[tuple[str, Callable[[_FileAct], bool]], ...] = (
    # A to-do list and a hand-over make nothing and show nothing.
    ("talks", lambda act: act.only_talks),
    # To run a program does not make it, and shows that it is there.
    ("runs it", lambda act: act.is_run and not act.fact.has_failed),
    # An action that writes the file and then runs something has written it, whatever that says.
    ("fails to make it", lambda act: act.is_to_make and act.fact.has_failed and not act.failed_afterwards),
    ("makes it", lambda act: act.is_to_make),
    ("may make it", lambda act: act.may_make_unnamed),
)
"""What an action does to a file: the first row that applies."""


def _fails_later(fact: ActionFacts, path: str) -> bool:
    """Whether a shell went on after the statement that writes a file, and no failure names it."""
    parts = [part for text in fact.commands for part in statements(_without_contents(text))[0]]
    is_written = any(">" in part and is_named(part, path) for part in parts[:-1])
    names = (is_named(failure.line, path) or failure.family is EXCEPTION for failure in fact.result.failures)
    return is_written and not any(names)


def _acting_text(calls: Sequence[ParsedCall]) -> str:
    """What the calls of an action name by themselves, without the contents of the files that they write: a file that
    is only named in another file is not made by writing that one."""
    texts: list[str] = []
    for call in calls:
        if is_shell(call):
            parts = blocks(_without_contents(shell_text(call) or ""))
            texts += [part for part in parts if "|" in part or program(part) not in NO_MAKERS]
        elif call.kind in ("write", "editor", "patch"):
            texts += call.texts(PATH_KEYS)
        elif call.kind != "talk":
            texts += [str(value)[:MAX_TEXT_CHARS] for value in call.arguments.values()]
    return "\0".join(texts)


def _without_contents(command: str) -> str:
    """A shell text without the heredocs that are written to a file."""
    text, heredocs = take_heredocs(command[:MAX_TEXT_CHARS], take_open=True)
    for marker, heredoc in heredocs.items():
        line = next((line for line in text.splitlines() if marker in line), "")
        if not WRITES_HEREDOC.search(line):
            text += f"\n{heredoc.body}"
    return text


def _reads_back(fact: ActionFacts, path: str) -> bool:
    """Whether the last statement of an action that names a file shows its contents: `… > a.txt && cat a.txt`."""
    parts = [part for text in fact.commands for part in statements(text)[0] if is_named(part, path)]
    if parts and "| tee " in parts[-1]:
        return True
    is_shown = bool(parts) and program(parts[-1]) in SHOWING_PROGRAMS and ">" not in parts[-1]
    return is_shown and is_among(path, fact.effects.reads)


def _is_there(fact: ActionFacts, named: int, texts: Sequence[str], path: str, *, is_read: bool) -> bool | None:
    """Whether an action, which names a file so often itself, shows it (True), looks for it and does not find it
    (False), or neither (None). A terminal repeats every command: the file must be named more often in its output, of
    which `texts` name it."""
    if texts and any(_is_absent(text, path) for text in texts):
        return False
    if texts and sum(count_sightings(text, path, named + 1) for text in texts) > named:
        return True
    is_look = is_read or (named and _only_looks(fact))
    is_look = is_look and not fact.has_failed and not fact.result.is_empty
    return True if is_look else None


def _shows_other_file(fact: ActionFacts, path: str) -> bool:
    """Whether it only shows other files: a configuration names files that nobody made."""
    reads = fact.effects.reads
    if not reads or not _only_looks(fact) or not LISTING_PROGRAMS.isdisjoint(fact.effects.runs):
        return False
    return not any(same_file(path, read) or "." not in base_name(read) for read in reads)


def _is_absent(text: str, path: str) -> bool:
    """Whether a line that names a file says that there is no such file."""
    lines = lines_with(text, (base_name(path),)) if contains_any(text.lower(), ABSENT) else ()
    return any(contains_any(line.lower(), ABSENT) and is_named(line, path) for line in lines)


def _was_there(
    path: str, written_at: int, shown: Sequence[int], facts: Sequence[ActionFacts], steps: Sequence[Step]
) -> bool:
    """Whether a file was there before the first action that made or changed it."""
    if shown and shown[0] < written_at:
        return True
    reads = [read for fact in facts[: written_at - 1] if not fact.has_failed for read in fact.effects.reads]
    return is_among(path, reads) or edits_in_place(path, facts[written_at - 1], steps[written_at - 1])


def _only_looks(fact: ActionFacts) -> bool:
    effects = fact.effects
    return fact.phase in {"explore", "verify"} and not effects.changes_files and not effects.scripts


def _may_make(fact: ActionFacts) -> bool:
    """Whether an action that names a file may make it: not a to-do list, the text of a hand-over, a look, or one that
    only writes files, so that the name may be in a program that did not run yet."""
    effects = fact.effects
    runs_more = effects.scripts or effects.tests or set(effects.runs) - {"cat", "tee", "echo"}
    only_writes = bool(effects.writes) and not runs_more
    return fact.phase not in {"talk", "deliver"} and not _only_looks(fact) and not only_writes


# What one action does after it wrote a file

TYPING = frozenset({"cat", "tee", "echo", "printf"})
"""Programs that put what was typed into a file."""
NO_RUNS = (
    LOOKERS
    | programs_that("shows", "lists", "quiet", "sets_up", "archives", "detaches")
    | {"git", "cp", "mv", "rm", "mkdir", "touch", "chmod", "ln", "sed", "tee", "sleep", "cd", "echo", "printf"}
)
"""Programs that try nothing."""
ECHOED = re.compile(r"^\s*(?:sudo )?(?:echo|printf)(?: -\w+)*|\d?>>?\s*[^\s'\"]+\s*$")
"""What is around the words of `echo words > file`."""


class Unit(Struct, frozen=True):
    """One statement of a shell text, or one call of another tool."""

    effects: Effects
    typed: str = ""
    """What it puts into a file as it was typed."""

    def writes(self, path: str) -> bool:
        return is_among(path, self.effects.writes)


def _units(step: Step) -> Iterator[Unit]:
    for call in step.calls:
        parsed = parse_call(call)
        if not is_shell(parsed):
            typed = max((value for value in parsed.arguments.values() if isinstance(value, str)), key=len, default="")
            yield Unit(
                effects(Step(source=Source(""), calls=(call,))), typed if parsed.kind in ("write", "editor") else ""
            )
            continue
        text, heredocs = take_heredocs((shell_text(parsed) or "")[:MAX_TEXT_CHARS], take_open=True)
        for part in filter(str.strip, blocks(text)):
            typed = "\n".join(heredoc.body for marker, heredoc in heredocs.items() if marker in part)
            typed = typed or ECHOED.sub("", part).replace("\\n", "\n").strip(" '\"")
            done = effects(Step(source=Source(""), calls=(ToolCall("bash", {"command": part}),)))
            yield Unit(done, typed if program(part) in TYPING and "|" not in part else "")


def typed_contents(step: Step, path: str) -> str:
    """What an action typed into a file, if no program made it; empty otherwise."""
    writers = [unit for unit in _units(step) if unit.writes(path)]
    return writers[-1].typed if writers else ""


def runs_after_writing(step: Step, path: str) -> bool:
    """Whether an action runs a program after its last statement that writes a file, or that runs a program file which
    may write it."""
    done = list(_units(step))
    writers = [index for index, unit in enumerate(done) if unit.writes(path)]
    writers = writers or [index for index, unit in enumerate(done) if unit.effects.scripts]
    last = writers[-1] if writers else len(done)
    return any(tries_something(unit.effects) for unit in done[last + 1 :])


def tries_something(done: Effects) -> bool:
    """Whether a program runs that may fail for what a file holds."""
    return any(program_name(word) not in NO_RUNS for word in done.runs)
