"""What a distillation takes: wall time against its longest chain of calls, round trips, tokens, our own CPU.

    python bench/distill.py [--json]

A server on 127.0.0.1 answers every question after a fixed time; no language model is asked. The longest
chain of dependent calls is computed from when each question was asked and answered, not assumed. Tokens are those of
the real prompts, at four bytes each, over the corpus traces with at least 30 actions where the corpus is there, else
over the examples."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web

from dense.analysis.asking.questions import Correction, Question
from dense.analysis.model import ModelAnswerer
from dense.model import CallLimits, open_model
from dense.options import FeedbackOptions, Profile
from dense.readers import Stream, read_streams
from dense.service import distill
from dense.service.analysts import ModelSettings
from dense.service.estimate import MeasuringAnalyst
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "analysis" / "asking"))
from outline_answerer import OutlineAnswerer

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
LATENCY = 0.5
PROFILES: tuple[Profile, ...] = ("fast", "paper")
MOST_WALL, MOST_TOKENS, MOST_CPU = 1.15, 0.25, {"fast": 100.0, "paper": 3.0}
MOST_TRIPS = {60: 1, 900: 2, 20_000: 3}
"""Round trips in a row of the fast profile, by the number of steps."""


def trajectory(count: int) -> Trajectory:
    """A run of ordinary commands, of which some fail."""
    steps = [
        Step(
            Source("bench.jsonl", line=index + 1),
            message=f"Step {index}: build part {index % 7} and look at what it says.",
            calls=(ToolCall("bash", {"command": f"make part-{index % 7} && cat out-{index}.txt"}, f"c{index}"),),
            observations=(Observation(f"line {index}\n" * 30, f"c{index}", exit_code=int(index % 5 == 3)),),
        )
        for index in range(count)
    ]
    return Trajectory(
        "bench", f"bench-{count}", Source("bench.jsonl"), task=Task("Build all parts."), steps=tuple(steps)
    )


class Through:
    """Sends every question as it is through the whole client to the server, waits for its answer, and answers by
    outline.

    The server cannot judge, so its words are not used: the tree has the shape of an ordinary one, the calls are real.
    """

    name = "through"

    def __init__(self, analyst: ModelAnswerer) -> None:
        self.spans: list[tuple[float, float]] = []
        self._analyst, self._outline = analyst, OutlineAnswerer()

    async def ask(self, question: Question, correction: Correction | None = None) -> str:
        start = time.perf_counter()
        await self._analyst.ask(question, correction)
        self.spans.append((start, time.perf_counter()))
        return await self._outline.ask(question, correction)

    def chain(self) -> int:
        """The longest row of questions in which each was asked after the one before was answered."""
        lengths: list[tuple[float, int]] = []
        best = 0
        for start, end in sorted(self.spans, key=lambda span: span[0]):
            before = max((length for ended, length in lengths if ended <= start), default=0)
            lengths.append((end, before + 1))
            best = max(best, before + 1)
        return best


def measure(count: int, profile: Profile, latency: float) -> dict[str, float]:
    """One distillation over HTTP: calls, chain, wall time over the chain, our CPU for each call.

    The server runs in this process too; what it and the connection take is measured apart, with bodies of the same
    size, and taken off.
    """

    async def run() -> dict[str, float]:
        runner, address = await _serve(latency)
        try:
            async with open_model(address, limits=CallLimits(1000)) as model:
                through = Through(ModelAnswerer(model))
                start, cpu = time.perf_counter(), time.process_time()
                await distill(trajectory(count), through, options=FeedbackOptions(profile=profile))
                wall, cpu = time.perf_counter() - start, time.process_time() - cpu
            calls, chain = len(through.spans), through.chain()
            size = sum(measured) // calls
            raw = await _plain(address, size) if latency == 0 else 0.0
        finally:
            await runner.cleanup()
        ratio = wall / (chain * latency) if latency else 0.0
        return {
            "calls": calls,
            "chain": chain,
            "wall": wall,
            "ratio": ratio,
            "cpu": 1e3 * (cpu / calls - raw),
            "raw": 1e3 * raw,
        }

    measured.clear()
    return asyncio.run(run())


measured: list[int] = []
"""The sizes of the bodies that the server got."""


async def _plain(address: str, size: int) -> float:
    """CPU seconds of a call with a body of this size through plain aiohttp, to the same server."""
    url, body = address.partition("#")[0] + "/chat/completions", json.dumps({"x": "y" * size})
    async with aiohttp.ClientSession() as session:
        start = time.process_time()
        for _ in range(200):
            async with session.post(url, data=body, headers={"Content-Type": "application/json"}) as reply:
                await reply.json()
        return (time.process_time() - start) / 200


async def _serve(latency: float) -> tuple[Any, str]:
    """An OpenAI-compatible server that fills the schema it is sent."""

    async def answer(request: web.Request) -> web.Response:
        data = await request.read()
        measured.append(len(data))
        body = json.loads(data)
        schema = body.get("response_format", {}).get("json_schema", {}).get("schema") or {}
        await asyncio.sleep(latency)
        message = {"role": "assistant", "content": json.dumps(_filled(schema))}
        usage = {"prompt_tokens": 100, "completion_tokens": 20}
        return web.json_response(
            {"model": "x", "choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}
        )

    app = web.Application(client_max_size=1 << 26)
    app.router.add_post("/v1/chat/completions", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    return runner, f"http://127.0.0.1:{runner.addresses[0][1]}/v1#bench"


def _filled(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object":
        return {key: _filled(value) for key, value in schema.get("properties", {}).items()}
    if kind == "array":
        return [_filled(schema["items"]) for _ in range(schema.get("minItems", 0))]
    return {"integer": schema.get("minimum", 0), "boolean": False, "number": 0}.get(str(kind), "words")


def measure_tokens() -> dict[str, float]:
    """Input tokens of both profiles over real traces."""
    totals = dict.fromkeys(PROFILES, 0)
    count = 0
    folder = CORPUS if CORPUS.is_dir() else ROOT / "examples"
    least = 30 if CORPUS.is_dir() else 1
    for item in read_streams(folder):
        if not isinstance(item, Stream):
            continue
        found = item.collect()
        if len(found.steps) < least:
            continue
        count += 1
        for profile in PROFILES:
            measuring = MeasuringAnalyst(ModelSettings(), found)
            asyncio.run(distill(found, measuring, options=FeedbackOptions(profile=profile)))
            totals[profile] += measuring.usage.input or 0
    return {"traces": count, **totals, "ratio": totals["fast"] / totals["paper"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    for profile in PROFILES:  # grammars and templates are loaded once, and belong to no measurement
        measure(20, profile, 0.0)
    wall = {f"{profile} {count}": measure(count, profile, LATENCY) for profile in PROFILES for count in (20, 60, 250)}
    trips = {count: measure(count, "fast", 0.05)["chain"] for count in MOST_TRIPS}
    client = {profile: measure(60, profile, 0.0) for profile in PROFILES}
    tokens = measure_tokens()
    if options.json:
        print(json.dumps({"wall": wall, "trips": trips, "client": client, "tokens": tokens}, indent=2))
    else:
        print(f"{'profile, steps':<16}{'calls':>7}{'chain':>7}{'wall':>9}{'wall / chain':>14}   (limit {MOST_WALL})")
        for name, row in wall.items():
            print(f"{name:<16}{row['calls']:>7}{row['chain']:>7}{row['wall']:>8.2f}s{row['ratio']:>14.3f}")
        for count, chain in trips.items():
            print(f"fast, {count:,} steps: {chain:.0f} round trips in a row (limit {MOST_TRIPS[count]})")
        for profile, row in client.items():
            beyond = f"beyond plain aiohttp's {row['raw']:.2f} (limit {MOST_CPU[profile]})"
            print(f"{profile}: {row['cpu']:.2f} ms CPU of ours a call {beyond}")
        print(
            f"input tokens over {tokens['traces']} traces: fast {tokens['fast']:,}, paper {tokens['paper']:,},", end=" "
        )
        print(f"ratio {tokens['ratio']:.3f} (limit {MOST_TOKENS})")
    over = [name for name, row in wall.items() if row["ratio"] > MOST_WALL]
    over += ["round trips"] * any(chain > MOST_TRIPS[count] for count, chain in trips.items()) + ["tokens"] * (
        tokens["ratio"] > MOST_TOKENS
    )
    over += [f"CPU {profile}" for profile, row in client.items() if row["cpu"] > MOST_CPU[profile]]
    if over:
        sys.exit(f"over the limit: {', '.join(over)}")


if __name__ == "__main__":
    main()
