"""Programs as models, with constructed stand-ins: scripts that print what the real programs were measured to print.

The real programs are in `tests/integrations/test_model_programs.py`."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dense.errors import CallFailed, KeyRefused, ModelError, UnknownModel, UnknownPrice, Unreachable
from dense.model import CallLimits, ChatReply, ChatRequest, Message, OpenModel, RetryPolicy, open_model, resolve
from dense.model.programs import GUARD, PROGRAMS
from dense.trajectory import Usage

REQUEST = ChatRequest("Be short.", (Message("user", "Who is ann@example.org?"),), label="q")
CLAUDE = {
    "type": "result",
    "is_error": False,
    "result": "An owner.",
    "stop_reason": "end_turn",
    "total_cost_usd": 0.25,
    "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 3, "output_tokens": 7},
    "modelUsage": {"claude-sonnet-5": {"outputTokens": 7}},
}
CODEX = [
    {"type": "thread.started"},
    {"type": "item.completed", "item": {"type": "error", "message": "only a warning"}},
    {"type": "item.completed", "item": {"type": "agent_message", "text": "An owner."}},
    {"type": "turn.completed", "usage": {"input_tokens": 120, "cached_input_tokens": 20, "output_tokens": 7}},
]
GEMINI = {
    "response": "An owner.",
    "stats": {"models": {"gemini-3.1-pro": {"tokens": {"prompt": 120, "cached": 20, "candidates": 5, "thoughts": 2}}}},
}
TOKENS = {"input": 100, "output": 5, "reasoning": 2, "cache": {"read": 20, "write": 0}}
OPENCODE = [
    {"type": "text", "part": {"text": "An "}},
    {"type": "text", "part": {"text": "owner."}},
    {"type": "step_finish", "part": {"reason": "stop", "cost": 0, "tokens": TOKENS}},
]


def lines(*events: Any) -> str:
    return "\n".join(map(json.dumps, events))


OUTPUTS = {
    "claude-code": lines(CLAUDE),
    "codex": lines(*CODEX),
    "gemini-cli": json.dumps(GEMINI, indent=1),
    "opencode": lines(*OPENCODE),
}
USAGES = {
    "claude-code": Usage(100, 20, 3, 7, 0.25),
    "codex": Usage(100, 20, None, 7),
    "gemini-cli": Usage(100, 20, None, 7),
    "opencode": Usage(100, 20, 0, 7),
}
type Fake = Callable[..., dict[str, str]]


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    """Puts a program onto a PATH of its own that reports how it was started, prints and ends; gives the environment."""

    def make(name: str, output: str = "", errors: str = "", code: int = 0, before: str = "") -> dict[str, str]:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = (
            folder / PROGRAMS[name].executable if PROGRAMS.get(name, PROGRAMS["exec"]).executable else folder / name
        )
        program.write_text(
            f"#!{sys.executable}\nimport json, os, sys, time, signal\n"
            f"about = dict(words=sys.argv[1:], cwd=os.getcwd(), files=os.listdir(), environment=dict(os.environ),"
            f" prompt=sys.stdin.read())\nopen({str(tmp_path / 'started.json')!r}, 'w').write(json.dumps(about))\n"
            f"{before}\nsys.stdout.write({output!r})\nsys.stderr.write({errors!r})\nsys.exit({code})\n"
        )
        program.chmod(0o755)
        (tmp_path / "home").mkdir(exist_ok=True)
        return {
            "PATH": f"{folder}:{os.environ['PATH']}",
            "HOME": str(tmp_path / "home"),
            "SECRET_TOKEN": "s3cret-token",
        }

    return make


def asked(name: str, environment: dict[str, str], times: int = 1, **more: Any) -> tuple[ChatReply, OpenModel]:
    async def run() -> tuple[ChatReply, OpenModel]:
        async with open_model(name, environment=environment, **more) as model:
            for _ in range(times - 1):
                with pytest.raises(ModelError):
                    await model.complete(REQUEST)
            return await model.complete(REQUEST), model

    return asyncio.run(run())


def started(tmp_path: Path) -> dict[str, Any]:
    return json.loads((tmp_path / "started.json").read_text())


@pytest.mark.parametrize("name", OUTPUTS)
def test_the_answer_and_what_it_took(name: str, fake: Fake, tmp_path: Path) -> None:
    reply, model = asked(f"{name}/some-model", fake(name, OUTPUTS[name]))
    assert (reply.text, reply.finish, reply.usage) == ("An owner.", "stop", USAGES[name])
    assert model.ledger.totals.usage == USAGES[name]
    assert model.ledger.totals.usd == (0.25 if name == "claude-code" else None)
    start = started(tmp_path)
    assert "Who is ann‹at›example.org?" in start["prompt"] and "some-model" in start["words"]
    assert not any("example.org" in word for word in start["words"])
    assert (start["files"], start["environment"][GUARD]) == ([], "1")
    assert not Path(start["cwd"]).exists()


@pytest.mark.parametrize("name", [*OUTPUTS, "exec"])
def test_an_exit_code_of_0_without_an_answer_is_no_answer(name: str, fake: Fake, tmp_path: Path) -> None:
    environment = fake(name)
    model = f"exec:{tmp_path / 'bin' / 'exec'}" if name == "exec" else name
    with pytest.raises(CallFailed, match="without an answer") as caught:
        asked(model, environment)
    assert [call.may_be_billed for call in caught.value.tries] == [True]


FAILURES: list[tuple[str, str, str, int, type[ModelError]]] = [
    (
        "claude-code",
        lines(CLAUDE | {"is_error": True, "result": "Not logged in · Please run /login", "modelUsage": {}}),
        "",
        1,
        KeyRefused,
    ),
    ("claude-code", lines(CLAUDE | {"is_error": True, "result": "You've hit your 5-hour limit"}), "", 1, KeyRefused),
    (
        "claude-code",
        lines(CLAUDE | {"is_error": True, "result": "API Error: 500 x", "api_error_status": 500}),
        "",
        1,
        CallFailed,
    ),
    ("claude-code", lines(CLAUDE | {"modelUsage": {}, "result": "/help isn't available"}), "", 0, CallFailed),
    ("claude-code", lines(CLAUDE | {"is_error": True, "subtype": "error_during_execution"}), "", 0, CallFailed),
    (
        "codex",
        lines({"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized"}}),
        "",
        1,
        KeyRefused,
    ),
    ("codex", lines({"type": "turn.failed", "error": {"message": "You've hit your usage limit."}}), "", 1, KeyRefused),
    ("codex", lines({"type": "turn.failed", "error": {"message": "high demand"}}), "", 1, CallFailed),
    ("codex", lines(*CODEX[:3]), "", 0, CallFailed),
    ("gemini-cli", "", 'at x\n{"error": {"message": "Invalid auth method selected.", "code": 41}}', 41, KeyRefused),
    ("gemini-cli", "", 'at x\n{"error": {"message": "no such model", "code": 404}}', 1, UnknownModel),
    ("opencode", lines({"type": "error", "error": {"data": {"message": "x", "statusCode": 401}}}), "", 1, KeyRefused),
    ("opencode", lines(*OPENCODE[:2]), "", 0, CallFailed),
]


@pytest.mark.parametrize(("name", "output", "errors", "code", "kind"), FAILURES)
def test_failures(name: str, output: str, errors: str, code: int, kind: type[ModelError], fake: Fake) -> None:
    with pytest.raises(kind) as caught:
        asked(name, fake(name, output, errors, code))
    assert str(caught.value).startswith(f"{name}: ")
    assert type(caught.value) is kind


def test_a_slow_program_is_ended_with_its_children(fake: Fake, tmp_path: Path) -> None:
    before = f"""
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    open({str(tmp_path / "child")!r}, "w").write(str(os.getpid()))
time.sleep(60)"""
    start = time.monotonic()
    with pytest.raises(CallFailed, match="no answer within 2 s"):
        asked("codex", fake("codex", before=before), retry=RetryPolicy(timeout=2))
    assert time.monotonic() - start < 30
    child = int((tmp_path / "child").read_text())
    for _ in range(100):
        if not Path(f"/proc/{child}").exists() or b"State:\tZ" in Path(f"/proc/{child}/status").read_bytes():
            break
        time.sleep(0.05)
    else:
        raise AssertionError("the child is still there")


def test_a_program_that_keeps_its_output_open_does_not_hold_us_up(fake: Fake) -> None:
    before = "if os.fork() == 0:\n    time.sleep(60)\n    os._exit(0)"
    start = time.monotonic()
    reply, _ = asked("codex", fake("codex", OUTPUTS["codex"], before=before))
    assert (reply.text, time.monotonic() - start < 30) == ("An owner.", True)


def test_endless_output_ends_the_call(fake: Fake) -> None:
    before = "while True:\n    sys.stdout.write('x' * 1_000_000)"
    with pytest.raises(CallFailed, match="it printed more than"):
        asked("codex", fake("codex", before=before), retry=RetryPolicy(timeout=60))


def test_calls_in_a_row_without_an_answer_end_the_run(fake: Fake) -> None:
    with pytest.raises(Unreachable, match="4 calls in a row"):
        asked("codex", fake("codex"), times=4)


def test_errors_repeat_no_credential(fake: Fake) -> None:
    with pytest.raises(CallFailed) as caught:
        asked("codex", fake("codex", errors="it failed with s3cret-token\n", code=1))
    assert "s3cret" not in str(caught.value) and "[key]" in str(caught.value)
    assert "s3cret" not in str(caught.value.tries)


@pytest.mark.parametrize("cost", [-5.0, 1e30, "much", True, 0])
def test_absurd_usage_counts_as_unknown(cost: Any, fake: Fake) -> None:
    output = lines(CLAUDE | {"total_cost_usd": cost, "usage": {"input_tokens": -100, "output_tokens": 10**15}})
    _, model = asked("claude-code", fake("claude-code", output))
    assert (model.ledger.totals.usd, model.ledger.totals.unpriced) == (None, 1)
    assert not any(number is not None for number in (model.ledger.totals.usage.input, model.ledger.totals.usage.output))


def test_a_limit_counts_with_the_dearest_model(fake: Fake) -> None:
    environment = fake("codex", OUTPUTS["codex"])
    _, model = asked("codex", environment, limits=CallLimits(max_usd=50))
    assert model.ledger.totals.usd is None
    with pytest.raises(ModelError, match="the next call may cost"):
        asked("codex", environment, limits=CallLimits(max_usd=0.01))
    with pytest.raises(UnknownPrice):
        asked("exec:cat", environment, limits=CallLimits(max_usd=50))


def test_names(fake: Fake) -> None:
    specs = [resolve(name, environment={}) for name in ("claude-code", "opencode/anthropic/claude-sonnet-5")]
    assert [(str(spec), spec.name) for spec in specs] == [
        ("claude-code", ""),
        ("opencode/anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5"),
    ]
    command = resolve("exec:/opt/ask --key=hidden", environment={})
    assert (str(command), command.name) == ("exec:ask", "/opt/ask --key=hidden")
    for wrong in ("exec:", "exec:'", "exec/ls", "claude-code/", "codex/-c", "cursor/x"):
        with pytest.raises(UnknownModel):
            resolve(wrong, environment={})
    with pytest.raises(UnknownModel, match="PATH"):
        asked("codex", {"PATH": "/nowhere"})


def test_a_command_reads_the_prompt_and_prints_the_answer(fake: Fake, tmp_path: Path) -> None:
    reply, model = asked("exec:cat", fake("unused"))
    assert reply.text.endswith("Be short.\n\nWho is ann@example.org?")
    assert (model.name, model.ledger.totals.usd, model.ledger.totals.unpriced) == ("exec:cat", None, 1)
    assert asked(f"exec:{sys.executable} -c 'print(1 + 1)'", fake("unused"))[0].text == "2\n"


def test_only_what_is_needed_of_the_users_settings(fake: Fake, tmp_path: Path) -> None:
    environment = fake("codex", OUTPUTS["codex"])
    config = tmp_path / "home" / ".codex" / "config.toml"
    config.parent.mkdir()
    config.write_text(
        'model = "own"\nmodel_provider = "p"\n[mcp_servers.x]\ncommand = "trap"\n[model_providers.p]\n'
        'base_url = "http://127.0.0.1:1/\\"v1"\nexperimental_bearer_token = "s3cret"\n'
    )
    asked("codex", environment)
    words = " ".join(started(tmp_path)["words"])
    assert "-m own" in words and '"base_url" = "http://127.0.0.1:1/\\"v1"' in words
    assert not any(text in words for text in ("s3cret", "trap"))

    environment = fake("opencode", OUTPUTS["opencode"])
    config = tmp_path / "home" / ".config" / "opencode" / "opencode.jsonc"
    config.parent.mkdir(parents=True)
    config.write_text('{"provider": {"p": {"options": {"baseURL": "http://x//y"}},}, // mine\n "mcp": {"trap": {}}}')
    asked("opencode", environment)
    content = json.loads(started(tmp_path)["environment"]["OPENCODE_CONFIG_CONTENT"])
    assert content["provider"]["p"]["options"]["baseURL"] == "http://x//y"
    assert "mcp" not in content and content["agent"]["analyst"]["tools"] == {"*": False}
