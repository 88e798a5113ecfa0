"""The flat list says what the nested report says, in the same order, and is not nested."""

from __future__ import annotations

from pathlib import Path

import pytest

import dense
from dense.analyst.rules import RulesAnalyst
from dense.deliver import markup
from dense.deliver.delivery import fit_tree
from dense.deliver.markup import MarkupBlock
from dense.methods.flat_report import LIFTED_TAGS, flat_report
from dense.service import distill_sync
from dense.tree import ReconciledTree

ROOT = Path(__file__).parents[2]
TREES = [distill_sync(found, RulesAnalyst()).reconciled for found in dense.read(ROOT / "examples")]


def said(report: MarkupBlock) -> list[tuple[str, str, str]]:
    """Every text with its tag, and every attribute but those that tell of the nesting."""
    texts = [(part.name, "", part.content) for part, _ in markup.walk(report) if isinstance(part.content, str)]
    told = [
        (part.name, *pair) for part, _ in markup.walk(report) for pair in part.attributes.items() if pair[0] != "source"
    ]
    return sorted([text for text in texts if text[2]] + told)


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.trajectory)
@pytest.mark.parametrize("room", [2_000, 8_000, 180_000])
def test_the_same_is_said(tree: ReconciledTree, room: int) -> None:
    nested, _ = fit_tree(tree, room)
    flat = flat_report(nested)
    assert said(flat) == said(nested)
    assert markup.size(flat) <= markup.size(nested) <= room
    assert markup.size(flat) == len(markup.write(flat, "0" * 8).encode())
    order = [part.attributes.get("action") for part, _ in markup.walk(nested) if part.name == "key-action"]
    assert order == [p.attributes.get("action") for p, _ in markup.walk(flat) if p.name == "key-action"]


@pytest.mark.parametrize("tree", TREES, ids=lambda tree: tree.trajectory)
def test_nothing_stands_in_anything(tree: ReconciledTree) -> None:
    nested, _ = fit_tree(tree, 180_000)
    depths = {depth for part, depth in markup.walk(flat_report(nested)) if part.name in LIFTED_TAGS}
    assert depths == {1}
    assert {depth for part, depth in markup.walk(nested) if part.name in LIFTED_TAGS} > {1}
