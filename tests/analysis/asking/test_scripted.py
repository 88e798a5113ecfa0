"""Scripted answers, and recordings that play back what was said."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import re
from pathlib import Path

import pytest
from csv_questions import one_call_questions, questions
from hypothesis import example, given
from hypothesis import strategies as st
from outline_answerer import OutlineAnswerer

from dense.analysis.asking.questions import Answerer, Correction, Question
from dense.analysis.asking.scripted import RecordingAnswerer, ScriptedAnswerer, load
from dense.errors import AnalystFailed, BadScript

QUESTIONS = questions()
SCORE = QUESTIONS["score"]
AGAIN = Correction("?", "no JSON in the reply")


def ask(answerer: Answerer, question: Question = SCORE, correction: Correction | None = None) -> str:
    return asyncio.run(answerer.ask(question, correction))


class Says:
    """An analyst that says these things, in turn; None is a failure."""

    name = "says"

    def __init__(self, *replies: str | None) -> None:
        self.replies = list(replies)

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        reply = self.replies.pop(0)
        if reply is None:
            raise AnalystFailed(f"{question.key}: gone")
        return reply


def test_an_answer_by_key() -> None:
    analyst = ScriptedAnswerer({"score n6 in n16": {"reasoning": "ä", "label": 0}})
    assert json.loads(ask(analyst)) == {"reasoning": "ä", "label": 0}
    assert ask(analyst, correction=AGAIN) == ask(analyst), "a single answer is given as often as it is asked for"


def test_answers_by_attempt() -> None:
    analyst = ScriptedAnswerer({"score n6 in n16": ["no JSON here", {"label": -1}]})
    assert ask(analyst) == "no JSON here"
    assert json.loads(ask(analyst, correction=AGAIN)) == {"label": -1}
    assert ask(analyst) == "no JSON here", "nothing is used up"


@pytest.mark.parametrize(
    ("script", "correction", "reported"),
    [
        ({}, None, "no answer to: score n6 in n16"),
        ({"score n6 in n16": [{"label": 0}]}, AGAIN, "no answer 2 to: score n6 in n16"),
        ({"score n6 in n16": None}, None, "no reply to: score n6 in n16"),
    ],
)
def test_a_missing_answer_is_named(script: dict[str, object], correction: Correction | None, reported: str) -> None:
    with pytest.raises(AnalystFailed, match=reported):
        ask(ScriptedAnswerer(script), correction=correction)


def test_the_file_is_named_too(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    path.write_text(json.dumps({"about": "an example", "score n1 in n16": {"label": 0}}))
    with pytest.raises(AnalystFailed, match=r"answers\.json has no answer to: score n6 in n16"):
        ask(ScriptedAnswerer(path))
    assert list(load(path)) == ["score n1 in n16"]


@pytest.mark.parametrize("text", ["", "[1]", "not JSON", '{"key": "x"', "\x00"])
def test_what_is_no_script_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "answers.json"
    path.write_text(text)
    with pytest.raises(BadScript, match=r"answers\.json"):
        ScriptedAnswerer(path)


def test_no_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(BadScript, match="nowhere"):
        ScriptedAnswerer(tmp_path / "nowhere")


def test_a_recording_plays_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "recording.jsonl"
    recording = RecordingAnswerer(OutlineAnswerer(), path)
    assert recording.name == "outline"
    said = {name: ask(recording, question) for name, question in QUESTIONS.items()}
    played = ScriptedAnswerer(path)
    for name, question in QUESTIONS.items():
        assert json.loads(ask(played, question)) == json.loads(said[name])


def test_corrections_and_failures_play_back(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    recording = RecordingAnswerer(Says("```json\n{}\n```", '{"label": 0}', None), path)
    assert ask(recording) == "```json\n{}\n```"
    ask(recording, correction=AGAIN)
    with pytest.raises(AnalystFailed, match="gone"):
        ask(recording, QUESTIONS["boundary"])
    played = ScriptedAnswerer(path)
    assert ask(played) == "```json\n{}\n```"
    assert json.loads(ask(played, correction=AGAIN)) == {"label": 0}
    with pytest.raises(AnalystFailed, match="no reply"):
        ask(played, QUESTIONS["boundary"])


@given(replies=st.lists(st.text(), min_size=1, max_size=4))
@example(replies=["NaN"])
@example(replies=['{"label": NaN}'])
def test_any_reply_plays_back(replies: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("any") / "recording.jsonl"
    recording = RecordingAnswerer(Says(*replies), path)
    for _ in replies:
        ask(recording)
    played = ask(ScriptedAnswerer(path))
    try:
        expected = json.loads(replies[-1])
    except ValueError:
        assert played == replies[-1]
    else:
        assert json.dumps(json.loads(played)) == json.dumps(expected)  # as text: NaN does not equal itself


def test_a_cut_line_is_no_reply_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    ask(RecordingAnswerer(Says('{"label": 0}'), path))
    ask(RecordingAnswerer(Says('{"action_index": 14}'), path), QUESTIONS["boundary"])
    path.write_bytes(path.read_bytes()[:-9])
    ask(RecordingAnswerer(Says('{"can_mount_all": true}'), path), QUESTIONS["toplevel"])
    played = ScriptedAnswerer(path)
    assert json.loads(ask(played)) == {"label": 0}
    assert json.loads(ask(played, QUESTIONS["toplevel"])) == {"can_mount_all": True}
    with pytest.raises(AnalystFailed, match="boundary level 1"):
        ask(played, QUESTIONS["boundary"])


def _write(path: str, reply: str) -> None:
    for _ in range(30):
        ask(RecordingAnswerer(Says(reply), path), SCORE)


def test_two_processes_write_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "recording.jsonl"
    context = multiprocessing.get_context("spawn")
    replies = [json.dumps({"reasoning": letter * 20_000, "label": 0}) for letter in "ab"]
    writers = [context.Process(target=_write, args=(str(path), reply)) for reply in replies]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    lines = path.read_text().splitlines()
    assert len(lines) == 60
    assert all(json.loads(line)["key"] == SCORE.key for line in lines)


def test_the_documented_script_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "scripted-analyst.md").read_text()
    (script,) = re.findall(r"^```json\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    path = tmp_path / "answers.json"
    path.write_text(script)
    analyst = ScriptedAnswerer(path)
    whole = one_call_questions()["whole"]
    assert ask(analyst, whole) == "this is no JSON, so it will be asked again"
    assert json.loads(ask(analyst, whole, AGAIN))["subtasks"][-1]["to"] == 14
    (line,) = re.findall(r"^```\n(\{.*?\})\n```", page, re.DOTALL | re.MULTILINE)
    path.write_text(line)
    assert json.loads(ask(ScriptedAnswerer(path)))["label"] == 0
    for question in (*QUESTIONS.values(), *one_call_questions().values()):
        assert re.search(rf"`{question.kind} [^`]*`", page), f"the page does not tell the key of {question.kind}"
