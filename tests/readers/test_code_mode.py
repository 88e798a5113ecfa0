"""Codex's `exec` tool: the calls inside a JavaScript program, and which output belongs to which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cpu_time import assert_within

import dense
from dense.readers.formats.codex.code_mode import program
from dense.readers.formats.codex.code_results import RanCommand, observed

FIXTURES = Path(__file__).parents[1] / "fixtures"
HEADER = {"type": "input_text", "text": "Script completed\nWall time 0.1 seconds\nOutput:\n"}


def commands(code: str) -> list[Any]:
    found = program(code, "c")
    return [call.arguments.get("cmd", call.arguments.get("input")) for call in found.calls] if found else []


def printed(*texts: str) -> list[dict[str, str]]:
    return [HEADER, *({"type": "input_text", "text": text} for text in texts)]


def test_the_recorded_program_gives_its_calls_with_an_output_each() -> None:
    (path,) = (FIXTURES / "codex" / "code-mode").rglob("*.jsonl")
    first, second, _ = next(dense.read(path)).steps
    assert [(call.name, call.arguments) for call in first.calls] == [
        ("exec_command", {"cmd": "ls"}),
        ("exec_command", {"cmd": "cat missing.txt"}),
    ]
    listed, missing = first.observations
    assert (listed.call_id, missing.call_id) == tuple(call.id for call in first.calls)
    assert listed.text.startswith("NOTES.md\n")
    assert (missing.text, missing.exit_code) == ("cat: missing.txt: No such file or directory\n", 1)
    assert [call.name for call in second.calls] == ["exec"], "a program without a call stays what it is"
    assert second.observations[0].is_error is True


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('await tools.exec_command({cmd: "ls -la", workdir: "/app"});', ["ls -la"]),
        ("text(await tools.apply_patch(`*** Begin Patch\n*** End Patch`))", ["*** Begin Patch\n*** End Patch"]),
        (r"const p = String.raw`a\n${1}`; await tools.apply_patch(p)", [r"a\n1"]),
        ('const cmd = "a" + " b"; tools.exec_command({cmd})', ["a b"]),
        ('for (const cmd of ["a", "b"]) { text((await tools.exec_command({cmd})).output) }', ["a", "b"]),
        ('await Promise.all(["a", "b"].map(c => tools.exec_command({cmd: c})))', ["a", "b"]),
        ('const run = async (c) => { return tools.exec_command({cmd: c}); }; await run("x"); run("y")', ["x", "y"]),
        ('function f(c) { return tools.exec_command({cmd: `cd /a && ${c}`}); } f("make");', ["cd /a && make"]),
        ("tools.exec_command({cmd: `rm ${path}`})", ["rm ${path}"]),
        ('tools["exec_command"]({cmd: "it\'s \\u0041\\x42 \\"q\\""})', ['it\'s AB "q"']),
        ("text('no call of tools here')", []),
        ("const tools = 1; broken(", []),
        ("tools.exec_command({cmd: ['a', 'b'].join('\\n')})", ["a\nb"]),
    ],
)
def test_calls_in_a_program(code: str, expected: list[str]) -> None:
    assert commands(code) == expected


def test_without_records_a_printed_text_belongs_to_the_call_that_it_shows() -> None:
    found = program(
        'const [a, b] = await Promise.all([tools.exec_command({cmd: "x"}), tools.exec_command({cmd: "y"})]);'
        "text(b.output); text(JSON.stringify(a));",
        "c",
    )
    assert found
    _, seen = observed(found, printed("of y", '{"chunk_id": "1", "exit_code": 2, "output": "of x"}'), [], "c")
    assert [(one.call_id, one.text, one.exit_code) for one in seen] == [("c.1", "of x", 2), ("c.2", "of y", None)]


def test_what_cannot_be_attributed_answers_the_whole_action() -> None:
    found = program("const a = await tools.f({}); const b = await tools.g({}); text(a.output + b.output)", "c")
    assert found
    _, (seen,) = observed(found, printed("both"), [], "c")
    assert (seen.call_id, seen.text) == (None, "both")


def test_recorded_commands_replace_what_the_text_does_not_show() -> None:
    found = program(
        "const names = await load(); for (const n of names) await tools.exec_command({cmd: `rm ${n}`})", "c"
    )
    assert found
    calls, seen = observed(found, printed("done"), [RanCommand("rm a", "", 0), RanCommand("rm b", "no", 1)], "c")
    assert [call.arguments["cmd"] for call in calls] == ["rm a", "rm b"]
    assert [(one.call_id, one.text) for one in seen] == [(calls[0].id, ""), (calls[1].id, "no"), (None, "done")]


@pytest.mark.parametrize(
    "code",
    [
        "tools." * 50_000,
        "const f = () => f(); f(); tools.x()",
        "for (const a of [1,2,3]) for (const b of [a,a,a]) tools.x({a, b});" * 300,
        "[" * 5_000 + "tools.x()" + "]" * 5_000,
        "const a = [1,1,1,1,1,1,1,1,1,1];" + "a.map(x => " * 12 + "tools.x()" + ")" * 12,
    ],
)
def test_a_hostile_program_costs_little(code: str) -> None:
    assert_within(3, lambda: program(code, "c"))
