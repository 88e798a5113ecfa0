"""Which way out of a failure worked, and which did not, as far as the later actions of the same trace show.

A way is one of six, and nothing else counts: a package was installed, another program did the same to the same file,
the same program worked with a further option or variable, another tool had to be called first, the same tool worked
when one argument alone was another, or a message that was refused was followed by one with a single call. What a file's
new content cured says nothing about other tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, cast

from dense.analysis.actions.observations.result import ObservedFailure
from dense.analysis.actions.shell.command import ASSIGNMENT
from dense.analysis.actions.shell.grammar import parse
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.paths import base_name, is_temporary, same_file
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.wording.outputs import main_failure
from dense.batch.rows import WayCell
from dense.knowledge.errors import TOOL
from dense.knowledge.programs import LOOKERS, is_python, program_name
from dense.text.clip import clip_end
from dense.trajectory import ToolCall

LOOKAHEAD = 15
"""So many actions after a failure are looked at."""
MAX_COMMAND_CHARS = 2_000
MAX_WAY_CHARS = 80
MAX_SIGNATURE_CHARS = 120
VARYING = re.compile(r"(?P<q>['\"`‘]).{0,200}?['\"`’]|(?:[\w.~-]*/)+[\w.~-]*|0x[0-9a-f]+|\d+(?:\.\d+)*")
"""What differs between two errors of one kind: quoted names, paths, numbers."""


def signature_of(failure: ObservedFailure) -> str:
    """What errors of one kind have in common: the missing dependency, else the line without what varies."""
    if failure.missing_dependency:
        return f"not installed: {failure.missing_dependency}"
    return clip_end(" ".join(VARYING.sub("…", failure.line).split()), MAX_SIGNATURE_CHARS)


def ways_out(failed: ActionFacts, failure: ObservedFailure, evidence: TraceEvidence) -> list[WayCell]:
    """The ways that were tried after a failure, up to the first that worked."""
    ways: list[WayCell] = []
    for later in islice(evidence.facts, failed.action, failed.action + LOOKAHEAD):
        for way in _ways(failed, failure, later, evidence):
            ways.append(way)
            if way.has_worked:
                return ways
        if _repeats(failed, later) and not later.has_failed:
            return ways  # it works again, and no way says why
    return ways


def _ways(
    failed: ActionFacts, failure: ObservedFailure, later: ActionFacts, evidence: TraceEvidence
) -> Iterator[WayCell]:
    missing = failure.missing_dependency
    between = evidence.facts[failed.action : later.action - 1]
    if missing and (text := _installed(missing, later)):
        if later.has_failed:
            yield WayCell("install", text, later.action, False)
        else:
            shown = _first_use(failed, later, evidence)
            if shown is not None:
                yield WayCell("install", text, shown.action, not _lacks(shown, missing))
        return
    if later.commands and failed.commands:
        if any(_changes(fact) for fact in between) and not missing:
            return
        if missing and (text := _other_program(failed, missing, later)):
            yield WayCell("use", text, later.action, not _prevented(later))
        elif not missing and later.family == failed.family and (text := _further_words(failed, later)):
            yield WayCell("with", text, later.action, not _has(later, failure))
    elif not failed.commands:
        yield from _tool_ways(failed, failure, later, evidence)


def _tool_ways(
    failed: ActionFacts, failure: ObservedFailure, later: ActionFacts, evidence: TraceEvidence
) -> Iterator[WayCell]:
    calls, others = evidence.step(failed.action).calls, evidence.step(later.action).calls
    between = evidence.facts[failed.action : later.action - 1]
    if not calls:
        is_first = not any(evidence.step(fact.action).calls for fact in between)
        if failure.family is TOOL and len(others) == 1 and is_first:
            yield WayCell("form", "one call", later.action, not _shows(later, failure))
        return
    if later.commands or later.family != failed.family or any(_changes(fact) for fact in between):
        return
    helpers = [fact for fact in between if not fact.has_failed and fact.phase != "talk" and _shares(failed, fact)]
    names = {fact.family for fact in helpers} - {failed.family, ""}
    if _repeats(failed, later) and len(names) == 1:
        yield WayCell("first", names.pop(), later.action, not _has(later, failure))
    elif not names and (name := _other_argument(failed, later, calls, others)):
        yield WayCell("argument", name, later.action, not _has(later, failure))


def _other_argument(
    failed: ActionFacts, later: ActionFacts, calls: Sequence[ToolCall], others: Sequence[ToolCall]
) -> str:
    """The argument that alone differs between two calls, if they are about the same; else empty."""
    if len(calls) != 1 or len(others) != 1:
        return ""
    before, after = calls[0].arguments, others[0].arguments
    if before.keys() != after.keys():
        return ""
    changed = [name for name, value in before.items() if after[name] != value]
    if len(changed) != 1 or len(before) == 1:
        return ""
    value, other = before[changed[0]], after[changed[0]]
    if isinstance(value, list) and isinstance(other, list) and all(item in value for item in cast("list[Any]", other)):
        return ""  # a part was left out: less was asked for
    is_subject = isinstance(value, str) and any(same_file(value, target) for target in failed.targets)
    return "" if is_subject and not _shares(failed, later) else clip_end(changed[0], MAX_WAY_CHARS)


def _shows(fact: ActionFacts, failure: ObservedFailure) -> bool:
    """Whether an action failed as another did."""
    return any(signature_of(shown) == signature_of(failure) for shown in fact.result.failures)


def _installed(missing: str, later: ActionFacts) -> str:
    """The command that installs what is missing, without anything else that it installs; empty if it does not."""
    wanted = _plain(missing)
    packages = later.effects.installs
    named = next((package for package in packages if _plain(re.split(r"[=<>\[~!]", package)[0]) == wanted), None)
    if named is None:
        return ""
    manager = later.family if later.family.endswith(" install") else "pip install"
    manager = "pip install" if is_python(manager.partition(" ")[0]) else manager
    return f"{manager} {re.split(r'[=<>~!]', named)[0]}"


def _plain(name: str) -> str:
    return name.partition(".")[0].lower().replace("_", "-")


def _first_use(failed: ActionFacts, installed: ActionFacts, evidence: TraceEvidence) -> ActionFacts | None:
    """The first action after an installation that does what failed."""
    later = islice(evidence.facts, installed.action, installed.action + LOOKAHEAD)
    return next((fact for fact in later if fact.family == failed.family and fact.commands), None)


def _other_program(failed: ActionFacts, missing: str, later: ActionFacts) -> str:
    """The program that did to a file what the missing one was to do; empty if it did something else. A program that
    only looks does not count as one that checks."""
    if failed.is_check and not any(run.passed or run.failed for run in later.result.tests):
        return ""
    if not failed.is_check and (later.result.is_empty or later.effects.changes_files or later.phase != failed.phase):
        return ""
    targets = [target for target in failed.targets if "/" in target or "." in target]
    for command in _commands(later):
        words = [word for word in command if not word.startswith("-") or word == "-m"]
        position = next(
            (n for n, word in enumerate(words) if n and any(same_file(word, target) for target in targets)), None
        )
        if position is None or words[0] in LOOKERS or position > 3:
            continue
        name = " ".join(["python" if is_python(program_name(words[0])) else words[0], *words[1:position]])
        if base_name(words[0]) != missing and name != "python":
            return clip_end(name, MAX_WAY_CHARS)
    return ""


def _further_words(failed: ActionFacts, later: ActionFacts) -> str:
    """The options and variables that a program was given besides all words of the failed one, if there are at most two;
    those that only ask for its version or its help apart."""
    before, after = ({word for command in _commands(fact) for word in command} for fact in (failed, later))
    added = sorted(word for word in after - before if _is_setting(word))
    is_same = not before - after and not set(added) & {"--version", "--help"}
    return clip_end(" ".join(added), MAX_WAY_CHARS) if 1 <= len(added) <= 2 and is_same else ""


def _is_setting(word: str) -> bool:
    return bool(re.fullmatch(r"--[a-z][\w-]{2,}(=[\w.-]+)?|[A-Z][A-Z0-9_]+=[\w.:-]+", word))


def _commands(fact: ActionFacts) -> list[Sequence[str]]:
    """The words of the simple commands of an action, variables that are set for one included."""
    commands: list[Sequence[str]] = []
    for text in fact.commands[:2]:
        for command in parse(text[:MAX_COMMAND_CHARS]):
            variables = [word for word in command.text.split()[:4] if ASSIGNMENT.match(word)]
            if command.words:
                commands.append([*command.words, *variables])
    return commands


def _repeats(failed: ActionFacts, later: ActionFacts) -> bool:
    return later.family == failed.family and _shares(failed, later)


def _shares(failed: ActionFacts, later: ActionFacts) -> bool:
    return any(same_file(target, other) for target in failed.targets for other in later.targets)


def _changes(fact: ActionFacts) -> bool:
    return not fact.has_failed and any(not is_temporary(path) for path in fact.effects.writes)


def _prevented(fact: ActionFacts) -> bool:
    """Whether an action did not begin what it was to do."""
    families = [failure.family for failure in fact.result.failures]
    return any(family.prevents_start or family.code in ("usage", "no_such_file") for family in families)


def _lacks(fact: ActionFacts, missing: str) -> bool:
    return any(_plain(failure.missing_dependency) == _plain(missing) for failure in fact.result.failures)


def _has(fact: ActionFacts, failure: ObservedFailure) -> bool:
    """Whether an action failed, in whichever way: then the way is not shown to work."""
    return fact.has_failed or (
        bool(fact.result.failures) and main_failure(fact.result.failures).family is failure.family
    )
