"""`who-and-when`: the Who&When failure-attribution data, one JSON object for each failed run of a team of agents.

`question` is the task, `history[]` the conversation. In the hand-crafted half (Magentic-One) an entry has only
`role`, the speaker, with a note in brackets: `human`, `Orchestrator (thought)`, `Orchestrator (-> WebSurfer)`,
`WebSurfer`, `ComputerTerminal`, …. In the algorithm-generated half (captain agent) the speaker is `name`, and `role`
is only the side of the chat that it was filed under.

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

from dense.read.chat import describe
from dense.read.content import text_of
from dense.read.files import Record
from dense.read.json_value import first_string, is_obj, obj, objs, seq, string
from dense.read.reader import Place
from dense.read.stream import StepDraft, Stream
from dense.trajectory import Source, Step, Task, ToolCall

LABELS = frozenset({"mistake_step", "mistake_agent", "mistake_reason"})
NOTED = re.compile(r"(?P<who>.*?)\s*\((?P<note>.*)\)\s*", re.DOTALL)
EXIT_CODE = re.compile(r"exitcode: (-?\d{1,9})\b")
NEXT_SPEAKER = re.compile(r"Next speaker \w+\.?")
PAGE = "\n\nHere is a screenshot of "


class WhoAndWhen:
    name = "who-and-when"

    def claims(self, head: Sequence[Any]) -> bool:
        return any(_is_run(obj(record)) for record in head)

    def read(self, records: Iterator[Record], place: Place) -> Iterator[Stream]:
        seen: set[str] = set()
        for record in records:
            run = obj(record.value)
            entries = seq(run.get("history"))
            if not entries:
                place.notices.skip(f"not a run of Who&When: {describe(record.value)}", record.source)
                continue
            source = _source(record.source)
            steps = list(_steps(entries, source, place))
            if not steps:
                place.notices.skip("no action of an agent in its history", source)
                continue
            name = string(run.get("question_ID"))
            task = string(run.get("question")) or _asked(entries)
            id_ = _unique(name or place.path.stem, source, seen)
            yield Stream(
                self.name, id_, source, place.notices, iter(steps), task=Task(task.strip(), name) if task else None
            )


def _is_run(run: dict[str, Any]) -> bool:
    """Labels are only looked for: their values reach nothing."""
    known = "question" in run and bool(LABELS & run.keys() or "question_ID" in run)
    return known and any("content" in entry and _speaker(entry) for entry in objs(run.get("history"))[:5])


def _source(source: Source) -> Source:
    """The place of a run: a row where the file has several."""
    if source.line is not None:
        return Source(source.path, line=source.line, part=f"row {source.line - 1}")
    return source if source.index is None else Source(source.path, part=f"row {source.index}")


def _unique(id_: str, source: Source, seen: set[str]) -> str:
    id_ = f"{id_}#{source.part}" if id_ in seen else id_
    seen.add(id_)
    return id_


def _speaker(entry: dict[str, Any]) -> str:
    return first_string((entry.get("name"), entry.get("role"))) or ""


def _steps(entries: list[Any], source: Source, place: Place) -> Iterator[Step]:
    draft: StepDraft | None = None
    for index, entry in enumerate(entries):
        here = Source(source.path, line=source.line, index=index, part=source.part)
        if not is_obj(entry) or not _speaker(entry):
            place.notices.skip(f"not an entry of a conversation: {describe(entry)}", here)
        elif _observe(entry, draft):
            continue
        else:
            if draft:
                yield draft.build()
            draft = _draft(entry, here)
    if draft:
        yield draft.build()


def _observe(entry: dict[str, Any], draft: StepDraft | None) -> bool:
    """Whether the entry is no action; if so, it is told to the step before."""
    speaker, text = _speaker(entry), text_of(entry.get("content"))
    noted = NOTED.fullmatch(speaker)
    if speaker.replace("_", "").lower() == "computerterminal":
        code = EXIT_CODE.match(text)
        if draft:
            draft.observe(text, exit_code=int(code[1]) if code else None)
    elif speaker == "human":
        if draft:
            draft.observe(text, origin="user")
    elif (noted and noted["note"] == "termination condition") or NEXT_SPEAKER.fullmatch(text.strip()):
        if draft:
            draft.observe(text, origin="system")
    else:
        return False
    return True


def _draft(entry: dict[str, Any], source: Source) -> StepDraft:
    speaker, text = _speaker(entry), text_of(entry.get("content"))
    noted = NOTED.fullmatch(speaker)
    draft = StepDraft(source, agent=noted["who"] if noted else speaker)
    if noted and noted["note"].startswith("->"):
        draft.calls.append(ToolCall(noted["note"].removeprefix("->").strip() or "?", {"input": text}))
        return draft
    said, page, seen = text.partition(PAGE)
    draft.message.append(said)
    if page:
        draft.observe(page.lstrip("\n") + seen)
    return draft


def _asked(entries: list[Any]) -> str | None:
    return next((text_of(entry.get("content")) for entry in objs(entries) if _speaker(entry) == "human"), None)
