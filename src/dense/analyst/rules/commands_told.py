"""Shell texts in a few words: by what they did where that is shorter, else by the statement that tells most."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.actions.heredocs import HEREDOC_PLACE
from dense.analyst.rules.facts import Facts
from dense.analyst.rules.quoting import last_line, line_count, lines_told, listed, paths_told, ticked
from dense.analyst.rules.statements import program, statements, trimmed

SHOWING = frozenset("cat head tail less more nl bat sed zcat".split())
SEARCHING = frozenset("grep egrep fgrep rg ag ack zgrep".split())
LOOKING = (
    SHOWING | SEARCHING | frozenset("ls tree dir find fd stat file du wc which type xxd hexdump od strings".split())
)
PLACE = re.compile(rf"<{HEREDOC_PLACE}(\d{{1,6}})")
HEREDOC_PLACED = re.compile(rf" ?{PLACE.pattern} ?")
WRITTEN = re.compile(r"(?:cat|tee)(?: -a)?[^|;&]{0,20}?(?:>>?\s*|\btee (?:-a )?)(\"[^\"]*\"|'[^']*'|[^\s<>|;&]+)")


def short_command(text: str, limit: int = 100) -> str:
    """The telling part of a shell text, in backticks."""
    return ticked(telling_part(text, statements(text)[0], limit, None), limit)


def telling_part(text: str, parts: Sequence[str], limit: int, facts: Facts | None) -> str:
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


def weight(part: str, facts: Facts | None) -> int:
    """How much a statement tells: what failed most, then a check, then a change, and a look least."""
    name = program(part)
    if facts is not None:
        if name in [failure.subject for failure in facts.seen.failures]:
            return 5
        if any(part.startswith(test[:60]) for test in facts.effects.tests):
            return 4
    if IN_PLACE.search(part[:200]):
        return 3
    if name in LOOKING and ">" not in part.replace(">&", ""):
        return 1
    return 3 if facts is not None and any(path in part for path in facts.effects.writes[:3]) else 2


def shell_deed(facts: Facts, limit: int) -> str:
    """What shell texts did: by their effects where those say it shorter than the text, else the text itself."""
    effects = facts.effects
    if effects.services and not effects.tests:
        return f"started {ticked(trimmed(effects.services[0]), 90)}"
    if effects.installs and not effects.tests and not effects.scripts:
        verb = "tried to install" if facts.has_failed else "installed"
        return f"{verb} {listed([ticked(name, 40) for name in effects.installs])}"
    if effects.undoes and len(effects.undoes) == len(effects.writes) and not (effects.tests or effects.scripts):
        return f"took back the changes of {paths_told(effects.undoes)}"
    parts: list[str] = []
    told: list[str] = []
    made: list[str] = []
    for text in facts.commands:
        found, bodies = statements(text)
        for part in found:
            placed = PLACE.search(part) if bodies else None
            body = bodies[int(placed[1])] if placed is not None and int(placed[1]) < len(bodies) else None
            if body is None:
                parts.append(part)
            elif written := WRITTEN.match(part):
                made.append(f"{ticked(written[1].strip(QUOTES), 60)} ({lines_told(line_count(body))})")
            else:
                told.append(fed(HEREDOC_PLACED.sub(" ", part), body))
    if made:
        told.insert(0, f"wrote {listed(made)}")
    if parts:
        looks = None if told or facts.effects.is_key else look(parts, facts)
        text = "\n".join(facts.commands) if len(facts.commands) < 9 else ""
        told.append(looks or f"ran {ticked(telling_part(text, parts, limit - 20, facts), limit - 10)}")
    return listed(told[:3])


SUBSTITUTED = re.compile(r"\$\(\s*cat\s*\)?")
QUOTES = "'\""


def fed(part: str, body: str) -> str:
    """A program that got a text to run or to read, by the text's last line: what it was run for stands there. What is
    put into an argument is told by its first."""
    if "$(" in part:
        return f"ran {ticked(trimmed(put_in(part, body)), 110)}"
    last = last_line(body)
    told = f"ran {lines_told(line_count(body))} with {ticked(trimmed(part), 40)}"
    return f"{told} ending in {ticked(last, 50)}" if last else told


def put_in(part: str, body: str) -> str:
    first = body.strip().partition("\n")[0]
    return SUBSTITUTED.sub(lambda _: first, part, count=1)


def look(parts: Sequence[str], facts: Facts) -> str | None:
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
