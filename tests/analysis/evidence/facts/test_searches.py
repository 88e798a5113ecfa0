"""Looks that found nothing, and looks whose short answer is one."""

from __future__ import annotations

import pytest
from cpu_time import assert_within
from made_attempt import attempt
from made_facts import facts

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects
from dense.analysis.rules import RulesAnalyst
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.facets import facet_text
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Leaf

LOOP = """python3 - <<'P'
d = open('disk.img', 'rb').read()
for k in range(256):
    if hit(k, d):
        print(k)
print('fertig')
P"""
ALWAYS = "python3 - <<'P'\nassert open('a').read()\nprint('fertig')\nP"


def action(command: str, output: str, code: int = 0) -> NarratedAction:
    (step,) = attempt(None, (command, output, code)).steps
    done = effects(step)
    known = facts(Leaf("n0", 1, step), done, observe(step, done))
    return NarratedAction(known, step, known.phase)


@pytest.mark.parametrize(
    ("command", "output", "code"),
    [
        ("grep -rn token src", "", 1),
        ("grep -obUaP 'BZh' disk.img || echo 'no known signature'", "no known signature\n", 0),
        ("grep -a geheim disk.img || echo nichts gefunden", "nichts gefunden\n", 0),
        ("grep -aoE 'k[0-9]+' disk.img; echo \"exit $?\"", "exit 1\n", 0),
        ("strings -el disk.img; echo ---; strings -eb disk.img", "---\n", 0),
        ("find / -name '*.key'", "", 0),
        (LOOP, "fertig\n", 0),
    ],
)
def test_nothing_came_back_or_only_what_the_command_says_by_itself(command: str, output: str, code: int) -> None:
    assert action(command, output, code).found_nothing


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("grep -q token src/a.py && echo found", "found\n"),
        ('grep -q token src/a.py; echo "exit $?"', "exit 0\n"),
        ("grep -c token a.py || echo none", "none\n"),
        ("grep -n '}' a.c || echo none", "}\n"),
        ("grep -a token disk.img || echo none", "token=4711\n"),
        (LOOP, "17\nfertig\n"),
        (ALWAYS, "fertig\n"),
        ("sed -i s/a/b/ a.py; grep -n a a.py", ""),
        ("python3 -m py_compile a.py", ""),
        ("mkdir -p out", ""),
    ],
)
def test_silence_and_short_answers_that_say_something(command: str, output: str) -> None:
    assert not action(command, output).found_nothing


@pytest.mark.parametrize("filling", ["\n", ";", "|| ", "echo ", " -cq", "c" * 9, "print(", "\n  "])
def test_hostile_commands_take_no_longer(filling: str) -> None:
    made = action(f"grep -a key disk.img -{filling * (60_000 // len(filling))}", "none")
    assert_within(0.5, lambda: made.found_nothing)
    assert not made.found_nothing


def test_they_are_dead_ends_of_a_part_that_only_looks_and_no_result_of_it() -> None:
    looks = [
        ("strings -n 8 disk.img", "a\nb\nc\nd\ne\nf"),
        ("grep -ao 'KEY=.*' disk.img", "KEY=8XDR7K"),
        ("grep -a 'BZh' disk.img || echo 'none here'", "none here"),
        ("xxd -l 64 disk.img", "00000000: 00\n" * 6),
    ]
    root = distill_sync(attempt("Find the key in `disk.img`.", *looks), RulesAnalyst()).reconciled.root
    assert facet_text(root.facets, "dead_ends") == "searched for `BZh` in `disk.img`: nothing found"
    assert "KEY=8XDR7K" in root.summary
    assert "none here" not in root.summary


@pytest.mark.parametrize(
    ("output", "is_nothing"),
    [
        ("No files found", True),
        ("No matches found", True),
        ("Found 0 files", True),
        ("No files found in cache; found in src/a.py\nsrc/a.py", False),
        ("src/a.py", False),
        ("", False),
    ],
)
def test_what_a_search_tool_says_if_it_found_nothing(output: str, is_nothing: bool) -> None:
    step = Step(Source("t"), calls=(ToolCall("Grep", {"pattern": "token"}),), observations=(Observation(output),))
    done = effects(step)
    known = facts(Leaf("n0", 1, step), done, observe(step, done))
    assert NarratedAction(known, step, known.phase).found_nothing == is_nothing
