"""Results in the wrappers of harnesses: JSON with the output beside the exit code, marks, line ends of a terminal."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from dense.readers.json_value import first_string, is_obj, whole

END_MARKS = ("<END_TOOL_OUTPUT>", "<|END_TOOL_OUTPUT|>")
WRAPPED = ("}", "}\n", *END_MARKS, *(f"{mark}\n" for mark in END_MARKS))
"""How a result ends that may be wrapped."""
CODE_KEYS = ("exitCode", "exit_code", "returncode", "returnCode")
KNOWN_KEYS = frozenset(
    (*CODE_KEYS, *"stdout stderr command cwd duration durationMs signal timedOut interrupted success pid".split())
)
"""What may be beside the output. With any other key the object is the tool's own answer."""


def unwrapped_result(text: str, exit_code: int | None) -> tuple[str, int | None]:
    """The output itself and the exit code, out of `{"stdout": …, "stderr": …, "exitCode": …, "command": …}` and without
    the mark at its end. The command that is repeated there is no output. Any other text stays as it is."""
    bare = text.rstrip("\n")
    for mark in END_MARKS:
        if bare.endswith(mark):
            text = bare = bare.removesuffix(mark).rstrip("\n")
    if not (bare.startswith("{") and bare.endswith("}") and '"stdout"' in bare):
        return text, exit_code
    try:
        value: Any = msgspec.json.decode(bare)
    except (msgspec.DecodeError, ValueError, RecursionError):
        return text, exit_code
    if not is_obj(value) or not isinstance(value.get("stdout"), str) or not KNOWN_KEYS.issuperset(value):
        return text, exit_code
    code = next((number for key in CODE_KEYS if (number := whole(value.get(key))) is not None), None)
    error = first_string([value.get("stderr")]) or ""
    joined = (
        value["stdout"] + ("\n" if value["stdout"] and error and not value["stdout"].endswith("\n") else "") + error
    )
    return joined, code if exit_code is None else exit_code


def with_plain_line_ends(text: str) -> str:
    """The text with LF where a terminal or Windows ends lines with CR LF, also where a harness added lines of its own.
    A CR within a line stays: what follows it overwrites what is before."""
    return re.sub("\r+\n", "\n", text)
