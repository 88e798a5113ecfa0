"""How dense the feedback is: its size, its structure, its repetition, and what it keeps, on the traces of a manifest.

    python bench/density.py [MANIFEST] [--every N] [--json]

MANIFEST has a JSON line for each trace with its `path`, as the corpus's has; by default that of the corpus, if it is
there. Traces below 1,000 bytes are left out. The rules analyse every trace; the recorded drafts under examples/ are
measured beside them, as far as their traces are there (examples/recorded/README.md names those of the corpus).

    ratio        report ÷ raw text (agent messages, call arguments, outputs), of traces above 20 KB raw
    structure    share of the message, the task apart, that is wrapper, guide, labels, markers or line feeds; the only
                 line of a call or an output, which its marker line holds, is content, and so is what says how much is
                 left out
    repetition   share of the report's 8-word shingles that occur more than once, quoted bodies apart
    evidence     open issues with a quote whose quoted line is in the report
    products     products whose final bytes are quoted whole, or of whose making the record has lines"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from msgspec import Struct

import dense
from dense.analysis.actions.action import Actions
from dense.analysis.asking.scripted import ScriptedAnswerer
from dense.message.budget import budgets_for, raw_size
from dense.message.delivery import fit_report
from dense.message.message import compose
from dense.message.page import Item, ReportPage
from dense.message.report import action_ids, evidence_lines, tree_report
from dense.readers import Stream, read_streams
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree, leaves, open_issues

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT.parent / "shared" / "corpus" / "MANIFEST.jsonl"
LARGE_BYTES, SMALL_MESSAGE_BYTES = 20_000, 6_000
MIN_RAW_BYTES = 1_000
"""A smaller trace is a message or two: there is nothing to condense."""
TRACE_ROW = re.compile(r"^\| `([\w-]+)` \| `([^`]+)`", re.MULTILINE)
"""A recorded answer and its trace, in the table of examples/recorded/README.md."""
SHINGLE = 8
SIZES = (2_000, 4_000, 8_000, 16_000, 64_000)
CLASSES = ("evidence", "open-issue", "next-step", "final product", "last-check", "remark", "found", "record")
MARKED = re.compile(r"[$>] (?:exit \d+ ?)?")
"""What a marker line says before the line of a call or an output that it holds."""
TARGETS = {
    "ratio": 0.50,
    "structure": 0.10,
    "small structure": 0.15,
    "large structure": 0.10,
    "repetition": 0.03,
    "evidence": 0.98,
    "products": 0.98,
}


class Density(Struct, frozen=True):
    """The figures of one report."""

    trace: str
    raw: int
    report: int
    message: int
    content: int
    shingles: int
    repeated: int
    quoted_issues: int
    shown_issues: int
    products: int
    shown_products: int


def trajectories(manifest: Path, every: int) -> Iterator[tuple[str, Trajectory]]:
    """Every n-th trace of a manifest."""
    for line in manifest.read_text(encoding="utf-8").splitlines()[::every]:
        path = manifest.parent / json.loads(line)["path"]
        for item in read_streams(path):
            if isinstance(item, Stream):
                found = item.collect()
                if raw_size(found) >= MIN_RAW_BYTES:
                    yield str(path), found


def measure(name: str, trajectory: Trajectory, tree: ReconciledTree, *, by_rules: bool = False) -> Density:
    """The figures of the report on a tree, with the default budget."""
    budgets = budgets_for(None, trajectory)
    report = fit_report(tree_report(tree, by_rules=by_rules), tree.task, budgets)
    message, _ = compose((report,), tree.task, budgets.complete)
    task = len((tree.task.instruction if tree.task else "").encode("utf-8", "replace"))
    shingles = Counter(shingle for item in report.items for shingle in _shingles(item.text))
    actions = Actions([leaf.step for leaf in leaves(tree.root)]).transcript
    written = " ".join(" ".join(text.split()) for item in report.items for text in _texts(item))
    lines = [
        line
        for issue in open_issues(tree)
        for _, line in evidence_lines(issue, action_ids(issue.evidence, tree), actions)
    ]
    shown_lines = sum(" ".join(line.split()) in written for line in lines)
    return Density(
        name,
        raw_size(trajectory),
        report.size,
        len(message.encode()) - task,
        sum(item.content_size + sum(_marked_size(*quote) for quote in item.quotes) for item in report.items),
        sum(shingles.values()),
        sum(count - 1 for count in shingles.values()),
        len(lines),
        shown_lines,
        len(tree.products),
        sum(_is_accounted(product.action, product.path, report) for product in tree.products),
    )


def _marked_size(mark: str, text: str) -> int:
    """Bytes of a marker line that say something: the size of a gap, or the only line of a call or an output."""
    if mark.startswith("…"):
        return len(mark.encode())
    found = None if text else MARKED.match(mark)
    return len(mark[found.end() :].encode()) if found else 0


def _texts(item: Item) -> Iterator[str]:
    yield item.text
    yield from (text for _, text in item.quotes)


def _shingles(text: str) -> list[tuple[str, ...]]:
    words = re.findall(r"[\w./-]+", text.lower())
    return [tuple(words[place : place + SHINGLE]) for place in range(len(words) - SHINGLE + 1)]


def _is_accounted(action: int, path: str, report: ReportPage) -> bool:
    """Whether the action that made a product's final version, or a diff of it, is quoted, or the record has lines of
    it."""
    keys = [item.text for item in report.items if item.kind == "key-action"]
    if any(re.match(rf"a{action}\b", text) or text.endswith(f", final {path}") for text in keys):
        return True
    return any(re.match(rf"a{action}\b", item.text) for item in report.items if item.kind == "record")


def recorded_drafts(corpus: Path) -> Iterator[tuple[str, Trajectory, ReconciledTree]]:
    """The traces with recorded answers: those under examples/, and those of the corpus if they are there."""
    recorded = ROOT / "examples" / "recorded"
    found = [(path, path.parent) for path in sorted((ROOT / "examples").glob("*/answers.json"))]
    for name, trace in TRACE_ROW.findall((recorded / "README.md").read_text(encoding="utf-8")):
        found.append((recorded / f"{name}.answers.json", corpus / trace))
    for answers, path in found:
        if path.exists():
            for trajectory in dense.read(path):
                result = dense.distill_sync(trajectory, ScriptedAnswerer(answers))
                yield f"{answers.parent.name}/{answers.name}", trajectory, result.reconciled


def figures(rows: Sequence[Density]) -> dict[str, float | None]:
    """The figures of many reports; None if nothing is to be measured."""
    long = [1 - row.content / row.message for row in rows if row.message >= SMALL_MESSAGE_BYTES]
    large = [row.report / row.raw for row in rows if row.raw > LARGE_BYTES]
    structure = [1 - row.content / row.message for row in rows]
    small = [1 - row.content / row.message for row in rows if row.message < SMALL_MESSAGE_BYTES]

    def share(part: str, whole: str) -> float | None:
        total = sum(getattr(row, whole) for row in rows)
        return sum(getattr(row, part) for row in rows) / total if total else None

    return {
        "ratio": median(large) if large else None,
        "structure": median(structure) if structure else None,
        "small structure": median(small) if small else None,
        "large structure": median(long) if long else None,
        "repetition": share("repeated", "shingles"),
        "evidence": share("shown_issues", "quoted_issues"),
        "products": share("shown_products", "products"),
    }


def kept_by_class(tree: ReconciledTree) -> dict[str, list[tuple[int, int]]]:
    """For each class of a report by the rules, how many of its items are kept at each size, and how many there are."""
    fit = tree_report(tree, by_rules=True)
    whole = _classes(fit(10**9).items)
    kept = [_classes(fit(size).items) for size in SIZES]
    return {name: [(min(one[name], whole[name]), whole[name]) for one in kept] for name in CLASSES}


def _classes(items: Sequence[Item]) -> Counter[str]:
    return Counter(name for item in items if (name := _class(item)))


def _class(item: Item) -> str:
    if item.kind == "key-action":
        return "final product" if ", final " in item.text else ""
    kind = "open-issue" if item.kind == "not-met" else item.kind
    return kind if kind in CLASSES else ""


def print_figures(name: str, found: dict[str, float | None]) -> None:
    """One line for each figure with its target."""
    print(f"\n{name}")
    for figure, value in found.items():
        bound = TARGETS[figure]
        relation = "at least" if figure in {"evidence", "products"} else "at most"
        print(f"  {figure:<16} {'-' if value is None else f'{value:.3f}':>7}   {relation} {bound:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("manifest", nargs="?", type=Path, default=CORPUS)
    parser.add_argument("--every", type=int, default=1, help="only every n-th trace")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON lines")
    given = parser.parse_args()
    rows: list[Density] = []
    kept: dict[str, list[list[int]]] = {name: [[0, 0] for _ in SIZES] for name in CLASSES}
    for name, trajectory in trajectories(given.manifest, given.every):
        tree = dense.distill_sync(trajectory).reconciled
        rows.append(measure(name, trajectory, tree, by_rules=True))
        for kind, counts in kept_by_class(tree).items():
            for place, (shown, whole) in enumerate(counts):
                kept[kind][place][0] += shown
                kept[kind][place][1] += whole
    if given.json:
        for row in rows:
            sys.stdout.write(json.dumps({name: getattr(row, name) for name in Density.__struct_fields__}) + "\n")
        return
    print_figures(f"rules, {len(rows)} traces", figures(rows))
    drafts = [measure(*one) for one in recorded_drafts(given.manifest.parent)]
    print_figures(f"recorded model drafts, {len(drafts)} traces", figures(drafts))
    print("\nkept of each class, by the size of the report")
    print(f"  {'':<18}" + "".join(f"{size // 1000:>7} KB" for size in SIZES))
    for kind, counts in kept.items():
        shares = "".join(f"{shown / whole if whole else 1:>10.2f}" for shown, whole in counts)
        print(f"  {kind:<18}{shares}")


if __name__ == "__main__":
    main()
