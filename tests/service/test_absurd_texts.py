"""No text of a trace ends its feedback: each of these is put wherever a trace has one, and the whole is distilled."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dense import distill_sync
from dense.convert import convert
from dense.model.wires.failures import retry_after
from dense.options import FeedbackOptions, parse_option
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

BIG = "9" * 5_000
TEXTS: dict[str, str] = {
    "open object": '{"a":' * 1_500,
    "deep object": '{"a":' * 1_500 + "1" + "}" * 1_500,
    "open list": "[" * 50_000,
    "parentheses": "(" * 3_000 + ")" * 3_000,
    "substitutions": "$(" * 2_000 + ")" * 2_000,
    "shells": "bash -c '" * 300,
    "heredocs": "cat <<E\n" * 300,
    "python": "python3 -c '" + "(" * 2_000 + "'",
    "sum": "python3 -c '" + "1+" * 5_000 + "1'",
    "blocks": "python3 - <<'E'\n" + "".join(" " * depth + "if 1:\n" for depth in range(1, 150)) + "E",
    "envelopes": '{"stdout":"' + '{\\"stdout\\":\\"' * 300 + '"}',
    "tags": "<div>" * 5_000,
    "quotes": "> " * 3_000 + "x",
    "range": "1..100",
    "long range": f"1..{BIG}",
    "expansion": "{1..100000000000}" + "{a..z}" * 30,
    "digits": BIG,
    "negative": f"-{BIG}",
    "exponent": f"1e{BIG} 1e999 2**{BIG}",
    "not a number": "nan Infinity -inf 1e999",
    "other digits": "²³ failed, ٣ passed in ١s",
    "tests": f"{BIG} failed, {BIG} passed in {BIG}s\nRan {BIG} tests in {BIG}s\n1..{BIG}\nnot ok {BIG} - x",
    "exit codes": f"exit code {BIG}\nProcess exited with code -{BIG}\n<returncode>{BIG}</returncode>",
    "places": f'File "a.py", line {BIG}, in x\nValueError: bad\na.c:{BIG}:{BIG}: error: bad\n@@ -{BIG},{BIG} +{BIG} @@',
    "waits": f"timed out after {BIG} seconds\nRetry-After: {BIG}\nreal\t{BIG}m1.2.3s\ntook 1.2.3 seconds",
    "sizes": f"{BIG} notes.txt\n-rw-r--r-- 1 root root {BIG} Jan  1 00:00 result.txt\n{BIG}% of {BIG} GB",
    "shortened": f"[… {BIG} lines left out …]\n... [{BIG} characters truncated] ...",
    "versions": "v" + ".".join(["9" * 500] * 30),
    "dates": "99999-12-31T23:59:59Z 0000-00-00 31 Dec 99999 23:59:59 +9999",
    "surrogates": "\ud800 \udfff x\udc80y",
    "nothing": "\0" * 2_000,
    "far": "\U0010ffff" * 2_000,
    "long": "x" * 200_000,
    "lines": "\n" * 20_000,
    "escapes": "\x1b[" + "1;" * 3_000 + "H" + "\x1b]" * 2_000 + "\\" * 9_999,
}
RANGES = ("1..100", "1...100", "0..9", "1..", "1.2.3", "1..1e9", f"1..{BIG}", "1e999", f"{BIG},{BIG}", "²..³", "-1..1")
SENTENCES = (
    "Print the numbers {}.",
    "Values must be in the range {}.",
    "The score must be within {}.",
    "At least {} and at most {} bytes.",
    "It must take less than {} seconds and {} MB; at most {} %.",
    "`a` must be within {} % of `b`; exactly {} lines; up to {} rows.",
    "The accuracy must be >= {} and the latency <= {} ms.",
    "Create files {} on port {}; {} decimals.",
)


def marked(text: str) -> Trajectory:
    """A trajectory with a text in every place, and a run of tests that fails at its end."""
    source = Source("t.json")
    calls: list[tuple[ToolCall, str]] = [
        (ToolCall("bash", {"command": text}, "c1"), text),
        (ToolCall("bash", {"command": f"pytest -q {text}"}, "c2"), f"{text}\n1 failed, 2 passed in 0.1s"),
        (ToolCall("bash", {"command": "wc -l result.txt; time ls -l"}, "c3"), text),
        (ToolCall("read", {"file_path": "a", "offset": text, "limit": text}, "c4"), text),
        (ToolCall("write", {"path": f"/app/{text[:300]}", "content": text}, "c5"), "ok"),
        (ToolCall("edit", {"file_path": "a.py", "old_string": text, "new_string": f"{text}x"}, "c6"), text),
        (ToolCall(text[:500] or "x", {text[:500]: [text, {"a": text}]}, text[:500]), text),
        (ToolCall("python", {"code": text}, "c8"), f"Traceback (most recent call last):\n{text}\nValueError: {text}"),
        (ToolCall("bash", {"command": "pytest -q"}, "c9"), "1 failed, 2 passed in 0.1s"),
    ]
    steps = [
        Step(source, text, text, (call,), (Observation(seen, call.id, timestamp=text[:500]),), timestamp=text[:500])
        for call, seen in calls
    ]
    task = Task(f"Make the tests pass. {text}\nWrite /app/result.txt with at most {text[:500]} lines.", text[:500])
    end = Step(source, f"{text}\nOne test still fails.")
    return Trajectory("dense", text[:500], source, agent=text[:500], task=task, steps=(*steps, end))


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_ends_its_feedback(name: str) -> None:
    trajectory = marked(TEXTS[name])
    for options in (FeedbackOptions(), FeedbackOptions(budget="paper"), FeedbackOptions(environment="same")):
        assert distill_sync(trajectory, options=options).feedback.message
    if name != "surrogates":
        for form in ("atif", "messages", "dense"):
            assert convert(trajectory, form)


def test_no_nesting_of_an_argument_ends_its_feedback() -> None:
    deep: Any = 1
    for _ in range(900):
        deep = [{"a": deep}]
    source = Source("t")
    for name in ("bash", "read", "write", "todo", "x"):
        calls = (
            ToolCall(name, {"command": deep, "file_path": deep, "content": deep, "todos": deep, "kept": "x"}, "c"),
        )
        steps = (Step(source, calls=calls, observations=(Observation("1 failed", "c"),)), Step(source, "Done."))
        done = distill_sync(Trajectory(format="dense", id="t", source=source, task=Task("Do it."), steps=steps))
        kept = done.assessment.trajectory.steps[0].calls[0].arguments
        assert kept["kept"] == "x"
        assert kept["command"] == "[nested too deeply]"


@pytest.mark.parametrize("sentence", SENTENCES)
def test_no_number_of_a_task_ends_its_feedback(sentence: str) -> None:
    measured = "accuracy: 0.5 latency 3 ms\n12 result.txt\nreal 0m1.2.3s\na = 1\nb = 0\n"
    for number in RANGES:
        text = sentence.format(*[number] * 3)
        call = ToolCall("bash", {"command": "python3 check.py; wc -l result.txt"}, "c1")
        steps = (
            Step(Source("t"), "I check", calls=(call,), observations=(Observation(measured + text, "c1"),)),
            Step(Source("t"), f"Done: {text}"),
        )
        task = Task(f"{text} Write /app/result.txt.")
        assert distill_sync(Trajectory("dense", "t", Source("t"), task=task, steps=steps)).feedback.message


@pytest.mark.parametrize(
    "value",
    [BIG, "1e999", "nan", "inf", "-5", "²", "Fri, 31 Dec 99999 23:59:59 GMT", "Fri, 31 Dec 9999 23:59:59 -9999", "x",
     "Mon, 01 Jan 0001 00:00:00 +2359", "Mon, 01 Jan 2001 00:00:00 +99999999999999", f"{BIG}, 01 Jan {BIG}", ""],
)  # fmt: skip
def test_no_date_of_a_server_ends_a_call(value: str) -> None:
    headers: list[dict[str, Any]] = [{"Retry-After": value}, {"retry-after-ms": value}]
    headers += [{"Retry-After": "Fri, 31 Dec 9999 23:59:59 GMT", "Date": value}]
    for one in headers:
        wait = retry_after(one, f'{{"retryDelay": "{value}s"}}')
        assert wait is None or (wait >= 0 and math.isfinite(wait))


@pytest.mark.parametrize("text", ["²", "٣", BIG, "-1", "0", "1.5", ""])
def test_no_number_of_an_option_is_a_traceback(text: str) -> None:
    from dense.cli.batch.options import parse_shard
    from dense.errors import WrongUsage

    with pytest.raises(WrongUsage):
        parse_option("turn", text)
    with pytest.raises(WrongUsage):
        parse_option("budget", text)
    with pytest.raises(WrongUsage):
        parse_shard(f"{text}/{text}")
