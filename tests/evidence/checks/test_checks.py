"""Checks that a task names: told apart from tests that ran beside them, and by the code that the agent had printed."""

from __future__ import annotations

import pytest

from dense.detectors.findings import Analysis
from dense.evidence.actions import EffectsCache
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

TASK = (
    "Make `/app/pairs.py` quick enough for `python3 /app/measure.py`, and keep it right: `python3 /app/test_pairs.py` "
    "must still pass."
)
CHECK_TASK = "Mend the configuration of the service. `python3 /app/serve.py --check` looks at it without starting."
PROMPT = "root@box:/app# "


def screen(*typed: tuple[str, str]) -> Step:
    """An action of an agent at a terminal: what was typed with what came back, all in one observation."""
    calls = tuple(ToolCall("bash_command", {"keystrokes": f"{command}\n", "duration": 0.5}) for command, _ in typed)
    text = "".join(f"{PROMPT}{command}\n{output}\n" for command, output in typed) + PROMPT
    return Step(Source("made"), "", "", calls, (Observation(text),))


def analysed(task: str, *steps: Step) -> Analysis:
    last = Step(Source("made"), "The work is done.", calls=(ToolCall("mark_task_complete", {}),))
    return Analysis(Trajectory("made", "made", Source("made"), task=Task(task), steps=(*steps, last)), EffectsCache())


def open_texts(analysis: Analysis) -> list[str]:
    return [finding.text for finding in analysis.findings if finding.is_serious and finding.closed is None]


WRITTEN = ("printf 'def pairs(): ...' > /app/pairs.py", "")
SLOW = ("python3 /app/measure.py", "FAILED: too slow, more than 60,000 steps")
QUICK = ("python3 /app/measure.py", "fine: 4,000 steps")
PASSED = ("python3 /app/test_pairs.py", "6 of 6 passed")


def test_a_named_check_that_fails_beside_tests_that_pass_is_open() -> None:
    found = analysed(TASK, screen(WRITTEN, SLOW, PASSED))
    assert not found.is_shown_done
    (text,) = open_texts(found)
    assert "measure.py" in text and "too slow" in text


def test_it_is_closed_when_it_passes_later_and_not_by_the_tests_alone() -> None:
    assert open_texts(analysed(TASK, screen(WRITTEN, SLOW, PASSED), screen(WRITTEN, QUICK, PASSED))) == []
    assert open_texts(analysed(TASK, screen(WRITTEN, SLOW, PASSED), screen(WRITTEN, PASSED))) != []


def test_what_a_test_run_provoked_itself_is_no_failure() -> None:
    noisy = ("python3 /app/test_pairs.py", "FAILED: this line is what one test expects\n6 of 6 passed")
    assert open_texts(analysed(TASK, screen(WRITTEN, noisy), screen(QUICK, PASSED))) == []


@pytest.mark.parametrize("form", ['echo "exit $?"', "echo exit: $?", 'echo "[rc=$?]"', "echo EXIT_CODE=$?"])
@pytest.mark.parametrize("code", [0, 1, 3])
def test_a_code_that_the_agent_had_printed_tells_whether_a_named_check_passed(form: str, code: int) -> None:
    shown = form.removeprefix("echo ").strip('"').replace("$?", str(code))
    words = "serve: timeout must be at least 1, and is 0" if code else "serve: fine"
    step = screen(
        ("sed -i s/a/b/ /app/config.ini", ""), (f"python3 /app/serve.py --check; {form}", f"{words}\n{shown}")
    )
    found = analysed(CHECK_TASK, step)
    texts = open_texts(found)
    assert bool(texts) == bool(code), texts
    if code:
        assert words in texts[0]


def test_a_code_of_another_command_is_not_the_check_s() -> None:
    step = screen(
        ("python3 /app/serve.py --check; echo done", "serve: fine\ndone"),
        ('grep -q x /app/config.ini; echo "exit $?"', "exit 1"),
    )
    assert open_texts(analysed(CHECK_TASK, step)) == []
