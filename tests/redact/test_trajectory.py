"""Whole trajectories: every place is reached, nothing else is touched."""

from __future__ import annotations

import random
import string
from typing import Any

import msgspec

from dense.redact import redact
from dense.trajectory import Notice, Observation, Source, Step, Task, ToolCall, Trajectory, Usage

HERE = Source("trace.json", line=3)


def token(seed: int) -> str:
    drawn = random.Random(seed)
    return "gh" + "p_" + "".join(drawn.choices(string.ascii_letters + string.digits, k=36))


def trajectory(secret: str, other: str) -> Trajectory:
    inner = Trajectory(
        "native", "inner", HERE, steps=(Step(HERE, message=f"inner {secret}"),), notices=(Notice("note", secret, HERE),)
    )
    arguments: dict[str, Any] = {
        "command": f"echo {secret}",
        "env": {secret: [1, None, {"deep": [f"a{'.'}{other}"]}], "plain": True},
        "n": 1.5,
    }
    step = Step(
        HERE,
        message=f"said {secret}",
        reasoning=f"thought {other}",
        calls=(ToolCall("bash", arguments, "call_1"),),
        observations=(Observation(f"saw {secret}\n", "call_1", exit_code=0),),
        model="m",
        usage=Usage(input=1),
        subagents=(inner,),
    )
    return Trajectory(
        "native",
        "outer",
        HERE,
        task=Task(f"Use {secret}.", name="use"),
        steps=(step, Step(HERE, message="done")),
        notices=(Notice("skipped", f"line with {other}", HERE),),
    )


def test_every_place_and_only_those() -> None:
    secret, other = token(1), token(2)
    redacted, redactions = redact(trajectory(secret, other), environment={})
    expected = trajectory("[redacted: github-token 1]", "[redacted: github-token 2]")
    assert redacted == expected
    assert msgspec.json.encode(redacted) == msgspec.json.encode(expected)
    assert (redactions.counts, redactions.places) == ({"github-token": 2}, 10)
    assert secret not in repr(redactions)
    assert redactions.describe() == "2 GitHub tokens"


def test_texts_are_apart() -> None:
    """What is only a secret when two texts are put together is none."""
    secret = token(3)
    halves = Trajectory(
        "native", "x", HERE, steps=(Step(HERE, reasoning=secret[:20], message=secret[20:]), Step(HERE, "://a:b", "c@d"))
    )
    assert redact(halves, environment={})[0] is halves


def test_the_order_of_reading_gives_the_numbers() -> None:
    first, second = token(4), token(5)
    steps = (Step(HERE, message=second), Step(HERE, message=first))
    read = Trajectory("native", "x", HERE, task=Task(first), steps=steps)
    redacted, _ = redact(read, environment={})
    assert [step.message for step in redacted.steps] == ["[redacted: github-token 2]", "[redacted: github-token 1]"]


def test_a_value_given_away_in_one_step_is_found_in_another() -> None:
    secret = "".join(random.Random(6).choices(string.ascii_letters + string.digits, k=40))
    steps = (Step(HERE, message=f"it printed {secret}"), Step(HERE, message=f"client_secret = '{secret}'"))
    redacted, redactions = redact(Trajectory("native", "x", HERE, steps=steps), environment={})
    assert redacted.steps[0].message == "it printed [redacted: named-secret 1]"
    assert (redactions.counts, redactions.places) == ({"named-secret": 1}, 2)


def test_keys_that_would_become_one() -> None:
    secret = token(7)
    arguments = {"[redacted: github-token 1]": "a", secret: "b"}
    step = Step(HERE, calls=(ToolCall("t", arguments),))
    redacted, _ = redact(Trajectory("native", "x", HERE, steps=(step,)), environment={})
    assert list(redacted.steps[0].calls[0].arguments.values()) == ["a", "b"]


def test_deep_arguments() -> None:
    deep: Any = token(8)
    for _ in range(50_000):
        deep = [deep]
    step = Step(HERE, calls=(ToolCall("t", {"deep": deep}),))
    redacted, redactions = redact(Trajectory("native", "x", HERE, steps=(step,)), environment={})
    assert redactions.places == 1
    inner = redacted.steps[0].calls[0].arguments["deep"]
    while isinstance(inner, list):
        inner = inner[0]
    assert inner == "[redacted: github-token 1]"
