"""What came back, without what is not of the program: frames of harnesses, prompts, echoed commands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.programs.files import UNNAMED
from dense.evidence.actions.tools import known
from dense.evidence.facts.facts import ActionFacts
from dense.knowledge.tools import PATH_KEYS
from dense.trajectory import Observation, Step

HEAD = 2000
"""Characters of an output that are read at once."""
FRAME_HEAD = re.compile(
    r"\s*(?:<returncode>-?\d+</returncode>\s*(?:<output>\n?)?"
    r"|(?:Chunk ID|Exit code|Wall time|Command)\b[^\n]*\n(?:[A-Z][^\n]{0,80}\n){0,6}?Output:[ \t]*\n?"
    r"|Exit code:? -?\d+\n|(?:New|Current) Terminal (?:Output|Screen):\n|Current terminal state:\n|Observation:\s"
    r"|bash execution output ?:\s)",
    re.IGNORECASE,
)
FRAME_TAIL = re.compile(
    r"(?:</output>|\[(?:The command completed|Current working directory|Python interpreter|Command finished)[^\n]*\]"
    r"|\((?:Open file|Current directory):[^\n]*\)|bash-\$|\[metadata\] [^\n]*|Exit Code: -?\d+"
    r"|Process exited with code -?\d+|Command exited with code -?\d+)\s*$"
)
"""Each alternative begins with a character of its own, so that what lies before is passed over quickly."""
FRAME_STARTS = frozenset("<BbCcEeWwNnOo")
"""Without one of these at the head there is no frame, and nothing to be searched for."""
NO_OUTPUT = re.compile(r"\W*(?:[\w' ]{0,60}\b(?:no|not produce any) output)\W*$", re.IGNORECASE)
"""How harnesses say that there is nothing."""
PROMPT = re.compile(r"(?:\([\w.-]{1,30}\) )?[\w.-]{1,40}@[\w.-]{1,60}:[^\n#$]{0,120}[#$](?: |$)|bash-[\d.]+[#$](?: |$)")


def program_output(facts: ActionFacts, step: Step) -> str:
    """What came back, its ends only, without the frames of harnesses, prompts and echoed commands."""
    if len(step.observations) == 1:
        return observed(step.observations[0], facts.commands)
    texts = [observed(seen, facts.commands) for seen in step.observations[:8]]
    return "\n".join(filter(None, texts))


def observed(seen: Observation, commands: Sequence[str]) -> str:
    text = seen.text
    if len(text) > 8 * HEAD:
        text = text[: 4 * HEAD] + "\n" + text[-2 * HEAD :]
    text = without_frame(text)
    if not text or (len(text) < 90 and NO_OUTPUT.match(text)):
        return ""
    if ("@" in text and (":/" in text or ":~" in text)) or text.startswith("bash-"):
        text = without_screen(text, commands)
    return text


def without_frame(text: str) -> str:
    """Without what a harness writes before and behind an output."""
    start, end = 0, len(text)
    for _ in range(3):
        first = text[start : start + 24].lstrip()[:1]
        if first not in FRAME_STARTS or (found := FRAME_HEAD.match(text, start)) is None:
            break
        start = found.end()
    for _ in range(4):
        near = end - 300 if end - 300 > start else start
        line = near + text[near:end].rstrip().rfind("\n") + 1  # a frame is one line
        if (found := FRAME_TAIL.search(text, line, end)) is None:
            break
        end = found.start()
    kept = text[start:end]
    return "" if kept.isspace() else kept.strip("\n")


def without_screen(text: str, commands: Sequence[str]) -> str:
    """A terminal's screen without prompts and what was typed at them."""
    lines = text.split("\n")
    if not any(PROMPT.match(line) for line in lines):
        return text
    kept: list[str] = []
    is_echo = False
    whole = [command.strip() for command in commands]
    for line in lines:
        if (prompt := PROMPT.match(line)) is not None:
            is_echo = line[prompt.end() :].strip() not in whole  # nothing is left of it for the next line
            continue
        # What is echoed may run over several lines: of a heredoc, or of a screen that is too narrow.
        if is_echo and (
            line.startswith("> ") or line == ">" or (line.strip() and any(line in one for one in commands))
        ):
            continue
        is_echo = False
        kept.append(line)
    return "\n".join(kept).strip("\n")


OPEN_EDITS = frozenset({"edit", "insert"})
"""Families of actions that edit a file without naming it, or with."""


def edits_open_file(facts: ActionFacts, step: Step) -> bool:
    """Whether an editor was told to edit whatever it has open."""
    if facts.family not in OPEN_EDITS:
        return False
    return bool(facts.commands) or (len(step.calls) == 1 and not known(step.calls[0]).texts(PATH_KEYS))


OPEN_FILE = re.compile(r"\[File: ([^\n(]{1,300}) \(")


def open_file(step: Step) -> str:
    """The file that an editor without names says that it shows."""
    for seen in step.observations:
        if (found := OPEN_FILE.search(seen.text[:HEAD])) is not None:
            return found[1]
    return UNNAMED
