"""The tightest JSON schema for each question: identifiers as enums, ordinals within bounds, lengths and counts limited.

Every object is closed and requires all its properties, as strict modes demand, in the order in which they are to be
written: reasons before verdicts. What a provider does not take is dropped by its wire format (`dense.model`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

from dense.analyst.answers import references
from dense.analyst.questions import (
    AnyQuestion,
    Boundary,
    Compression,
    Cuts,
    Digest,
    Labels,
    Reconciliation,
    Score,
    Settlement,
    Summary,
    TopLevel,
)
from dense.analyst.views import FULL, Limits, retained
from dense.tree import Coherence, Completion, Facets, Issue, Label, ShortcutOutcome, Subtask

type Schema = dict[str, Any]

LISTED = 100
"""Up to so many values are an enum; providers refuse schemas with long ones."""
CITED = 12
"""Up to so many nodes are cited at once, fewer where answers are to be short."""
REPORTED = 8
"""The same for issues."""
NAME = 24
"""How long an identifier is at the most, where it cannot be listed."""


def schema_for(question: AnyQuestion, limits: Limits = FULL) -> Schema:
    """The schema of the answer to a question."""
    long, short = limits.answer, _short(limits)
    match question:
        case Boundary():
            specials = [0] if question.is_last else [-1, 0]
            index = _ordinals(question.head, len(question.queue), specials)
            return _object(reasoning=_text(long), action_index=index)
        case Cuts():
            return _cuts(question, long)
        case Score():
            return _object(reasoning=_text(long), label=_enum(get_args(Label)))
        case Labels():
            return _object(labels=_labels([leaf.id for leaf in question.targets], short))
        case Summary():
            return _object(**_summary(long, short))
        case Digest():
            return _object(labels=_labels(question.targets, short), **_summary(long, short))
        case TopLevel():
            return _object(reasoning=_text(2 * long), can_mount_all={"type": "boolean"})
        case Compression():
            tree = _Tree(question.parent, (), question.key_actions, limits)
            return _object(groups=tree.groups()) | tree.definitions(has_verdict=False)
        case Reconciliation():
            tree = _Tree(question.subtree, question.issues, question.key_actions, limits)
            return tree.verdict() | tree.definitions(has_verdict=True)
        case Settlement():
            tree = _Tree(question.parent, question.issues, question.key_actions, limits)
            # What is in no group is kept: only shortcuts need to be listed.
            return _object(groups=tree.groups(least=0), verdict=tree.verdict()) | tree.definitions(has_verdict=True)


def _short(limits: Limits) -> int:
    return max(40, limits.answer // 4)


def _cuts(question: Cuts, long: int) -> Schema:
    stop: Schema = {"can_mount_all": {"type": "boolean"}} if question.may_stop else {}
    ends = _list(_ordinals(question.head, len(question.queue), []), most=len(question.queue), least=1)
    return _object(reasoning=_text(2 * long), **stop, ends=ends)


def _summary(long: int, short: int) -> dict[str, Schema]:
    facets = {name: _text(long // 2, least=1) for name in Facets.__struct_fields__}
    return {"subtitle": _text(min(short, 120), least=1), "summary": _text(long, least=1), **facets}


def _labels(targets: Sequence[str], short: int) -> Schema:
    entry = _object(id=_name(targets), reasoning=_text(short), label=_enum(get_args(Label)))
    return _list(entry, most=len(targets), least=len(targets))


class _Tree:
    """The parts of a schema that name nodes of one subtree. Lists that occur often are defined once."""

    def __init__(self, parent: Subtask, issues: Sequence[Issue], kept: Sequence[str], limits: Limits) -> None:
        self.children = [child.id for child in parent.children]
        self.nodes = references(parent)
        self.actions = [name for child in parent.children for name in retained(child, frozenset(kept))]
        self.issues = [issue.id for issue in issues]
        self.long, self.short = limits.answer, _short(limits)

    def groups(self, *, least: int = 1) -> Schema:
        group = _object(
            mode=_enum(["keep", "shortcut"]),
            source_node_ids=_list(_name(self.children), most=len(self.children), least=1),
            title=_text(min(self.short, 120)),
            dead_end=_text(self.short),
            working_path=_text(self.short),
            outcome=_enum(get_args(ShortcutOutcome)),
            open_issue=_text(self.short),
            evidence_node_ids=_defined("nodes"),
            key_action_ids=_defined("actions"),
        )
        return _list(group, most=len(self.children), least=least)

    def verdict(self) -> Schema:
        return _object(
            coherence=_enum(get_args(Coherence)),
            completion=_enum(get_args(Completion)),
            summary=_text(self.long),
            open_issues=_defined("issues"),
            fatal_issues=_defined("issues"),
            resolved_issue_ids=_list(_name(self.issues), most=len(self.issues)),
            resolution_evidence=_object(**{name: _defined("nodes") for name in self.issues}),
            key_action_ids=_defined("actions"),
        )

    def definitions(self, *, has_verdict: bool) -> Schema:
        """What `groups` and `verdict` refer to."""
        issue = _object(issue=_text(self.short, least=1), evidence_node_ids=_defined("nodes"))
        named = (("nodes", self.nodes), ("actions", self.actions))
        most = min(CITED, self.long // 40)
        lists = {name: _list(_name(names), most=min(most, len(names))) for name, names in named}
        issues = {"issues": _list(issue, most=min(REPORTED, self.long // 60))} if has_verdict else {}
        return {"$defs": lists | issues}


def _defined(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _object(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _text(most: int, *, least: int = 0) -> Schema:
    return {"type": "string", "maxLength": most} | ({"minLength": least} if least else {})


def _list(items: Schema, *, most: int, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "maxItems": most} | ({"minItems": least} if least else {})


def _enum(values: Iterable[str | int]) -> Schema:
    listed = list(values)
    return {"type": "string" if isinstance(listed[0], str) else "integer", "enum": listed}


def _name(names: Sequence[str]) -> Schema:
    """One of these identifiers; just a short text where there are too many to be listed, or none."""
    return _enum(names) if 0 < len(names) <= LISTED else _text(NAME)


def _ordinals(head: int, length: int, specials: list[int]) -> Schema:
    if length + len(specials) <= LISTED:
        return _enum([*specials, *range(head, head + length)])
    return {"type": "integer", "minimum": min(specials, default=head), "maximum": head + length - 1}
