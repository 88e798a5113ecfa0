"""How fast traces are read, as a ratio to `json.loads` of the same bytes in the same run; and in how much memory.

    python bench/read.py [--json]

Each format is measured on its corpus traces and fixtures (the corpus where it is there), the best of several rounds for
both sides, alternating, in CPU seconds. The memory is the peak of a `dense read --json` over a Claude Code session of
500 MB."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import dense
from dense.readers import Stream, files_of, read_streams

ROOT = Path(__file__).parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
LIMITS = {"atif": 2.0, "mini-swe-agent": 2.0, "claude-code": 3.0, "codex": 3.0}
FOLDERS = {
    "atif": "harbor-atif",
    "mini-swe-agent": "mini-swe-agent-traj",
    "claude-code": "claude-code-jsonl",
    "codex": "codex-rollout-jsonl",
}
ROUNDS = 9
MEMORY_LIMIT = 200
SESSION_SIZE = 500_000_000


def traces(format: str) -> list[Path]:
    """The files of a format, as a reader would find them; without the corpus, our own fixtures many times."""
    folder = CORPUS / FOLDERS[format]
    files = [file.path for file in files_of(folder)] if folder.is_dir() else []
    own = [file.path for file in files_of(ROOT / "tests" / "fixtures" / format)]
    candidates = files or own * 20
    return [
        path
        for path in candidates
        if any(isinstance(item, Stream) for item in read_streams(path)) and path.suffix != ".zst"
    ]


def load_json(paths: list[Path]) -> None:
    for path in paths:
        data = path.read_bytes()
        try:
            json.loads(data)
        except ValueError:
            for line in data.splitlines():
                if line.startswith(b"{"):
                    json.loads(line)


def read_traces(paths: list[Path]) -> None:
    for path in paths:
        for trajectory in dense.read(path):
            assert trajectory.steps


def best_of(work: list[Callable[[], None]]) -> list[float]:
    """The best CPU time of each piece of work; they take turns, so that a noisy moment hits all alike."""
    best = [float("inf")] * len(work)
    for _ in range(ROUNDS):
        for number, piece in enumerate(work):
            start = time.process_time()
            piece()
            best[number] = min(best[number], time.process_time() - start)
    return best


def measure_speed(format: str) -> dict[str, float]:
    paths = traces(format)
    reference, ours = best_of([lambda: load_json(paths), lambda: read_traces(paths)])
    size = sum(path.stat().st_size for path in paths)
    return {
        "files": len(paths),
        "megabytes": size / 1e6,
        "json_ms": reference * 1e3,
        "read_ms": ours * 1e3,
        "ratio": ours / reference,
    }


def write_session(path: Path, size: int) -> None:
    """A Claude Code session of this size: one command after the other, each with 2 KB of output."""
    head = {"parentUuid": None, "isSidechain": False, "sessionId": "bench", "version": "2.1.0", "cwd": "/app"}
    with path.open("w") as file:
        file.write(
            json.dumps({**head, "type": "user", "uuid": "u", "message": {"role": "user", "content": "Work."}}) + "\n"
        )
        written = number = 0
        while written < size:
            number += 1
            call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": f"make part-{number}"}}
            usage = {"input_tokens": 3, "cache_read_input_tokens": 1000, "output_tokens": 40}
            message = {"id": f"m{number}", "role": "assistant", "model": "scripted", "content": [call], "usage": usage}
            result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": f"part {number} built\n" * 120}
            lines = (
                {**head, "type": "assistant", "uuid": f"a{number}", "message": message},
                {**head, "type": "user", "uuid": f"r{number}", "message": {"role": "user", "content": [result]}},
            )
            written += sum(file.write(json.dumps(line) + "\n") for line in lines)


def measure_memory(size: int = SESSION_SIZE) -> dict[str, float]:
    """Peak memory and time of the command on a large session, by a process that has nothing else to do."""
    code = (
        "import resource, subprocess, sys, time\n"
        "start = time.perf_counter()\n"
        "with open('/dev/null', 'wb') as out:\n"
        "    subprocess.run([sys.executable, '-m', 'dense', 'read', '--json', sys.argv[1]], stdout=out, check=True)\n"
        "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss\n"
        "print(peak / 1024, time.perf_counter() - start)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "session.jsonl"
        write_session(path, size)
        done = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
        peak, seconds = map(float, done.stdout.split())
        return {"session_megabytes": path.stat().st_size / 1e6, "peak_megabytes": peak, "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    options = parser.parse_args()
    speed = {format: measure_speed(format) for format in LIMITS}
    memory = measure_memory()
    if options.json:
        print(json.dumps({"speed": speed, "memory": memory}, indent=2))
    else:
        print(f"{'format':<16}{'files':>6}{'MB':>8}{'json.loads':>12}{'dense':>10}{'ratio':>8}{'limit':>7}")
        for format, row in speed.items():
            times = f"{row['json_ms']:>9.1f} ms{row['read_ms']:>7.1f} ms"
            print(
                f"{format:<16}{row['files']:>6.0f}{row['megabytes']:>8.1f}{times}{row['ratio']:>8.2f}{LIMITS[format]:>7.1f}"
            )
        print(f"\n{memory['session_megabytes']:.0f} MB Claude Code session, dense read --json:", end=" ")
        print(f"peak {memory['peak_megabytes']:.0f} MB (limit {MEMORY_LIMIT}), {memory['seconds']:.1f} s")
    slow = [format for format, row in speed.items() if row["ratio"] > LIMITS[format]]
    if slow or memory["peak_megabytes"] > MEMORY_LIMIT:
        sys.exit(f"over the limit: {', '.join(slow) or 'memory'}")


if __name__ == "__main__":
    main()
