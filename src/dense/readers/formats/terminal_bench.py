"""`terminal-bench-1`: trials of Terminal-Bench 1, `<run>/<task>/<trial>/`, and logs of Terminus.

`agent-logs/episode-N/` has what Terminus was sent (`prompt.txt`, the screen) and what it answered (`response.json` or
`.txt`): each answer is a step, each `keystrokes` of it a call, and the screen that it is sent next is what came back.
Other agents leave only the recording of their terminal, `sessions/agent.cast` (asciinema): what was typed up to Enter
is a step, what was printed until the next one is what came back.

- The verifier works in the same kind of terminal: `sessions/tests.*` and `panes/post-test.txt` are never read, and of
  `results.json` only the task's name and the instruction.
- A recording without typed input shows one run of a program: it is one step whose output is the whole text.
- Colours and cursor movements are left out; a screen that is repainted stays as often as it was."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from dense.errors import NoTrajectory
from dense.readers.content import text_of
from dense.readers.embedded import spoken_calls
from dense.readers.files import TraceFile, TraceRecord
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import is_obj, is_seq, obj, objs, string
from dense.readers.reader import TraceLocation
from dense.readers.stream import StepBuilder, Stream
from dense.readers.task import unwrap_prompt
from dense.trajectory import Source, Step, Task, ToolCall

CLEAR = "clear"
RESULTS = "results.json"
SCREEN = ("The current terminal state is:\n", "Current terminal state:\n")
INSTRUCTION = "\nInstruction:\n"
ESCAPES = re.compile(r"\x1b(?:\[[0-9;?<=>!]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_]|[()][A-Z0-9])")
CONTROLS = re.compile(r"[\x00-\x07\x0b-\x1f]")
ENTER = re.compile(r"[\r\n]")
WAIT = "; tmux wait -S done"
"""What the harness types behind a command to know when it has ended."""
LAST_SCREEN = "panes/post-agent.txt"
KEYS = ("state_analysis", "analysis", "explanation", "plan")
"""What an answer of Terminus says beside its commands."""


class TerminalBench:
    name = "terminal-bench-1"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(map(_is_episode, head)) or _is_recording(head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        first = next(records, None)
        if first is None:
            return
        task = _task_beside(location.path)
        if _is_episode(first.value):
            task = task or _task_in(text_of(obj(first.value).get("prompt")))
            steps, agent = _episodes(chain((first,), records), location), "terminus"
        else:
            steps, agent = _recorded(records, first.source, location), None
        step = next(steps, None)
        if step is not None:
            stream = Stream(
                format=self.name,
                id=_trial(location.path).name,
                source=location.source(),
                notices=location.notices,
                steps=chain((step,), steps),
            )
            stream.task, stream.agent = task, agent
            yield stream


def _is_episode(value: Any) -> bool:
    return is_obj(value) and value.keys() == {"episode", "prompt", "response"}


def _is_recording(head: Sequence[Any]) -> bool:
    """Whether these are the first lines of an asciinema recording."""
    header = obj(head[0]) if head else {}
    events = head[1:4]
    return (
        header.get("version") in (1, 2, 3)
        and ("width" in header or "term" in header)
        and all(is_seq(event) and len(event) == 3 for event in events)
    )


def _episodes(records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Step]:
    builder: StepBuilder | None = None
    for record in records:
        episode = obj(record.value)
        if builder is not None:
            if screen := _screen(text_of(episode.get("prompt"))):
                builder.observe(screen)
            yield builder.build()
        builder = None
        if (answer := string(episode.get("response"))) is None:
            location.notices.skip("episode without an answer", record.source)
            continue
        builder = StepBuilder(source=record.source)
        said, builder.calls = _answer(answer)
        builder.message.append(said)
    if builder is not None:
        if screen := _last_screen(location.path):
            builder.observe(screen)
        yield builder.build()


def _last_screen(log: Path) -> str:
    """The screen as the agent left it, which it never saw: only the harness kept it."""
    try:
        return _screen((_trial(log) / LAST_SCREEN).read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return ""


def _screen(text: str) -> str:
    return text.replace(WAIT, "").rstrip()


def _answer(answer: str) -> tuple[str, list[ToolCall]]:
    """What an answer says, and the commands in it; text that is no answer of Terminus is all said."""
    start, end = answer.find("{"), answer.rfind("}")
    try:
        value = obj(decode(answer[start : end + 1].encode("utf-8", "replace"))[0]) if 0 <= start < end else {}
    except BadJson:
        value = {}
    if not is_seq(value.get("commands")):
        spoken = spoken_calls(answer, None)
        return (spoken.text, spoken.calls) if spoken is not None else (answer, [])
    calls = [
        ToolCall("bash_command", {"keystrokes": text, **_waits(command)})
        for command in objs(value["commands"])
        if (text := string(command.get("keystrokes"))) is not None
    ]
    if value.get("is_task_complete") is True or value.get("task_complete") is True:
        calls.append(ToolCall("mark_task_complete"))
    return "\n".join(text for key in KEYS if (text := text_of(value.get(key)))), calls


def _waits(command: dict[str, Any]) -> dict[str, Any]:
    return {key: command[key] for key in ("is_blocking", "timeout_sec", "duration") if key in command}


def _recorded(records: Iterator[TraceRecord], first: Source, location: TraceLocation) -> Iterator[Step]:
    """The steps of a recording: a command for each Enter that was typed."""
    typed, shown, is_begun = "", "", False
    builder: StepBuilder | None = None
    for record in records:
        if not is_seq(record.value) or len(record.value) != 3:
            location.notices.skip("not an event of a recording", record.source)
            continue
        _, kind, data = record.value
        text = data if isinstance(data, str) else ""
        if kind == "o":
            shown += text
        elif kind == "i":
            typed += text
            if ENTER.search(text):
                command, typed = _plain(typed).strip().removesuffix(WAIT), ""
                if builder is not None:
                    builder.observe(_output(builder, shown))
                    yield builder.build()
                builder, shown = StepBuilder(source=record.source, calls=[ToolCall("bash", {"command": command})]), ""
                if not command or (command == CLEAR and not is_begun):
                    builder = None  # the harness clears the screen first
                is_begun = True
    if builder is None and shown.strip():
        builder = StepBuilder(source=first, calls=[ToolCall("terminal")])
    if builder is not None:
        builder.observe(_output(builder, shown))
        yield builder.build()


def _output(builder: StepBuilder, shown: str) -> str:
    """What was printed, without the echo of the command."""
    text = _plain(shown).replace(WAIT, "")
    echo = f"{builder.calls[0].arguments.get('command', '')}\n"
    return text.removeprefix(echo).lstrip("\n").rstrip()


def _plain(text: str) -> str:
    """The text without the codes of the terminal; a character that was deleted is gone."""
    text = CONTROLS.sub("", ESCAPES.sub("", text).replace("\r\n", "\n").replace("\r", "\n"))
    if "\b" not in text and "\x7f" not in text:
        return text
    kept: list[str] = []
    for character in text:
        if character in "\b\x7f":
            if kept and kept[-1] != "\n":
                kept.pop()
        else:
            kept.append(character)
    return "".join(kept)


def _trial(path: Path) -> Path:
    """The folder of the trial that a log is in."""
    return next((folder for folder in (path, *path.parents)[:4] if (folder / RESULTS).is_file()), path)


def _task_beside(path: Path) -> Task | None:
    """The task by the trial's results: its name and the instruction. Nothing else in them is looked at."""
    results = _trial(path) / RESULTS
    try:
        document = obj(TraceFile(results, str(results)).document().value) if results.is_file() else {}
    except (NoTrajectory, OSError):
        return None
    text = string(document.get("instruction"))
    return Task(text, string(document.get("task_id")), origin="file") if text else None


def _task_in(prompt: str) -> Task | None:
    """The instruction in the first prompt, without the screen and the scaffold around it."""
    if (text := unwrap_prompt(prompt)) != prompt:
        return Task(text)
    _, mark, text = prompt.partition(INSTRUCTION)
    if not mark:
        return Task(prompt) if prompt.strip() else None
    end = min((at for mark in (*SCREEN, "\nYour response should") if (at := text.find(mark)) >= 0), default=len(text))
    return Task(text[:end].strip())
