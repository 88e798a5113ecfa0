"""Take off what harnesses and terminals put around an output: JSON envelopes, tags, headers, escape codes, echoes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from dense.text.envelopes import Unwrapped, open_envelope
from dense.text.search import contains_any, matcher

ESCAPE_CODE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\U000e0000-\U000e007f]"
)
HEADER = re.compile(
    r"\s*(?:<returncode>(?P<tag>-?\d{1,10})</returncode>\s*"
    r"|<warning>\s*The output of your last command was too long\.[^<]{0,1000}</warning>\s*"
    r"|(?:Chunk ID: [^\n]*\n)?Wall time: [^\n]*\n(?:Process exited with code (?P<codex>-?\d{1,10})\n)?"
    r"(?:[A-Z][^\n]{0,80}\n){0,3}?Output:\n"
    r"|Exit code:? (?P<plain>-?\d{1,10})\n(?:Wall time: [^\n]*\n)?(?:Output:\n)?"
    r"|(?:New|Current) Terminal (?:Output|Screen):\n|Current terminal state:\n|Observation:\s)"
)
"""What harnesses write before an output."""
FOOTER = re.compile(
    r"\s*(?:\(?(?:Command|Process|Program) exited with (?:exit )?(?:code|status):? (?P<code>-?\d{1,10})\.?\)?"
    r"|\[(?:The command completed with exit code (?P<openhands>-?\d{1,10})\.?|Current working directory: [^\n\]]*"
    r"|Python interpreter: [^\n\]]*|Command finished with exit code (?P<finished>-?\d{1,10}))\]"
    r"|\((?:Open file|Current directory): [^\n]*\)|bash-\$)\s*\Z"
)
"""What harnesses write behind an output, one line at a time."""
TAGS = re.compile(r"</?(?:output|output_head|output_tail|stdout|stderr|system)>\n?")
NO_OUTPUT = re.compile(r"\W*(?:[\w' ]{0,60}\b(?:no|not produce any) output)\W*", re.IGNORECASE)
PROMPT = re.compile(r"(?:\([\w.-]{1,30}\) )?(?:[\w.-]{1,40}@[\w.-]{1,60}:[^\n#$]{0,120}[#$]|bash-[\d.]+[#$]|\$|#) ")
PROMPT_SIGNS = ("$ ", "# ", "$\n", "#\n")
"""Without one of these there is no prompt."""
has_invisible = matcher(re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]"))
"""Whether an ASCII text has an invisible character."""
BAR_SIGN = "[━█▏▎▍▌▋▊▉#=>-]"
may_be_bar = matcher(re.compile(f"%.*%|B|{BAR_SIGN}{{5}}"))
BAR = re.compile(rf"(\d{{1,3}} ?%)|({BAR_SIGN}{{5,}})|(\b\d+(?:\.\d+)? ?[kKMG]i?B\b)")
MARK = r"(?:\d ?%|[#=>-]{5}|\d ?[kKMG]i?B)"
in_row = matcher(re.compile(rf"{MARK}[^\n]*{MARK}[^\n]*\n[^\n]*{MARK}[^\n]*{MARK}"))
"""Whether an ASCII text has two lines in a row that may be progress."""
BAR_SIGNS = ("━", "█", "▌", "[=", "[#")
"""What bars are drawn with, if they show no percentage."""
MAX_ECHO_CHARS = 60
"""Of a command that is shown above already."""
MIN_WRAPPED_CHARS = 60
"""No terminal breaks a line earlier."""
MIN_BARS = 4
"""So many progress lines in a row are reduced to the first and the last."""


def unwrap(text: str) -> Unwrapped:
    """Take known wrappers off. An unknown text stays as it is; a wrapper that was recorded cut off is read as far as
    it goes."""
    opened = open_envelope(text)
    text, code = opened.text, opened.exit_code
    while (match := HEADER.match(text)) is not None and match.end():
        code = _code(match, code)
        text = text[match.end() :]
    text = TAGS.sub("", text)
    while (match := FOOTER.fullmatch(text, _last_line_start(text))) is not None:
        code = _code(match, code)
        text = text[: match.start()]
    return Unwrapped(text, code)


def clean(text: str, commands: Sequence[str] = ()) -> str:
    """The text without escape codes, overwritten progress, the echo of `commands`, and blank space at its ends."""
    if "\x1b" in text:
        text = ESCAPE_CODE.sub("", text)
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    if has_invisible(text) if text.isascii() else not text.replace("\n", "").isprintable():
        text = INVISIBLE.sub("\ufffd", text)
    has_prompts = contains_any(text, PROMPT_SIGNS)
    has_bars = text.count("%") >= MIN_BARS or contains_any(text, BAR_SIGNS)
    has_bars = has_bars and (not text.isascii() or in_row(text))
    if has_prompts or has_bars or not text.isascii() or " \n" in text or "\t\n" in text or text.endswith((" ", "\t")):
        lines = list(map(str.rstrip, text.split("\n")))
        lines = _without_echo(lines, commands) if has_prompts else lines
        text = "\n".join(_without_bars(lines) if has_bars else lines)
    text = text.strip("\n")
    if "\n\n\n\n" in text:
        text = re.sub(r"\n{4,}", "\n\n\n", text)
    return "" if len(text) < 90 and NO_OUTPUT.fullmatch(text) else text


def visible(text: str) -> str:
    """The text without escape codes, other invisible characters replaced: it can be sent and printed anywhere."""
    return INVISIBLE.sub("\ufffd", ESCAPE_CODE.sub("", text))


def _last_line_start(text: str) -> int:
    """Where the last line that is not blank begins."""
    return text.rstrip().rfind("\n") + 1


def _code(match: re.Match[str], before: int | None) -> int | None:
    stated = next((value for value in match.groupdict().values() if value is not None), None)
    return before if stated is None else int(stated)


def _without_echo(lines: list[str], commands: Sequence[str]) -> list[str]:
    """The lines of a terminal without what only repeats the commands that were typed into it: the prompt of a single
    command, the further lines of a command of several, a last, empty prompt. Of several commands each prompt stays,
    shortened: it says which output belongs to which command."""
    typed = {_first_line(command): _later_lines(command) for command in commands}
    kept: list[str] = []
    awaited: list[str] = []
    for line in lines:
        prompt = PROMPT.match(line)
        entered = line[prompt.end() :].strip() if prompt is not None else ""
        if entered and entered not in typed and (wrapped := _wrapped(entered, typed)):
            entered, awaited = wrapped, [wrapped[len(entered) :].strip(), *typed[wrapped]]
            if len(typed) > 1:
                kept.append(f"$ {entered[:MAX_ECHO_CHARS]}…")
        elif entered and entered in typed:
            awaited = list(typed[entered])
            if len(typed) > 1:
                kept.append(f"$ {entered if len(entered) <= MAX_ECHO_CHARS else entered[:MAX_ECHO_CHARS] + '…'}")
        elif awaited and line.removeprefix(">").strip() == awaited[0]:
            awaited.pop(0)
        else:
            awaited = []
            kept.append(line)
    while kept and (
        not kept[-1].strip() or ((commands or "@" in kept[-1]) and PROMPT.fullmatch(kept[-1].rstrip() + " "))
    ):
        kept.pop()
    return kept


def _wrapped(entered: str, typed: Iterable[str]) -> str:
    """The command of which a terminal echoed this much before it broke the line; empty if there is none."""
    if len(entered) < MIN_WRAPPED_CHARS:
        return ""
    return next((command for command in typed if command.startswith(entered)), "")


def _first_line(command: str) -> str:
    return command.strip().partition("\n")[0].strip()


def _later_lines(command: str) -> list[str]:
    return [line.strip() for line in command.strip().split("\n")[1:]]


def _without_bars(lines: list[str]) -> list[str]:
    """Runs of progress lines, reduced to the first and the last."""
    kept: list[str] = []
    for is_bar, run in groupby(lines, key=_is_bar):
        run_lines = list(run)
        if is_bar and len(run_lines) >= MIN_BARS:
            left = run_lines[1:-1]
            size = sum(len(line) + 1 for line in left)
            run_lines = [run_lines[0], f"[… {len(left)} progress lines, {size:,} characters left out …]", run_lines[-1]]
        kept += run_lines
    return kept


def _is_bar(line: str) -> bool:
    """Whether a line holds two kinds of marks of progress: a row of a table has percentages alone."""
    if len(line) >= 300 or not may_be_bar(line):
        return False
    return len({mark.lastindex for mark in BAR.finditer(line)}) >= 2
