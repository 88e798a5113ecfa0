"""Commands that go on in the background: calls that wait for them or read from them are linked to the first one.

Harnesses answer such a call with an ID (`Command still running (session 7)`, `Process running with session ID 12`), and
the agent asks with that ID again."""

from __future__ import annotations

import re

from msgspec.structs import replace

from dense.trajectory import Step, ToolCall

ID_KEYS = (
    "session_id",
    "sessionId",
    "bash_id",
    "shell_id",
    "shellId",
    "task_id",
    "process_id",
    "pid",
    "cell_id",
    "session",
)
"""Arguments by which a call names a command that runs already."""
STARTED = re.compile(
    r"(?:\b(?:session|shell|task|process|cell|bash|command)[ _]?ID|\bwith ID|\bPID|\bsession)[\"'`]?[\s:=(#]{1,3}"
    r"[\"'`]?([\w-]{1,40})",
    re.IGNORECASE,
)
SIGNS = ("ession", "unning", "ackground", "PID", "pid")
"""Without one of these no command was started."""
MAX_SEARCHED_CHARS = 2_000
"""An ID is at the beginning or at the end of what came back."""


class BackgroundCommands:
    """Remembers which call started what; steps are given in their order."""

    def __init__(self) -> None:
        self._answers: list[tuple[str, str]] = []
        self._started: dict[str, str] = {}

    def linked(self, step: Step) -> Step:
        """The step, with `continues` on each call that goes on with an earlier call's command."""
        if any(_asked_for(call) for call in step.calls):
            self._search()
            calls = tuple([self._linked(call) for call in step.calls])
            step = step if calls == step.calls else replace(step, calls=calls)
        ids = {call.id for call in step.calls if call.id is not None and call.continues is None}
        alone = next(iter(ids)) if len(ids) == len(step.calls) == 1 else None
        for observation in step.observations:
            call_id = observation.call_id or alone
            if observation.origin != "tool" or call_id is None or call_id not in ids:
                continue
            text = observation.text
            if len(text) > 2 * MAX_SEARCHED_CHARS:
                text = text[:MAX_SEARCHED_CHARS] + text[-MAX_SEARCHED_CHARS:]
            if any(sign in text for sign in SIGNS):
                self._answers.append((call_id, text))
        return step

    def _linked(self, call: ToolCall) -> ToolCall:
        first = self._started.get(_asked_for(call))
        return replace(call, continues=first) if first is not None and first != call.id else call

    def _search(self) -> None:
        """Look for IDs only when somebody asks with one: most traces never do."""
        for call_id, text in self._answers:
            for match in STARTED.finditer(text):
                self._started.setdefault(match[1], call_id)
        self._answers.clear()


def _asked_for(call: ToolCall) -> str:
    for key in filter(call.arguments.__contains__, ID_KEYS):
        value = call.arguments[key]
        if isinstance(value, str | int) and not isinstance(value, bool) and value != "":
            return str(value)
    return ""
