"""Shell commands in a few words: by their effects if those say it shorter, else by the statement that says most."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct, field

from dense.analysis.actions.shell.command import operands, option, strip_wrappers
from dense.analysis.actions.shell.grammar import parse
from dense.analysis.actions.shell.heredocs import HEREDOC_PLACE
from dense.analysis.actions.shell.statements import program, statements, trimmed
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.phases import runs_nothing
from dense.analysis.wording.messages import MAX_PURPOSE_CHARS, purpose
from dense.analysis.wording.phrases import Clause, lines_text, listed, paths_text
from dense.knowledge.errors import NO_SUCH_FILE, PERMISSION
from dense.knowledge.programs import known_program, program_name, programs_that
from dense.text.differences import differing_parts
from dense.text.guarded import GuardedPattern
from dense.text.quoting import code_span, in_quotes, last_line, line_count
from dense.text.search import contains_any

SHOWING = programs_that("shows")
SEARCHING = programs_that("searches")
LOOKING = SHOWING | SEARCHING | programs_that("lists")
MAX_EDIT_CHARS = 2000
MAX_PIECE_CHARS = 60
MIN_PURPOSE_WORDS_CHARS = 16
"""A shorter message, such as "Let me try it", says less than the last line of the program."""
QUOTES = "'\""
PLACE = re.compile(rf"<{HEREDOC_PLACE}(\d{{1,6}})")
HEREDOC_PLACED = re.compile(rf" ?{PLACE.pattern} ?")
WRITTEN = re.compile(r"(?:cat|tee)(?: -a)?[^|;&]{0,20}?(?:>>?\s*|\btee (?:-a )?)(\"[^\"]*\"|'[^']*'|[^\s<>|;&]+)")
GAP = re.compile(r"[ \t;]*+\n\s*+")
IN_PLACE = GuardedPattern(re.compile(r"\b(?:sed|perl|ruby)\s[^\n|;&]{0,40}-\w*i"))
SUBSTITUTION = re.compile(r"\bs([/|#@,!])((?:\\.|(?!\1)[^\\])++)\1((?:\\.|(?!\1)[^\\])*+)\1")
IN_DOUBLE_QUOTES = re.compile(r"\\([\\$`\"])")
PYTHON = re.compile(r"(?:\S*/)?python[\d.]*(?: -u)?(?: -)?$")
MIN_IDLE_CALLS = 3
PUBLISHES = GuardedPattern(
    re.compile(
        r"(?:^|[;&|(])\s*((?:git(?: -C \S+)? push|(?:npm|pnpm|yarn|cargo|poetry|uv|hatch) publish|twine upload"
        r"|docker push|gh (?:pr|release) create)\b[^;&|\n]*)",
        re.MULTILINE,
    )
)
"""A command whose effect is outside the environment: no new one undoes it."""
PUBLISHING_WORDS = (" push", " publish", " upload", " create")
COMMENT = re.compile(r"\s*(?:#(?!!)|//|--)\s*(\S[^\n]{3,200})")


def advise_real_commands(facts: Sequence[ActionFacts]) -> tuple[str, list[int]]:
    """What to do if most shell calls ran nothing, with the first and the last of these; else empty."""
    typed = [fact for fact in facts if fact.commands]
    idle = [fact for fact in typed if all(map(runs_nothing, fact.commands))]
    if len(idle) < MIN_IDLE_CALLS or 2 * len(idle) < len(typed):
        return "", []
    shown = max((fact.commands[0].strip() for fact in idle[:MIN_IDLE_CALLS]), key=len)
    return (
        f"Put the command itself, and nothing else, into each shell call: {len(idle)} of {len(typed)} calls, such as"
        f" {code_span(shown, 60)}, did nothing. A shell ignores what follows `:`, and `}}` or `,` is no command.",
        [idle[0].action, idle[-1].action],
    )


def advise_published(facts: Sequence[ActionFacts]) -> tuple[str, list[int]]:
    """What to look at before a rerun repeats what an attempt sent elsewhere, with the last such action."""
    found = [
        (fact.action, match[1].strip())
        for fact in facts
        if not fact.has_failed
        for text in fact.commands
        if contains_any(text, PUBLISHING_WORDS)
        for match in PUBLISHES.finditer(text[:MAX_EDIT_CHARS])
        if "--dry-run" not in match[1]
    ]
    if not found:
        return "", []
    action, command = found[-1]
    outside = f"Look at what is already outside this environment before you repeat it: a{action} ran"
    return f"{outside} {code_span(command, 80)}.", [action]


def short_command(text: str, limit: int = 100) -> str:
    """The part of a shell text that says most, in backticks."""
    part = _main_part(text, statements(text)[0], limit, None)
    return code_span(HEREDOC_PLACED.sub(" ", part).strip(), limit)


def describe_shell(facts: ActionFacts, limit: int, message: str = "") -> list[Clause]:
    """What shell texts did. `message`: what the agent said before."""
    effects = facts.effects
    if effects.services and not effects.tests:
        return [Clause("start", code_span(trimmed(effects.services[0]), 90))]
    if effects.installs and not effects.tests and not effects.scripts:
        return [Clause("install", listed([code_span(name, 40) for name in effects.installs]), "", facts.has_failed)]
    if effects.undoes and len(effects.undoes) == len(effects.writes) and not (effects.tests or effects.scripts):
        return [Clause("revert", paths_text(effects.undoes))]
    parts = _parts_of(facts.commands)
    if not parts.written and not parts.programs:
        plain = parts.before + parts.after
        look = None if effects.is_key else _describe_look(plain, facts)
        return [look] if look else _describe_run(plain, facts, limit)
    return [
        *_describe_beside(parts.before, facts, limit),
        *_describe_written(parts.written, parts.after, facts),
        *_describe_programs(parts, facts, message)[:2],
        *_describe_beside(parts.after, facts, limit),
    ]


class ShellParts(Struct):
    """The statements of shell texts: plain ones before and after the heredocs, files and programs in heredocs."""

    before: list[str] = field(default_factory=list[str])
    written: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Files that a heredoc is written or appended to, with the verb and the number of lines."""
    programs: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Commands that get a heredoc to run or to read, with its text."""
    after: list[str] = field(default_factory=list[str])


def _parts_of(commands: Sequence[str]) -> ShellParts:
    parts = ShellParts()
    for text in commands:
        found, bodies = statements(text)
        for part in found:
            placed = PLACE.search(part) if bodies else None
            body = bodies[int(placed[1])] if placed is not None and int(placed[1]) < len(bodies) else None
            if body is None:
                (parts.after if parts.written or parts.programs else parts.before).append(part)
            elif written := WRITTEN.match(part):
                path, is_more = written[1].strip(QUOTES), ">>" in written[0]
                verb, count = parts.written.get(path, ("append to", 0)) if is_more else ("write", 0)
                parts.written[path] = verb, count + line_count(body)
            else:
                parts.programs.append((HEREDOC_PLACED.sub(" ", part), body))
    return parts


def _describe_written(written: dict[str, tuple[str, int]], after: Sequence[str], facts: ActionFacts) -> list[Clause]:
    """Files that were written; if the shell could not write one, and not only run or read it later, it was tried."""
    refused = {one.subject for one in facts.result.failures if one.family in (NO_SUCH_FILE, PERMISSION)}
    return [
        Clause(
            verb, code_span(path, 60), lines_text(count), path in refused and not any(path in part for part in after)
        )
        for path, (verb, count) in written.items()
    ]


def _describe_programs(parts: ShellParts, facts: ActionFacts, message: str) -> list[Clause]:
    """Programs in heredocs. The message is about the one that changes something, else about the last."""
    writes = [path for path in facts.effects.writes if path not in parts.written]
    changed = [[path for path in writes if path in body or path in part] for part, body in parts.programs]
    described = next((place for place, paths in enumerate(changed) if paths), len(changed) - 1)
    clauses: list[Clause] = []
    for place, (part, body) in enumerate(parts.programs):
        name, count = trimmed(part), lines_text(line_count(body))
        what = f"{count} of Python" if PYTHON.match(name) else f"{count} with {code_span(name, 40)}"
        clauses.append(describe_program(what, body, changed[place], message if place == described else ""))
    return clauses


def describe_program(what: str, body: str, writes: Sequence[str], message: str) -> Clause:
    """A program without a file of its own: what it changes, what it is said to be for, else its last line."""
    what = f"{what} on {paths_text(writes, 2)}" if writes else what
    comment = COMMENT.match(body)
    words = purpose(message, is_change=bool(writes)) or (comment[1].strip() if comment else "")
    line = body.rstrip().rpartition("\n")[2]
    is_conclusion = bool(line) and not line[0].isspace() and line[0] not in ")]}'\""  # not a branch or a loop
    if len(words) >= MIN_PURPOSE_WORDS_CHARS or not is_conclusion:
        return Clause("run", what, in_quotes(words, MAX_PURPOSE_CHARS) if words else "")
    return Clause("run", f"{what} ending in {code_span(last_line(body), 70)}")


def _describe_beside(parts: Sequence[str], facts: ActionFacts, limit: int) -> list[Clause]:
    """What ran beside heredocs, unless it only looks at what came of them."""
    return [] if all(map(_is_look, parts)) else _describe_run(parts, facts, limit)


def _is_look(part: str) -> bool:
    return program(part) in LOOKING and ">" not in part.replace(">&", "") and not IN_PLACE.search(part[:200])


def _describe_run(parts: Sequence[str], facts: ActionFacts, limit: int) -> list[Clause]:
    if not parts:
        return []
    part = _main_part("\n".join(facts.commands[:8]), parts, limit - 20, facts)
    if len(part) > limit - 10 and (pieces := substitution(part)) is not None:
        where = paths_text([path for path in facts.effects.writes if path in part]) or "a file"
        old, new = code_span(pieces[0], MAX_PIECE_CHARS), code_span(pieces[1], MAX_PIECE_CHARS)
        if pieces[1].strip():
            return [Clause("change", f"{old} to {new} in {where}", "", facts.has_failed)]
        return [Clause("remove", f"{old} from {where}", "", facts.has_failed)]
    return [Clause("run", code_span(part, limit - 10))]


def substitution(text: str, limit: int = MAX_PIECE_CHARS) -> tuple[str, str] | None:
    """What an edit in place by one substitution replaces, reduced to the pieces that differ."""
    text = text[:MAX_EDIT_CHARS]
    if not IN_PLACE.search(text) or len(found := list(SUBSTITUTION.finditer(text))) != 1:
        return None
    sign, *sides = found[0].groups()
    if text[: found[0].start()].rpartition("'")[2].count('"'):  # the nearer quote
        sides = [IN_DOUBLE_QUOTES.sub(r"\1", side) for side in sides]
    before, after = [re.sub(rf"\\([\\{sign}])", r"\1", side) for side in sides]
    new, old = differing_parts(after, before, limit, around=15)
    return (old, new) if old.strip() and max(len(new), len(old)) <= 2 * limit else None


def _main_part(text: str, parts: Sequence[str], limit: int, facts: ActionFacts | None) -> str:
    """All statements as they are in the text, if that is short; else the one that says most, the last of equals."""
    if len(parts) < 2:
        return trimmed(parts[0]) if parts else ""
    piece = _contiguous(text, parts) if sum(map(len, parts)) <= limit else None
    if piece is not None and len(piece) <= limit:
        return piece
    return trimmed(max(reversed(parts), key=lambda part: _weight(part, facts)))


def _contiguous(text: str, parts: Sequence[str]) -> str | None:
    """Statements with what is between them, newlines as semicolons; None if they are not in one text."""
    _, piece, rest = text.partition(parts[0])
    for part in parts[1:]:
        between, found, rest = rest.partition(part)
        if not found:
            return None
        piece += (GAP.sub("; ", between) if "\n" in between else between) + part
    return trimmed(piece)


def _weight(part: str, facts: ActionFacts | None) -> int:
    """How much a statement says: what failed most, then a check, then a change; a look least."""
    if facts is not None:
        if program(part) in [failure.subject for failure in facts.result.failures]:
            return 5
        if any(part.startswith(test[:60]) for test in facts.effects.tests):
            return 4
        if any(path in part for path in facts.effects.writes[:3]) and not _is_look(part):
            return 3
    return 3 if IN_PLACE.search(part[:200]) else 1 if _is_look(part) else 2


def _describe_look(parts: Sequence[str], facts: ActionFacts) -> Clause | None:
    """A text that only looks, by what it looks at; None if it does more."""
    names = {program(part) for part in parts}
    if not names <= LOOKING or any(" > " in part for part in parts):
        return None
    reads = facts.effects.reads
    if names <= SEARCHING and (patterns := [code_span(found, 50) for part in parts if (found := _pattern(part))]):
        return Clause("search for", listed(patterns) + (f" in {paths_text(reads, 2)}" if reads else ""))
    if names <= SHOWING and reads:
        return Clause("read", paths_text(reads))
    if names == {"ls"} and len(reads) == 1:
        return Clause("list", "the folder" if reads[0] in (".", "./") else paths_text(reads))
    return None


def _pattern(part: str) -> str:
    """What a grep searches for: the value of an option, or its first operand."""
    words = strip_wrappers(list(next((one.words for one in parse(part)), ()))) or [""]
    row = known_program(program_name(words[0]))
    return option(words, *row.script_options) or next(iter(operands(words, row.followed, row.valued)), "")
