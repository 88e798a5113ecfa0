"""Whether the feedback shows the step at which people say that a run went wrong.

    python bench/exposure.py MANIFEST [--json]

For runs with a labelled step (formats `who-and-when` and `agentrx` of the manifest): how often the labelled step is
among the actions that the feedback shows, against a random choice of as many actions of the same run (k of T hit with
probability k/T); and the same for the actions that it shows as evidence of an open issue. Feedback that shows
everything hits always, as its random choice does: what counts is the difference, and how much is shown.

Labels, and what they count:
- Who&When: `mistake_step` in the trace's own file, an index into `history` from 0 (the labelled agent is the speaker of
  that entry in nearly all files, and hardly ever of its neighbours).
- AgentRx: a bare list of the same entries. The step of the root cause in `data/ground_truth/*.json`, found by the run's
  identifier, else the one in `trajectories_info.json`, which gives that identifier for the file's name. Both count from
  1: for the runs that both data sets have, their labels are those of Who&When plus one.

Entries that are no actions (a terminal's answer, the harness's remarks) belong to the action before them, so a label is
mapped to the last step whose `Source.index` is not greater. A run that stands in both data sets is counted once."""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, cast

import msgspec
from agreement import (
    BROKEN,
    BadManifest,
    Figure,
    LeftOut,
    NewAnalyst,
    Row,
    built_in,
    manifest,
    nameless,
    sole_trajectory,
    wilson,
)
from msgspec import Struct

from dense.cli.text import printable
from dense.service import distill_sync
from dense.trajectory import Trajectory

FORMATS = ("who-and-when", "agentrx")
NO_LABEL = "no labelled step"
NOT_MAPPED = "labelled step before the first action or behind the end"
SAME_RUN = "same run as another row"
ANALYST_FAILED = "analyst failed"
RESAMPLES = 4000
SEED = 20260
INTERVALS = (
    "95 % intervals: Wilson's for hits; for the rest percentiles of"
    f" {RESAMPLES} resamples of the runs with a fixed seed, the difference paired by run"
)

_ACTION = re.compile(r"(evidence |key-action |last-check )?a(\d+)(?![^ ,])(, shows )?")
"""How a marker line begins that quotes an action: evidence, a product, a check, or an item of the record."""
_CITED = re.compile(r"(?:open-issue|next-step|remark)[ _].*|\d+: .*")
_NUMBERS = re.compile(r"\ba(\d+)\b")


class Label(Struct, frozen=True):
    """The step that people blame."""

    index: int
    """Among the records of the file, from 0."""
    agent: str = ""
    """Who acted there, by their word."""


class Shown(Struct, frozen=True):
    """The actions that a report shows, by their numbers."""

    all: frozenset[int]
    issue: frozenset[int]
    """Those that it shows as evidence of an open issue."""


class Case(Struct, frozen=True):
    """One run with its labelled action and what was shown."""

    format: str
    actions: int
    labelled: int
    """The labelled action's number."""
    is_speaker: bool
    """Whether the labelled agent is the one that acts there: a check of the mapping."""
    shown: Shown


def shown_actions(report: str, key: str) -> Shown:
    """The actions that a report quotes or cites. Only its own lines count: no quoted text can forge one."""
    everything: set[int] = set()
    evidence: set[int] = set()
    is_quoted = False
    for line in report.split("\n"):
        if line.startswith(f"{key}| "):
            is_quoted = line != f"{key}| end"
            if found := _ACTION.match(line, len(key) + 2):
                everything.add(int(found[2]))
                evidence |= {int(found[2])} if found[1] == "evidence " or found[3] else set()
        elif line == f"{key}|":
            is_quoted = False
        elif not is_quoted and _CITED.match(line):
            cited = {int(number) for number in _NUMBERS.findall(line.rpartition(" [")[2])}
            everything |= cited
            evidence |= cited if line.startswith("open-issue") else set()
    return Shown(frozenset(everything), frozenset(evidence))


def labelled_step(trajectory: Trajectory, label: Label, records: int) -> int | None:
    """The number of the action that a label means: the last one that begins at or before the labelled record."""
    if not 0 <= label.index < records:
        return None
    numbers = [n for n, step in enumerate(trajectory.steps, 1) if (step.source.index or 0) <= label.index]
    return numbers[-1] if numbers else None


def document(path: Path) -> Any:
    """A JSON file, None where there is none."""
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None


def who_and_when_label(value: dict[str, Any]) -> Label | None:
    """The label in a file of Who&When."""
    index = _number(value.get("mistake_step"))
    return None if index is None else Label(index, str(value.get("mistake_agent") or ""))


def agentrx_label(path: Path) -> Label | None:
    """The label of a file of AgentRx, from the files that its data set keeps labels in."""
    name, step = _named(_dicts(document(path.parent.parent / "trajectories_info.json")), path.name)
    for parent in path.parents[2:5]:
        for file in sorted((parent / "data" / "ground_truth").glob("*.json")) if name else ():
            label = _root_cause(_dicts(document(file)), name)
            if label is not None:
                return label
    return None if step is None else Label(step - 1)


def _named(categories: list[dict[str, Any]], file: str) -> tuple[str, int | None]:
    """A file's identifier and labelled step, by its name: category → identifier → step and name."""
    for category in categories:
        for runs in category.values():
            for identifier, run in runs.items() if isinstance(runs, dict) else ():
                if isinstance(run, dict) and run.get("name") == file:
                    return str(identifier), _number(run.get("step"))
    return "", None


def _root_cause(runs: list[dict[str, Any]], identifier: str) -> Label | None:
    for run in runs:
        if run.get("trajectory_id") == identifier:
            cause = (_dicts(run.get("root_cause")) or [{}])[0].get("failure_id")
            for failure in _dicts(run.get("failures")):
                step = _number(failure.get("step_number"))
                # Identifiers are numbers here and digits there.
                if step is not None and str(failure.get("failure_id")) == str(cause):
                    return Label(step - 1, str(failure.get("failed_agent") or ""))
    return None


def _dicts(value: Any) -> list[dict[str, Any]]:
    """The objects of a list, or an object alone."""
    values = cast("list[Any]", value) if isinstance(value, list) else [value]
    return [cast("dict[str, Any]", item) for item in values if isinstance(item, dict)]


def _number(value: Any) -> int | None:
    if isinstance(value, str) and value.isdecimal():
        return int(value[:9])
    return value if isinstance(value, int) and not isinstance(value, bool) else None


class Labelled(Struct, frozen=True):
    """A run and what people say of it."""

    trajectory: Trajectory
    label: Label
    records: int
    """How many the label's index counts among."""
    digest: bytes
    """The same for the same records, wherever they stand."""


def labelled_run(path: Path) -> Labelled | LeftOut:
    """The run of a file, and its label."""
    value: Any = document(path)
    own = (_dicts(value) or [{}])[0]
    given: Any = value if isinstance(value, list) else own.get("history")
    history = cast("list[Any]", given) if isinstance(given, list) else []
    try:
        records = json.dumps(history)
    except RecursionError:  # it could be decoded, and is too deep to be written again
        return LeftOut(BROKEN)
    trajectory = sole_trajectory(path)
    if isinstance(trajectory, LeftOut):
        return trajectory
    label = agentrx_label(path) if isinstance(value, list) else who_and_when_label(own)
    if label is None:
        return LeftOut(NO_LABEL)
    return Labelled(trajectory, label, len(history), sha256(records.encode()).digest())


def examined(format: str, run: Labelled, analyst: NewAnalyst) -> Case | LeftOut:
    """One run: the feedback is made first, then compared with the label."""
    try:
        feedback = distill_sync(nameless(run.trajectory), analyst()).feedback
    except Exception as error:  # whatever it is, it must not cost the other rows
        return LeftOut(f"{ANALYST_FAILED} ({type(error).__name__})")
    number = labelled_step(run.trajectory, run.label, run.records)
    if number is None:
        return LeftOut(NOT_MAPPED)
    agent = run.trajectory.steps[number - 1].agent or ""
    is_speaker = bool(run.label.agent) and agent.casefold() == run.label.agent.casefold()
    return Case(format, len(run.trajectory.steps), number, is_speaker, shown_actions(feedback.report, feedback.key))


def cases(rows: Sequence[Row], folder: Path, analyst: NewAnalyst = built_in) -> Iterator[Case | LeftOut]:
    """Each labelled row of the manifest, examined; rows of other formats are none of them."""
    seen: set[bytes] = set()
    for row in rows:
        format = row.fields.get("format")
        if format not in FORMATS or row.path is None:
            continue
        run = labelled_run(folder / row.path)
        if isinstance(run, LeftOut):
            yield run
        elif run.digest in seen:
            yield LeftOut(SAME_RUN)
        else:
            seen.add(run.digest)
            yield examined(format, run, analyst)


def measure(found: Sequence[Case], chosen: Callable[[Case], frozenset[int]]) -> dict[str, Figure]:
    """How often the labelled action is chosen, how often it would be by chance, the difference, the share chosen."""
    hits = [float(case.labelled in chosen(case)) for case in found]
    chances = [len(chosen(case)) / case.actions for case in found]
    differences = [hit - chance for hit, chance in zip(hits, chances, strict=True)]
    return {
        "hit_rate": wilson(round(sum(hits)), len(hits)),
        "random": bootstrap(chances),
        "difference": bootstrap(differences),
        "actions": bootstrap([float(len(chosen(case))) for case in found]),
    }


def bootstrap(values: Sequence[float]) -> Figure:
    """The mean, with percentiles of the means of resamples."""
    n = len(values)
    if n == 0:
        return Figure(None, None, None, 0)
    chance = random.Random(SEED)
    means = sorted(sum(chance.choices(values, k=n)) / n for _ in range(RESAMPLES))
    return Figure(sum(values) / n, means[round(0.025 * (RESAMPLES - 1))], means[round(0.975 * (RESAMPLES - 1))], n)


def summary(results: Sequence[Case | LeftOut]) -> dict[str, Any]:
    """All figures, as JSON has them."""
    found = [case for case in results if isinstance(case, Case)]
    left_out = Counter(result.reason for result in results if isinstance(result, LeftOut))
    groups = {"all": found, **{name: [case for case in found if case.format == name] for name in FORMATS}}
    return {
        "rows": {
            "labelled_formats": len(results),
            "mapped": len(found),
            "speaker_agrees": sum(case.is_speaker for case in found),
            "left_out": dict(sorted(left_out.items())),
        },
        "exposure": {
            name: msgspec.to_builtins(
                {
                    "shown": measure(group, lambda case: case.shown.all),
                    "issue_evidence": measure(group, lambda case: case.shown.issue),
                }
            )
            for name, group in groups.items()
        },
        "intervals": INTERVALS,
    }


def show(found: dict[str, Any]) -> str:
    """The whole as a text."""
    rows = found["rows"]
    lines = [
        f"{rows['labelled_formats']} rows of labelled formats, {rows['mapped']} labels mapped to an action",
        f"  the labelled agent is the one that acts there in {rows['speaker_agrees']}",
        *(f"  left out: {count} with {reason}" for reason, count in rows["left_out"].items()),
    ]
    columns = {"hit_rate": "hit", "random": "random", "difference": "difference", "actions": "actions shown"}
    for group, parts in found["exposure"].items():
        title = f"{group}, n={parts['shown']['hit_rate']['n']}"
        lines += ["", f"{title:<24}" + "".join(f"{column:<24}" for column in columns.values()).rstrip()]
        for name, part in parts.items():
            lines.append(f"{name.replace('_', ' '):<24}" + "".join(f"{_figure(part[c]):<24}" for c in columns).rstrip())
    return "\n".join([*lines, "", "random is also the mean share of a run's actions that is shown", found["intervals"]])


def _figure(figure: dict[str, Any]) -> str:
    if figure["value"] is None:
        return "-"
    return f"{figure['value']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]"


def main(arguments: Sequence[str] | None = None, analyst: NewAnalyst = built_in) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path, help="a JSON object on each line, with path and format")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        rows = manifest(options.manifest)
    except BadManifest as error:
        print(f"exposure: {printable(str(error))}", file=sys.stderr)
        sys.exit(2)
    found = summary(list(cases(rows, options.manifest.absolute().parent, analyst)))
    print(json.dumps(found, indent=2) if options.json else show(found))


if __name__ == "__main__":
    main()
