"""`who-and-when`: the Who&When failure-attribution data, one JSON object for each failed run of a team of agents; and
`agentrx`: histories alone.

`question` is the task, `history[]` the conversation. In the hand-crafted half (Magentic-One) an entry has only
`role`, the speaker, with a note in brackets: `human`, `Orchestrator (thought)`, `Orchestrator (-> WebSurfer)`,
`WebSurfer`, `ComputerTerminal`, …. In the algorithm-generated half (captain agent) the speaker is `name`, and `role`
is only the side of the chat that it was filed under. Magentic-One's own logs, and the data sets made of them (AgentRx),
are such a history alone: a bare list, whose first human entry is the task.

Decided here:
- An entry of an agent is a step, with `agent` as the speaker without the note; one entry is one step because the
  labels count entries. Label `mistake_step` is an index into `history`: its step is the last one whose `Source.index`
  is not greater.
- Entries of a terminal (`ComputerTerminal`, `Computer_terminal`) answer the step before and are tool observations. So
  is the page below the sentence in which the web surfer says what it did.
- `Orchestrator (-> X)` hands its text to X: a call of X. `Next speaker X` and `(termination condition)` are the
  harness's own remarks: system observations. The human's first entry repeats the question; later ones are user
  observations.
- Only `history`, `question` and `question_ID` are looked at. `ground_truth`, `groundtruth`, `is_correct`,
  `is_corrected`, `mistake_agent`, `mistake_step`, `mistake_reason`, `mistake_type`, `level` grade or rate the run;
  `system_prompt` is scaffold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from dense.readers.content import text_of
from dense.readers.files import TraceRecord
from dense.readers.json_value import is_obj, is_seq, obj, objs, seq, string
from dense.readers.reader import TraceLocation, fitting_documents, location_of_row, unique_id
from dense.readers.stream import StepBuilder, Stream
from dense.trajectory import Observation, Source, Step, Task, ToolCall

TERMINALS = frozenset({"ComputerTerminal", "Computer_terminal"})
LABELS = frozenset({"mistake_step", "mistake_agent", "mistake_reason"})
NOTED = re.compile(r"(?P<who>.*?)\s*\((?P<note>.*)\)\s*", re.DOTALL)
EXIT_CODE = re.compile(r"exitcode: (-?\d{1,9})\b")
NEXT_SPEAKER = re.compile(r"Next speaker \w+\.?")
PAGE = "\n\nHere is a screenshot of "
CLAIMED = 5
"""How many entries are read to recognise a file."""


class WhoAndWhen:
    name = "who-and-when"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_run(obj(record)) for record in head)

    def read(self, records: Iterator[TraceRecord], location: TraceLocation) -> Iterator[Stream]:
        ids: set[str] = set()
        for record in fitting_documents(records, _has_history, location.notices, "a run of Who&When"):
            run, source = obj(record.value), location_of_row(record.source)
            entries = _history(record.value)
            steps = list(_steps(entries, source, location))
            if not steps:
                location.notices.skip("no action of an agent in its history", source)
                continue
            name = string(run.get("question_ID"))
            task = string(run.get("question")) or _asked(entries)
            id_ = unique_id(name or location.path.stem, source, ids)
            given = Task(task.strip(), name) if task else None
            yield Stream(
                format=self.name, id=id_, source=source, notices=location.notices, steps=iter(steps), task=given
            )


class AgentRx(WhoAndWhen):
    name = "agentrx"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(map(_is_bare, head))


def _history(value: Any) -> list[Any]:
    return value if is_seq(value) else seq(obj(value).get("history"))


def _has_history(value: Any) -> bool:
    return bool(objs(_history(value)))


def _is_bare(value: Any) -> bool:
    """Whether a list is a history: somebody in it thinks, or hands over, in brackets behind a name."""
    entries = objs(value)[:CLAIMED] if is_seq(value) else []
    notes = [_noted(speaker)[1] for entry in entries if "content" in entry and (speaker := _speaker(entry))]
    return len(notes) == len(entries) and any(note == "thought" or note.startswith("->") for note in notes)


def _is_run(run: dict[str, Any]) -> bool:
    """Labels are only looked for: their values reach nothing."""
    known = "question" in run and bool(LABELS & run.keys() or "question_ID" in run)
    return known and any("content" in entry and _speaker(entry) for entry in objs(run.get("history"))[:CLAIMED])


def _speaker(entry: dict[str, Any]) -> str:
    return string(entry.get("name")) or string(entry.get("role")) or ""


def _steps(entries: list[Any], source: Source, location: TraceLocation) -> Iterator[Step]:
    builder: StepBuilder | None = None
    for index, entry in enumerate(entries):
        here = Source(source.path, source.line, index, source.part)
        if not is_obj(entry) or not (speaker := _speaker(entry)):
            location.notices.skip("not an entry of a conversation", here)
            continue
        who, note = _noted(speaker)
        text = text_of(entry.get("content"))
        if observation := _observation(who, note, text):
            if builder is not None:
                builder.observations.append(observation)
            continue
        if builder is not None:
            yield builder.build()
        builder = _builder(who, note, text, here)
    if builder is not None:
        yield builder.build()


def _noted(speaker: str) -> tuple[str, str]:
    """The speaker and the note in brackets behind the name."""
    match = NOTED.fullmatch(speaker) if "(" in speaker else None
    return (match["who"], match["note"]) if match else (speaker, "")


def _observation(who: str, note: str, text: str) -> Observation | None:
    """What the entry says to the step before, if it is no action."""
    if who in TERMINALS:
        code = EXIT_CODE.match(text)
        return Observation(text=text, exit_code=int(code[1]) if code else None)
    if who == "human":
        return Observation(text=text, origin="user")
    if note == "termination condition" or (note == "thought" and NEXT_SPEAKER.fullmatch(text.strip())):
        return Observation(text=text, origin="system")
    return None


def _builder(who: str, note: str, text: str, source: Source) -> StepBuilder:
    builder = StepBuilder(source=source, agent=who)
    if note.startswith("->"):
        builder.calls.append(ToolCall(note.removeprefix("->").strip() or "?", {"input": text}))
        return builder
    said, page, rest = text.partition(PAGE)
    builder.message.append(said)
    if page:
        builder.observe(page.lstrip("\n") + rest)
    return builder


def _asked(entries: list[Any]) -> str | None:
    return next((text_of(entry.get("content")) for entry in objs(entries) if _speaker(entry) == "human"), None)
