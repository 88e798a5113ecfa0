"""Answers from a file, and the recorder that makes such a file. docs/scripted-analyst.md has the format."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from dense.analysis.asking.questions import Answerer, Correction, Question
from dense.errors import AnalystFailed, BadScript

type Script = Mapping[str, Any]
"""By question key: an answer, or a list of answers, one for each attempt. An answer is a JSON object, or a text that
is given back as it is, or None for no reply."""


class ScriptedAnswerer:
    """Answers each question as the script says, whatever the order in which they are asked."""

    name = "scripted"

    def __init__(self, script: Path | str | Script) -> None:
        self._answers = load(Path(script)) if isinstance(script, Path | str) else dict(script)
        self._origin = str(script) if isinstance(script, Path | str) else "the script"

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """The scripted reply. A question that the script does not know is `AnalystFailed`, by its key."""
        attempt = 0 if correction is None else 1
        if question.key not in self._answers:
            raise AnalystFailed(f"{self._origin} has no answer to: {question.key}")
        answer: Any = self._answers[question.key]
        if isinstance(answer, list):
            answers = cast("list[Any]", answer)
            if attempt >= len(answers):
                raise AnalystFailed(f"{self._origin} has no answer {attempt + 1} to: {question.key}")
            answer = answers[attempt]
        if answer is None:
            raise AnalystFailed(f"{self._origin} says that there is no reply to: {question.key}")
        return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


class RecordingAnswerer:
    """An analyst that writes down what another one answers, so that `ScriptedAnswerer` can say it again.

    One line is appended for each reply, and at once: a run that is killed leaves all replies that it got, and one that
    goes on writes to the same file. Where a question was asked twice, the later reply counts."""

    def __init__(self, answerer: Answerer, path: Path | str) -> None:
        self.name = answerer.name
        self._answerer = answerer
        self._path = Path(path)

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        """The other analyst's reply, written down."""
        try:
            reply = await self._answerer.ask(question, correction)
        except AnalystFailed:
            self._write(question, correction, None)
            raise
        self._write(question, correction, reply)
        return reply

    def _write(self, question: Question, correction: Correction | None, reply: str | None) -> None:
        record = {"key": question.key, "attempt": 0 if correction is None else 1, "answer": _readable(reply)}
        line = json.dumps(record, ensure_ascii=False).encode(errors="replace") + b"\n"
        self._path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            # While another writer is at it, its half-written line would look like one that a killed run left.
            fcntl.flock(file, fcntl.LOCK_EX)
            end = os.lseek(file, 0, os.SEEK_END)
            is_cut = end > 0 and os.pread(file, 1, end - 1) != b"\n"
            os.write(file, b"\n" * is_cut + line)
        finally:
            os.close(file)


def _readable(reply: str | None) -> Any:
    """A reply that is nothing but a JSON object as that object, for those who read the file."""
    if reply is None:
        return None
    try:
        value = json.loads(reply)
    except (ValueError, RecursionError):
        return reply
    return cast("dict[str, Any]", value) if isinstance(value, dict) else reply


def load(path: Path) -> dict[str, Any]:
    """The answers in a file: one JSON object by key, or the lines of a recording."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadScript(f"{path}: cannot be read as a script: {error}") from error
    whole = _decoded(text)
    if isinstance(whole, dict) and not _is_record(cast("dict[str, Any]", whole)):
        return {key: value for key, value in cast("dict[str, Any]", whole).items() if key != "about"}
    answers: dict[str, dict[int, Any]] = {}
    for record in _records(text):
        answers.setdefault(record["key"], {})[record["attempt"]] = record["answer"]
    if not answers:
        raise BadScript(f"{path}: neither a JSON object of answers nor a recording; see docs/scripted-analyst.md")
    return {key: [by.get(attempt) for attempt in range(max(by) + 1)] for key, by in answers.items()}


def _records(text: str) -> Iterator[dict[str, Any]]:
    """The lines of a recording. A line that was cut by a kill is no reply: the question is missing, and says so."""
    for line in text.split("\n"):
        record = _decoded(line)
        if isinstance(record, dict) and _is_record(cast("dict[str, Any]", record)):
            yield cast("dict[str, Any]", record)


def _is_record(value: dict[str, Any]) -> bool:
    return value.keys() == {"key", "attempt", "answer"} and value["attempt"] in (0, 1)


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None
