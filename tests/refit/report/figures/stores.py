"""Experiments made up for tests of figures and pages: large, small, odd and hostile. Everything follows from a seed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence

from dense.trajectory import Usage
from refit.results import ANALYST, RUN0, AttemptResult, Cell, Experiment, Prices, Result

TRACES = ("advisor", "self-reflection", "all-at-once", "step-by-step", "dense")
ALL = ("none", *TRACES, "dense-no-shortcuts", "dense-no-hierarchy", "verifier-feedback")
GAINS = {
    "none": 0.0,
    "advisor": 0.15,
    "self-reflection": -0.3,
    "all-at-once": 0.1,
    "step-by-step": 0.2,
    "dense": 0.9,
    "dense-no-shortcuts": 0.5,
    "dense-no-hierarchy": 0.55,
    "dense-flat": 0.6,
    "verifier-feedback": 0.8,
}
RECIPIENTS = ("MiniMax-M2.7", "DeepSeek V4 Pro", "GPT-5.5", "Kimi K2.6")
NAMES = (
    "adaptive-rejection-sampler bn-fit-modify break-filter-js-from-html build-cython-ext build-pmars build-pov-ray "
    "caffe-cifar-10 cancel-async-tasks chess-best-move circuit-fibsqrt cobol-modernization code-from-image "
    "compile-compcert configure-git-webserver constraints-scheduling count-dataset-tokens crack-7z-hash "
    "custom-memory-heap-crash db-wal-recovery distribution-search dna-assembly dna-insert extract-elf "
    "extract-moves-from-video feal-differential-cryptanalysis feal-linear-cryptanalysis filter-js-from-html "
    "financial-document-processor fix-code-vulnerability fix-git fix-ocaml-gc gcode-to-text git-leak-recovery"
).split()
PRICES = {name: Prices(5.0, 30.0) for name in RECIPIENTS} | {ANALYST: Prices(0.5, 3.0)}


def made(
    recipients: Sequence[str] = ("GPT-5.5",),
    tasks: int | Sequence[str] = 6,
    repetitions: int = 2,
    methods: Sequence[str] = ALL,
    rounds: int = 1,
    *,
    seed: int = 1,
    invalid: float = 0.01,
    with_tokens: bool = True,
    notes: Sequence[str] = (),
    not_applicable: Sequence[tuple[str, str]] = (),
) -> Experiment:
    """An experiment with task effects, gains by method, and a few cells that were not scored."""
    chance = random.Random(seed)
    names = list(tasks) if not isinstance(tasks, int) else task_names(tasks)
    results: list[Result] = []
    for recipient in recipients:
        for task in names:
            if (recipient, task) in not_applicable:
                continue
            ease = chance.gauss(0.3, 1.8)
            for repetition in range(repetitions):
                results.append(_result(chance, Cell(recipient, task, repetition, 0, RUN0), ease, invalid, with_tokens))
                for method in methods:
                    for number in range(1, rounds + 1):
                        cell = Cell(recipient, task, repetition, number, method)
                        gain = GAINS.get(method, 0.3) * (1 + 0.3 * (number - 1))
                        results.append(_result(chance, cell, ease + gain, invalid, with_tokens))
    return Experiment(
        name="made",
        results=tuple(sorted(results, key=lambda result: result.cell)),
        planned=tuple(sorted(result.cell for result in results)),
        methods=tuple(methods),
        recipients=tuple(recipients),
        privileged=frozenset(set(methods) & {"verifier-feedback"}),
        prices={name: Prices(5.0, 30.0) for name in recipients} | {ANALYST: Prices(0.5, 3.0)},
        notes=tuple(notes),
        facts={"dense": "0.0", "harness": "made up for a test", "seed": seed},
    )


def task_names(count: int) -> list[str]:
    """As long as real ones."""
    return [NAMES[i] if i < len(NAMES) else f"{NAMES[i % len(NAMES)]}-{i // len(NAMES) + 1}" for i in range(count)]


def _result(chance: random.Random, cell: Cell, ease: float, invalid: float, with_tokens: bool) -> Result:
    saving = {"none": 1.0, "dense": 0.65, "step-by-step": 0.7, RUN0: 1.0}.get(cell.method, 0.85)
    tokens = int(250_000 * saving * math.exp(chance.gauss(0, 0.5)))
    usage = Usage(input=int(tokens * 0.98), output=int(tokens * 0.02)) if with_tokens else None
    feedback = None
    if cell.round and with_tokens:
        spent = {"none": 0, "dense": 450_000, "advisor": 3_000}.get(cell.method, 60_000)
        feedback = Usage(int(spent * chance.uniform(0.7, 1.3)), 0, 0, spent // 50, 0.0)
    is_invalid = chance.random() < invalid
    passed = chance.random() < 1 / (1 + math.exp(-ease))
    folder = f"cells/{cell.key}"
    return Result(
        cell,
        AttemptResult(
            reward=None if is_invalid else 1.0 if passed else chance.choice((0.0, 0.0, 0.5)),
            exception="EnvironmentStartTimeoutError: the container did not start" if is_invalid else None,
            usage=usage,
            is_partial=chance.random() < 0.02,
            tool_calls=chance.randint(0, 60),
            seconds=chance.uniform(20, 900),
            delivered="instruction" if cell.round else "",
            received="same" if cell.round else "",
            trace="" if is_invalid else f"{folder}/agent/trajectory.json",
        ),
        feedback=feedback,
        feedback_bytes=chance.randint(2_000, 190_000) if cell.round else None,
        feedback_folder=f"{folder}/feedback" if cell.round and cell.method != "none" else "",
        message=f"{folder}/message.md" if cell.round and cell.method != "none" else "",
    )


HOSTILE = (
    "</script><script>document.title='owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "$\\frac{1}{0}$ & 100% _under_ #1 ~^{}",
    "\u202eevil\u202c rtl \u2067mark\u2069",
    "a-very-long-task-name-" * 12,
    "quotes \" ' ` ]]> <!-- --> {{ 7*7 }} {% raw %}",
    "tab\tnewline\nnull\x00bell\x07",
    "日本語のタスク 🙂",
)
