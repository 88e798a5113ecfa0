"""What harnesses write around the outputs of programs."""

from __future__ import annotations

import re

LEADING_CODE = re.compile(
    r"(?:Error: )?Exit code:? (-?\d{1,10})\b"
    r"|<returncode>(-?\d{1,10})</returncode>"
    r"|exitcode: (-?\d{1,10})\b"
    r"|(?:Chunk ID: \w{1,20}\n)?Wall time: [^\n]{1,40}\nProcess exited with code (-?\d{1,10})\b"
    r"|The script ran, then exited with Unix exit code: (-?\d{1,10})\b"
)
TRAILING_CODE = re.compile(
    r"(?:^|\n)(?:"
    r"\[[^\]\n]{0,60}\bexit(?: code|ed with code| status):? (-?\d{1,10})\.?[^\]\n]{0,80}\]"
    r"|(?:Command|Process|Program) exited with (?:exit )?(?:code|status):? (-?\d{1,10})\.?\s*$"
    r"|\(?[Ee]xit (?:status|code):? ?(-?\d{1,10})\)?\s*$"
    r"|Exit Code: (-?\d{1,10})\n"
    r')|"exit_code": ?(-?\d{1,10})[^\n]{0,80}$'
)
FAILURE_MARK = "[error] tool reported failure"
REFUSALS = (
    *("<tool_use_error>", "<error>", "Please always provide EXACTLY ONE action", "Format error", "Tool call error"),
    *("Previous response had parsing errors", "Your proposed edit has introduced", "execution error: "),
    "No tool calls found in",
)
"""How harnesses begin if they could not parse an action, or did not allow it."""
STOPPED = re.compile(
    r"(?i:(?:^|\n)[^\n]{0,80}\b(?:command|execution|process|tool|operation|script|code)\b[^\n]{0,120}"
    r"\btimed out\b[^\n]{0,160})|</command> timed out and has been killed"
)
RUNNING = re.compile(
    r"(?:Command running in background with ID: |Command still running \(session |Process running with session ID "
    r"|[Cc]ommand (?:is )?running in (?:the )?background[^\n]{0,40}?\b(?:id|ID|shellId)[: ]+)([\w-]{1,60})"
)
"""How harnesses say that a command runs on, with the name by which its output can be asked for."""
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
NO_OUTPUT = re.compile(r"\W*(?:[\w' ]{0,60}\b(?:no|not produce any) output)\W*$", re.IGNORECASE)
"""How harnesses say that there is no output."""
