"""How fast the built-in analyst is, from the file to the feedback, without a model.

    python bench/rules.py [--scout] [--json]

- CPU milliseconds for a made trajectory of 35 actions and 150 KB, and for the corpus traces of 25 to 45 actions where
  the corpus is there, by part; each part next to `json.loads` of the same file in the same run. `analyst` is
  `RulesAnalyst().analysed` of the clean trajectory (evidence, detectors, narration), measured by itself. The limit of
  10 ms is for the analyst; the whole (reading, redaction, delivery too) is reported beside it and fails nothing.
- How the interpreter was built, by its `CONFIG_ARGS`: a CPython with `--enable-optimizations` (PGO), which most
  published ones are, is faster than a plain build. Compare figures of the same build only.
- Time for each step at 100 to 100,000 steps, and the exponent that fits: 1 is linear.
- Peak memory beyond an idle interpreter's, as a multiple of the file's size, in a process of its own.
- With `--scout`: Inspect Scout's pattern scanner on the same traces, in a virtual environment that is thrown away.

The made traces are of mini-swe-agent's format, from a seeded generator: the same bytes every time."""

from __future__ import annotations

import argparse
import json
import math
import random
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dense
from dense.analysis.actions.action import Actions
from dense.analysis.actions.step_effects import effects
from dense.analysis.rules.analyst import RulesAnalyst
from dense.message.budget import Budgets
from dense.message.report import tree_report
from dense.methods import FeedbackDraft
from dense.readers import Stream, files_of, read_streams
from dense.redact import redact
from dense.service import Distillation, distill_sync
from dense.service.drafting import clean, deliver_draft
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus"
ACTIONS, SIZE = 35, 150_000
LIKE = range(25, 46)
"""Corpus traces of so many actions are measured too."""
ROUNDS = 300
"""Turns over which the made trace is measured, some six seconds: on a machine that is shared, a core is taken half away
for seconds at a time, and the best of a quick series may be the best of such a moment."""
CORPUS_ROUNDS = 10
STEPS = (100, 1_000, 10_000, 100_000)
MOST_MS, MOST_EXPONENT, MOST_MEMORY = 10.0, 1.15, 12.0
PARTS = ("read", "redact", "effects", "rules", "deliver")

MODULES = "parser reader writer cache session router storage schema worker client".split()
NAMES = "load save parse merge split flush retry open close check resolve encode decode render".split()
PROBLEMS = (
    "AssertionError: assert {a} == {b}",
    "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
    "KeyError: 'row-{a}'",
    "ModuleNotFoundError: No module named 'lib{a}'",
    "FileNotFoundError: [Errno 2] No such file or directory: 'data/part-{a}.csv'",
)


# Made traces


class Made:
    """Writes the record of a run that looks, changes, tests and hands in, as a coding agent does in a shell."""

    def __init__(self, seed: int = 7) -> None:
        self.chance = random.Random(seed)

    def write(self, path: Path, actions: int, size: int) -> None:
        """So many actions in about so many bytes."""
        info = {"mini_version": "1.17.5", "config": {"model": {"model_name": "made/model"}}}
        head = {"info": info, "trajectory_format": "mini-swe-agent-1", "instance_id": f"made-{actions}"}
        each = output_size(actions, size)
        with path.open("w", encoding="utf-8") as file:
            file.write(json.dumps(head)[:-1] + ', "messages": [\n')
            for number, message in enumerate(self.messages(actions, each)):
                file.write(",\n" * bool(number) + json.dumps(message))
            file.write("\n]}\n")

    def messages(self, actions: int, each: int) -> Iterator[dict[str, Any]]:
        yield {"role": "system", "content": "You work in a shell. Give one command in a bash fence."}
        yield {"role": "user", "content": f"<task>\n{self.task()}\n</task>\nHand in when you are done."}
        for number in range(actions):
            thought, command, code, output = self.action(number, actions, each)
            yield {"role": "assistant", "content": f"THOUGHT: {thought}\n\n```bash\n{command}\n```"}
            yield {
                "role": "user",
                "content": f"<returncode>{code}</returncode>\n<output>\n{output}</output>",
            }

    def task(self) -> str:
        return (
            "The command `python -m shop report` must write `out/report.json` with the keys `total` and `rows`.\n"
            "- Repair `shop/parser.py` so that `pytest -q tests/test_parser.py` passes.\n"
            "- Keep the public names of `shop/cache.py`.\n- A run must take at most 2 seconds."
        )

    def action(self, number: int, actions: int, each: int) -> tuple[str, str, int, str]:
        module, name = self.chance.choice(MODULES), self.chance.choice(NAMES)
        file, test = f"shop/{module}.py", f"tests/test_{module}.py"
        if number == actions - 1:
            return "All is done.", "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff", 0, self.source(each)
        match number % 7:
            case 0:
                return f"I look for {name}.", f'grep -rn "def {name}" shop | head -40', 0, self.hits(name, each)
            case 1:
                return f"I read {file}.", f"cd /app && sed -n '1,120p' {file}", 0, self.source(each)
            case 2:
                return (
                    "I try it.",
                    f"python3 - <<'EOF'\nfrom shop import {module}\nprint({module}.{name}(3))\nEOF",
                    1,
                    (self.traceback(file, name, each)),
                )
            case 3:
                return (
                    f"I change {name}.",
                    f"sed -i 's/return {name}/return not {name}/' {file} && git diff",
                    0,
                    (self.source(each)),
                )
            case 4:
                failed = self.chance.random() < 0.5
                return (
                    "I test.",
                    f"python -m pytest -q {test} 2>&1 | tail -60",
                    int(failed),
                    (self.tests(test, name, each, failed)),
                )
            case 5:
                code = f"cat > {test} <<'EOF'\nfrom shop.{module} import {name}\n\n\ndef test_{name}():\n"
                return "I add a test.", code + f"    assert {name}({number}) == {number + 1}\nEOF", 0, ""
            case _:
                return (
                    "I run all of it.",
                    "timeout 60 python -m shop report && cat out/report.json",
                    0,
                    (f'{{"total": {number}, "rows": {number * 3}}}\n' + self.hits(name, each // 2)),
                )

    def source(self, size: int) -> str:
        return self.lines(size, lambda n: f"    {n % 400:>4}  value_{n} = {self.chance.choice(NAMES)}(item, limit={n})")

    def hits(self, name: str, size: int) -> str:
        return self.lines(size, lambda n: f"shop/{self.chance.choice(MODULES)}.py:{n + 3}:    def {name}_{n}(self):")

    def traceback(self, file: str, name: str, size: int) -> str:
        problem = self.chance.choice(PROBLEMS).format(a=self.chance.randrange(99), b=self.chance.randrange(99))
        frames = self.lines(size, lambda n: f'  File "/app/{file}", line {n + 10}, in {name}\n    return {name}(part)')
        return f"Traceback (most recent call last):\n{frames}{problem}\n"

    def tests(self, test: str, name: str, size: int, failed: bool) -> str:
        body = self.lines(size, lambda n: f"{test}::test_{name}_{n} PASSED                       [ {n % 100:>2}%]")
        if not failed:
            return f"{body}============ 12 passed in 0.41s ============\n"
        problem = self.chance.choice(PROBLEMS).format(a=self.chance.randrange(99), b=self.chance.randrange(99))
        return f"{body}FAILED {test}::test_{name} - {problem}\n======= 1 failed, 11 passed in 0.52s =======\n"

    def lines(self, size: int, line: Callable[[int], str]) -> str:
        made: list[str] = []
        number = length = 0
        while length < size:
            made.append(line(number))
            length += len(made[-1]) + 2  # the line's end takes two characters in JSON
            number += 1
        return "\n".join(made) + "\n"


def output_size(actions: int, size: int) -> int:
    """How long outputs must be for a trace of so many actions to have so many bytes, by two made samples."""
    sample = min(actions, 70)

    def length(each: int) -> int:
        return sum(len(json.dumps(message)) + 2 for message in Made().messages(sample, each))

    bare, full = length(0), length(1000)
    return max(0, round(1000 * (size * sample / actions - bare) / (full - bare)))


# Time


def only(path: Path) -> Trajectory:
    """The one trajectory of a file."""
    (trajectory,) = dense.read(path)
    return trajectory


def whole(path: Path) -> Distillation:
    """All of it: from the file to the feedback."""
    return distill_sync(only(path))


def timed(rounds: int, work: list[Callable[[], object]]) -> list[list[float]]:
    """CPU milliseconds of each piece of work, all rounds, the best first. The pieces take turns, so that a noisy moment
    hits all alike."""
    taken: list[list[float]] = [[] for _ in work]
    for _ in range(rounds):
        for times, piece in zip(taken, work, strict=True):
            start = time.process_time()
            piece()
            times.append((time.process_time() - start) * 1e3)
    return [sorted(times) for times in taken]


def measure(path: Path, rounds: int = ROUNDS) -> dict[str, float]:
    """One trace, by part."""
    return measure_all([path], rounds)[0]


def measure_all(paths: list[Path], rounds: int) -> list[dict[str, float]]:
    """Traces, by part, all in turns."""
    work = [piece for path in paths for piece in parts_of(path)]
    times = timed(rounds, work)
    each = len(work) // len(paths) if paths else 0
    return [figures(path, times[each * number : each * (number + 1)]) for number, path in enumerate(paths)]


def parts_of(path: Path) -> list[Callable[[], object]]:
    """The whole, the reference, and the parts that can be measured alone."""
    trajectory = only(path)
    cleaned, _ = clean(trajectory)
    tree, known = whole(path).reconciled, Actions(cleaned.steps)
    deliver(tree, cleaned, known)
    return [
        lambda: whole(path),
        lambda: load_json(path),
        lambda: only(path),
        lambda: redact(trajectory),
        lambda: [effects(step) for step in trajectory.steps],
        lambda: deliver(tree, cleaned, known),
        lambda: RulesAnalyst().analysed(cleaned),
    ]


def deliver(tree: ReconciledTree, cleaned: Trajectory, known: Actions) -> None:
    """The tree's message, as the service makes it."""
    drafted = FeedbackDraft(tree_report(tree, known), is_tree=True)
    deliver_draft(drafted, cleaned, Budgets(), "dense")


def figures(path: Path, times: list[list[float]]) -> dict[str, float]:
    """What the times come to: noise only adds, so the best of each counts; the median of the whole tells how noisy it
    was. `rules` is what is left of the whole: the rest of the analyst and the pipeline around it. `analyst_ms` is
    measured by itself and contains `effects`."""
    total, reference, read, redacted, actions, delivered, analysed = (one[0] for one in times)
    return {
        "actions": len(only(path).steps),
        "kilobytes": path.stat().st_size / 1e3,
        "median_ms": times[0][len(times[0]) // 2],
        "json_ms": reference,
        "read": read,
        "redact": redacted,
        "effects": actions,
        "rules": max(0.0, total - read - redacted - actions - delivered),
        "deliver": delivered,
        "analyst_ms": analysed,
        "total_ms": total,
        "ratio": total / reference,
    }


def load_json(path: Path) -> None:
    """The reference: the file as one document, or line by line."""
    data = path.read_bytes()
    try:
        json.loads(data)
    except ValueError:
        for line in data.splitlines():
            if line.startswith(b"{"):
                json.loads(line)


def corpus_traces() -> list[Path]:
    """Files of the corpus with one trajectory of about as many actions."""
    found: list[Path] = []
    for file in files_of(CORPUS) if CORPUS.is_dir() else ():
        path = getattr(file, "path", None)
        if not isinstance(path, Path) or path.suffix not in {".json", ".jsonl"} or path.stat().st_size > 1_000_000:
            continue
        counts = [len(item.collect().steps) for item in read_streams(path) if isinstance(item, Stream)]
        if len(counts) == 1 and counts[0] in LIKE:
            found.append(path)
    return found


def measure_corpus() -> dict[str, Any] | None:
    """The same over the corpus: the mean trace, and how the whole is spread."""
    rows = measure_all(corpus_traces(), CORPUS_ROUNDS)
    if not rows:
        return None
    mean = {name: sum(row[name] for row in rows) / len(rows) for name in rows[0]}
    totals = sorted(row["total_ms"] for row in rows)
    per_150 = sorted(row["total_ms"] * SIZE / 1e3 / max(row["kilobytes"], SIZE / 1e3) for row in rows)
    return {
        "traces": len(rows),
        "mean": mean,
        "median_ms": totals[len(totals) // 2],
        "p90_ms": totals[len(totals) * 9 // 10],
        "median_ms_at_150_kb": per_150[len(per_150) // 2],
    }


def measure_scale(folder: Path, steps: tuple[int, ...] = STEPS) -> dict[str, Any]:
    """CPU time for each step, file to feedback, and the exponent of a straight line through the logarithms."""
    rows: list[dict[str, float]] = []
    for count in steps:
        path = folder / f"scale-{count}.traj.json"
        Made().write(path, count, 900 * count)
        milliseconds = timed(max(1, min(5, 5_000 // count)), [lambda path=path: whole(path)])[0][0]
        rows.append(
            {"steps": count, "seconds": milliseconds / 1e3, "microseconds_per_step": milliseconds * 1e3 / count}
        )
        path.unlink()
    return {"rows": rows, "exponent": exponent([(row["steps"], row["seconds"]) for row in rows])}


def exponent(points: list[tuple[float, float]]) -> float:
    """The slope through the logarithms, by least squares."""
    logs = [(math.log(x), math.log(y)) for x, y in points]
    x_mean, y_mean = (sum(values) / len(logs) for values in zip(*logs, strict=True))
    return sum((x - x_mean) * (y - y_mean) for x, y in logs) / sum((x - x_mean) ** 2 for x, _ in logs)


# Memory

PEAK = """
import sys
sys.path.insert(0, sys.argv[2])
import rules
from pathlib import Path
folder = Path(sys.argv[1])
rules.whole(folder / "small.traj.json")  # grammars and tables are there once, however long the trace
idle = rules.peak_megabytes()
rules.whole(folder / "large.traj.json")
print(idle, rules.peak_megabytes())
"""


def peak_megabytes() -> float:
    """The most memory that this process has had. By /proc where there is one: the other count begins with what the
    process had that started this one."""
    status = Path("/proc/self/status")
    if status.exists():
        found = next((line for line in status.read_text().splitlines() if line.startswith("VmHWM:")), None)
        if found is not None:
            return int(found.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure_memory(folder: Path, actions: int = 20_000, size: int = 40_000_000) -> dict[str, float]:
    """Peak memory of a process that distills one large trace, beyond what it has after a small one."""
    Made().write(folder / "small.traj.json", ACTIONS, SIZE)
    Made().write(folder / "large.traj.json", actions, size)
    command = [sys.executable, "-c", PEAK, str(folder), str(Path(__file__).parent)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    idle, peak = map(float, done.stdout.split())
    megabytes = (folder / "large.traj.json").stat().st_size / (1 << 20)
    return {
        "actions": actions,
        "file_megabytes": megabytes,
        "idle_megabytes": idle,
        "peak_megabytes": peak,
        "multiple": (peak - idle) / megabytes,
    }


# Inspect Scout

SCOUT = """
import asyncio, json, sys, time
import inspect_scout
from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageUser
from inspect_scout import Transcript, grep_scanner

KINDS = {"system": ChatMessageSystem, "assistant": ChatMessageAssistant}
PATTERNS = {
    "errors": ["error", "failed", "exception", "traceback"],
    "missing": ["not found", "no such file", "no module named"],
    "limits": ["timed out", "out of memory", "permission denied"],
}
paths, rounds = json.loads(sys.argv[1]), int(sys.argv[2])
scan = grep_scanner(PATTERNS)


def text(content):
    return content if isinstance(content, str) else json.dumps(content)


def transcript(path):
    with open(path, encoding="utf-8") as file:
        value = json.load(file)
    messages = value["messages"] if isinstance(value, dict) else value
    return Transcript(
        transcript_id=path,
        messages=[KINDS.get(m.get("role"), ChatMessageUser)(content=text(m.get("content") or "")) for m in messages],
    )


async def main():
    rows = []
    for path in paths:
        made = scanned = float("inf")
        for _ in range(rounds):
            start = time.process_time()
            found = transcript(path)
            made = min(made, time.process_time() - start)
            start = time.process_time()
            await scan(found)
            scanned = min(scanned, time.process_time() - start)
        rows.append([made * 1e3, scanned * 1e3])
    print("RESULT " + json.dumps({"version": inspect_scout.__version__, "rows": rows}))


asyncio.run(main())
"""
"""Only the transcript and the scanner: no job, no store, no results on disk. That is the least that Scout can take."""


def measure_scout(paths: list[Path], ours: list[float]) -> dict[str, Any]:
    """Scout's scanner over the same files, or why it could not be had."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder) / "bin" / "python"
        try:
            _run([sys.executable, "-m", "venv", folder])
            uv = shutil.which("uv")
            pip = (
                [uv, "pip", "install", "-q", "--python", str(python)]
                if uv
                else [str(python), "-m", "pip", "install", "-q"]
            )
            try:
                _run([*pip, "inspect_scout"])
            except subprocess.CalledProcessError:  # the one may know a package index that the other does not
                _run([str(python), "-m", "pip", "install", "-q", "inspect_scout"])
            printed = _run([str(python), "-c", SCOUT, json.dumps([str(path) for path in paths]), "5"])
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or str(error)
            return {
                "not_installable": str(said).strip().splitlines()[-1][:300] if str(said).strip() else "no reason given"
            }
    found = json.loads(next(line for line in printed.splitlines() if line.startswith("RESULT "))[7:])
    count = len(paths)
    made, scanned = (sum(row[place] for row in found["rows"]) / count for place in (0, 1))
    return {
        "version": found["version"],
        "traces": count,
        "transcript_ms": made,
        "scan_ms": scanned,
        "scout_ms": made + scanned,
        "dense_ms": sum(ours) / count,
    }


def _run(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=900).stdout


def scout_traces(made: Path) -> list[Path]:
    """The made trace and the corpus traces that are chats of one document."""
    chats = [path for path in corpus_traces() if "mini-swe-agent" in str(path)]
    return [made, *chats[:40]]


# Telling


def interpreter_build() -> str:
    """The interpreter, and whether it was built with profile-guided and link-time optimisation."""
    version = f"{sys.implementation.name} {sys.version.split()[0]}"
    arguments = sysconfig.get_config_var("CONFIG_ARGS")
    if arguments is None:  # as on Windows
        return f"{version}, its build options are unknown"
    pgo = "with PGO" if "--enable-optimizations" in arguments else "without PGO"
    lto = "with LTO" if "--with-lto" in arguments and "--with-lto=no" not in arguments else "without LTO"
    return f"{version}, built {pgo}, {lto}"


def reported(row: dict[str, float]) -> str:
    split = "  ".join(f"{name} {row[name]:.2f}" for name in PARTS)
    return (
        f"analyst {row['analyst_ms']:.2f} ms CPU, whole {row['total_ms']:.2f} ms"
        f" (median {row['median_ms']:.2f}; {row['ratio']:.1f} times json.loads): {split}"
    )


def against_limit(row: dict[str, float]) -> str:
    """The analyst and the whole beside the limit."""
    figures = {"analyst": row["analyst_ms"], "whole": row["total_ms"]}
    return ", ".join(f"{name} {'within' if ms <= MOST_MS else 'OVER'}" for name, ms in figures.items())


def show(result: dict[str, Any]) -> None:
    made, corpus, scale, memory = result["made"], result["corpus"], result["scale"], result["memory"]
    print(result["interpreter"])
    print(f"made, {made['actions']} actions, {made['kilobytes']:.0f} KB: {reported(made)}")
    print(f"  limit {MOST_MS:.0f} ms: {against_limit(made)}")
    if corpus is None:
        print("corpus: not here")
    else:
        mean = corpus["mean"]
        print(
            f"corpus, {corpus['traces']} traces, mean {mean['actions']:.0f} actions, {mean['kilobytes']:.0f} KB:",
            end=" ",
        )
        print(reported(mean))
        print(f"  median {corpus['median_ms']:.2f} ms, 90 % within {corpus['p90_ms']:.2f} ms;", end=" ")
        print(f"larger ones counted as 150 KB: median {corpus['median_ms_at_150_kb']:.2f} ms")
    print(f"\n{'steps':>8}{'seconds':>10}{'µs a step':>11}")
    for row in scale["rows"]:
        print(f"{row['steps']:>8,}{row['seconds']:>10.3f}{row['microseconds_per_step']:>11.0f}")
    print(f"time grows with steps to the power of {scale['exponent']:.3f} (limit {MOST_EXPONENT})")
    print(f"\nmemory, {memory['actions']:,} actions, {memory['file_megabytes']:.0f} MB:", end=" ")
    print(f"peak {memory['peak_megabytes']:.0f} MB, {memory['multiple']:.1f} times the file (limit {MOST_MEMORY:.0f})")
    if (scout := result.get("scout")) is not None:
        show_scout(scout)


def show_scout(scout: dict[str, Any]) -> None:
    if "not_installable" in scout:
        print(f"\nInspect Scout: not installable here: {scout['not_installable']}")
        return
    print(f"\nInspect Scout {scout['version']}, {scout['traces']} traces, pattern scanner with ten patterns:", end=" ")
    print(f"{scout['scout_ms']:.2f} ms CPU a transcript", end=" ")
    print(f"(transcript {scout['transcript_ms']:.2f}, scan {scout['scan_ms']:.2f}); dense {scout['dense_ms']:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.add_argument("--scout", action="store_true", help="measure Inspect Scout too (installs it; minutes)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        trace = folder / "made.traj.json"
        Made().write(trace, ACTIONS, SIZE)
        result: dict[str, Any] = {"interpreter": interpreter_build(), "made": measure(trace)}
        result["corpus"] = measure_corpus()
        result |= {"scale": measure_scale(folder), "memory": measure_memory(folder)}
        if options.scout:
            paths = scout_traces(trace)
            result["scout"] = measure_scout(paths, [timed(5, [lambda path=path: whole(path)])[0][0] for path in paths])
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)
    over = ["time of the analyst"] * (result["made"]["analyst_ms"] > MOST_MS)
    over += ["growth"] * (result["scale"]["exponent"] > MOST_EXPONENT)
    over += ["memory"] * (result["memory"]["multiple"] > MOST_MEMORY)
    if over:
        sys.exit(f"over the limit: {', '.join(over)}")


if __name__ == "__main__":
    main()
