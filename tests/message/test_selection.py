"""What a report selects does not depend on how our lines are worded: every wording is replaced by a nonsense one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

import dense
from dense.analysis.wording import facets as facet_words
from dense.facets import DeadEnd, Facets
from dense.message import report as tree_reports
from dense.message.lines import Line, QuotedAction
from dense.message.report import tree_report
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall
from dense.tree import Issue, Leaf, Node, Product, ReconciledTree, Shortcut, Subtask, Verdict

EXAMPLES = Path(__file__).parents[2] / "examples"
ATTEMPTS = (
    "csv-report/trial",
    "looks-successful/rollout.jsonl",
    "password-recovery/recovery.traj.json",
    "clean-success/session.jsonl",
)
QUOTED_OR_WORD = re.compile(r"`+[^`]*`+|\"[^\"]*\"|\w[\w/-]*(?:\.\w[\w/-]*)*")
"""What is quoted from a trace, or a word; names of files and actions are no words of ours: `x_1.py`, `a3`."""
LETTERS = "abcdefghijklmnopqrstuvwxyz"
OTHER_LETTERS = str.maketrans(
    LETTERS + LETTERS.upper(), LETTERS[5:] + LETTERS[:5] + (LETTERS[5:] + LETTERS[:5]).upper()
)
LONG = "/workspace/project/src/library/limits.py"
MORE = {"dead_ends": 2}
ROOMS = (700, 1_500, 3_000, 9_000, 40_000)


def nonsense(text: str) -> str:
    """The text with each of our words as another one of equal length; what is quoted from the trace stays."""
    return QUOTED_OR_WORD.sub(_other_word, text)


def _other_word(found: re.Match[str]) -> str:
    word = found[0]
    if not (word.isascii() and word.isalpha()):
        return word
    return word.translate(OTHER_LETTERS)


def reworded_node(node: Node) -> Node:
    if isinstance(node, Leaf):
        return node
    children = tuple(map(reworded_node, node.children))
    if isinstance(node, Shortcut):
        texts = {name: nonsense(getattr(node, name)) for name in ("title", "dead_end", "working_path")}
        return structs.replace(node, children=children, **texts)
    return structs.replace(node, children=children, title=nonsense(node.title), summary=nonsense(node.summary))


def reworded(tree: ReconciledTree) -> ReconciledTree:
    root = reworded_node(tree.root)
    assert isinstance(root, Subtask)

    def with_nonsense(facts: Iterable[Any]) -> Any:
        return tuple([structs.replace(fact, text=nonsense(fact.text)) for fact in facts])

    return structs.replace(
        tree,
        root=root,
        issues=with_nonsense(tree.issues),
        requirements=with_nonsense(tree.requirements),
        next_steps=with_nonsense(tree.next_steps),
    )


def _nonsensical(write: Callable[[Any], str]) -> Callable[[Any], str]:
    return lambda given: nonsense(write(given))


def selection(tree: ReconciledTree) -> list[Any]:
    """Of reports of several sizes, what each item is about, in order, and what was left out."""
    fit = tree_report(tree)
    return [([_identity(item) for item in page.items], page.dropped) for page in map(fit, ROOMS)]


def _identity(item: Any) -> tuple[Any, ...]:
    if isinstance(item, Line):
        return item.kind, item.span, item.number, item.issue, item.names, item.size
    if isinstance(item, QuotedAction):
        return item.kind, item.path, item.quotes, item.size
    return item.kind, item.size


def test_a_nonsense_wording_changes_words_alone() -> None:
    text = 'Make `pytest -q` pass, and run it after a3: it said "no way".'
    other = nonsense(text)
    assert len(other) == len(text) and other != text
    assert all(quoted in other for quoted in ("`pytest -q`", "a3", '"no way"'))
    assert not re.search(r"Make|pass|after", other)


def made_tree() -> ReconciledTree:
    """A tree with what the examples have not: a long path that comes twice, a list that is not whole whose only
    fact was said, an issue whose text holds the line that shows it."""
    call = ToolCall("Write", {"file_path": LONG, "content": "HIGH = 9"})
    step = Step(Source("x"), "", calls=(call,), observations=(Observation("make fails", exit_code=1),))
    tried = DeadEnd(text="it fails with `make` because the folder of the build is not there")
    parts = tuple(
        [
            Subtask(f"n{n + 2}", 1, "Build", f"Wrote `{LONG}`.", (Leaf(f"n{n}", n + 1, step),), facets)
            for n, facets in enumerate((Facets(dead_ends=(tried,)), Facets(dead_ends=(tried,), left_out=MORE)))
        ]
    )
    root = Subtask("n4", 0, "All", "Tried.", parts, verdict=Verdict("coherent", "incomplete", "incomplete"))
    issues = (
        Issue("issue_0", 'The build ends with "make fails"', "n4", ("n0",), quote="make fails"),
        Issue("issue_1", "Nobody ran what fails after that", "n4", ("n1",), "doubt", quote="make fails"),
    )
    return ReconciledTree("t", Task("Build it."), root, issues, products=(Product(LONG, 2, 1),))


def attempt_tree(name: str) -> ReconciledTree:
    (trajectory,) = dense.read(EXAMPLES / name)
    return distill_sync(trajectory).reconciled


@pytest.mark.parametrize("name", ["made", *ATTEMPTS])
def test_selection_does_not_depend_on_wording(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = made_tree() if name == "made" else attempt_tree(name)
    expected = selection(tree)
    words = {facet: _nonsensical(write) for facet, write in facet_words.WORDS.items()}
    monkeypatch.setattr(facet_words, "WORDS", words)
    for function in ("describe_value", "and_more", "ending_sentence"):
        monkeypatch.setattr(tree_reports, function, _nonsensical(getattr(tree_reports, function)))
    monkeypatch.setattr(facet_words, "and_more", _nonsensical(facet_words.and_more))
    final_actions = tree_reports.final_actions
    monkeypatch.setattr(
        tree_reports,
        "final_actions",
        lambda *given: [structs.replace(key, purpose=nonsense(key.purpose)) for key in final_actions(*given)],
    )
    other = reworded(tree)
    assert other != tree
    assert selection(other) == expected
