"""How much of what an attempt found out its message keeps: keyed facts, and false statements.

    python bench/facts.py [ARM …] [--budget BYTES …] [--revision REV …] [--set open|frozen|all] [--detail] [--json]
    python bench/facts.py --check

An arm is `dense` (the message of this revision), `head-tail` (the first and last bytes of the raw text), `soup` (words
of the raw text that the task does not have, without order) or `raw`; without arms these are the first three.
`--revision` adds `dense` of an earlier commit. Each arm gets the same bytes: `--budget`, by default 6,000 and
`default`, which is the size that `dense` chooses itself; `20%` is a share of the raw text, since most of the recordings
are short. `bench/facts/README.md` says what a key holds and how the keys were made. The frozen half is left out unless
it is asked for. `--check` holds each key against the raw text instead.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "tests"))

from attempt_shapes import write_as  # noqa: E402

import dense  # noqa: E402

KEYS = ROOT / "bench" / "facts" / "keys"
ARMS = ("head-tail", "soup", "dense")
NEAR = 400
"""So many characters apart the patterns of one alternative may match: a bag of words states nothing."""
MAX_MATCHES = 200
DECISIVE = 3
"""The weight of a fact without which the next attempt fails, or repeats what failed."""

type Patterns = list[list[str]]
Kind = Literal["cause", "open", "working", "found", "dead-end", "product", "check", "effect", "answer", "request"]
Family = Literal["terminal", "repository", "dialog", "research", "web", "session", "ctf", "forensics", "data", "speed"]


class Fact(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What the next attempt should know, with the words of the trace that show it."""

    id: str
    kind: Kind
    weight: Literal[1, 2, 3]
    fact: str
    actions: list[int]
    witness: list[str] = []
    """Literal text of these actions that shows the fact."""
    any: Patterns


class Claim(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A plausible statement that is false for this trace."""

    claim: str
    any: Patterns


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """The key of one trace."""

    path: str
    attempt: str | None = None
    """The name of the attempt, if the file is a table of attempts."""
    shape: str | None = None
    """The shape in which such an attempt is written as a trace."""
    set: Literal["open", "frozen"] = "open"
    family: Family = "terminal"
    facts: list[Fact]
    false: list[Claim] = []

    @property
    def name(self) -> str:
        return self.attempt or Path(self.path).name


@dataclass(frozen=True)
class Trace:
    """A keyed trace: where it is, what the agent was asked, and the text of its actions."""

    key: Key
    path: Path
    task: str
    actions: tuple[str, ...]

    @property
    def raw(self) -> str:
        return "\n".join(self.actions)


@dataclass(frozen=True)
class Score:
    """What one message keeps of a key."""

    key: Key
    kept: tuple[bool, ...]
    false: tuple[str, ...]
    size: int


def load_keys(folder: Path) -> list[Key]:
    """The keys of a folder, in the order of their file names."""
    return [msgspec.json.decode(path.read_bytes(), type=Key) for path in sorted(folder.glob("*.json"))]


def load_trace(key: Key, root: Path, scratch: Path) -> Trace:
    """The trace of a key as the product's reader gives it."""
    path = root / key.path
    if key.attempt:
        folder = scratch / key.attempt
        folder.mkdir(exist_ok=True)
        made = json.loads(path.read_text(encoding="utf-8"))[key.attempt]
        path = write_as(made, key.shape or "claude_code", folder)
    trajectory = next(iter(dense.read(str(path))))
    task = trajectory.task.instruction if trajectory.task else None
    return Trace(key, path, task or "", tuple(map(action_text, trajectory.steps)))


def action_text(step: dense.Step) -> str:
    """All that an action said, called and was shown."""
    calls = [f"{call.name} {json.dumps(call.arguments, ensure_ascii=False)}" for call in step.calls]
    observations = [observation.text or "" for observation in step.observations]
    return "\n".join([step.reasoning or "", step.message or "", *calls, *observations])


def states(text: str, alternatives: Patterns) -> bool:
    """Whether the patterns of one of the alternatives match near each other."""
    return any(_near(text, patterns) for patterns in alternatives)


def _near(text: str, patterns: Sequence[str]) -> bool:
    flags = re.IGNORECASE | re.DOTALL
    starts = [
        [match.start() for match in itertools.islice(re.finditer(pattern, text, flags), MAX_MATCHES)]
        for pattern in patterns
    ]
    return any(all(any(abs(at - first) <= NEAR for at in others) for others in starts[1:]) for first in starts[0])


def without_task(message: str, task: str) -> str:
    """A message without the lines of the task that it repeats: these keep nothing of the attempt."""
    for line in sorted({line.strip() for line in task.splitlines()}, key=len, reverse=True):
        if len(line) >= 40:
            message = message.replace(line, "")
    return message


def head_and_tail(raw: str, budget: int) -> str:
    """The first and the last bytes of the raw text."""
    data = raw.encode()
    half = (budget - 5) // 2
    if len(data) <= budget:
        return raw
    return data[:half].decode("utf-8", "ignore") + "\n...\n" + data[-half:].decode("utf-8", "ignore")


def soup(raw: str, task: str, budget: int) -> str:
    """Words that the task does not have, those that recur first, then the latest: what literal keys alone are worth."""
    known = {word.lower() for word in re.findall(r"\w+", task)}
    words = [word.strip(".:") for word in re.split(r"[\s\"'`,;()\[\]{}]+", raw)]
    words = [word for word in words if 3 <= len(word) <= 60 and word.lower() not in known]
    count = Counter(word.lower() for word in words)
    last = {word.lower(): (at, word) for at, word in enumerate(words)}
    chosen: list[str] = []
    for word in sorted(count, key=lambda word: (-min(count[word], 4), -last[word][0])):
        budget -= len(last[word][1].encode()) + 1
        if budget < 0:
            break
        chosen.append(last[word][1])
    return " ".join(chosen)


def message_of(source: Path, path: Path, budget: int | None) -> str:
    """What `dense distill` of the source tree prints for a trace."""
    size = [] if budget is None else ["--budget", str(budget)]
    env = {**os.environ, "PYTHONPATH": str(source)}
    program = [sys.executable, "-m", "dense", "distill", str(path), *size]
    done = subprocess.run(program, capture_output=True, text=True, env=env, timeout=300, check=False)
    if not done.stdout:
        raise SystemExit(f"facts: no message for {path.name}: {done.stderr.strip()[-300:]}")
    return done.stdout


def unpack(revision: str, folder: Path) -> Path:
    """The source tree of an earlier commit."""
    program = ["git", "-C", str(ROOT), "archive", "--format=tar", revision, "src"]
    done = subprocess.run(program, capture_output=True, check=False)
    if done.returncode:
        raise SystemExit(f"facts: {done.stderr.decode().strip()}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder / revision, filter="data")
    return folder / revision / "src"


def messages(arm: str, traces: Sequence[Trace], sources: dict[str, Path], budgets: Sequence[int | None]) -> list[str]:
    """The messages of an arm, one for each trace and its budget."""

    def message(trace: Trace, budget: int | None) -> str:
        if arm in sources:
            return without_task(message_of(sources[arm], trace.path, budget), trace.task)
        if arm == "raw" or budget is None:
            return trace.raw
        return head_and_tail(trace.raw, budget) if arm == "head-tail" else soup(trace.raw, trace.task, budget)

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(message, traces, budgets))


def score(trace: Trace, message: str) -> Score:
    """Which facts a message keeps, and which false statements it makes."""
    kept = tuple(states(message, fact.any) for fact in trace.key.facts)
    false = tuple(claim.claim for claim in trace.key.false if states(message, claim.any))
    return Score(trace.key, kept, false, len(message.encode()))


def recall(scores: Iterable[Score], least: int = 1) -> tuple[float, str]:
    """The weighted share of the facts of at least this weight that are kept, and the counts."""
    pairs = [
        (fact.weight, kept)
        for row in scores
        for fact, kept in zip(row.key.facts, row.kept, strict=True)
        if fact.weight >= least
    ]
    total = sum(weight for weight, _ in pairs) or 1
    return sum(weight * kept for weight, kept in pairs) / total, f"{sum(kept for _, kept in pairs)}/{len(pairs)}"


def summary(scores: Sequence[Score]) -> dict[str, object]:
    """The figures of an arm."""
    (share, counts), (share_decisive, counts_decisive) = recall(scores), recall(scores, DECISIVE)
    return {
        "kept": counts,
        "recall": round(share, 3),
        "decisive": counts_decisive,
        "recall_decisive": round(share_decisive, 3),
        "false": sum(len(row.false) for row in scores),
        "claims": sum(len(row.key.false) for row in scores),
        "median_bytes": statistics.median(row.size for row in scores),
    }


def printed(label: str, scores: Sequence[Score]) -> str:
    """One line with the figures of an arm."""
    row = summary(scores)
    return (
        f"{label:<24} facts {row['kept']:>8} {row['recall']:.3f}   decisive {row['decisive']:>7} "
        f"{row['recall_decisive']:.3f}   false {row['false']}/{row['claims']}   bytes {row['median_bytes']:.0f}"
    )


def details(scores: Sequence[Score]) -> Iterator[str]:
    """The figures of an arm by family, its lost decisive facts and false statements by trace."""
    families: dict[str, list[Score]] = defaultdict(list)
    for row in scores:
        families[row.key.family].append(row)
    for family, rows in sorted(families.items()):
        yield printed(f"    {family} ({len(rows)})", rows)
    for row in scores:
        facts = zip(row.key.facts, row.kept, strict=True)
        lost = [fact.id for fact, kept in facts if not kept and fact.weight == DECISIVE]
        yield f"    {row.key.name}: {sum(row.kept)}/{len(row.kept)}, lost {' '.join(lost) or '-'}" + "".join(
            f"\n        false: {claim}" for claim in row.false
        )


def problems(trace: Trace) -> Iterator[str]:
    """What a stranger could not confirm in a key."""
    identifiers = Counter(fact.id for fact in trace.key.facts)
    yield from (f"{name} is given twice" for name, count in identifiers.items() if count > 1)
    for fact in trace.key.facts:
        if not fact.actions or not all(1 <= number <= len(trace.actions) for number in fact.actions):
            yield f"{fact.id}: no such action"
            continue
        shown = "\n".join(trace.actions[number - 1] for number in fact.actions)
        if not fact.witness:
            yield f"{fact.id}: no witness"
        yield from (f"{fact.id}: not in its actions: {text!r}" for text in fact.witness if text not in shown)
        if not states(trace.raw, fact.any) and fact.kind != "open":
            yield f"{fact.id}: no alternative matches the raw text"
        if states(trace.task, fact.any):
            yield f"{fact.id}: the task already says so"
    for claim in trace.key.false:
        if states(f"{trace.task}\n\n{trace.raw}", claim.any):
            yield f"false: the trace itself says {claim.claim!r}"


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("arms", nargs="*", help=f"of dense, head-tail, soup, raw; by default {', '.join(ARMS)}")
    made.add_argument("--keys", type=Path, default=KEYS, help="a folder of keys")
    made.add_argument("--root", type=Path, default=ROOT, help="what their paths are relative to")
    made.add_argument(
        "--budget",
        action="append",
        default=[],
        help="bytes, a share of the raw text as in 20%%, or `default`; may be repeated",
    )
    made.add_argument("--revision", action="append", default=[], help="an earlier commit; may be repeated")
    made.add_argument("--set", choices=["open", "frozen", "all"], default="open", help="which half of the keys")
    made.add_argument("--detail", action="store_true", help="also by family and by trace")
    made.add_argument("--json", action="store_true", help="print one JSON object")
    made.add_argument("--check", action="store_true", help="hold the keys against the raw text")
    return made


def unspecific(trace: Trace, traces: Sequence[Trace]) -> Iterator[str]:
    """Facts whose patterns match the raw text of an attempt at another task: they would please by chance."""
    others = [other for other in traces if other.task != trace.task]
    for fact in trace.key.facts:
        matched = [other.key.name for other in others if states(other.raw, fact.any)]
        if matched:
            yield f"{fact.id}: also matches {', '.join(matched[:3])}"


def check(traces: Sequence[Trace]) -> None:
    """Print what cannot be confirmed; fail if there is any."""
    found = [
        f"{trace.key.name}: {problem}" for trace in traces for problem in [*problems(trace), *unspecific(trace, traces)]
    ]
    print(
        "\n".join(found) or f"{len(traces)} keys: each witness is in its actions, no fact is in its task or elsewhere"
    )
    if found:
        sys.exit(1)


def budgets_of(size: str, traces: Sequence[Trace]) -> list[int | None]:
    """The bytes for the message of each trace: a number, a share of its raw text, or none for the default."""
    if size.endswith("%"):
        return [len(trace.raw.encode()) * int(size[:-1]) // 100 for trace in traces]
    return [None if size == "default" else int(size)] * len(traces)


def measure(traces: Sequence[Trace], options: argparse.Namespace, scratch: Path) -> dict[str, dict[str, object]]:
    """Score and print each arm at each size."""
    sources = {"dense": ROOT / "src"} | {f"dense@{rev}": unpack(rev, scratch) for rev in options.revision}
    arms = [*(options.arms or ARMS), *(arm for arm in sources if arm != "dense")]
    figures: dict[str, dict[str, object]] = {}
    for size in options.budget or ["6000", "default"]:
        budgets = budgets_of(size, traces)
        if size == "default":
            own = messages("dense", traces, sources, budgets)
            budgets = [len(message.encode()) for message in own]
        if not options.json:
            print(f"\nsize: {size}")
        for arm in arms:
            is_own_size = size == "default" and arm in sources
            texts = messages(arm, traces, sources, [None] * len(traces) if is_own_size else budgets)
            scores = [score(trace, text) for trace, text in zip(traces, texts, strict=True)]
            figures.setdefault(size, {})[arm] = summary(scores)
            if not options.json:
                print("\n".join([printed(arm, scores), *(details(scores) if options.detail else ())]))
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or check the keys."""
    options = parser().parse_args(arguments)
    if unknown := set(options.arms) - {*ARMS, "raw"}:
        parser().error(f"no such arm: {', '.join(sorted(unknown))}")
    keys = [key for key in load_keys(options.keys) if options.set in ("all", key.set) or options.check]
    if not keys:
        sys.exit(f"facts: no keys of the set {options.set} in {options.keys}")
    with tempfile.TemporaryDirectory() as folder:
        traces = [load_trace(key, options.root, Path(folder)) for key in keys]
        if options.check:
            check(traces)
            return
        facts = [fact for key in keys for fact in key.facts]
        decisive = sum(fact.weight == DECISIVE for fact in facts)
        if not options.json:
            print(f"{len(keys)} traces of the set {options.set}, {len(facts)} facts, {decisive} of them decisive")
        figures = measure(traces, options, Path(folder))
    if options.json:
        print(json.dumps({"set": options.set, "traces": len(keys), "facts": len(facts), "sizes": figures}, indent=2))


if __name__ == "__main__":
    main()
