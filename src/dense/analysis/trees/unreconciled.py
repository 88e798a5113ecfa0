"""The tree without the stage that compresses and reconciles: the ablation `dense-no-shortcuts`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from dense.analysis.trees.accept import Accepted
from dense.analysis.trees.fallback_text import fallback_summary
from dense.analysis.wording.facets import describe_value
from dense.tree import Issue, ReconciledTree, Subtask, Verdict, leaves


def unreconciled(trees: Accepted) -> ReconciledTree:
    """The source tree as a report needs it: subtasks with the summaries that they got when they were made, nobody's
    verdict, no shortcut. The actions that are kept by rule are its key actions.

    What a summary calls open is an issue that nobody closes. Of nested subtasks, the highest that says something
    counts: its summary has drawn those below it together."""
    source = trees.source.root
    issues = [
        Issue(id=f"issue_{number}", text=text, raised_at=node) for number, (node, text) in enumerate(_left_open(source))
    ]
    keys = tuple([leaf.id for leaf in leaves(source) if trees.assessment.actions.effects(leaf.action).is_key])
    root = replace(
        source,
        summary=source.summary or fallback_summary(source.children),
        verdict=Verdict(coherence="insufficient_evidence", completion="unknown", state="unknown", key_actions=keys),
    )
    return replace(trees.reconciled, root=root, issues=tuple(issues), problems=())


def _left_open(node: Subtask) -> Iterator[tuple[str, str]]:
    for child in node.children:
        if isinstance(child, Subtask):
            claims = [describe_value(value) for value in child.facets.key_values if value.is_claim]
            text = "; ".join([*child.facets.open_issues, *claims])
            yield from [(child.id, text)] if text else _left_open(child)
