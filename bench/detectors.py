"""Each kind of finding with a witness and its hits by outcome, and what parts raised and later parts closed.

    python bench/detectors.py MANIFEST [--write FILE]

MANIFEST is the one of `bench/agreement.py`. Every trajectory of every file is analysed; outcomes are joined afterwards,
for files with one run and a sound outcome. `--write` puts the tables between the marks of a Markdown file."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agreement import BadManifest, Row, is_void, manifest, nameless
from msgspec import Struct

from dense.analysis.detectors.assessment import TraceAssessment
from dense.analysis.detectors.registry import codes
from dense.analysis.rules import RulesAnalyst
from dense.cli.text import printable, shortened
from dense.errors import NoTrajectory
from dense.readers import Stream, read_streams
from dense.readers.walk import is_harbor_trial
from dense.service import distill_sync
from dense.trajectory import Trajectory
from dense.tree import Leaf, ReconciledTree, leaves, nodes

BEGIN, END = "<!-- bench/detectors.py: begin -->", "<!-- bench/detectors.py: end -->"
MAX_EXAMPLES = 3
OTHER_WITNESS = {
    "action_announced": "`announced-fails` of `tests/fixtures/attempts.json`; 18 failed, 0 passed in issue 17",
    "failure_admitted": "`admitted-fails` and `steps-left-fails` of `tests/fixtures/attempts.json`",
    "required_check_failed": "`named-check-fails` of `tests/fixtures/attempts.json`; `tests/fixtures/test-claims.json`",
    "conflict_left": "`conflict-fails` of `tests/fixtures/attempts.json`",
    "port_silent": "`server-silent-fails` of `tests/fixtures/attempts.json`",
    "deliverable_attempt_failed": "`examples/csv-report`",
}
"""Where a kind of finding comes from that no trace of the corpus shows."""


class Run(Struct, frozen=True):
    """One trajectory of the manifest."""

    name: str
    has_passed: bool | None
    trajectory: Trajectory


class Closed(Struct, frozen=True):
    """An issue that one part raised and evidence behind that part closed."""

    run: str
    text: str
    raised: str
    closed_at: str


def runs(rows: Sequence[Row], folder: Path) -> Iterator[Run]:
    """All trajectories of the files that the rows name."""
    for row in rows:
        if row.path is None:
            continue
        path = folder / row.path
        try:
            found = [item.collect() for item in read_streams(path) if isinstance(item, Stream)]
        except (NoTrajectory, OSError, ValueError):
            continue
        found = [one for one in found if one.steps]
        if path.is_dir() and is_harbor_trial(path):
            found = found[:1]
        for number, one in enumerate(found, 1):
            is_sole = len(found) == 1
            passed = row.has_passed if is_sole and not is_void(path) else None
            yield Run(row.path if is_sole else f"{row.path} #{number}", passed, nameless(one))


def closed_elsewhere(name: str, tree: ReconciledTree) -> Iterator[Closed]:
    """The issues of a tree that a part raised and evidence behind its end closed."""
    inside = [node for node in nodes(tree.root) if not isinstance(node, Leaf)]
    spans = {node.id: (_number(leaves(node)[0].id), _number(leaves(node)[-1].id)) for node in inside}
    for issue in tree.issues:
        first, last = spans.get(issue.raised_at, (0, 0))
        actions = [_number(one) for one in issue.resolution]
        if issue.resolved_at is not None and last and actions and min(actions) > last:
            yield Closed(name, issue.text, f"a{first}-a{last}", f"a{min(actions)}")


def _number(leaf: str) -> int:
    """The number of an action by the identifier of its leaf."""
    return int(leaf.removeprefix("n")) + 1


class Hits(Struct):
    """What one kind of finding hit."""

    witnesses: dict[str, str] = {}
    """The first run with a finding of a weight, a failed one if there is any."""
    counts: Counter[tuple[str, bool | None]] = Counter()
    """Open findings by weight (`serious` or `doubt`) and outcome, each run once."""


def measure(all_runs: Iterator[Run]) -> tuple[int, dict[str, Hits], list[Closed]]:
    """How many runs there are, the hits by code, and what was closed elsewhere."""
    hits = {name: Hits({}, Counter()) for name in codes()}
    closed: list[Closed] = []
    total = 0
    for run in all_runs:
        total += 1
        findings = TraceAssessment(run.trajectory).findings
        for code, weight in {(one.code, "serious" if one.is_serious else "doubt") for one in findings if one.is_open}:
            hits[code].counts[weight, run.has_passed] += 1
            if hits[code].counts[weight, False] == 1 and run.has_passed is False:
                hits[code].witnesses[weight] = run.name
            hits[code].witnesses.setdefault(weight, run.name)
        closed += closed_elsewhere(run.name, distill_sync(run.trajectory, RulesAnalyst()).reconciled)
    return total, hits, closed


def tables(total: int, hits: Mapping[str, Hits], closed: Sequence[Closed]) -> Iterator[str]:
    """The tables in Markdown."""
    yield f"{total} trajectories. Failed and passed count runs with a sound outcome, others those without one."
    yield ""
    yield "| code | weight | failed | passed | others | witness |"
    yield "| --- | --- | ---: | ---: | ---: | --- |"
    for name, one in sorted(hits.items()):
        weights = [weight for weight in ("serious", "doubt") if any(key[0] == weight for key in one.counts)]
        for weight in weights or [codes()[name].severity]:
            failed, passed, other = (one.counts[weight, outcome] for outcome in (False, True, None))
            run = one.witnesses.get(weight, "")
            witness = f"`{_short(run)}`" if run else OTHER_WITNESS.get(name, "**none**")
            yield f"| `{name}` | {weight} | {failed} | {passed} | {other} | {witness} |"
    yield ""
    runs_with = len({one.run for one in closed})
    yield f"Issues that one part raised and evidence in a later part closed: {len(closed)}, in {runs_with} runs."
    shown = {one.run: one for one in closed}
    for one in list(shown.values())[:MAX_EXAMPLES]:
        text = shortened(one.text.replace("|", "/"), 160)
        yield f"- `{_short(one.run)}`: {one.raised} raised, {one.closed_at} closed: {text}"


def _short(path: str) -> str:
    """The parts of a path that tell traces apart."""
    parts = [part for part in path.split("/") if part not in ("agent", "trajectory.json")]
    parts = [part for part, after in zip(parts, [*parts[1:], ""], strict=True) if not after.startswith(part)]
    return printable("/".join(parts[-2:]))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("manifest", type=Path, help="a JSON object on each line, with path and outcome")
    parser.add_argument("--write", type=Path, metavar="FILE", help="a Markdown file with the two marks")
    options = parser.parse_args(arguments)
    try:
        rows = manifest(options.manifest)
    except BadManifest as error:
        sys.exit(f"detectors: {printable(str(error))}")
    text = "\n".join(tables(*measure(runs(rows, options.manifest.absolute().parent))))
    if options.write is None:
        print(text)
        return
    page = options.write.read_text(encoding="utf-8")
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"detectors: {options.write} lacks the lines {BEGIN} and {END}")
    options.write.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
