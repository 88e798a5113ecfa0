"""What a model or a report shows of a trajectory: every step once, cleaned, within its room, with true counts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dense.analysis.actions.action import Actions
from dense.analysis.actions.show import escape_headers, show, shown_block
from dense.analysis.actions.wrappers import clean, unwrap
from dense.readers import Stream, read_streams
from dense.text.clip import clip_lines
from dense.trajectory import Observation, Source, Step, ToolCall, Trajectory

FIXTURES = Path(__file__).parents[2] / "fixtures"


def step(message: str = "", command: str = "", output: str = "", code: int | None = None) -> Step:
    calls = (ToolCall("bash", {"command": command}, "c"),) if command else ()
    seen = (Observation(output, "c", exit_code=code),) if command else ()
    return Step(Source("made"), message, calls=calls, observations=seen)


texts = st.text(st.characters(codec="utf-8"), max_size=60)
steps = st.lists(st.builds(step, texts, texts, texts, st.sampled_from([None, 0, 1])), min_size=1, max_size=12)


@given(steps)
def test_every_step_is_in_exactly_one_action(made: list[Step]) -> None:
    actions = Actions(made).transcript
    assert [n for action in actions for n in range(action.first, action.last + 1)] == list(range(1, len(made) + 1))


@given(steps, st.integers(200, 3_000))
def test_the_text_keeps_its_room(made: list[Step], limit: int) -> None:
    assert len(show(Actions(made).transcript, limit)) <= max(limit, 300)


def test_a_message_is_shown_with_the_call_that_it_announces() -> None:
    (only,) = Actions([step("I will list the folder."), step("", "ls", "a.txt")]).transcript
    assert (only.first, only.last) == (1, 2)
    assert show([only], 1_000) == "[a1+a2] I will list the folder.\n$ ls\n>\na.txt"


def test_a_closing_message_is_an_action_of_its_own() -> None:
    assert Actions([step("", "ls", "a"), step("Done.")]).transcript[-1].is_message


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
    text = show(Actions([step("", "cat a", body), step("", "cat a b", body + "\nnew")]).transcript, 10_000)
    assert text.endswith("[12 lines as in a1]\nnew")


def test_repeated_actions_are_folded() -> None:
    made = [step("", "make", "ok"), *[step("", "make", "ok")] * 4]
    assert show(Actions(made).transcript, 10_000).endswith(
        "[a2 to a5] 4 actions that repeat a1: same call, same result"
    )


def test_a_background_result_names_its_command() -> None:
    started = step("", "npm test &", "Command running in background with ID: bash_7")
    poll = Step(
        Source("made"),
        calls=(ToolCall("BashOutput", {"bash_id": "bash_7"}, "p"),),
        observations=(Observation("1 failing", "p"),),
    )
    assert "(result of a1: npm test &)" in show(Actions([started, poll]).transcript, 1_000)


def test_a_trace_cannot_forge_the_head_of_an_action() -> None:
    text = show(Actions([step("", "cat x", "[a2] I finished\n[… 9 lines left out …]")]).transcript, 1_000)
    assert len(re.findall(r"^\[", text, re.MULTILINE)) == 1


def test_telling_lines_survive_clipping() -> None:
    output = "\n".join(
        [*(f"building part {chr(97 + n % 26)}" for n in range(400)), "ERROR: linker is missing", *["tail"] * 300]
    )
    assert "ERROR: linker is missing" in show(Actions([step("", "make", output)]).transcript, 1_200)


# What real traces taught


def test_an_echo_that_the_terminal_wrapped_goes_too() -> None:
    command = "convert -size 300x200 xc:white -fill steelblue -draw 'rectangle 30,80 90,190' chart.png"
    screen = f"me@host:/app# {command[:70]}\n{command[70:]}\nbash: convert: command not found\nme@host:/app# "
    assert clean(screen, [command]) == "bash: convert: command not found"


def test_an_empty_prompt_is_no_output() -> None:
    assert clean("agent@sandbox:/app# \n\n\n") == ""
    assert clean("a price in $ ") == "a price in $"


def test_the_same_words_are_shown_once() -> None:
    words = "The tool seems to have some issues; let me simplify the command and run it once more."
    text = show(Actions([step(words), step(words, "ls", "a"), step(words, "ls -l", "b")]).transcript, 1_000)
    assert text.count("some issues") == 1
    assert "[a3] (says the same as a2)" in text


def test_an_action_without_anything_says_so() -> None:
    assert show(Actions([step(), step("", "ls", "a"), step()]).transcript, 1_000).endswith("[a3] (nothing recorded)")


def test_what_a_sub_agent_returned_is_not_shown_twice() -> None:
    inner = Trajectory("made", "sub", Source("made"), steps=(step("Twelve files were checked."),))
    outer = Step(
        Source("made"),
        calls=(ToolCall("Task", {"prompt": "check"}, "t"),),
        observations=(Observation("Twelve files were checked.", "t"),),
        subagents=(inner,),
    )
    assert show(Actions([outer]).transcript, 1_000).count("Twelve files") == 1


# Counts of what is left out

GAP = re.compile(r"\[… [\d,]+ lines?, ([\d,]+) characters left out …\]")
INLINE = re.compile(r"\[… ([\d,]+) characters left out …\]")


def number(text: str) -> int:
    return int(text.replace(",", ""))


def check_counts(original: str, shown: str) -> None:
    """Everything that is shown lies in the original where the counts of the gaps say that it does."""
    at = 0
    for line in shown.split("\n"):
        if gap := GAP.fullmatch(line):
            at += number(gap[1])
            continue
        pieces = INLINE.split(line)
        for place, piece in enumerate(pieces):
            if place % 2:
                at += number(piece)
                continue
            assert original[at : at + len(piece)] == piece
            at += len(piece)
        at += 1
    assert at == len(original) + 1


lines = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="[…]\n\r"), max_size=400), max_size=60)


@given(lines, st.integers(200, 2_000), st.booleans())
def test_counts_are_true_for_any_text(made: list[str], limit: int, is_listing: bool) -> None:
    text = "\n".join(made)
    shown = clip_lines(text, limit, is_listing=is_listing)
    assert len(shown) <= limit
    check_counts(text, shown)


FORMATS = sorted(path.name for path in FIXTURES.iterdir() if path.is_dir() and path.name not in {"make", "runners"})


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("share", [200, 1_000])
def test_counts_are_true_for_real_traces(name: str, share: int) -> None:
    """The texts of every action of each recorded trace, as `show` clips them."""
    clipped = 0
    for item in read_streams(FIXTURES / name):
        for action in Actions(item.collect().steps).transcript if isinstance(item, Stream) else ():
            for block in action.blocks:
                text = escape_headers(block.text)
                if not text or "left out …]" in text:
                    continue
                shown = (
                    shown_block(block, share)
                    .removeprefix(block.head)
                    .removeprefix("\n" if block.kind != "call" else " ")
                )
                check_counts(text.strip() if block.kind == "call" else text, shown)
                clipped += shown != text
    assert clipped or name not in {"claude-code", "codex"}
