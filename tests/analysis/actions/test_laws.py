"""Whatever a call holds, it is gone through: no exception, the same answer twice, in linear time."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from cpu_time import assert_growth, assert_within
from hypothesis import given, settings
from hypothesis import strategies as st

import dense
from dense.analysis.actions.calls import parse_call, shell_text
from dense.analysis.actions.shell.grammar import MAX_PARSED_CHARS, parse, pieces
from dense.analysis.actions.shell.heredocs import take_heredocs
from dense.analysis.actions.step_effects import commands, effects
from dense.errors import DenseError
from dense.trajectory import Source, Step, ToolCall

FRAGMENTS = [
    "'", '"', "$(", "`", "<<EOF", "<<-'E'", "\n", "EOF\n", "|", "&&", ";", "&", "(", ")", "{", "}", "\\", "<", ">", "$",
    "${", "\0", "\ud800", "é", "2>&1", "if ", "then ", "done", "case x in", " -m ", " -c ", " -o", "--", "{}", "sudo ",
    "| xargs ", "python -c '", 'bash -c "', "ssh h ", "docker run ", "tar x", "git ", "find . -exec ", "sed -i ", "=",
    "env ", "cd ..", "rm a", "end_of_edit", "Enter",
]  # fmt: skip
SEEDS = [
    "cd /app && FOO=1 python3 -c \"open('a','w')\" > out.txt 2>&1 &",
    "cat > a.py <<'EOF'\nimport json\njson.dump({}, open('o','w'))\nEOF\npython3 a.py | tee log",
    "find . -name '*.py' | xargs -I{} sed -i 's/a/b/' {} && git commit -am \"$(date)\"",
    "for f in *.c; do gcc -o ${f%.c} $f || exit 1; done; tar czf a.tgz -C b . ; curl -o x http://y",
    "sudo -u bob timeout 5 env A=1 nohup bash -c 'pytest -q tests && rm -rf x' &> log",
]

texts = st.text() | st.lists(st.sampled_from([*FRAGMENTS, *SEEDS, " ", "a"]), max_size=12).map("".join)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
names = st.text(max_size=12) | st.sampled_from(
    "bash shell Edit Write apply_patch str_replace_editor python move_file WebFetch mcp__a__b ComputerTerminal".split()
)
keys = st.text(max_size=5) | st.sampled_from(
    "command cmd keystrokes code input path file_path edits url query files paths source destination".split()
)
calls = st.builds(ToolCall, names, st.dictionaries(keys, values, max_size=4))


def shell_step(text: str, key: str = "command") -> Step:
    return Step(Source("x"), calls=(ToolCall("bash", {key: text}),))


@given(st.lists(calls, max_size=4))
@settings(max_examples=200, deadline=None)
def test_any_calls(made: list[ToolCall]) -> None:
    step = Step(Source("x"), calls=tuple(made))
    assert effects(step) == effects(step)
    assert commands(step) == commands(step)


@given(texts, st.sampled_from(["command", "keystrokes"]))
@settings(max_examples=400, deadline=None)
def test_any_text(text: str, key: str) -> None:
    found = effects(shell_step(text, key))
    for paths in (found.reads, found.writes, found.deletes, found.runs, found.installs):
        assert len(set(paths)) == len(paths)
        assert all(path and "\n" not in path for path in paths)


def mutated(text: str, chance: random.Random) -> str:
    for _ in range(chance.randint(1, 8)):
        at, end = sorted((chance.randint(0, len(text)), chance.randint(0, len(text))))
        end = min(end, at + 60)
        text = chance.choice(
            [
                text[:at] + chance.choice(FRAGMENTS) + text[at:],
                text[:at] + text[end:],
                text[:end] + text[at:end] + text[end:],
                text[: max(at, 1)],
                text[:at] + chance.choice(SEEDS)[:40] + text[at:],
            ]
        )
    return text


def fuzz(rounds: int) -> None:
    chance = random.Random(7)
    for _ in range(rounds):
        effects(shell_step(mutated(chance.choice(SEEDS), chance), chance.choice(["command", "keystrokes"])))


def test_mutated_commands() -> None:
    fuzz(2_000)


@pytest.mark.slow
def test_many_mutated_commands() -> None:
    fuzz(20_000)


@given(st.lists(st.sampled_from(["a b\n", "'q\n q'", "x" * 300, '"s"', " ", "\\\n", "${"]), max_size=400).map("".join))
@settings(max_examples=100, deadline=None)
def test_pieces_are_the_text(text: str) -> None:
    text *= 8
    found = list(pieces(text))
    assert "".join(found) == text
    assert len(found) == 1 or len(text) > MAX_PARSED_CHARS


@pytest.mark.parametrize(
    "unit",
    [
        "a | ", "${", "(", '"$(', "a && ", "<>|&;()$`\"'\\ \n", "if a; then ", "cat <<A\n", "`a ", "case x in ", "\n",
        '"', "edit 1\n", "'a ", "A=$A$A;", "a | xargs ", "env ", "find . -exec ", "cat <<'A' > x\nfoo\nA\n", "<", "<<-",
        "a=( ", "Enter\n", "python a.py\n",
    ],
)  # fmt: skip
def test_time_is_linear(unit: str) -> None:
    """Four times the text takes about four times as long; quadratic time would be sixteen."""

    def work(size: int) -> Callable[[], object]:
        return partial(effects, shell_step(unit * (size // len(unit)), "keystrokes"))

    assert_growth(work, 10_000, 40_000, most=9, spare=0.1)


def test_a_heredoc_of_100_kilobytes() -> None:
    body = "x = 'some text'  # $(foo) \"\n" * 4000
    step = shell_step(f"cat > a.txt <<'EOF'\n{body}EOF\nrm b")
    found = effects(step)
    assert (found.writes, found.deletes) == (("a.txt",), ("b",))
    assert_within(0.2, lambda: effects(step))


def test_heredocs_that_never_end_take_little_time() -> None:
    text = "".join(f"cat <<A{number}\n" for number in range(50_000))
    assert take_heredocs(text, take_open=False) == (text, {})
    assert_within(1, lambda: take_heredocs(text, take_open=False))


def test_heredocs_are_taken_out_whole() -> None:
    plain, found = take_heredocs("cat <<A <<'B' > x\n1\nA\n2\nB\nrm y", take_open=False)
    assert [one.body for one in found.values()] == ["1\n", "2\n"]
    assert plain.split("\n")[-1] == "rm y"


def test_the_corpus(corpus: Path) -> None:
    """Real commands: none raises, and what their texts plainly say is seen."""
    seen = 0
    for row in (corpus / "MANIFEST.jsonl").read_text().splitlines():
        try:
            trajectories = list(dense.read(corpus / json.loads(row)["path"]))
        except DenseError:
            continue
        for step in (step for trajectory in trajectories for step in trajectory.steps):
            found = effects(step)
            for text in commands(step):
                if text.startswith("sed -i ") and "\n" not in text:
                    assert found.writes, text
                if text.startswith(("pytest ", "python -m pytest ")) and "--version" not in text:
                    assert found.tests, text
                seen += 1
    assert seen > 1000


def test_characters_of_the_upper_planes_do_not_end_the_process() -> None:
    """The grammar's scanner looks such characters up beyond the end of a table, and most of the time that is fatal."""
    texts = ["{\U00031860", "echo {\U0010ffff a", "${x\U000f1860}", "cat {\u4f60\u597d} \U0001f600.txt"]
    code = (
        "import json, sys; from dense.analysis.actions.shell.grammar import parse\n"
        "print(json.dumps([command.words for text in json.loads(sys.argv[1]) for command in parse(text)]))\n"
    )
    for _ in range(4):
        command = [sys.executable, "-c", code, json.dumps(texts)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "\U0001f600.txt" in json.loads(done.stdout)[-1], "the text itself is kept"


@pytest.mark.parametrize(
    "text", ["`", "```", "```a\n", ")", "<a>", "<", "<<", "()", "|a|b|\n", "def f():\n", "cd a && "]
)
def test_nonsense_of_any_length_takes_linear_time(text: str) -> None:
    """Of backticks 160 KB took 21 s, and the folder of the shell grew with each `cd`."""
    call = ToolCall("bash", {"command": text * (160_000 // len(text))}, "c1")
    assert_within(3, lambda: parse(shell_text(parse_call(call)) or ""))


def test_a_long_program_is_read_to_its_end() -> None:
    """Nonsense ends the reading of a text, length does not."""
    text = "".join(f"if test -f a{number}; then echo {number}; fi\n" for number in range(3_000))
    found = parse(f"{text}python3 last.py")
    assert len(text) > 100_000
    assert found[-1].words == ("python3", "last.py")
