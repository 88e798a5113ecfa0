"""Runs on record."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, ok

from dense.errors import ModelError, NotRecorded
from dense.model import ChatReply, ChatRequest, Message, open_model

Serve = Callable[..., Loopback]


def question(text: str, **more: Any) -> ChatRequest:
    return ChatRequest("s", (Message("user", text),), label="test", **more)


def ask(name: str, *texts: str, **options: Any) -> list[ChatReply]:
    async def main() -> list[ChatReply]:
        async with open_model(name, environment={}, **options) as model:
            return [await model.complete(question(text)) for text in texts]

    return asyncio.run(main())


def test_a_recorded_run_is_replayed(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    live = ask("vllm/m", "a", "b", "a", base_url=serve(ok("1"), ok("2"), ok("3")).url, record=path)
    assert len(path.read_text().splitlines()) == 2, "each question once"
    replayed = ask(f"replay/{path}", "b", "a")
    assert [reply.text for reply in replayed] == ["2", "1"]
    assert all(reply.is_cached for reply in replayed)
    assert replayed[1].usage == live[0].usage


def test_recording_goes_on_after_a_crash(serve: Serve, tmp_path: Path) -> None:
    path, server = tmp_path / "run.jsonl", serve(ok("1"), ok("2"), ok("2 again"))
    ask("vllm/m", "a", "b", base_url=server.url, record=path)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    ask("vllm/m", "b", base_url=server.url, record=path)
    assert [reply.text for reply in ask(f"replay/{path}", "a", "b")] == ["1", "2 again"]


def test_what_was_not_recorded(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    ask("vllm/m", "a", base_url=serve().url, record=path)
    with pytest.raises(NotRecorded, match=r"run\.jsonl: no answer to test .* record it again"):
        ask(f"replay/{path}", "b")


def test_files_that_are_no_record(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        ask(f"replay/{tmp_path / 'none.jsonl'}", "a")
    (tmp_path / "notes.txt").write_text("dear diary")
    with pytest.raises(ModelError, match="no record of a run"):
        ask(f"replay/{tmp_path / 'notes.txt'}", "a")
