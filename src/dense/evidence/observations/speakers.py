"""Who complains: shells, programs, compilers, severities, exceptions. Each by the shape of its lines."""

from __future__ import annotations

import re

from msgspec import Struct

from dense.evidence.observations.families import LONGEST_LINE, failure, family_of
from dense.evidence.observations.harmless import is_harmless, is_measure
from dense.evidence.observations.result import Family, ObservedFailure
from dense.knowledge.programs import programs_that
from dense.text.search import contains_any

SHELLS = programs_that("shell") | {"-bash", "-sh", "-zsh", "(eval)", "busybox"}
SEVERITIES = frozenset("error fatal failure panic e fail failed critical".split())
EXCEPTION = re.compile(r"(?:\w{1,80}[./\\]){0,12}\w{0,80}(?:Error|Exception|Interrupt|Exit|Failure)$")
COMPILED = re.compile(r"\d[\d:,.() -]{0,40}+(?:fatal |syntax )?(?:[Ee]rror|ERROR)\b")
STATEMENT = re.compile(r"[\w./-]{1,120}:\d+: (?:ERROR|FATAL): ")
PLACED = re.compile(r"[^\s()]{1,200}\(\d+(?:,\d+)?\)$")
SIGNALLED = re.compile(
    r"line \d+: +\d+ (Killed|Segmentation fault|Aborted|Bus error|Illegal instruction|Floating point)"
)
TELLING = (
    " such ",
    "enied",
    "not found",
    "annot ",
    "an't ",
    "nvalid",
    "nrecognized",
    "refused",
    "rror",
    "already in use",
    "ould not ",
    "not permitted",
    "ssertion",
    "not exist",
    "o space left",
    "o module named",
)
"""What the rest of a line must hold for an unknown name in front of it to be somebody who complains."""
LOUD = SEVERITIES | SHELLS | {"(eval)", "psql"}
"""Names that are looked at whatever stands behind them."""
ENDINGS = (".sh", "error", "exception", "interrupt", "exit", "failure")
"""How the names of scripts and of exceptions end, in lower case."""
WALKERS = programs_that("walks")
"""Programs that walk over trees: that they may not look everywhere is no failure."""
COMPLAINERS = programs_that("complains")
"""Programs that speak of themselves by name only to complain."""
SYSTEM_FAMILIES: frozenset[Family | None] = frozenset(
    (
        "no_such_file",
        "permission",
        "port_in_use",
        "disk_full",
        "connection",
        "assertion",
        "no_such_command",
        "no_such_module",
        "usage",
    )
)
SYSTEM = re.compile(
    r"[Nn]o such file or directory|Permission denied|Operation not permitted|Connection refused|No space left on device"
    r"|Assertion .{0,200} failed|[Aa]ddress already in use|command not found|Name or service not known|No module named"
    r"|error: (?:unrecognized arguments|argument |the following arguments)|can't open file|unrecognized option"
)
"""The system's own messages: whoever says them is believed."""
CURL = re.compile(r" \((\d{1,2})\) ")
CURL_CODES: dict[int, Family] = {
    **dict.fromkeys((1, 2, 3), "usage"),
    **dict.fromkeys((5, 6, 7, 35, 52, 56, 60), "connection"),
    22: "http",
    28: "time_out",
}


class Complaint(Struct, frozen=True, gc=False):
    """A failure, where its line begins, and how much its line can be trusted."""

    place: int
    failure: ObservedFailure
    is_weak: bool = False
    """Whether an exit code of 0 speaks against it."""


def may_complain(name: str, rest: str, programs: tuple[str, ...]) -> bool:
    """Whether a line that begins with a name and a colon is worth more than a quick look: `key: value` is not. Where
    this says no, `named` says None."""
    who = plain_name(name)
    if who in LOUD or name.startswith("error["):
        return True
    if rest[0] not in " \t" and not rest[0].isdigit():
        return False
    return who.endswith(ENDINGS) or (who in COMPLAINERS and who in programs) or is_telling(rest) or "ERROR" in rest


def is_telling(rest: str) -> bool:
    """Whether what stands behind an unknown name sounds like a complaint."""
    return contains_any(rest, TELLING)


def plain_name(name: str) -> str:
    """`/usr/bin/Make[2]` is `make`."""
    who = name.rpartition("/")[2].lower()
    return who.partition("[")[0] if who[-1:] == "]" else who


def named(place: int, name: str, rest: str, programs: tuple[str, ...]) -> Complaint | None:
    """What a line says that begins with a name and a colon."""
    who = plain_name(name)
    if name.startswith("error["):
        return by_compiler(place, name, rest)
    if who in SEVERITIES:
        return by_severity(place, name, rest)
    if who == "(eval)":
        return by_zsh(place, name, rest)
    if who == "psql" and STATEMENT.match(rest):
        return Complaint(place, failure(f"{name}:{rest}"))
    first = rest[0]
    if first not in " \t" and not first.isdigit():
        return None
    if who in SHELLS or who.endswith(".sh"):
        return by_shell(place, name, rest)
    if first == " " and EXCEPTION.match(name):
        return by_exception(place, name, rest)
    if COMPILED.match(rest) or (rest.startswith(" error ") and PLACED.match(name)):
        return by_compiler(place, name, rest)
    return by_program(place, name, rest, who, programs)


def by_exception(place: int, name: str, rest: str) -> Complaint | None:
    """`ValueError: text`, `Error: Cannot find module 'x'`. Weak, since a program that goes on may have printed it."""
    if is_measure(rest) or is_harmless(name):
        return None
    return Complaint(place, failure(f"{name}:{rest}", otherwise="exception"), is_weak=True)


def by_shell(place: int, name: str, rest: str) -> Complaint | None:
    """`bash: line 3: x: command not found`, in whatever language."""
    line = f"{name}:{rest}"
    if SIGNALLED.search(line):
        return Complaint(place, failure(line, "killed"))
    if is_harmless(line) or "Terminated" in rest or rest[0] != " " or len(rest) > 400 or ": `" in rest:
        return None  # behind a back-quote bash repeats the line that it did not understand
    if ": " not in rest and not family_of(line):
        return None
    return Complaint(place, failure(line))


def by_zsh(place: int, name: str, rest: str) -> Complaint | None:
    """`(eval):cd:1: no such file or directory: x`, as zsh speaks within a harness."""
    return None if is_harmless(rest) else Complaint(place, failure(f"{name}:{rest}"))


def by_severity(place: int, name: str, rest: str) -> Complaint | None:
    """`error: text`, `FATAL: text`, `ERROR:root:text`."""
    if rest[0] != " " and name != "ERROR":
        return None
    if name in ("e", "fail", "failed", "failure", "critical"):
        return None
    if is_measure(rest) or not rest.strip() or is_harmless(rest):
        return None
    line = f"{name}:{rest}"
    if name == "panic":
        return Complaint(place, failure(line, "exception"))
    if name.upper() in ("FAIL", "FAILED"):
        return Complaint(place, failure(line, "assertion"), is_weak=True)
    return Complaint(place, failure(line), is_weak=name != "fatal")


def by_compiler(place: int, name: str, rest: str) -> Complaint:
    """`a.c:3:5: error: text`, `a.ts(3,5): error TS1: text`."""
    subject = "" if name.startswith("error[") else name.partition("(")[0][:200]
    return Complaint(place, ObservedFailure("build", f"{name}:{rest}".strip()[:LONGEST_LINE], subject), is_weak=True)


def by_program(place: int, name: str, rest: str, who: str, programs: tuple[str, ...]) -> Complaint | None:
    """`cat: x: No such file or directory`; in other languages too, where the program is known to have run."""
    is_known = who in COMPLAINERS and who in programs
    if not is_known and not is_telling(rest):
        return None
    line = f"{name}:{rest}"
    if is_harmless(line) or (who in WALKERS and "ermission denied" in rest) or (who == "make" and "***" not in rest):
        return None
    family = by_code(who, rest) or family_of(line)
    if is_known:
        return Complaint(place, failure(line, family or ("build" if who == "make" else "other")))
    if rest[0] == " " and family in SYSTEM_FAMILIES and SYSTEM.search(rest):
        return Complaint(place, failure(line, family))
    if rest.startswith((" error: ", " fatal: ", " fatal error: ")):
        return Complaint(place, failure(line, family), is_weak=True)
    return None


def by_code(who: str, rest: str) -> Family | None:
    """What a program's own number says."""
    found = CURL.match(rest) if who == "curl" else None
    return CURL_CODES.get(int(found[1])) if found else None
