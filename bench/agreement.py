"""How the built-in analyst's word on whole runs agrees with their recorded outcomes, after the fact.

    python bench/agreement.py MANIFEST [--json] [--by FIELD] [--hold-out FIELD] [--jobs N] [--list]

MANIFEST has a JSON object on each line: `path`, relative to the manifest's folder, and `outcome`, 0 or 1 (false and
true count too). Other fields may be there or not. Rows without such an outcome, and files from which not exactly one
run can be read, are counted by reason and left out; so are Harbor trials whose log says that the verifier never ran.
Of a Harbor trial the main trajectory is taken.

An alarm is a root state of `incomplete` or `broken`. `complete` and `unknown` raise none, and neither does a run on
which the analyst fails. Beside the analyst stand two baselines: an alarm where the last observation shows an error, and
none ever. `--hold-out FIELD` compares each group of runs with all others: whatever was chosen by looking at the others
has to hold on it. The analyst sees a run without the names of its files, since people write outcomes into them; the
outcome is joined to its answer by the number of the row."""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from pathlib import Path
from typing import Any, cast

import msgspec
from msgspec import Struct

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects
from dense.analysis.analyst import Analyst
from dense.analysis.asking.questions import Answerer
from dense.analysis.rules import RulesAnalyst
from dense.cli.text import printable, shortened
from dense.errors import NoTrajectory
from dense.readers import Stream, read_streams
from dense.readers.folders.harbor import is_harbor_trial
from dense.service import distill_sync
from dense.trajectory import Source, Step, Trajectory
from dense.tree import ReconciledTree, open_issues

ALARMS = frozenset({"incomplete", "broken"})
STATES = ("complete", "incomplete", "broken", "unknown")
NO_OUTCOME = "no outcome of 0 or 1"
NO_PATH = "no path"
MISSING = "no such file"
UNSUPPORTED = "unsupported format"
BROKEN = "broken or empty file"
SEVERAL = "several trajectories"
VOID = "a verifier that never ran"
NEVER_RAN = re.compile(
    r"\b(?:uvx?|pytest|python3?|bash|pip|npx?|cargo|go): (?:command )?not found\b"
    r"|\b(?:Could not resolve host|Failed to connect to|Connection timed out|Temporary failure in name resolution)\b"
    r"|can't open file '?/tests/|/tests/\S+: No such file or directory"
)
"""How the log of a verifier says that its test program never started."""
RAN = re.compile(
    r"={3,} .*\b(?:passed|failed|errors?)\b.* in |^(?:PASSED|FAILED|ERROR) |^Ran \d+ tests?|^(?:not )?ok \d",
    re.MULTILINE,
)
"""How it says that tests ran."""
GOALS = (
    "goals on unseen runs: precision of complete at least 0.90 on 100 runs, false alarms at most 0.04,"
    " recall at least 0.55 on terminal work, 0.70 on tool tasks, 0.12 on SWE-bench"
)
INTERVALS = (
    "95 % intervals, runs taken as independent: Wilson's for proportions; for balanced accuracy Newcombe's"
    " square-and-add of the two Wilson intervals (no random numbers, and unlike a bootstrap never of no width)"
)
NORMAL = 1.959963984540054
"""The normal distribution's 97.5 % point."""

type NewAnalyst = Callable[[], Analyst | Answerer]
"""Makes an analyst; each run gets its own."""
type Outcomes = tuple[str, bool]
"""What was said of a run, and whether it passed."""


def built_in() -> Analyst | Answerer:
    """The analyst that is measured."""
    return RulesAnalyst()


class BadManifest(Exception):
    """A manifest that cannot be used. The text says where and why."""


class Row(Struct, frozen=True):
    """A line of the manifest."""

    path: str | None
    """As written, relative to the manifest's folder."""
    has_passed: bool | None
    """None where no outcome of 0 or 1 was recorded."""
    fields: dict[str, Any]
    """All of it."""


class Judged(Struct, frozen=True):
    """What was said of a run. Whoever made it knew no outcome."""

    state: str
    issue: str = ""
    """The first open issue, fatal ones before others."""
    ends_in_error: bool = False
    """Whether the last observation shows an error."""
    failure: str = ""
    """Why the analyst has no word on it, where it failed."""


class LeftOut(Struct, frozen=True):
    """A row that cannot be measured."""

    reason: str


class Figure(Struct, frozen=True):
    """A number with its 95 % interval; nothing where there is nothing to count."""

    value: float | None
    low: float | None
    high: float | None
    n: int


class Figures(Struct, frozen=True):
    """How alarms agree with outcomes."""

    false_alarm_rate: Figure
    """Alarms among passed runs."""
    recall: Figure
    """Alarms among failed runs."""
    precision: Figure
    """Failed runs among alarms."""
    complete_precision: Figure
    """Passed runs among those called complete."""
    balanced_accuracy: Figure
    """The mean of recall and of one minus false alarms."""


type Word = Judged | LeftOut


def manifest(path: Path) -> list[Row]:
    """The rows of a manifest."""
    rows: list[Row] = []
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    rows.append(_row(line, f"{path}:{number}"))
    except OSError as error:
        raise BadManifest(f"{path}: cannot be read ({error.strerror or error})") from None
    except UnicodeDecodeError:
        raise BadManifest(f"{path}: not UTF-8 text") from None
    if not rows:
        raise BadManifest(f"{path}: no rows; a manifest has a JSON object on each line")
    return rows


def _row(line: str, place: str) -> Row:
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadManifest(f"{place}: not JSON ({error})") from None
    if not isinstance(value, dict):
        raise BadManifest(f"{place}: not a JSON object")
    fields = cast("dict[str, Any]", value)
    path, outcome = fields.get("path"), fields.get("outcome")
    known = isinstance(outcome, int | float) and outcome in (0, 1)
    return Row(path if isinstance(path, str) and path else None, bool(outcome) if known else None, fields)


def is_void(path: Path) -> bool:
    """Whether a run belongs to a Harbor trial whose verifier never ran its tests, whatever reward it wrote."""
    trial = next((folder for folder in (path, *path.parents)[:3] if (folder / "verifier").is_dir()), None)
    if trial is None or (trial / "verifier" / "ctrf.json").is_file():
        return False
    try:
        log = (trial / "verifier" / "test-stdout.txt").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return NEVER_RAN.search(log) is not None and RAN.search(log) is None


def sole_trajectory(path: Path) -> Trajectory | LeftOut:
    """The one run at a path: of a Harbor trial the main trajectory, of anything else the only one."""
    found: Trajectory | None = None
    is_damaged = False
    try:
        if not path.exists():
            return LeftOut(MISSING)
        is_trial = path.is_dir() and is_harbor_trial(path)
        for item in read_streams(path):
            if not isinstance(item, Stream):
                is_damaged |= item.is_trace
            elif found is not None:
                return LeftOut(SEVERAL)
            else:
                found = item.collect()
                if is_trial:
                    break
    except (NoTrajectory, OSError, ValueError):
        return LeftOut(BROKEN)
    if found is None or not found.steps:
        return LeftOut(BROKEN if is_damaged or found else UNSUPPORTED)
    return found


def nameless(trajectory: Trajectory) -> Trajectory:
    """The trajectory without the names of the files that it was read from."""

    def steps(of: Trajectory) -> tuple[Step, ...]:
        return tuple(
            msgspec.structs.replace(
                step,
                source=msgspec.structs.replace(step.source, path="trace"),
                subagents=tuple(map(nameless, step.subagents)),
            )
            for step in of.steps
        )

    return msgspec.structs.replace(trajectory, id="run", source=Source("trace"), steps=steps(trajectory), notices=())


def ends_in_error(trajectory: Trajectory) -> bool:
    """The baseline: whether the last observation shows an error. What a user said is none; what the harness said may
    be a tool's output, since some record it so."""
    for step in reversed(trajectory.steps):
        for observation in reversed(step.observations):
            if observation.origin != "user":
                return observe(msgspec.structs.replace(step, observations=(observation,)), effects(step)).has_failed
    return False


def judge(path: Path, analyst: NewAnalyst = built_in) -> Word:
    """What a new analyst says of the run at a path. It is told nothing else."""
    if is_void(path):
        return LeftOut(VOID)
    try:
        trajectory = sole_trajectory(path)
    except Exception as error:  # a reader's own fault: it must not cost the other rows
        return LeftOut(f"reader failed ({type(error).__name__})")
    if isinstance(trajectory, LeftOut):
        return trajectory
    is_error = ends_in_error(trajectory)
    try:
        tree = distill_sync(nameless(trajectory), analyst()).reconciled
    except Exception as error:  # whatever it is, the run was there to be judged
        return Judged("unknown", "", is_error, f"{type(error).__name__}: {shortened(str(error), 200)}")
    state = tree.root.verdict.state if tree.root.verdict else "unknown"
    return Judged(state, shortened(_first_issue(tree), 300), is_error)


def _first_issue(tree: ReconciledTree) -> str:
    issues = open_issues(tree)
    return issues[0].text if issues else ""


def judged(rows: Sequence[Row], folder: Path, analyst: NewAnalyst = built_in, jobs: int = 1) -> Iterator[Word]:
    """A word on each row, in their order, as they come. Only paths go to where the analyst is."""
    paths = [folder / row.path for row in rows if row.path is not None and row.has_passed is not None]
    words = _each(partial(judge, analyst=analyst), paths, jobs)
    for row in rows:
        if row.has_passed is None:
            yield LeftOut(VOID if row.path is not None and is_void(folder / row.path) else NO_OUTCOME)
        elif row.path is None:
            yield LeftOut(NO_PATH)
        else:
            yield next(words)


def _each(work: Callable[[Path], Word], paths: Sequence[Path], jobs: int) -> Iterator[Word]:
    if jobs <= 1:
        yield from map(work, paths)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(work, paths, chunksize=4)


def wilson(count: int, n: int) -> Figure:
    """A proportion with Wilson's score interval."""
    if n == 0:
        return Figure(None, None, None, 0)
    share, square = count / n, NORMAL * NORMAL
    middle = (share + square / (2 * n)) / (1 + square / n)
    half = NORMAL * math.sqrt(share * (1 - share) / n + square / (4 * n * n)) / (1 + square / n)
    # At 0 and 1 the limit is the rate itself; only rounding says otherwise.
    return Figure(share, 0.0 if count == 0 else middle - half, 1.0 if count == n else middle + half, n)


def balanced(false_alarms: Figure, recall: Figure) -> Figure:
    """The mean of recall and specificity, with the interval that theirs give it by square-and-add."""
    quiet, found = (false_alarms.value, false_alarms.low, false_alarms.high), (recall.value, recall.low, recall.high)
    if None in quiet or None in found:
        return Figure(None, None, None, 0)
    alarm, alarm_low, alarm_high = cast("tuple[float, float, float]", quiet)
    hit, hit_low, hit_high = cast("tuple[float, float, float]", found)
    value = (hit + 1 - alarm) / 2
    low = value - math.hypot(hit - hit_low, alarm_high - alarm) / 2
    high = value + math.hypot(hit_high - hit, alarm - alarm_low) / 2
    return Figure(value, max(low, 0.0), min(high, 1.0), false_alarms.n + recall.n)


def figures(runs: Iterable[Outcomes]) -> Figures:
    """The four figures of a set of runs."""
    runs = list(runs)
    count = Counter((state in ALARMS, has_passed) for state, has_passed in runs)
    complete = Counter(has_passed for state, has_passed in runs if state == "complete")
    false_alarms = wilson(count[True, True], count[True, True] + count[False, True])
    recall = wilson(count[True, False], count[True, False] + count[False, False])
    precision = wilson(count[True, False], count[True, False] + count[True, True])
    called_complete = wilson(complete[True], complete.total())
    return Figures(false_alarms, recall, precision, called_complete, balanced(false_alarms, recall))


def report(runs: Sequence[tuple[Judged, bool]]) -> dict[str, Any]:
    """Figures, baselines and confusion table of judged runs, as JSON has them."""
    own = figures((word.state, has_passed) for word, has_passed in runs)
    last_error = figures(("broken" if word.ends_in_error else "complete", has_passed) for word, has_passed in runs)
    always_complete = figures(("complete", has_passed) for _, has_passed in runs)
    cells = Counter((word.state, has_passed) for word, has_passed in runs)
    return {
        **msgspec.to_builtins(own),
        "baselines": msgspec.to_builtins({"last_error": last_error, "always_complete": always_complete}),
        "confusion": {state: {"passed": cells[state, True], "failed": cells[state, False]} for state in STATES},
    }


def measure(
    rows: Sequence[Row], words: Iterable[Word], by: str | None = None, hold_out: str | None = None
) -> dict[str, Any]:
    """Joins outcomes to what was said, and counts. `by` names a field of the manifest to break the figures down by,
    `hold_out` one by whose values the runs are compared with all others."""
    runs: list[tuple[Judged, bool]] = []
    groups: dict[str, list[tuple[Judged, bool]]] = {}
    held_out: dict[str, list[tuple[Judged, bool]]] = {}
    left_out: Counter[str] = Counter()
    for row, word in zip(rows, words, strict=True):
        if isinstance(word, LeftOut):
            left_out[word.reason] += 1
        elif row.has_passed is not None:
            runs.append((word, row.has_passed))
            if by is not None:
                groups.setdefault(_group(row.fields.get(by)), []).append((word, row.has_passed))
            if hold_out is not None:
                held_out.setdefault(_group(row.fields.get(hold_out)), []).append((word, row.has_passed))
    failed = sum(bool(word.failure) for word, _ in runs)
    counted = {"manifest": len(rows), "read": len(runs), "analyst_failed": failed}
    found = {**report(runs), "rows": {**counted, "left_out": dict(sorted(left_out.items()))}, "intervals": INTERVALS}
    if by is not None:
        found["by"] = {name: report(groups[name]) for name in sorted(groups)}
    if hold_out is not None:
        found["hold_out"] = {
            name: {"held_out": report(held_out[name]), "others": report(_others(held_out, name))}
            for name in sorted(held_out)
        }
    return found


def _others(groups: Mapping[str, list[tuple[Judged, bool]]], name: str) -> list[tuple[Judged, bool]]:
    return [run for other, runs in groups.items() if other != name for run in runs]


def _group(value: Any) -> str:
    return shortened(value if isinstance(value, str) else json.dumps(value), 60)


def listed(row: Row, word: Word) -> dict[str, Any]:
    """A row for people, after the fact."""
    outcome = None if row.has_passed is None else int(row.has_passed)
    if isinstance(word, LeftOut):
        return {"path": row.path, "outcome": outcome, "state": None, "issue": "", "left_out": word.reason}
    return {"path": row.path, "outcome": outcome, "state": word.state, "issue": word.failure or word.issue}


def show_line(entry: Mapping[str, Any]) -> str:
    """The entry on one line."""
    outcome = "-" if entry["outcome"] is None else entry["outcome"]
    state = entry["state"] or f"left out: {entry['left_out']}"
    return f"{printable(entry['path'] or '-')}  {outcome}  {state}  {shortened(entry['issue'], 120)}".rstrip()


def show(found: Mapping[str, Any]) -> str:
    """The whole as a text."""
    rows = found["rows"]
    lines = [f"{rows['manifest']} rows, {rows['read']} runs measured"]
    lines += [f"  left out: {count} with {reason}" for reason, count in rows["left_out"].items()]
    if rows["analyst_failed"]:
        lines.append(f"  the analyst FAILED on {rows['analyst_failed']} runs, counted as unknown; see --list")
    lines += ["", *_tables(found)]
    for name, part in found.get("by", {}).items():
        lines += ["", f"== {name}", *_tables(part)]
    if held_out := found.get("hold_out"):
        lines += ["", *_held_out_table(held_out)]
    return "\n".join([*lines, "", GOALS, INTERVALS])


def _held_out_table(held_out: Mapping[str, Any]) -> Iterator[str]:
    """A line for each group and figure: on the group, and on all others."""
    yield f"{'held out':<34}{'figure':<22}{'on it':<32}on all others"
    for name, part in held_out.items():
        for figure in Figures.__struct_fields__:
            on_it, others = _figure(part["held_out"][figure]), _figure(part["others"][figure])
            yield f"{shortened(name, 32):<34}{figure.replace('_', ' '):<22}{on_it:<32}{others}"


def _tables(found: Mapping[str, Any]) -> Iterator[str]:
    yield f"{'state':<20}{'passed':>8}{'failed':>8}"
    for state, cells in found["confusion"].items():
        yield f"{state:<20}{cells['passed']:>8}{cells['failed']:>8}"
    yield ""
    columns = {"analyst": found, **{name.replace("_", " "): part for name, part in found["baselines"].items()}}
    yield f"{'':<20}" + "".join(f"{name:<32}" for name in columns).rstrip()
    for name in Figures.__struct_fields__:
        cells = "".join(f"{_figure(column[name]):<32}" for column in columns.values())
        yield f"{name.replace('_', ' '):<20}{cells}".rstrip()


def _figure(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return f"-      n={figure['n']}"
    return f"{figure['value']:.3f}  [{figure['low']:.3f}, {figure['high']:.3f}]  n={figure['n']}"


def watched(words: Iterable[Word], total: int) -> Iterator[Word]:
    """The same, with the count on the error stream where that is a terminal."""
    is_seen = sys.stderr.isatty()
    for number, word in enumerate(words, 1):
        if is_seen:
            print(f"\r{number}/{total}", end="" if number < total else "\n", file=sys.stderr, flush=True)
        yield word


def run(options: argparse.Namespace, analyst: NewAnalyst = built_in) -> None:
    """Reads, judges, joins, prints."""
    rows = manifest(options.manifest)
    words = watched(judged(rows, options.manifest.absolute().parent, analyst, options.jobs), len(rows))
    entries: list[dict[str, Any]] = []

    def noted() -> Iterator[Word]:
        for row, word in zip(rows, words, strict=True):
            if options.list and options.json:
                entries.append(listed(row, word))
            elif options.list:
                print(show_line(listed(row, word)), flush=True)
            yield word

    found = measure(rows, noted(), options.by, options.hold_out)
    if options.json:
        print(json.dumps({**found, "runs": entries} if options.list else found, indent=2))
    else:
        print(("\n" if options.list else "") + show(found))


def main(arguments: Sequence[str] | None = None, analyst: NewAnalyst = built_in) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path, help="a JSON object on each line, with path and outcome")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--by", metavar="FIELD", help="break the figures down by a field of the manifest: format, …")
    parser.add_argument("--hold-out", metavar="FIELD", help="compare each group by a field with all other runs")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes (default 1)")
    parser.add_argument("--list", action="store_true", help="print a line for each run first")
    options = parser.parse_args(arguments)
    try:
        run(options, analyst)
    except BadManifest as error:
        print(f"agreement: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # `… --list | head`: nobody is listening any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except BrokenProcessPool:
        sys.exit("agreement: a worker died, killed from outside or out of memory; try fewer --jobs")


if __name__ == "__main__":
    main()
