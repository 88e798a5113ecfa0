"""Families of errors: one row each, with all that the package knows of it.

To add a family, write a row here and put it into `ERROR_FAMILIES`. The order is the order in which phrases are tried:
causes before consequences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from msgspec import Struct

from dense.knowledge.program import by_key


class ErrorFamily(Struct, frozen=True, eq=False, kw_only=True):
    """One kind of error: how it shows, what it is about, what follows from it."""

    code: str
    label: str
    """What went wrong, in a few words."""
    phrases: tuple[str, ...] = ()
    """Words that show the family, in lower case, of a line that is an error anyway: because of how it begins, or of who
    prints it. They make no line an error."""
    pattern: re.Pattern[str] | None = None
    """Shows the family in a line without any family's phrase."""
    line_start: str = ""
    """A regular expression: lines that begin like this are errors, whoever prints them."""
    system_message: str = ""
    """A regular expression: messages of the operating system or a library, believed from a program of any name."""
    subject: re.Pattern[str] | None = None
    """What the line is about, as the first group that matches: the program, the module, the path, the status."""
    exit_codes: frozenset[int] = frozenset()
    """Exit codes of a shell that mean it."""
    curl_codes: frozenset[int] = frozenset()
    """Error numbers of curl that mean it."""

    is_fallback: bool = False
    """Whether it names a line only if no phrase of another family does."""
    overrules_exit_code: bool = False
    """Whether a line that starts like it counts even if the command ended with code 0."""
    is_vague: bool = False
    """Whether it hardly says what went wrong: another failure of the same action says more."""
    is_missing_dependency: bool = False
    """Whether a program or a package is not installed."""
    is_external: bool = False
    """Whether it is about where something ran or how it was called, not about the work under test."""
    is_call_mistake: bool = False
    """Whether it says nothing about the task once the call was corrected."""
    is_program_fault: bool = False
    """Whether it shows that the program that ran is wrong, not only the call."""
    prevents_start: bool = False
    """Whether the program that failed with it did not begin its work."""
    voids_check: bool = False
    """Whether a check that failed with it says nothing about what it checks."""
    is_counted_by_tests: bool = False
    """Whether the summary of a failing test run covers it."""
    is_provoked_by_tests: bool = False
    """Whether a passing test run may print it: tests provoke it on purpose."""

    def __repr__(self) -> str:
        return f"<ErrorFamily {self.code}>"

    def subject_of(self, line: str) -> str:
        """What a line of this family is about; empty if it does not say."""
        match = self.subject.search(line) if self.subject else None
        groups = match.groups() if match else ()
        return next((group for group in groups if group), "").strip("\"'‘’` ")[:200]


def _phrases(text: str) -> tuple[str, ...]:
    """Phrases between semicolons, on several lines."""
    return tuple(" ".join(phrase.split()) for phrase in text.split(";"))


QUOTED = r"(?<!\w)[‘'\"`]([^‘'\"`’\n]{1,200})[’'\"`]"

# fmt: off
PORT_IN_USE = ErrorFamily(
    code="port_in_use", label="port already in use",
    phrases=_phrases("address already in use; eaddrinuse; port is already allocated; is already in use"),
    system_message=r"[Aa]ddress already in use", subject=re.compile(r"(?:[Pp]ort |:)(\d{2,5})\b|, (\d{2,5})\)"),
    is_external=True)
DISK_FULL = ErrorFamily(
    code="disk_full", label="no space left",
    phrases=_phrases("no space left on device; enospc; disk quota exceeded; disk is full"),
    system_message=r"No space left on device", is_external=True)
OUT_OF_MEMORY = ErrorFamily(
    code="out_of_memory", label="out of memory",
    phrases=_phrases("out of memory; cannot allocate memory; bad_alloc; memoryerror; enomem"), is_program_fault=True)
NO_SUCH_COMMAND = ErrorFamily(
    code="no_such_command", label="command not found",
    phrases=_phrases(
        """command not found; executable file not found; is not recognized as an internal;
        is not recognized as the name; is not recognized as a name; unknown command:"""
    ), pattern=re.compile(r": \S{1,200}: not found$"), system_message=r"command not found",
    subject=re.compile(
        r"command not found: (\S+)|([^\s:'\"‘’`]+): (?:command )?not found(?!:)|Unknown command: (\S+)"
        r"|exec: \"?([^\s\":]+)|'([^']+)' is not recognized"
    ), exit_codes=frozenset({127}), is_missing_dependency=True, is_external=True, prevents_start=True, voids_check=True)
NO_SUCH_MODULE = ErrorFamily(
    code="no_such_module", label="no such module",
    phrases=_phrases(
        """no module named; importerror; modulenotfounderror; cannot find module; cannot find package;
        err_module_not_found; in @inc; cannot load such file; no matching distribution; could not find a version;
        unable to locate package; no installation candidate; no package called; classnotfoundexception;
        noclassdeffounderror; no required module; packagesnotfounderror; packagenotfounderror; distributionnotfound;
        unresolved import; can't find crate; no matching package"""
    ), pattern=re.compile(r"\bpackage \S{1,100} (?:does not exist|was not found)|\bmodule '\S{1,100}' not found"),
    system_message=r"No module named",
    subject=re.compile(
        r"No module named '?([\w.-]+)|Cannot find (?:module|package) '([^']+)|Can't locate (\S+)|such file -- (\S+)"
        r"|distribution found for (\S+)|requirement (\S+)|locate package (\S+)|package called .([\w.]+)"
        r"|cannot import name '(\w+)|NotFoundException: (\S+)|package (\S+) does not|import `([\w:]+)|crate for `(\w+)"
    ), is_missing_dependency=True, is_external=True, prevents_start=True)
NOT_ON_PATH = ErrorFamily(
    code="not_on_path", label="not on the path", subject=NO_SUCH_MODULE.subject, is_external=True, prevents_start=True,
    voids_check=True)
"""A program or a module that is there, or that the attempt makes itself: no line says so, other actions do."""
PERMISSION = ErrorFamily(
    code="permission", label="permission denied",
    phrases=_phrases(
        """permission denied; operation not permitted; eacces; eperm:; permissionerror; access is denied;
        read-only file system; are you root; externally-managed-environment"""
    ), system_message=r"Permission denied|Operation not permitted",
    subject=re.compile(rf"{QUOTED}|(?:^|: )([^\s:]{{1,200}}): (?:Permission denied|Operation not permitted|Read-only)"),
    exit_codes=frozenset({126}), is_external=True, prevents_start=True, voids_check=True)
TIME_OUT = ErrorFamily(
    code="time_out", label="timed out", phrases=_phrases("timed out; timeout; deadline exceeded; etimedout"),
    exit_codes=frozenset({124}), curl_codes=frozenset({28}), is_program_fault=True,
    voids_check=True)
CONNECTION = ErrorFamily(
    code="connection", label="no connection",
    phrases=_phrases(
        """connection refused; connection reset; connection aborted; connectionerror; connectionrefused;
        connectionreset; connecterror; econnrefused; econnreset; getaddrinfo enotfound; code enotfound; errno enotfound;
        'enotfound'; could not resolve; couldn't connect; couldn't resolve; could not connect; failed to connect;
        unable to connect; cannot connect; name resolution; name or service not known; network is unreachable;
        no route to host; net::err_; maxretryerror; sslerror; certificate verify failed"""
    ), system_message=r"Connection refused|Name or service not known",
    subject=re.compile(
        r"resolve host(?:name)?:? ([^\s:]+)|(?:connect to|server at) \"?([\w.-]+)|https?://([^\s/'\")]+)"
    ), curl_codes=frozenset({5, 6, 7, 35, 52, 56, 60}), is_external=True)
USAGE = ErrorFamily(
    code="usage", label="wrong arguments",
    phrases=_phrases(
        """unrecognized option; unrecognized argument; unknown option; unknown argument; unknown flag; unknown command;
        unknown switch; invalid option; illegal option; no such option; no such command; unexpected argument;
        missing operand; missing file operand; missing argument; missing script; too many arguments; too few arguments;
        requires an argument; arguments are required; invalid choice; expected one argument; no rule to make target;
        is not a git command"""
    ), system_message=r"error: (?:unrecognized arguments|argument |the following arguments)|unrecognized option",
    subject=re.compile(
        r"(?:option|argument|command|flag|choice|operand|target|script)s?:? (?:-- )?[‘'\"`]?([^\s‘'\"`’,]{1,80})"
    ), curl_codes=frozenset({1, 2, 3}), is_external=True, is_call_mistake=True, prevents_start=True, voids_check=True)
SYNTAX = ErrorFamily(
    code="syntax", label="syntax error",
    phrases=_phrases(
        """syntax error; syntaxerror; parse error; parsing error; parseerror; parsererror; scannererror;
        indentationerror; taberror; decodeerror; unexpected token; unexpected eof; unexpected end of; unterminated;
        bad substitution"""
    ), is_call_mistake=True, is_program_fault=True, prevents_start=True)
NO_SUCH_FILE = ErrorFamily(
    code="no_such_file", label="no such file",
    phrases=_phrases(
        """no such file; filenotfounderror; enoent; nosuchfileexception; cannot find path; file not found;
        directory not found; cannot find the file; cannot find the path; can't cd to; no matches found"""
    ), system_message=r"[Nn]o such file or directory|can't open file",
    subject=re.compile(
        rf"{QUOTED}|(?:^|: )([^\s:]{{1,200}}): (?:Cannot open: )?[Nn]o such file"
        r"|(?:can't read|can't cd to|cannot open|directory:|found:|open file) ([^\s:]{1,200})"
    ), is_external=True, prevents_start=True)
ASSERTION = ErrorFamily(
    # Not the mark alone, nor a heading in capitals.
    code="assertion", label="assertion failed", phrases=_phrases("assertionerror; assertionfailed; assertion failed"),
    pattern=re.compile(r"\bAssertion [^\n]{0,250}failed\b"),
    line_start=r"(?:FAILED?\b|\[(?:FAIL|FAILED|✗)\])(?=[^\n]*[^\W\d_A-Z])|[✗✘❌✕](?=[^\n]{6})",
    system_message=r"Assertion .{0,200} failed", subject=re.compile(r"^((?:\w+\.){0,12}[A-Z]\w*Error)"),
    is_program_fault=True, is_counted_by_tests=True, is_provoked_by_tests=True)
HTTP = ErrorFamily(
    code="http", label="HTTP error",
    pattern=re.compile(
        r"(?:HTTP\w*|status(?: code)?|returned error|Client Error|Server Error)\D{0,12}\b[45]\d\d\b"
        r"|\b[45]\d\d (?:Client|Server) Error|ERROR [45]\d\d:|HTTP/[\d.]{1,4} [45]\d\d\b"
    ), line_start=r"(?:< )?HTTP/[\d.]{1,4} [45]\d\d\b", subject=re.compile(r"\b([45]\d\d)\b"),
    curl_codes=frozenset({22}), overrules_exit_code=True, is_external=True)
EXCEPTION = ErrorFamily(
    code="exception", label="exception",
    line_start=r"Exception in thread|Unhandled |Uncaught |terminate called"
    r"|thread '[^'\n]{0,80}'[^\n]{0,40} panicked at",
    subject=re.compile(r"^(?:Uncaught )?((?:\w+\.){0,12}[A-Z]\w*)(?::|$)"), is_fallback=True, is_program_fault=True,
    is_provoked_by_tests=True)
BUILD = ErrorFamily(
    code="build", label="build error",
    line_start=r"CMake Error|BUILD FAIL|Build FAILED|! (?:LaTeX|Undefined|Missing|Emergency|Package)",
    is_program_fault=True, is_provoked_by_tests=True)
KILLED = ErrorFamily(
    code="killed", label="killed by a signal",
    line_start=r"(?=[A-Z][^\n]{0,59}(?:\n|\Z))"
    r"(?:Killed\b|Segmentation fault|Aborted\b|Bus error|Illegal instruction|Floating point exception)",
    exit_codes=frozenset({130, 132, 134, 135, 136, 137, 139, 143}), overrules_exit_code=True, is_external=True,
    is_program_fault=True)
TOOL = ErrorFamily(
    code="tool", label="refused by the agent's tool", line_start=r"Your proposed edit", overrules_exit_code=True,
    is_vague=True, is_external=True, is_call_mistake=True, prevents_start=True, voids_check=True)
OTHER = ErrorFamily(
    code="other", label="error",
    line_start=r"npm (?:error|ERR!) "
    r"(?!path|workspace|location|command sh|errno|syscall|A complete|code \d|in workspace|at )"
    r"|Error (?:in|at|while|response|executing|reading|opening|loading|parsing|connecting|running|-) "
    r"|ERROR (?:in|at|while|-|\d{3,5} \()|\[(?:ERROR|error|FATAL|fatal)\] |Cannot |Could not |Can't "
    r"|[A-Z]\w{0,40}rror \[\w{1,60}\]: "
    r"|Failed to |Unable to |No module named|Parse error|parse error|syntax error|'[^'\n]{1,80}' is not recognized"
    r"|Connecting to [^\n]{1,200} failed: |Execution halted|Fatal error|FATAL ERROR|PHP (?:Fatal|Parse)"
    r"|[A-Z]\w{1,30}-[A-Z]\w{1,30} : |An (?:unexpected )?error occurred|Permission denied", is_fallback=True,
    is_vague=True, is_counted_by_tests=True, is_provoked_by_tests=True)
EXIT = ErrorFamily(code="exit", label="non-zero exit code", is_vague=True)
# fmt: on

ERROR_FAMILIES: tuple[ErrorFamily, ...] = (
    *(
        PORT_IN_USE,
        DISK_FULL,
        OUT_OF_MEMORY,
        NO_SUCH_COMMAND,
        NO_SUCH_MODULE,
        NOT_ON_PATH,
        PERMISSION,
        TIME_OUT,
        CONNECTION,
        USAGE,
    ),
    *(SYNTAX, NO_SUCH_FILE, ASSERTION, HTTP, EXCEPTION, BUILD, KILLED, TOOL, OTHER, EXIT),
)


ASSIGNED = (NOT_ON_PATH, EXIT)
"""Families that no line shows: evidence gives them for what it knows otherwise."""


class ErrorTable:
    """Error families, ready to be looked up by a line or a code. A family that cannot have an effect is refused."""

    def __init__(self, families: Sequence[ErrorFamily]) -> None:
        phrases: dict[str, str] = {}
        by_key((family.code, family) for family in families)
        for family in families:
            if problem := _lacks(family, phrases):
                raise ValueError(f"error family {family.code}: {problem}")
            phrases |= dict.fromkeys(family.phrases, family.code)
        self._phrases = [(family, family.phrases) for family in families if family.phrases]
        self._patterns = [(family, family.pattern) for family in families if family.pattern]
        self._starts = [(family, re.compile(family.line_start)) for family in families if family.line_start]
        self._exit_codes = by_key((code, family) for family in families for code in family.exit_codes)
        self._curl_codes = by_key((code, family) for family in families for code in family.curl_codes)
        self.line_start = "|".join(family.line_start for family in families if family.line_start)
        """A regular expression for how lines begin that are errors, whoever prints them."""
        self.system_message = re.compile(
            "|".join(family.system_message for family in families if family.system_message)
        )
        """Messages of the operating system, believed from a program of any name."""

    def by_words(self, line: str) -> ErrorFamily | None:
        """The family that the words of a line show."""
        lower = line.lower()
        for family, phrases in self._phrases:
            if any(map(lower.__contains__, phrases)):
                return family
        return next((family for family, pattern in self._patterns if pattern.search(line)), None)

    def by_line_start(self, line: str) -> ErrorFamily | None:
        """The family that the beginning of a line shows."""
        return next((family for family, pattern in self._starts if pattern.match(line)), None)

    def by_exit_code(self, code: int) -> ErrorFamily | None:
        """The family that a shell's exit code means; None if the code only says that something failed."""
        return KILLED if code < 0 else self._exit_codes.get(code)

    def by_curl_code(self, code: int) -> ErrorFamily | None:
        """The family that an error number of curl means."""
        return self._curl_codes.get(code)


def _lacks(family: ErrorFamily, earlier: Mapping[str, str]) -> str:
    """Why a family, or a part of it, can never have an effect; empty if it can. `earlier`: the phrases that are tried
    before its own, with their families."""
    if not any((family.phrases, family.pattern, family.line_start, family.exit_codes, family.curl_codes)):
        return "" if family in ASSIGNED else "nothing shows it: give phrases, a pattern, a line_start or codes"
    tried = dict(earlier)
    for phrase in family.phrases:
        if not phrase.strip():
            return "an empty phrase is in every line"
        if phrase != phrase.lower():
            return f"the phrase {phrase!r} never occurs: lines are compared in lower case"
        if first := next((before for before in tried if before in phrase), None):
            return f"the phrase {phrase!r} is never reached: {first!r} of {tried[first]} is tried before it"
        tried[phrase] = family.code
    if (family.pattern and family.pattern.search("")) or (family.line_start and re.match(family.line_start, "")):
        return "its pattern or its line_start matches an empty line, and so every line"
    if wrong := sorted(code for code in family.exit_codes | family.curl_codes if not 0 < code < 256):
        return f"{wrong[0]} is no code of an error: these are 1 to 255"
    if family.subject is not None and not family.subject.groups:
        return "its subject has no group, so that it never names anything"
    if (family.is_fallback or family.overrules_exit_code) and not family.line_start:
        return "is_fallback and overrules_exit_code are about its line_start, and it has none"
    if family.system_message and not (family.phrases or family.pattern):
        return "its system_message counts only in a line that its phrases or its pattern show, and it has none"
    return ""


ERRORS = ErrorTable(ERROR_FAMILIES)
