"""One question of each kind, made from the example csv-report as the paper tells it."""

from __future__ import annotations

from pathlib import Path

import dense
from dense.analysis.actions.action import Actions
from dense.analysis.asking.questions import (
    Boundary,
    Compression,
    Judgement,
    Reconciliation,
    Score,
    Summary,
    TopLevel,
)
from dense.analysis.one_call import Closing, OneCallQuestion, Whole, Window
from dense.analysis.one_call.answer import IssuePiece, NodePiece, Pieces, ProductPiece, ShortcutPiece, ValuePiece
from dense.analysis.one_call.questions import WindowDigest
from dense.facets import Artifact, DeadEnd, Facets, KeyValue
from dense.trajectory import Task, Trajectory
from dense.tree import Issue, Label, Leaf, Shortcut, Subtask, Verdict

EXAMPLE = Path(__file__).parents[3] / "examples" / "csv-report"

LABELS: dict[int, tuple[Label, str]] = {
    0: (0, "It shows that only the input is there and that summary.json is missing."),
    1: (0, "It tells the size of the input."),
    2: (-1, "pandas is not installed; nothing was read."),
    3: (0, "It rules out all data packages at once."),
    4: (-1, "The script fails with KeyError: 'amount'."),
    5: (0, "It shows that the delimiter is a semicolon."),
    6: (0, "With the delimiter set, six rows are summed to 30."),
    7: (0, "Reading the file back shows 30."),
    8: (-1, "matplotlib is missing, as the package list had shown."),
    9: (-1, "gnuplot is missing; the sums of the regions are right."),
    10: (-1, "ImageMagick is missing, and so is every other drawing program."),
    11: (0, "It shows that there is no chart.png."),
}

ISSUES = (
    Issue("issue_0", "/app/summary.json does not exist", "n15", ("n0",)),
    Issue("issue_1", "No chart.png: matplotlib, gnuplot and ImageMagick are all missing", "shortcut_1", ("n10", "n11")),
)
KEPT = ("n4", "n6", "n7", "n8", "n9", "n11", "n13")


def example() -> Trajectory:
    (trajectory,) = dense.read(EXAMPLE)
    return trajectory


def leaf(trajectory: Trajectory, number: int, *, is_scored: bool = True) -> Leaf:
    label, reason = LABELS.get(number, (None, "")) if is_scored else (None, "")
    return Leaf(f"n{number}", number + 1, trajectory.steps[number], label, reason)


def phases(trajectory: Trajectory) -> tuple[Subtask, ...]:
    """The subtasks of the example, reconciled as far as their own children go."""

    def stretch(first: int, last: int) -> tuple[Leaf, ...]:
        return tuple(leaf(trajectory, number) for number in range(first, last + 1))

    return (
        Subtask(
            "n15",
            1,
            "Look at what is there",
            "Only sales.csv (7 lines) is in /app; there is no summary.json.",
            stretch(0, 1),
            Facets(open_issues=("/app/summary.json does not exist",)),
            Verdict("coherent", "complete", "incomplete", ("issue_0",), (), ("n0",)),
        ),
        Subtask(
            "n16",
            1,
            "Sum the amounts into summary.json",
            "summarise.py reads /app/sales.csv with csv.DictReader and delimiter=';' and writes the total of 30 to "
            "/app/summary.json. Read back: 30.",
            (
                Shortcut(
                    "shortcut_0",
                    "From pandas to csv with a semicolon",
                    stretch(2, 6),
                    "succeeded",
                    "pandas is not installed; the default delimiter gives KeyError: 'amount'",
                    "csv.DictReader(f, delimiter=';') in summarise.py",
                    None,
                    ("n2", "n4", "n6"),
                    ("n6",),
                ),
                leaf(trajectory, 7),
            ),
            Facets(
                artifacts=(Artifact("/app/summary.json, /app/summarise.py"),),
                key_values=(KeyValue("total = 30 over 6 rows; delimiter ';'"),),
                dead_ends=(DeadEnd(text="pandas: No module named 'pandas'"),),
            ),
            Verdict("coherent", "complete", "complete", (), (), ("n6", "n7")),
        ),
        Subtask(
            "n17",
            1,
            "Draw the chart",
            "No chart was drawn: matplotlib, gnuplot and ImageMagick are missing. Sums by region: east 12, north 10, "
            "south 8.",
            (
                Shortcut(
                    "shortcut_1",
                    "Three drawing tools that are not there",
                    stretch(8, 11),
                    "failed",
                    "matplotlib, gnuplot and convert are not installed",
                    "",
                    "issue_1",
                    ("n8", "n9", "n10"),
                    ("n9",),
                ),
            ),
            Facets(artifacts=(Artifact("/app/chart.py, /app/regions.dat"),), open_issues=("no /app/chart.png",)),
            Verdict("coherent", "incomplete", "incomplete", (), (), ("n10",)),
        ),
    )


def root(trajectory: Trajectory) -> Subtask:
    tail = (leaf(trajectory, 12), leaf(trajectory, 13))
    return Subtask("n14", 0, "csv-report", "", (*phases(trajectory), *tail))


def questions(trajectory: Trajectory | None = None, task: Task | None = None) -> dict[str, Judgement]:
    """By kind; `…-more` are the other branches of a template."""
    trajectory = trajectory or example()
    task = task or trajectory.task
    all_leaves = tuple(leaf(trajectory, number, is_scored=False) for number in range(len(trajectory.steps)))
    scored = tuple(leaf(trajectory, number) for number in range(2, 8))
    top = phases(trajectory)
    whole = root(trajectory)
    summing = Subtask("n16", 1, top[1].title, top[1].summary, scored, top[1].facets)
    tail = all_leaves[12:]
    made: tuple[Judgement, ...] = (
        Boundary(task=task, level=1, queue=all_leaves[8:], head=9, is_last=True),
        Score(task=task, subtask="n16", members=all_leaves[2:8], target=all_leaves[6]),
        Summary(task=task, subtask="n16", level=1, members=scored),
        TopLevel(task=task, level=1, candidates=(*top, *tail), before=14),
        Compression(task=task, parent=summing, issues=(), key_actions=("n4", "n6", "n7")),
        Reconciliation(task=task, subtree=whole, issues=ISSUES, key_actions=KEPT),
    )
    more: tuple[Judgement, ...] = (Boundary(task=task, level=2, queue=(*top, *tail), head=1, is_last=False),)
    found: dict[str, Judgement] = {question.kind: question for question in made}
    return found | {f"{question.kind}-more": question for question in more}


def one_call_questions() -> dict[str, OneCallQuestion]:
    """The questions of the fast profile: the example in one call, and in two windows with a closing call."""
    trajectory = example()
    task, actions = trajectory.task, tuple(Actions(trajectory.steps).transcript)
    summing = NodePiece(
        1,
        8,
        "Write summary.json",
        "summarise.py sums the column amount and writes the total of 30; reading it back printed 30.",
        ("sales.csv is separated by semicolons",),
        values=(ValuePiece("total = 30", 8),),
        completion="complete",
    )
    drawing = NodePiece(
        9, 14, "Draw chart.png", "No drawing program is installed; there is no chart.", completion="failed"
    )
    pieces = (
        Pieces(
            NodePiece(1, 8, "", parts=(summing,)),
            shortcuts=(ShortcutPiece(5, 7, "the default comma", "delimiter=';'", "succeeded"),),
            issues=(IssuePiece("the column amount was not found", (5,), "KeyError: 'amount'", (7,)),),
            products=(ProductPiece("/app/summary.json", 7, 8),),
        ),
        Pieces(
            NodePiece(9, 14, "", parts=(drawing,)),
            issues=(IssuePiece("/app/chart.png was not made", (12,), "cannot open `chart.png'"),),
        ),
    )
    digests = (WindowDigest(1, 8, pieces[0]), WindowDigest(9, 14, pieces[1]))
    evidence = tuple((issue.evidence[-1], issue.quote) for piece in pieces for issue in piece.issues)
    return {
        "whole": Whole(task=task, look_tokens=24_000, actions=actions),
        "window": Window(task=task, look_tokens=24_000, actions=actions[8:], number=2, count=2, total=14),
        "closing": Closing(
            task=task, look_tokens=24_000, digests=digests, ending=actions[-4:], evidence=evidence, total=14
        ),
    }
