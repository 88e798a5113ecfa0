"""The rules in a model's place: after an answer that cannot be used, or if none came and that is allowed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from dense import distill_sync, read
from dense.errors import UnansweredCalls, UnknownModel
from dense.message.injected_feedback import without_injected
from dense.options import FeedbackOptions
from dense.service.instead import FIRST_WORDS, NO_ANSWER, UNUSABLE

TRACE = Path(__file__).parents[2] / "examples" / "csv-report" / "trial" / "agent" / "trajectory.json"
(TRAJECTORY,) = read(TRACE)
BY_RULES = distill_sync(TRAJECTORY).feedback.message
NONSENSE, FAILING = "exec:echo nonsense", "exec:false"


def without(message: str, why: str) -> str:
    """The message without the words that its first line has because the rules answered."""
    words = FIRST_WORDS.format(why=why)
    assert words in message.partition("\n")[0]
    return message.replace(words, "", 1)


def command(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "dense", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("or_rules", [False, True])
def test_an_unusable_answer_is_replaced_and_says_so(or_rules: bool) -> None:
    done = distill_sync(TRAJECTORY, options=FeedbackOptions(model=NONSENSE, or_rules=or_rules))
    assert without(done.feedback.message, UNUSABLE) == BY_RULES
    assert done.record.instead is not None and done.record.instead.is_unusable
    assert (done.record.instead.model, done.record.totals.calls) == ("exec:echo", 2)


def test_the_words_are_cut_out_with_the_message_that_an_attempt_was_given() -> None:
    message = distill_sync(TRAJECTORY, options=FeedbackOptions(model=NONSENSE)).feedback.message
    assert TRAJECTORY.task is not None
    given = replace(TRAJECTORY, task=replace(TRAJECTORY.task, instruction=message))
    assert without_injected(given).task == TRAJECTORY.task


def test_no_answer_is_an_error_unless_the_rules_may_answer() -> None:
    with pytest.raises(UnansweredCalls, match="exec:false: it ended without an answer"):
        distill_sync(TRAJECTORY, options=FeedbackOptions(model=FAILING))
    done = distill_sync(TRAJECTORY, options=FeedbackOptions(model=FAILING, or_rules=True))
    assert without(done.feedback.message, NO_ANSWER) == BY_RULES
    assert done.record.instead is not None and not done.record.instead.is_unusable
    assert done.record.totals.failed == 1


def test_a_model_that_cannot_be_opened_gives_no_answer() -> None:
    with pytest.raises(UnknownModel, match="PATH"):
        distill_sync(TRAJECTORY, options=FeedbackOptions(model="exec:is-not-there"))
    done = distill_sync(TRAJECTORY, options=FeedbackOptions(model="exec:is-not-there", or_rules=True))
    assert done.record.instead is not None and "PATH" in done.record.instead.reason


def test_exit_codes(tmp_path: Path) -> None:
    unusable = command("distill", str(TRACE), "--model", NONSENSE, "--out", str(tmp_path))
    assert unusable.returncode == 3
    (record,) = (json.loads(path.read_text()) for path in tmp_path.glob("*/run.json"))
    assert record["instead"]["model"] == "exec:echo"
    assert "warning: the built-in rules answered in the place of exec:echo" in unusable.stderr
    failed = command("distill", str(TRACE), "--model", FAILING)
    assert (failed.returncode, failed.stdout) == (1, "")
    assert [line for line in failed.stderr.splitlines() if line.startswith("error:")]
    by_rules = command("distill", str(TRACE), "--model", FAILING, "--or-rules")
    assert (by_rules.returncode, without(by_rules.stdout, NO_ANSWER)) == (0, BY_RULES)
    page = command("view", str(TRACE), "--model", NONSENSE, "--out", str(tmp_path / "page.html"))
    assert (page.returncode, (tmp_path / "page.html").exists()) == (3, True)


def test_another_method_s_unusable_answer_stays_an_error() -> None:
    assert command("distill", str(TRACE), "--model", NONSENSE, "--method", "advisor").returncode == 1
