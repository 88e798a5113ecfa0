"""What became of written files, the submitted diff, and values that fit what the task says of its answer."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from dense.analysis.actions.check_commands import is_test_file
from dense.analysis.actions.effects import UNNAMED
from dense.analysis.actions.shell.statements import statements
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.outputs import program_output
from dense.analysis.evidence.facts.paths import base_name, is_among, is_temporary, same_file
from dense.analysis.evidence.requirements.requirement import Requirement
from dense.knowledge.errors import EXIT, NO_SUCH_COMMAND
from dense.knowledge.file_names import BUILD_FOLDERS
from dense.knowledge.programs import programs_that
from dense.trajectory import Step, Task

MAX_PATHS = 40
MAX_COMMANDS = 8
SHOWING_PROGRAMS = programs_that("shows")
LISTING_PROGRAMS = programs_that("lists")
"""Programs that say something of a missing file without failing."""
NO_FILES = frozenset({UNNAMED, "", ".", "./", "..", "../", "/", "~"})
"""What is written without a name, and folders: what a checkout or a formatter changes is not one file."""


class HasStep(Protocol):
    """An action with what is known of it."""

    @property
    def facts(self) -> ActionFacts: ...
    @property
    def step(self) -> Step: ...


class Products(Struct, frozen=True):
    """What became of the files that a range of actions wrote."""

    made: tuple[str, ...]
    """Made or changed and still there at its end, in order of the first write."""
    failed: tuple[str, ...]
    """To be made by actions that failed; nothing shows that they are there."""
    contents: tuple[tuple[str, str], ...] = ()
    """Contents of made files that an action printed before it failed."""

    @property
    def names(self) -> list[str]:
        """The base names of what was made."""
        return list(dict.fromkeys(map(base_name, self.made)))


def products(actions: Iterable[HasStep]) -> Products:
    """What was made. A failed action made the program that it ran, and nothing else until a later one runs that program
    with success or reads what it was to make."""
    files = _Files()
    for action in actions:
        fact, effects = action.facts, action.facts.effects
        for path in effects.deletes[:MAX_PATHS]:
            files.remove(path)
        writes = [path for path in effects.writes[:MAX_PATHS] if path not in NO_FILES and not is_temporary(path)]
        if fact.has_failed:
            for path in writes if fact.commands else ():  # a tool that fails changes nothing
                if path in effects.scripts:
                    files.add(path)
                elif _is_made_before_failure(path, fact):
                    files.add(path, _contents_before_failure(path, fact, action.step))
                else:
                    files.attempt(path, effects.scripts)
            continue
        for path in effects.undoes[:MAX_PATHS]:
            files.remove(path)
        for path in writes:
            if path not in effects.undoes:
                files.add(path)
        for path in effects.scripts:
            for written in files.tried_by.pop(base_name(path), ()):
                files.confirm(written)
        if not effects.runs or not LISTING_PROGRAMS.issuperset(effects.runs):
            for path in effects.reads:
                files.confirm(path)
    return files.close()


def _statements(fact: ActionFacts) -> Iterator[list[str]]:
    """The statements of an action's shell texts, as words."""
    for text in fact.commands[:MAX_COMMANDS]:
        for statement in statements(text)[0]:
            yield statement.split()


def _is_made_before_failure(path: str, fact: ActionFacts) -> bool:
    """Whether a statement wrote a file before another one failed because its program is missing, and only for that."""
    failures = fact.result.failures
    missing = {failure.subject for failure in failures}
    if fact.result.tests or any(failure.family not in (NO_SUCH_COMMAND, EXIT) for failure in failures):
        return False
    for words in _statements(fact):
        if not missing.isdisjoint(words):
            return False
        if _writes(words, path):
            return True
    return False


def _contents_before_failure(path: str, fact: ActionFacts, step: Step) -> str:
    """The contents of a file that was made, and printed at once, before another statement failed because its program is
    missing; empty if anything else may be in the output."""
    missing = {failure.subject for failure in fact.result.failures}
    is_shown = False
    for words in _statements(fact):
        if words[0] in SHOWING_PROGRAMS and words[1:] == [path]:
            is_shown = True
        elif not (">" in words or _writes(words, path) or words[0] in missing):
            return ""
    complaints = [failure.line for failure in fact.result.failures if failure.line]
    lines = program_output(fact, step).split("\n") if is_shown else []
    return "\n".join(
        line for line in lines if not any(line in complaint or complaint in line for complaint in complaints)
    )


def _writes(words: Sequence[str], path: str) -> bool:
    return path in words[words.index(">") + 1 :] if ">" in words else f">{path}" in words


class _Files:
    """Files by base name while the actions are gone through."""

    def __init__(self) -> None:
        self._made: dict[str, list[str]] = {}
        self._tried: dict[str, list[str]] = {}
        self.tried_by: dict[str, list[str]] = {}
        """What failed programs were to make, by their base names."""
        self._contents: dict[str, str] = {}

    def add(self, path: str, contents: str = "") -> None:
        name = base_name(path)
        same = self._made.setdefault(name, [])
        for index, other in enumerate(same):
            if same_file(path, other):
                same[index] = max(path, other, key=len)
                break
        else:
            same.append(path)
        self._tried.pop(name, None)
        self._contents.pop(path, None)
        if contents:
            self._contents[path] = contents

    def remove(self, path: str) -> None:
        name = base_name(path)
        self._contents.pop(path, None)
        if name in self._made:
            self._made[name] = [other for other in self._made[name] if not same_file(path, other)]

    def attempt(self, path: str, programs: Sequence[str]) -> None:
        name = base_name(path)
        if not any(same_file(path, other) for other in self._made.get(name, ())):
            self._tried.setdefault(name, []).append(path)
            for program in programs[:1]:
                self.tried_by.setdefault(base_name(program), []).append(path)

    def confirm(self, path: str) -> None:
        tried = self._tried.get(base_name(path), ())
        if is_among(path, tried):
            self.add(max(path, *tried, key=len))

    def close(self) -> Products:
        paths = [path for name, same in self._made.items() if name != ".git" for path in same]
        folders = {path.rstrip("/").rpartition("/")[0] for path in paths}
        paths = [path for path in paths if path.rstrip("/") not in folders]
        tried = [same[-1] for name, same in self._tried.items() if name != ".git"]
        return Products(tuple(paths), tuple(tried), tuple(self._contents.items()))


# The diff that is submitted

LAST_ACTIONS = 2
"""A diff is the submission if it is printed by one of so many last actions."""
FILE_HEADER = re.compile(r"^diff --git a/(.+?) b/(.+?)\s*$", re.MULTILINE)
CUT = re.compile(r"^(?:<|\[|\(|\.\.\.|…)[^\n]{0,80}(?:elided|truncated|omitted)", re.MULTILINE | re.IGNORECASE)
"""A line of a harness that says that something was left out."""
ASSERTED = re.compile(r"^([-+])(?![-+]{2} )(.*(?:assert|expect|\bshould\b).*)", re.MULTILINE | re.IGNORECASE)
"""A removed or added line of a test that says what is expected."""
MAX_FILES = 500


class FileChange(Struct, frozen=True):
    """One file of a diff."""

    path: str
    added: int
    removed: int
    is_new: bool = False
    is_deleted: bool = False
    rewritten: str = ""
    """The first expectation that is removed from a test that was there, if another one takes its place."""


class SubmittedDiff(Struct, frozen=True):
    """What was submitted."""

    action: int
    changes: tuple[FileChange, ...]
    """What belongs to the project."""
    unrequested: tuple[FileChange, ...]
    """New files outside the project's folders that the task does not name."""
    is_whole: bool
    """Whether the trace shows all of it."""

    def holds(self, path: str) -> bool:
        """Whether a file of the project is in it."""
        return any(same_file(change.path, path) for change in self.changes)


def find_submitted_diff(
    facts: Sequence[ActionFacts], steps: Sequence[Step], named: Sequence[str]
) -> SubmittedDiff | None:
    """What the last actions submit; None if they print no diff. `named`: the files that the task names."""
    for fact in reversed(facts[-LAST_ACTIONS:]):
        if fact.phase != "deliver":
            continue
        for observation in reversed(steps[fact.action - 1].observations):
            if changes := tuple(_changes(observation.text)):
                folders = {path for fact in facts for path in fact.effects.writes if "." not in base_name(path)}
                unrequested = tuple(change for change in changes if _is_unrequested(change, changes, named, folders))
                rest = tuple(change for change in changes if change not in unrequested)
                return SubmittedDiff(fact.action, rest, unrequested, CUT.search(observation.text) is None)
    return None


def _is_unrequested(
    change: FileChange, changes: Sequence[FileChange], named: Sequence[str], folders: Collection[str]
) -> bool:
    """Whether a file is new outside the project: at the top, in a folder that the attempt made, in a build folder."""
    if not change.is_new or any(same_file(change.path, name) for name in named):
        return False
    parts = change.path.split("/")
    if len(parts) == 1 or not BUILD_FOLDERS.isdisjoint(parts[:-1]) or parts[0].endswith(".egg-info"):
        return True
    siblings = [other for other in changes if other.path.startswith(f"{parts[0]}/")]
    return all(other.is_new for other in siblings) and any(same_file(parts[0], folder) for folder in folders)


def _changes(text: str) -> Iterator[FileChange]:
    starts = list(FILE_HEADER.finditer(text))[:MAX_FILES]
    ends = [*[header.start() for header in starts[1:]], len(text)]
    for header, end in zip(starts, ends, strict=False):
        body = text.find("\n@@", header.end(), end)
        body = body if body >= 0 else end
        head = text[header.end() : body]
        added, removed = text.count("\n+", body, end), text.count("\n-", body, end)
        is_new, is_deleted = "\nnew file mode" in head, "\ndeleted file mode" in head
        may_rewrite = is_test_file(header[2]) and not is_new and not is_deleted
        yield FileChange(
            path=header[2],
            added=added,
            removed=removed,
            is_new=is_new,
            is_deleted=is_deleted,
            rewritten=_rewritten(text[body:end]) if may_rewrite else "",
        )


def _rewritten(hunks: str) -> str:
    lines = ASSERTED.findall(hunks)
    removed = [line.strip() for sign, line in lines if sign == "-"]
    return removed[0] if len(removed) < len(lines) and removed else ""


# Values that fit what the task says of its answer

MIN_LITERAL_CHARS = 2
"""A literal of one character fits too much."""
MAX_LITERALS = 20
MAX_TEXT_CHARS = 64 * 1024
MIN_END_CHARS, MIN_REST_CHARS = 3, 3
ENDS = re.compile(r"\b(?:(?:begin|start|end)\w{0,4} (?:with|in|by)|prefix\w{0,2}|suffix\w{0,2})\b", re.IGNORECASE)
"""How a task says of a value how it begins or ends."""
NO_LETTER = re.compile(r"[\s'\"`<>,;:=()\[\]|]")
LETTERS = re.compile(r"[^\s'\"`<>,;:=()\[\]|]{0,200}")
MAX_BEFORE_CHARS = 200
"""How far a value goes on before and behind the literal in it."""


class Candidate(Struct, frozen=True):
    """A value, and the last action whose observation shows it."""

    text: str
    action: int


def best_candidate(task: Task | None, requirements: Sequence[Requirement], steps: Sequence[Step]) -> Candidate | None:
    """The value that fits the task in most ways, two at least; the last one of several."""
    literals = [
        requirement.subject
        for requirement in requirements
        if requirement.kind == "value" and len(requirement.subject) >= MIN_LITERAL_CHARS
    ]
    if task is None or not literals:
        return None
    lengths = {int(number) for number in re.findall(r"\d{1,4}", task.instruction[:MAX_TEXT_CHARS])} - {0, 1}
    alternatives = "|".join(map(re.escape, sorted(literals, key=len, reverse=True)[:MAX_LITERALS]))
    pattern = re.compile(alternatives)
    fits: dict[Candidate, int] = {}
    for action, step in enumerate(steps, 1):
        texts = [output.text[:MAX_TEXT_CHARS] for output in step.observations if output.origin == "tool"]
        for token in [
            token for text in texts if any(literal in text for literal in literals) for token in _tokens(text, pattern)
        ]:
            fits[Candidate(token, action)] = _fit(token, literals, lengths)
    best = max(fits, key=lambda candidate: (fits[candidate], candidate.action, candidate.text), default=None)
    return best if best is not None and fits[best] >= 2 else None


def pieces(task: Task | None, requirements: Sequence[Requirement], steps: Sequence[Step]) -> list[Candidate]:
    """Values that fit only one end of what the task describes by its beginning or its end: the clues of a search that
    did not finish. For each end the one that was seen first; none that the agent ever typed."""
    ends = [
        requirement.subject
        for requirement in requirements
        if requirement.kind == "value" and ENDS.search(requirement.clause)
    ]
    ends = [end for end in dict.fromkeys(ends) if len(end) >= MIN_END_CHARS][:MAX_LITERALS]
    if task is None or not ends:
        return []
    typed = "\0".join(str(value) for step in steps for call in step.calls for value in call.arguments.values())
    rest = rf"\w{{{MIN_REST_CHARS},200}}"
    patterns = {end: re.compile(rf"(?<!\w)(?:{re.escape(end)}{rest}|{rest}{re.escape(end)})(?!\w)") for end in ends}
    candidates: dict[str, Candidate] = {}
    for action, step in enumerate(steps, 1):
        texts = [output.text[:MAX_TEXT_CHARS] for output in step.observations if output.origin == "tool"]
        for end in [end for end in ends if end not in candidates and any(end in text for text in texts)]:
            tokens = [token for text in texts for token in patterns[end].findall(text)][:MAX_LITERALS]
            if new := next((token for token in tokens if token not in typed and token not in task.instruction), ""):
                candidates[end] = Candidate(new, action)
    return sorted(candidates.values(), key=lambda candidate: candidate.action)


def _tokens(text: str, literal: re.Pattern[str]) -> Iterator[str]:
    """The values in a text that hold a literal: it, and the letters around it."""
    end = 0
    while (match := literal.search(text, end)) is not None:
        before = NO_LETTER.split(text[max(end, match.start() - MAX_BEFORE_CHARS) : match.start()])[-1]
        behind = LETTERS.match(text, match.end())
        end = behind.end() if behind is not None else match.end()
        yield before + text[match.start() : end]


def _fit(token: str, literals: Sequence[str], lengths: set[int]) -> int:
    """In how many ways a token fits: it begins with a literal, it ends with another, it has a length that the task
    names. If the task names several literals, a token that has one end and not the other does not fit."""
    begins = any(token.startswith(literal) and token != literal for literal in literals)
    ends = any(token.endswith(literal) and token != literal for literal in literals)
    if len(literals) > 1 and not (begins and ends):
        return 0
    return begins + ends + ((begins or ends) and len(token) in lengths)
