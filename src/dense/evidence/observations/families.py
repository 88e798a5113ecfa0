"""From a line that complains to what kind of failure it tells of.

A line is looked at only where its beginning has the shape of a complaint (`complaints.py`). What decides is independent
of language as far as possible: who speaks, names of exceptions, codes of the system; words where nothing else does."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from dense.evidence.observations.pieces import one_of
from dense.evidence.observations.result import Family, ObservedFailure
from dense.text.search import fast_search, one_byte_each

LONGEST_LINE = 300


def phrases(text: str) -> tuple[str, ...]:
    """One phrase for each line."""
    return tuple(line.strip() for line in text.strip().split("\n"))


WORDS: tuple[tuple[Family, tuple[str, ...]], ...] = (
    (
        "port_in_use",
        phrases("""
            address already in use
            eaddrinuse
            port is already allocated
            is already in use
        """),
    ),
    (
        "disk_full",
        phrases("""
            no space left on device
            enospc
            disk quota exceeded
            disk is full
        """),
    ),
    (
        "out_of_memory",
        phrases("""
            out of memory
            cannot allocate memory
            bad_alloc
            memoryerror
            enomem
        """),
    ),
    (
        "no_such_command",
        phrases("""
            command not found
            executable file not found
            is not recognized as an internal
            is not recognized as the name
            is not recognized as a name
            unknown command:
        """),
    ),
    (
        "no_such_module",
        phrases("""
            no module named
            importerror
            modulenotfounderror
            cannot find module
            cannot find package
            err_module_not_found
            in @inc
            cannot load such file
            no matching distribution
            could not find a version
            unable to locate package
            no installation candidate
            no package called
            classnotfoundexception
            noclassdeffounderror
            no required module
            packagesnotfounderror
            packagenotfounderror
            distributionnotfound
            unresolved import
            can't find crate
            no matching package
        """),
    ),
    (
        "permission",
        phrases("""
            permission denied
            operation not permitted
            eacces
            eperm:
            permissionerror
            access is denied
            read-only file system
            are you root
            externally-managed-environment
        """),
    ),
    (
        "time_out",
        phrases("""
            timed out
            timeout
            deadline exceeded
            etimedout
        """),
    ),
    (
        "connection",
        phrases("""
            connection refused
            connection reset
            connection aborted
            connectionerror
            connectionrefused
            connectionreset
            connecterror
            econnrefused
            econnreset
            getaddrinfo enotfound
            code enotfound
            errno enotfound
            'enotfound'
            could not resolve
            couldn't connect
            couldn't resolve
            could not connect
            failed to connect
            unable to connect
            cannot connect
            name resolution
            name or service not known
            network is unreachable
            no route to host
            net::err_
            maxretryerror
            sslerror
            certificate verify failed
        """),
    ),
    (
        "usage",
        phrases("""
            unrecognized option
            unrecognized argument
            unknown option
            unknown argument
            unknown flag
            unknown command
            unknown switch
            invalid option
            illegal option
            no such option
            no such command
            unexpected argument
            missing operand
            missing file operand
            missing argument
            missing script
            too many arguments
            too few arguments
            requires an argument
            arguments are required
            invalid choice
            expected one argument
            no rule to make target
            is not a git command
        """),
    ),
    (
        "syntax",
        phrases("""
            syntax error
            syntaxerror
            parse error
            parsing error
            parseerror
            parsererror
            scannererror
            indentationerror
            taberror
            decodeerror
            unexpected token
            unexpected eof
            unexpected end of
            unterminated
            bad substitution
        """),
    ),
    (
        "no_such_file",
        phrases("""
            no such file
            filenotfounderror
            enoent
            nosuchfileexception
            cannot find path
            file not found
            directory not found
            cannot find the file
            cannot find the path
            can't cd to
            no matches found
        """),
    ),
    (
        "assertion",
        phrases("""
            assertionerror
            assertionfailed
            assertion failed
        """),
    ),
)
"""In the order in which they are tried, in lower case: causes before consequences."""
OTHERWISE: tuple[tuple[Family, re.Pattern[str]], ...] = (
    ("no_such_command", re.compile(r": \S{1,200}: not found$")),
    (
        "no_such_module",
        re.compile(r"\bpackage \S{1,100} (?:does not exist|was not found)|\bmodule '\S{1,100}' not found"),
    ),
    ("assertion", re.compile(r"\bAssertion [^\n]{0,250}failed\b")),
    (
        "http",
        re.compile(
            r"(?:HTTP\w*|status(?: code)?|returned error|Client Error|Server Error)\D{0,12}\b[45]\d\d\b"
            r"|\b[45]\d\d (?:Client|Server) Error|ERROR [45]\d\d:|HTTP/[\d.]{1,4} [45]\d\d\b"
        ),
    ),
)
"""What is tried where no word tells."""
SIGNS = one_of(
    *("not found", "not exist", "assertion ", "http", "status", "returned error", "client error", "server error"),
    *("error 4", "error 5"),
)
"""Without one of these, in lower case, none of them matches."""

SUBJECTS: dict[Family, re.Pattern[str]] = {
    "no_such_command": re.compile(
        r"command not found: (\S+)|([^\s:'\"‘’`]+): (?:command )?not found(?!:)|Unknown command: (\S+)"
        r"|exec: \"?([^\s\":]+)|'([^']+)' is not recognized"
    ),
    "no_such_module": re.compile(
        r"No module named '?([\w.-]+)|Cannot find (?:module|package) '([^']+)|Can't locate (\S+)|such file -- (\S+)"
        r"|distribution found for (\S+)|requirement (\S+)|locate package (\S+)|package called .([\w.]+)"
        r"|cannot import name '(\w+)|NotFoundException: (\S+)|package (\S+) does not|import `([\w:]+)|crate for `(\w+)"
    ),
    "no_such_file": re.compile(
        r"(?<!\w)[‘'\"`]([^‘'\"`’\n]{1,200})[’'\"`]|(?:^|: )([^\s:]{1,200}): (?:Cannot open: )?[Nn]o such file"
        r"|(?:can't read|can't cd to|cannot open|directory:|found:|open file) ([^\s:]{1,200})"
    ),
    "permission": re.compile(
        r"(?<!\w)[‘'\"`]([^‘'\"`’\n]{1,200})[’'\"`]"
        r"|(?:^|: )([^\s:]{1,200}): (?:Permission denied|Operation not permitted|Read-only)"
    ),
    "port_in_use": re.compile(r"(?:[Pp]ort |:)(\d{2,5})\b|, (\d{2,5})\)"),
    "connection": re.compile(
        r"resolve host(?:name)?:? ([^\s:]+)|(?:connect to|server at) \"?([\w.-]+)|https?://([^\s/'\")]+)"
    ),
    "http": re.compile(r"\b([45]\d\d)\b"),
    "usage": re.compile(
        r"(?:option|argument|command|flag|choice|operand|target|script)s?:? (?:-- )?[‘'\"`]?([^\s‘'\"`’,]{1,80})"
    ),
    "exception": re.compile(r"^(?:Uncaught )?((?:\w+\.){0,12}[A-Z]\w*)(?::|$)"),
    "assertion": re.compile(r"^((?:\w+\.){0,12}[A-Z]\w*Error)"),
}


def failure(line: str, family: Family | None = None, otherwise: Family = "other") -> ObservedFailure:
    """The failure that a line tells of; the family by its words, where it is not known already."""
    line = line.strip()[:LONGEST_LINE].rstrip()
    family = family or family_of(line) or otherwise
    return ObservedFailure(family, line, subject(family, line))


def family_of(line: str) -> Family | None:
    """The family that a line's words tell."""
    lower = one_byte_each(line.lower())
    low, high = 0, len(WORDS)
    if not words_of(low, high)(lower):
        if not fast_search(SIGNS)(lower):
            return None
        return next((family for family, pattern in OTHERWISE if pattern.search(line)), None)
    while high - low > 1:  # the first that has a word of the line is in the first half, or else in the second
        middle = (low + high) // 2
        if words_of(low, middle)(lower):
            high = middle
        else:
            low = middle
    return WORDS[low][0]


@cache
def words_of(low: int, high: int) -> Callable[[str], bool]:
    """What tells whether a text holds a word of some of the families, from one to before another."""
    return fast_search(one_of(*(word for _, words in WORDS[low:high] for word in words)))


def subject(family: Family, line: str) -> str:
    """What a line is about."""
    pattern = SUBJECTS.get(family)
    found = pattern.search(line) if pattern else None
    if found is None:
        return ""
    return next((group for group in found.groups() if group), "").strip("\"'‘’` ")[:200]
