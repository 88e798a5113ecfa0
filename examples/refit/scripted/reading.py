"""How the script reads what it was told: as text, with a reader's limits.

Nothing here knows who wrote a message or how it is built. A reader of any message sees commands behind prompts with
what came back, commands in backquotes within sentences, and sentences that say that something is missing or wrong.

- Attention: the beginning and the end are read; of what lies between, each passage is noticed or not, by the seed.
- A command failed where its exit code or its output says so, or the sentence around it. A change that exited well
  counts by the next check after it: it worked if the check passes, or complains about something else than before; where
  it is not known what the check said before, about something that the change did not touch.
- A command that worked and made something is worth repeating. Of several that wrote a file anew, the last.
- A sentence that tells of something missing or wrong, and a check whose last answer was bad, is an open matter.
- What was not there (a program, a module) will not be there now."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from scripted.screen import ENDED, HERE, PROMPT, QUOTE, TROUBLE, Exchange, exchanges

HEAD, TAIL = 6_000, 3_000
"""So many bytes are read at the beginning and at the end, blank lines not counted."""
NOTICED = 0.5
"""What lies between is noticed by passages, each with this chance."""
NUMBERS = re.compile(r"^\w{5}(?=\|)|\d+", re.MULTILINE)
"""Times, sizes and marks: whether a passage is noticed does not hang on them."""

ABSENT = re.compile(
    r"No module named '?([\w.]+)|(?:bash: (?:line \d+: )?)?([\w./+-]+): (?:command )?not found"
    r"|`([\w.+-]+)` is not installed"
)
SPAN = re.compile(r"`([^`\n]{2,600})`")
PROGRAMS = frozenset(
    "awk base64 bash cat chmod convert cp csvjoin cut echo file find gnuplot grep gzip head iconv join journalctl jq"
    " ls mkdir mount mv od paste printf pypy3 python python3 rm sed service sh sort strings systemctl tail tar tee test"
    " touch tr uniq wc xxd zcat zgrep".split()
)
BAD = re.compile(
    r"dead[ -]?ends?|\bfail(?:s|ed|ure)?\b|without success|did not work|not found|no such|no module|\w*error\b|wrong"
    r"|too slow|refused|denied|traceback",
    re.IGNORECASE,
)
MISSING = re.compile(
    r"\bno (?:action|step|command|one) (?:made|wrote|created)|\bthere is no\b|\bmissing\b|\bdoes not exist\b"
    r"|\b(?:not|never) (?:\w+ ){0,2}(?:made|written|created|there)\b|\bleft to do\b",
    re.IGNORECASE,
)
WRONG = re.compile(
    r"\bnot (?:\w+ ){0,2}(?:done|met|right)\b|\bdoes not\b|\bis not\b|\bare not\b|\bwas changed\b|\bFAIL(?:S|ED)?\b"
    r"|\blost\b|\btoo slow\b",
    re.IGNORECASE,
)
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])|\n")
MAKES = re.compile(
    r"(?:^|[^0-9&<>=-])>{1,2}\s*(?!/dev/null|&)[\w/.~]|\bsed -i|\bmkdir\b|\bcp |\bmv |\btee |\btouch "
    r"|open\([^)]*,\s*[\"'][wa]b?[\"']|write_text|write_bytes"
)
COMMON = frozenset(
    "a an and app are at be but by for from has in is it must not of on or py python than the to".split()
)
WORDS = re.compile(r"(?:^|: )(?:message|verifier output|ended by)$|^end$|^$")
"""Before text that is no screen: somebody's words, or no quoted text at all."""
READ_FIRST = re.compile(r"\b[Rr]ead\b[^.]{0,60}\bfile\b")
FILE = re.compile(r"\bfile (/[\w./-]+\.\w+)")


@dataclass(frozen=True)
class Reading:
    """What a reader took from a message."""

    text: str = ""
    """What was read of it."""
    repeat: tuple[str, ...] = ()
    """Commands that worked and made something, in order."""
    shown: frozenset[str] = frozenset()
    """Commands whose answer is quoted."""
    failed: frozenset[str] = frozenset()
    """Commands that led nowhere."""
    absent: frozenset[str] = frozenset()
    """Programs and modules that were not there."""
    missing: tuple[str, ...] = ()
    """Sentences on what is not there."""
    wrong: tuple[str, ...] = ()
    """Sentences on what is there and not as it should be."""


def makes(command: str) -> bool:
    """Whether a command writes or changes a file."""
    return MAKES.search(command) is not None


def attended(text: str, chance: Callable[[str], float]) -> str:
    """The part of a text that is read. `chance` draws a number for a passage, the same one each time."""
    passages, kept, at = list(_passages(text)), list[str](), 0
    whole = sum(map(_weight, passages))
    for passage in passages:
        is_near = at < HEAD or at + _weight(passage) > whole - TAIL
        at += _weight(passage)
        if is_near or chance(NUMBERS.sub("", passage)) < NOTICED:
            kept.append(passage)
    return "\n".join(kept)


def _weight(passage: str) -> int:
    return sum(len(line.encode()) for line in passage.splitlines() if line.strip())


def _passages(text: str) -> Iterator[str]:
    """Cut before each prompt and each tag: a command is noticed with what came back, or not at all."""
    passage = list[str]()
    for line in text.splitlines():
        if passage and (PROMPT.match(line.strip()) or line.lstrip().startswith("<") or _begins_action(line)):
            yield "\n".join(passage)
            passage = []
        passage.append(line)
    yield "\n".join(passage)


def absent(text: str) -> frozenset[str]:
    """The programs and modules that a text says are not there."""
    names = (found[1] or found[2] or found[3] for found in ABSENT.finditer(text))
    return frozenset(name.split(".")[0].strip("/") for name in names if name)


def read(text: str, chance: Callable[[str], float]) -> Reading:
    """What a reader takes from a text. One without commands and complaints, as a bare task, gives nothing."""
    text = attended(text, chance)
    shown, prose = [*exchanges(text), *_quoted(text)], _prose(text)
    spans, sentences = list(_spans(prose)), SENTENCE.split(prose)
    missing = [sentence.strip() for sentence in sentences if MISSING.search(sentence)]
    wrong = [sentence.strip() for sentence in sentences if WRONG.search(sentence) and sentence.strip() not in missing]
    worked, failed = _judged(shown)
    worked += [command for command, is_bad in spans if not is_bad and makes(command) and command not in worked]
    failed |= {command for command, is_bad in spans if is_bad}
    return Reading(
        text=text,
        repeat=tuple(_last_of_each(command for command in worked if command not in failed)),
        shown=frozenset(one.command for one in shown),
        failed=frozenset(failed),
        absent=absent(text),
        missing=tuple(missing),
        wrong=(*wrong, *_last_complaints(shown)),
    )


def _prose(text: str) -> str:
    """The lines that no terminal printed. A tag or a rule ends a screen."""
    lines, in_screen = list[str](), False
    for line in text.splitlines():
        stripped = line.strip()
        if PROMPT.match(stripped):
            in_screen = True
        elif stripped.startswith(("<", "#", "---")):
            in_screen = False
        if quote := QUOTE.match(line):
            in_screen = in_screen if (quote[1] or "").startswith("…") else not WORDS.search(quote[1] or "")
        elif not in_screen and stripped:
            lines.append(stripped)
    return "\n".join(lines)


def _begins_action(line: str) -> bool:
    """Whether a line around quoted text begins with another action."""
    quote = QUOTE.match(line)
    return quote is not None and re.search(r"action a\d+", quote[1] or "") is not None


def _quoted(text: str) -> Iterator[Exchange]:
    """Commands that are quoted without a screen, each with what is quoted below it. Calls of one action share what is
    quoted below the last; there `$` begins what belongs to each. What is called final worked."""
    head, calls, answer = "", list[list[str]](), list[str]()
    is_answer = is_open = False
    for line in [*text.splitlines(), "00000| action a0"]:
        quote = QUOTE.match(line)
        if quote is None:
            (answer if is_answer else calls[-1] if calls else []).extend([line] if is_open else [])
            continue
        mark = quote[1] or ""
        if mark.startswith(("observation", "…")):
            is_answer = is_answer or mark.startswith("observation")
            continue
        if is_answer or "action a" in mark:
            commands = ["\n".join(call).strip("\n") for call in calls if any(call)]
            for command, part in zip(commands, _shares(commands, answer), strict=True):
                yield _exchange(command, part, head, is_ended=is_answer)
            calls, answer, is_answer = [], [], False
        head = mark if "action a" in mark else head
        is_open = not WORDS.search(mark)
        if is_open:
            calls.append([])


def _shares(commands: list[str], answer: list[str]) -> list[str]:
    """What each of the commands printed, by the lines that repeat them behind `$`; all of it where none does."""
    starts = list[int]()
    for command in commands:
        begin = f"$ {command.partition(chr(10))[0][:40]}"
        place = next(
            (at for at in range(starts[-1] + 1 if starts else 0, len(answer)) if answer[at].startswith(begin)), -1
        )
        if place < 0:
            return ["\n".join(answer)] * len(commands)
        starts.append(place)
    ends = [*starts[1:], len(answer)]
    return ["\n".join(answer[at + 1 : end]) for at, end in zip(starts, ends, strict=False)]


def _exchange(command: str, answer: str, head: str, *, is_ended: bool) -> Exchange:
    ended = ENDED.search(answer)
    code = int(ended[1]) if ended else 0 if ", final " in head else None
    return Exchange(command, answer, code, is_ended)


def _spans(prose: str) -> Iterator[tuple[str, bool]]:
    """Commands in backquotes, and whether the words after them, or before the first of them, are bad."""
    for line in prose.splitlines():
        found = [span for span in SPAN.finditer(line) if _is_command(span[1])]
        before = line[: found[0].start()] if found else ""
        for number, span in enumerate(found):
            end = found[number + 1].start() if number + 1 < len(found) else len(line)
            is_whole = "…" not in span[1] and not HERE.search(span[1])
            if is_whole:
                yield span[1].strip(), bool(BAD.search(before) or BAD.search(line[span.end() : end]))


def _is_command(text: str) -> bool:
    first, *rest = text.split()[:2] or [""]
    return bool(rest) and (first in PROGRAMS or first.startswith("./"))


def _judged(shown: list[Exchange]) -> tuple[list[str], set[str]]:
    """The commands that made something and worked, and those that failed."""
    worked, failed = list[str](), set[str]()
    said = dict[str, str]()  # what each check said last
    for number, one in enumerate(shown):
        if not makes(one.command):
            said[one.command] = "" if one.worked else one.complaint
        if one.failed:
            failed.add(one.command)
        elif one.worked and makes(one.command):
            (worked.append if _helped(one.command, shown[number + 1 :], said) else failed.add)(one.command)
    return worked, failed


def _helped(change: str, after: list[Exchange], said: dict[str, str]) -> bool:
    """Whether the checks between a change and the next one pass, or complain about something else than before."""
    for one in after:
        if makes(one.command):
            break
        if one.failed and one.command.startswith("python3 /"):
            return said[one.command] != one.complaint if one.command in said else not _is_about(one.complaint, change)
    return True


def _is_about(complaint: str, change: str) -> bool:
    """Whether a complaint speaks of something that stands in the change."""
    words = {word.casefold() for word in re.findall(r"[A-Za-z_]{2,}", complaint)} - COMMON
    return bool(words & {word.casefold() for word in re.findall(r"[A-Za-z_]{2,}", change)})


def _last_of_each(commands: Iterator[str]) -> list[str]:
    """Without those whose file a later one wrote anew."""
    kept = list[str]()
    for command in commands:
        target = written(command)
        kept = [other for other in kept if other != command and (target is None or written(other) != target)]
        kept.append(command)
    return kept


def written(command: str) -> str | None:
    """The file that a command writes as a whole; None where it changes one or where it cannot be told."""
    found = re.search(r"(?:^|[^>0-9&-])>\s*(/[\w./-]+)", command.partition("\n")[0])
    if found is None:
        found = re.search(r"open\([\"'](/[\w./-]+)[\"'],\s*[\"']wb?[\"']", command)
    return found[1] if found else None


def _last_complaints(shown: list[Exchange]) -> Iterator[str]:
    """Of checks that were run, the last word of each, where it was bad."""
    last = {one.command: one for one in shown if not makes(one.command) and one.command.startswith("python3 /")}
    for one in last.values():
        if one.failed and TROUBLE.search(one.answer):
            yield one.complaint


def file_to_read(text: str) -> str | None:
    """A file that the text wants to be read before anything else."""
    found = FILE.search(text) if READ_FIRST.search(text) else None
    return found[1] if found else None
