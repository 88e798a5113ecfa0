"""Lines that complain, found by how they begin.

Error words in the middle of a line are contents, names, numbers. A complaint begins its line with who complains
(`cat: …`, `bash: line 3: …`), with how bad it is (`error: …`), with an exception's name, with a place in a source
(`a.c:3:5: error: …`), or with one of a few words. One expression that begins with the line feed finds the candidates:
that is what Python searches fastest. Pieces of a text without any are left out before that (`pieces.py`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from operator import attrgetter

from dense.evidence.observations.families import failure
from dense.evidence.observations.harmless import is_harmless, is_measure
from dense.evidence.observations.pieces import one_of, roughly
from dense.evidence.observations.result import Family
from dense.evidence.observations.speakers import (
    COMPILED,
    COMPLAINERS,
    ENDINGS,
    LOUD,
    TELLING,
    Complaint,
    may_complain,
    named,
)
from dense.knowledge.programs import programs_that

LONGEST = 600
"""Characters of a line that are looked at."""
MOST = 2_000
"""Candidates that are looked at in one text."""
MOST_OWN = 8
"""Complaints of one program that are looked at in contents."""


MARKS: tuple[tuple[str, str], ...] = (
    ("crash", r"Exception in thread|Unhandled |Uncaught |terminate called|thread '"),
    ("build", r"CMake Error|BUILD FAIL|Build FAILED|! (?:LaTeX|Undefined|Missing|Emergency|Package)"),
    ("signal", r"Killed\b|Segmentation fault|Aborted\b|Bus error|Illegal instruction|Floating point exception"),
    ("check", r"FAILED?\b|\[(?:FAIL|FAILED|✗)\]|[✗✘❌✕]"),
    ("http", r"HTTP/[\d.]{1,4} [45]\d\d\b|< HTTP/[\d.]{1,4} [45]\d\d\b"),
    ("tool", r"Your proposed edit"),
    (
        "other",
        r"npm (?:error|ERR!) (?!path|workspace|location|command sh|errno|syscall|A complete|code \d|in workspace|at )"
        r"|Error (?:in|at|while|response|executing|reading|opening|loading|parsing|connecting|running|-) "
        r"|ERROR (?:in|at|while|-|\d{3,5} \()|\[(?:ERROR|error|FATAL|fatal)\] |Cannot |Could not |Can't "
        r"|[A-Z]\w{0,40}rror \[\w{1,60}\]: "
        r"|Failed to |Unable to |No module named|Parse error|parse error|syntax error|'[^'\n]{1,80}' is not recognized"
        r"|Connecting to [^\n]{1,200} failed: |Execution halted|Fatal error|FATAL ERROR|PHP (?:Fatal|Parse)"
        r"|[A-Z]\w{1,30}-[A-Z]\w{1,30} : |An (?:unexpected )?error occurred|Permission denied",
    ),
)
"""Words with which only complaints begin, by what they tell."""
BLANKS = r" \t-\r\x1c-\x1f\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""What `\\s` means, spelled out: a set of nothing but characters is looked up in a table."""
NAME = rf"[^{BLANKS}\d:;\"'<>{{}}|=#*`][^{BLANKS}:;\"'<>{{}}|=#*`]{{0,119}}+"
NO_FILE = r"(?<!\.\w:)(?<!\.(?!sh)\w\w:)(?<!\.\w\w\w:)(?<!\.\w\w\w\w:)"
"""Behind a name and its colon: that it does not end as names of files do, unless it is a script that may speak."""
SPOKEN = rf"{NAME}:(?:[ \t]|{COMPILED.pattern}|{NO_FILE}[^\n])"
"""Who speaks, and what. Behind a file and a colon, only a blank or a compiler's error tells of a speaker: `a.py:3: x`
and `a.py::test` are what searches and test runners print by the hundred."""
MARKED = rf"(?=[A-Z!\[<'✗✘❌✕]|npm |parse |syntax |terminate |thread )(?:{'|'.join(words for _, words in MARKS)})"
"""The marks, behind a look at the first letters: few lines have theirs."""
CANDIDATE = re.compile(rf"\n(?![ \t])(?:{SPOKEN}|{MARKED})[^\n]*")
"""No complaint is indented. Without groups: they would keep Python from skipping alternatives by their first letter."""
LETTER = r"[^ \t\n:;\"'<>{}|=#*`]"
ROUGHLY = (
    rf"{LETTER}+:(?:[ \t]|[\d²³¹?][^\n]*(?:{one_of(*TELLING, 'ERROR')}))"
    rf"|(?i:(?:{LETTER}*/)?(?:{one_of(*LOUD, *COMPLAINERS)})|{LETTER}*(?:{one_of(*ENDINGS)}))(?:\[{LETTER}*)?:"
    rf"|{roughly(MARKED)}"
)
"""How candidates begin that are worth more than a quick look, for `pieces`: a name with a blank or a telling word
behind it, a speaker that is known, or a mark."""
KINDS = tuple((kind, re.compile(words)) for kind, words in MARKS)
FAMILIES: dict[str, Family] = {
    "build": "build",
    "signal": "killed",
    "check": "assertion",
    "http": "http",
    "tool": "tool",
}
FETCHERS = programs_that("fetches")
FETCHED = re.compile(
    r"\n(?:HTTP/[\d.]{1,4} [45]\d\d\b|< HTTP/[\d.]{1,4} [45]\d\d\b|Connecting to [^\n]{1,200} failed: "
    r"|\d{4}-\d\d-\d\d \d\d:\d\d:\d\d ERROR [45]\d\d: )[^\n]*"
)
"""What programs that fetch pages say of the answer, besides the page."""
NOT_OPENED = re.compile(r"\n[^\s:][^\n:]{0,200}: +cannot open [`'][^\n]*\(No such file or directory\)")
"""How `file` says so: it begins with the file, not with itself."""
FIRM = ("signal", "http", "tool")
"""Marks that stand whatever the exit code."""


def candidates(text: str, programs: tuple[str, ...], spans: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """The lines of a text, which begins with a line feed, that may be complaints, and where they begin. Lines that a
    quick look rules out are left out here: most are. `spans`: where to look."""
    lines: list[tuple[int, str]] = []
    for found in [found for start, end in spans for found in CANDIDATE.finditer(text, start, end)][:MOST]:
        line = found[0][1:LONGEST]
        name, _, rest = line.partition(":")
        if not rest or " " in name or may_complain(name, rest, programs):
            lines.append((found.start() + 1, line))
    return lines


def complaint(place: int, line: str, programs: tuple[str, ...]) -> Complaint | None:
    """What a candidate complains of, if it does."""
    name, _, rest = line.partition(":")
    return named(place, name, rest, programs) if rest and " " not in name else marked(place, line)


def marked(place: int, line: str) -> Complaint | None:
    """What a line says that begins with words with which only complaints begin."""
    kind = next((kind for kind, words in KINDS if words.match(line)), None)
    if kind is None or is_harmless(line):
        return None
    if kind == "crash":
        is_panic = line.startswith("thread '")
        if is_panic and "panicked at" not in line:
            return None
        return Complaint(place, failure(line, otherwise="exception"), is_weak=not is_panic)
    if kind == "signal" and len(line) > 60:
        return None
    if kind == "check" and (len(line.strip()) <= 6 or line.isupper()):
        return None
    if kind == "other" and is_measure(line.partition(" ")[2]):
        return None
    return Complaint(place, failure(line, FAMILIES.get(kind)), is_weak=kind not in FIRM)


def own_complaints(text: str, programs: tuple[str, ...]) -> list[Complaint]:
    """What programs that only show things complained of themselves, and the shell about them, in order."""
    is_fetched = not FETCHERS.isdisjoint(programs)
    if ":" not in text and not is_fetched:
        return []  # all others begin with a name and a colon
    own: list[Complaint] = []
    names = [*programs]
    has_shell = "sh: " in text or "(eval):" in text
    if has_shell and "sh: " in text:
        names += ["bash", "sh", "zsh", "-bash", "/bin/sh", "/bin/bash"]
    if "git" in programs:
        names += ["fatal", "error"]
    if has_shell and "(eval):" in text:
        names.append("(eval)")
    if is_fetched:
        own += [Complaint(found.start() + 1, failure(found[0])) for found in FETCHED.finditer(text)]
    if "file" in programs:
        own += [Complaint(found.start() + 1, failure(found[0], "no_such_file")) for found in NOT_OPENED.finditer(text)]
    for name in names:
        start = f"\n{name}:"
        place = text.find(start)
        for _ in range(MOST_OWN):
            if place < 0:
                break
            end = text.find("\n", place + 1)
            rest = text[place + len(start) : end if end >= 0 else len(text)][:LONGEST]
            if rest and (found := named(place + 1, name, rest, programs)) is not None:
                own.append(found)
            place = text.find(start, place + 1)
    own.sort(key=attrgetter("place"))
    return own
