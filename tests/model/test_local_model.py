"""A real language model on this machine, through the same client: plumbing, never judgement: it is tiny."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from dense.errors import KeyRefused
from dense.model import CallLedger, ChatReply, ChatRequest, Message, RetryPolicy, open_model

pytestmark = pytest.mark.local_model

SCHEMA = {
    "type": "object",
    "properties": {"reason": {"type": "string", "maxLength": 60}, "verdict": {"enum": ["complete", "incomplete"]}},
    "required": ["reason", "verdict"],
    "additionalProperties": False,
}
QUESTION = ChatRequest(
    "You judge whether a task was completed. Answer in JSON.",
    (Message("user", "Task: write report.txt. The agent ran `echo done > report.txt` and it exited with 0."),),
    SCHEMA,
    max_output_tokens=120,
    temperature=0.0,
    label="verdict",
)


def ask(base_url: str, key: str = "local-test", **options: Any) -> tuple[ChatReply, CallLedger]:
    async def main() -> tuple[ChatReply, CallLedger]:
        environment = {"LLAMA_API_KEY": key}
        async with open_model("llamacpp/local", base_url=base_url, environment=environment, **options) as model:
            return await model.complete(QUESTION), model.ledger

    return asyncio.run(main())


def test_a_schema_bound_answer(llama: str, tmp_path: Path) -> None:
    started = time.monotonic()
    reply, ledger = ask(llama, cache=tmp_path / "cache", retry=RetryPolicy(timeout=240, first_wait=0.2))
    answer = json.loads(reply.text)
    assert set(answer) == {"reason", "verdict"}
    assert answer["verdict"] in ("complete", "incomplete")
    assert (reply.finish, reply.model) == ("stop", "local")
    assert (reply.usage.input or 0) + (reply.usage.cache_read or 0) > 30
    assert 5 < (reply.usage.output or 0) <= 120
    assert ledger.totals.usd is None, "nobody knows what this machine costs"
    again, _ = ask(llama, cache=tmp_path / "cache")
    assert (again.text, again.is_cached) == (reply.text, True)
    assert time.monotonic() - started < 240


def test_a_wrong_key(llama: str) -> None:
    with pytest.raises(KeyRefused, match="check LLAMA_API_KEY"):
        ask(llama, key="wrong")
