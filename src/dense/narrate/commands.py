"""Shell texts in a few words: by what they did where that is shorter, else by the statement that tells most."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dense.evidence.actions.shell.heredocs import HEREDOC_PLACE
from dense.evidence.actions.shell.statements import program, statements, trimmed
from dense.evidence.facts.facts import ActionFacts
from dense.knowledge.errors import NO_SUCH_FILE, PERMISSION
from dense.knowledge.programs import programs_that
from dense.narrate.inline_programs import program_told
from dense.narrate.quoting import HEAD, lines_told, listed, paths_told
from dense.text.differences import differing_parts
from dense.text.quoting import line_count, ticked

SHOWING, SEARCHING = programs_that("shows"), programs_that("searches")
LOOKING = programs_that("shows", "searches", "lists")
PLACE = re.compile(rf"<{HEREDOC_PLACE}(\d{{1,6}})")
HEREDOC_PLACED = re.compile(rf" ?{PLACE.pattern} ?")
WRITTEN = re.compile(r"(?:cat|tee)(?: -a)?[^|;&]{0,20}?(?:>>?\s*|\btee (?:-a )?)(\"[^\"]*\"|'[^']*'|[^\s<>|;&]+)")


def short_command(text: str, limit: int = 100) -> str:
    """The telling part of a shell text, in backticks."""
    told = telling_part(text, statements(text)[0], limit, None)
    return ticked(HEREDOC_PLACED.sub(" ", told).strip() if HEREDOC_PLACE in told else told, limit)


def telling_part(text: str, parts: Sequence[str], limit: int, facts: ActionFacts | None) -> str:
    """From the first telling statement to the last, as it stands in the text, where that is short; else the one that
    weighs most, the last of equals."""
    if not parts:
        return ""
    if len(parts) == 1:
        return trimmed(parts[0])
    piece = contiguous(text, parts) if sum(map(len, parts)) <= limit else None
    if piece is not None and len(piece) <= limit:
        return piece
    return trimmed(max(reversed(parts), key=lambda part: weight(part, facts)))


def contiguous(text: str, parts: Sequence[str]) -> str | None:
    """Statements with what stands between them; ends of lines are written as semicolons. None where they do not stand
    in one text."""
    _, piece, rest = text.partition(parts[0])
    if not piece:
        return None
    for part in parts[1:]:
        between, found, rest = rest.partition(part)
        if not found:
            return None
        piece += (GAP.sub("; ", between) if "\n" in between else between) + part
    return trimmed(piece)


GAP = re.compile(r"[ \t;]*+\n\s*+")
IN_PLACE = re.compile(r"\b(?:sed|perl|ruby)\s[^\n|;&]{0,40}-\w*i")


def weight(part: str, facts: ActionFacts | None) -> int:
    """How much a statement tells: what failed most, then a check, then a change, and a look least."""
    name = program(part)
    if facts is not None:
        if name in [failure.subject for failure in facts.result.failures]:
            return 5
        if any(part.startswith(test[:60]) for test in facts.effects.tests):
            return 4
    if IN_PLACE.search(part[:200]):
        return 3
    if name in LOOKING and ">" not in part.replace(">&", ""):
        return 1
    return 3 if facts is not None and any(path in part for path in facts.effects.writes[:3]) else 2


def is_look(part: str) -> bool:
    """Whether a statement only shows something."""
    name = part.split(None, 1)[0]
    return name in LOOKING and ">" not in part.replace(">&", "") and not IN_PLACE.search(part[:200])


def shell_deed(facts: ActionFacts, limit: int, message: str = "") -> str:
    """What shell texts did: by their effects where those say it shorter than the text, else the text itself.
    `message`: what the agent said before."""
    effects = facts.effects
    if effects.services and not effects.tests:
        return f"started {ticked(trimmed(effects.services[0]), 90)}"
    if effects.installs and not effects.tests and not effects.scripts:
        verb = "tried to install" if facts.has_failed else "installed"
        return f"{verb} {listed([ticked(name, 40) for name in effects.installs])}"
    if effects.undoes and len(effects.undoes) == len(effects.writes) and not (effects.tests or effects.scripts):
        return f"took back the changes of {paths_told(effects.undoes)}"
    first: list[str] = []  # what stands before texts that are written or run in place
    parts: list[str] = []
    fed_in: list[tuple[str, str]] = []
    made: dict[str, str] = {}
    for text in facts.commands:
        found, bodies = statements(text)
        for part in found:
            placed = PLACE.search(part) if bodies else None
            body = bodies[int(placed[1])] if placed is not None and int(placed[1]) < len(bodies) else None
            if body is None:
                (parts if made or fed_in or not bodies else first).append(part)
            elif written := WRITTEN.match(part):
                path = written[1].strip(QUOTES)
                made[path] = f"{ticked(path, 60)} ({lines_told(line_count(body))})"
            else:
                fed_in.append((HEREDOC_PLACED.sub(" ", part), body))
    if not made and not fed_in:
        parts = first + parts if first else parts
        return (None if effects.is_key else look(parts, facts)) or _ran(parts, facts, limit)
    told = _written(made, parts, facts) if made else []
    told += _fed(fed_in, made, facts, message)[: 3 - len(told)] if fed_in else []
    if parts and (after := _beside(parts, facts, limit)):
        told.append(after)
    before = _beside(first, facts, limit) if first else ""
    return f"{before}, then {_once(told)}" if before else _once(told)


def _once(told: Sequence[str]) -> str:
    """Deeds of one text; that a program ran is said once of several in a row."""
    if len(told) == 1:
        return told[0]
    if len(told) == 2 and told[0][0] == "w":
        return f"{told[0]} and {told[1]}"
    runs = [one.startswith("ran ") for one in told]
    return listed([one[4:] if n and runs[n] and runs[n - 1] else one for n, one in enumerate(told)], 4)


def _written(made: Mapping[str, str], others: Sequence[str], facts: ActionFacts) -> list[str]:
    """Files that were written in place; those of which the shell says that it could not, and not that it could not run
    or read them later, were only to be."""
    if not facts.result.failures:
        return [f"wrote {listed(list(made.values()))}"]
    subjects = {one.subject for one in facts.result.failures if one.family in (NO_SUCH_FILE, PERMISSION)}
    missed = [path for path in made if path in subjects and not any(path in part for part in others)]
    kept = [one for path, one in made.items() if path not in missed]
    told = [f"wrote {listed(kept)}"] if kept else []
    return [*told, f"tried to write {listed([made[path] for path in missed])}"] if missed else told


def _fed(fed_in: Sequence[tuple[str, str]], made: Mapping[str, str], facts: ActionFacts, message: str) -> list[str]:
    """Programs that got a text to run or to read. What the agent said before is said of the one that changes something,
    or of the last."""
    writes = [path for path in facts.effects.writes if path not in made]
    on = [[path for path in writes if path in body or path in part] for part, body in fed_in]
    meant = next((place for place, paths in enumerate(on) if paths), len(fed_in) - 1)
    told: list[str] = []
    for place, (part, body) in enumerate(fed_in):
        if "$(" in part:
            told.append(f"ran {ticked(trimmed(put_in(part, body)), 110)}")  # what is put into an argument
        else:
            told.append(program_told(part, body, on[place], message if place == meant else ""))
    return told


def _beside(parts: Sequence[str], facts: ActionFacts, limit: int) -> str:
    """What ran beside texts that were written or run in place; a look at what came of it tells nothing more."""
    return _ran(parts, facts, limit) if not all(map(is_look, parts)) else ""


def _ran(parts: Sequence[str], facts: ActionFacts, limit: int) -> str:
    if not parts:
        return ""
    text = "\n".join(facts.commands) if len(facts.commands) < 9 else ""
    told = telling_part(text, parts, limit - 20, facts)
    if len(told) > limit - 10 and (pieces := substituted(told, 60)) is not None:
        where = paths_told([path for path in facts.effects.writes if path in told]) or "a file"
        old, new = ticked(pieces[0], 60), ticked(pieces[1], 60)
        if not pieces[1].strip():
            return f"{'tried to take' if facts.has_failed else 'took'} {old} out of {where}"
        return f"{'tried to change' if facts.has_failed else 'changed'} {old} to {new} in {where}"
    return f"ran {ticked(told, limit - 10)}"


SUBSTITUTION = re.compile(r"\bs([/|#@,!])((?:\\.|(?!\1)[^\\])++)\1((?:\\.|(?!\1)[^\\])*+)\1")


def substituted(text: str, limit: int) -> tuple[str, str] | None:
    """What an edit in place by one substitution takes out and puts in, the pieces that differ; None for no such."""
    text = text[:HEAD]
    if not IN_PLACE.search(text) or len(found := list(SUBSTITUTION.finditer(text))) != 1:
        return None
    sign, before, after = found[0].groups()
    new, old = differing_parts(after.replace(f"\\{sign}", sign), before.replace(f"\\{sign}", sign), limit, around=15)
    return (old, new) if old.strip() and max(len(new), len(old)) <= 2 * limit else None


SUBSTITUTED = re.compile(r"\$\(\s*cat\s*\)?")
QUOTES = "'\""


def put_in(part: str, body: str) -> str:
    first = body.strip().partition("\n")[0]
    return SUBSTITUTED.sub(lambda _: first, part, count=1)


def look(parts: Sequence[str], facts: ActionFacts) -> str | None:
    """A text that only looks, told by what it looks at; None where it does more."""
    names = {program(part) for part in parts}
    if not names <= LOOKING or any(" > " in part for part in parts):
        return None
    reads = facts.effects.reads
    if names <= SEARCHING and (patterns := [ticked(found, 50) for part in parts if (found := searched(part))]):
        return f"searched for {listed(patterns)}" + (f" in {paths_told(reads, 2)}" if reads else "")
    if names <= SHOWING and reads:
        return f"read {paths_told(reads)}"
    if names == {"ls"} and len(reads) == 1:
        return "listed the folder" if reads[0] in (".", "./") else f"listed {paths_told(reads)}"
    return None


OPERAND = re.compile(r"""\s(?:-[-\w]+(?:=\S*)?\s+)*+(?:'([^']+)'|"([^"]+)"|([^\s'"|;-][^\s|;]*))""")


def searched(part: str) -> str:
    """What a grep looks for."""
    found = OPERAND.search(part[:500])
    return (found[1] or found[2] or found[3] or "") if found else ""
