"""The same trials with whichever release of Harbor is imported."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec

from refit.harness import AttemptOrder, AttemptResult, Recipient
from refit.harness.derived_task import MAX_ARGUMENT_BYTES, instruction_of
from refit.harness.harbor import HarborHarness

ORACLE = Recipient("oracle", "oracle")


def terminus(name: str = "t", api: str = "{server}/v1", **options: Any) -> Recipient:
    fixed = {
        "api_base": api,
        "llm_call_kwargs": {"api_key": "local-test-key", "seed": "{seed}", "max_retries": 0},
        "record_terminal_session": False,
        "enable_summarize": False,
        "model_info": {"max_input_tokens": 1_000_000, "max_output_tokens": 4_000},
    }
    return Recipient(name, "terminus-2", "openai/scripted", {**fixed, **options})


def alone(harness: HarborHarness, order: AttemptOrder) -> AttemptResult:
    """One attempt in a loop of its own, from which no connection is left."""

    async def run() -> AttemptResult:
        async with harness:
            return await harness.attempt(order)

    return asyncio.run(run())


def trials(task: str, out: str, server: str) -> tuple[str, list[dict[str, Any]]]:
    """Which release it was, and what its trials came to, apart from names and times."""
    harness = HarborHarness(servers={"t": server})
    text = instruction_of(Path(task))
    messages = [None, None, f"short\n{text}", "x" * MAX_ARGUMENT_BYTES + text]
    people = [ORACLE, Recipient("nop", "nop"), terminus(), terminus()]
    orders = [
        AttemptOrder(str(number), who, Path(task), Path(out, str(number)), message, 5, as_file=number == 3)
        for number, (who, message) in enumerate(zip(people, messages, strict=True))
    ]

    async def run() -> list[AttemptResult]:
        async with harness:
            await harness.check(people[:3], [Path(task)])
            return [await harness.attempt(order) for order in orders]

    found = asyncio.run(run())
    assert [harness.finished(order) for order in orders] == found, found
    reported = [msgspec.to_builtins(attempted) for attempted in found]
    return harness.name, [{k: v for k, v in one.items() if k not in {"trial", "trace", "seconds"}} for one in reported]
