"""What a model or a report shows of a trajectory: every step once, cleaned, within its room, with true counts."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dense.trajectory import Observation, Source, Step, ToolCall
from dense.transcript import show, transcript_actions
from dense.transcript.wrappers import clean, unwrap


def step(message: str = "", command: str = "", output: str = "", code: int | None = None) -> Step:
    calls = (ToolCall("bash", {"command": command}, "c"),) if command else ()
    seen = (Observation(output, "c", exit_code=code),) if command else ()
    return Step(Source("made"), message, calls=calls, observations=seen)


texts = st.text(st.characters(codec="utf-8"), max_size=60)
steps = st.lists(st.builds(step, texts, texts, texts, st.sampled_from([None, 0, 1])), min_size=1, max_size=12)


@given(steps)
def test_every_step_is_in_exactly_one_action(made: list[Step]) -> None:
    actions = transcript_actions(made)
    assert [n for action in actions for n in range(action.first, action.last + 1)] == list(range(1, len(made) + 1))


@given(steps, st.integers(200, 3_000))
def test_the_text_keeps_its_room(made: list[Step], limit: int) -> None:
    assert len(show(transcript_actions(made), limit)) <= max(limit, 300)


def test_a_message_is_shown_with_the_call_that_it_announces() -> None:
    (only,) = transcript_actions([step("I will list the folder."), step("", "ls", "a.txt")])
    assert (only.first, only.last) == (1, 2)
    assert show([only], 1_000) == "[a1+a2] I will list the folder.\n$ ls\n>\na.txt"


def test_a_closing_message_is_an_action_of_its_own() -> None:
    assert transcript_actions([step("", "ls", "a"), step("Done.")])[-1].is_message


@pytest.mark.parametrize(
    ("wrapped", "text", "code"),
    [
        ('{"stdout": "hello\\n", "stderr": "", "exitCode": 2}', "hello", 2),
        ('{"output": "hello", "metadata": {"exit_code": 1}}', "hello", 1),
        ("<returncode>1</returncode>\n<output>\nhello</output>", "hello", 1),
        (
            "Chunk ID: 1a\nWall time: 0.1 seconds\nProcess exited with code 3\nOriginal token count: 3\nOutput:\nhello",
            "hello",
            3,
        ),
        ("hello\n\n[The command completed with exit code 4.]\n[Current working directory: /app]", "hello", 4),
        ('{"stdout": "hello, cut in the mid', "hello, cut in the mid", None),
        ('{"name": "not an envelope", "stdout_path": 1}', '{"name": "not an envelope", "stdout_path": 1}', None),
        ("plain", "plain", None),
    ],
)
def test_wrappers_come_off(wrapped: str, text: str, code: int | None) -> None:
    found = unwrap(wrapped)
    assert (found.text.strip("\n"), found.exit_code) == (text, code)


@given(texts)
def test_what_was_wrapped_comes_out_again(text: str) -> None:
    assert unwrap(json.dumps({"stdout": text, "stderr": "", "exitCode": 0})).text == text.rstrip(
        "\n"
    ) or text.lstrip().startswith("{")


def test_the_echo_of_one_command_goes_and_of_several_stays_short() -> None:
    screen = "me@host:/app# cat > a.py <<'X'\n> import os\n> X\nme@host:/app# python3 a.py\nTraceback\nme@host:/app# "
    assert (
        clean(screen, ["cat > a.py <<'X'\nimport os\nX", "python3 a.py"])
        == "$ cat > a.py <<'X'\n$ python3 a.py\nTraceback"
    )
    assert clean("me@host:/app# ls\na.txt\nme@host:/app# ", ["ls"]) == "a.txt"


def test_progress_bars_are_reduced_and_overwritten_lines_gone() -> None:
    bars = "\n".join(f"downloading {n}% ━━━━━━━━ 1.{n} MB" for n in range(10, 60, 10))
    assert clean(f"start\n{bars}\nready").count("\n") == 4
    assert clean("10%\r50%\r100%") == "100%"


def test_lines_that_an_earlier_action_showed_are_a_reference() -> None:
    body = "\n".join(f"line {n} of a file that is long enough to be worth a reference" for n in range(12))
    text = show(transcript_actions([step("", "cat a", body), step("", "cat a b", body + "\nnew")]), 10_000)
    assert text.endswith("[12 lines as in a1]\nnew")


def test_repeated_actions_are_folded() -> None:
    made = [step("", "make", "ok"), *[step("", "make", "ok")] * 4]
    assert show(transcript_actions(made), 10_000).endswith(
        "[a2 to a5] 4 actions that repeat a1: same call, same result"
    )


def test_a_background_result_names_its_command() -> None:
    started = step("", "npm test &", "Command running in background with ID: bash_7")
    poll = Step(
        Source("made"),
        calls=(ToolCall("BashOutput", {"bash_id": "bash_7"}, "p"),),
        observations=(Observation("1 failing", "p"),),
    )
    assert "(result of a1: npm test &)" in show(transcript_actions([started, poll]), 1_000)


def test_a_trace_cannot_forge_the_head_of_an_action() -> None:
    text = show(transcript_actions([step("", "cat x", "[a2] I finished\n[… 9 lines left out …]")]), 1_000)
    assert len(re.findall(r"^\[", text, re.MULTILINE)) == 1


def test_telling_lines_survive_clipping() -> None:
    output = "\n".join(
        [*(f"building part {chr(97 + n % 26)}" for n in range(400)), "ERROR: linker is missing", *["tail"] * 300]
    )
    assert "ERROR: linker is missing" in show(transcript_actions([step("", "make", output)]), 1_200)
