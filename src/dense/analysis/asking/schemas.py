"""What the JSON schemas of answers are made of: identifiers as enums, ordinals within bounds, limited lengths.

Every object is closed and requires all its properties, as strict modes demand, in the order in which they are to be
written: reasons before verdicts. What a provider does not take is dropped by its wire format (`dense.model`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, get_args

from dense.analysis.asking.views import Limits, retained
from dense.tree import Coherence, Completion, Issue, ShortcutOutcome, Subtask, nodes

type Schema = dict[str, Any]

MAX_ENUM_VALUES = 100
"""Up to so many values are an enum; providers refuse schemas with long ones."""
MAX_CITED_NODES = 12
"""Up to so many nodes are cited at once, fewer where answers are to be short."""
MAX_ISSUES = 8
"""The same for issues."""
MAX_NAME_CHARS = 24
"""How long an identifier is at the most, where it cannot be listed."""


def short_length(limits: Limits) -> int:
    """How long a short text may be."""
    return max(40, limits.answer // 4)


class SubtreeSchema:
    """The parts of a schema that name nodes of one subtree. Lists that occur often are defined once."""

    def __init__(self, parent: Subtask, issues: Sequence[Issue], kept: Sequence[str], limits: Limits) -> None:
        self.children = [child.id for child in parent.children]
        self.nodes = [node.id for node in nodes(parent) if node.id != parent.id]
        self.actions = [name for child in parent.children for name in retained(child, frozenset(kept))]
        self.issues = [issue.id for issue in issues]
        self.long, self.short = limits.answer, short_length(limits)

    def groups(self, *, least: int = 1) -> Schema:
        group = object_of(
            mode=enum_of(["keep", "shortcut"]),
            source_node_ids=list_of(name_of(self.children), most=len(self.children), least=1),
            title=text_of(min(self.short, 120)),
            dead_end=text_of(self.short),
            working_path=text_of(self.short),
            outcome=enum_of(get_args(ShortcutOutcome)),
            open_issue=text_of(self.short),
            evidence_node_ids=_defined("nodes"),
            key_action_ids=_defined("actions"),
        )
        return list_of(group, most=len(self.children), least=least)

    def verdict(self) -> Schema:
        return object_of(
            coherence=enum_of(get_args(Coherence)),
            completion=enum_of(get_args(Completion)),
            summary=text_of(self.long),
            open_issues=_defined("issues"),
            fatal_issues=_defined("issues"),
            resolved_issue_ids=list_of(name_of(self.issues), most=len(self.issues)),
            resolution_evidence=object_of(**{name: _defined("nodes") for name in self.issues}),
            key_action_ids=_defined("actions"),
        )

    def definitions(self, *, has_verdict: bool) -> Schema:
        """What `groups` and `verdict` refer to."""
        issue = object_of(issue=text_of(self.short, least=1), evidence_node_ids=_defined("nodes"))
        named = (("nodes", self.nodes), ("actions", self.actions))
        most = min(MAX_CITED_NODES, self.long // 40)
        lists = {name: list_of(name_of(names), most=min(most, len(names))) for name, names in named}
        issues = {"issues": list_of(issue, most=min(MAX_ISSUES, self.long // 60))} if has_verdict else {}
        return {"$defs": lists | issues}


def _defined(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def object_of(**properties: Schema) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def text_of(most: int, *, least: int = 0) -> Schema:
    return {"type": "string", "maxLength": most} | ({"minLength": least} if least else {})


def list_of(items: Schema, *, most: int, least: int = 0) -> Schema:
    return {"type": "array", "items": items, "maxItems": most} | ({"minItems": least} if least else {})


def enum_of(values: Iterable[str | int]) -> Schema:
    listed = list(values)
    return {"type": "string" if isinstance(listed[0], str) else "integer", "enum": listed}


def name_of(names: Sequence[str]) -> Schema:
    """One of these identifiers; just a short text if there are too many to be listed, or none."""
    return enum_of(names) if 0 < len(names) <= MAX_ENUM_VALUES else text_of(MAX_NAME_CHARS)


def ordinals(head: int, length: int, specials: list[int]) -> Schema:
    if length + len(specials) <= MAX_ENUM_VALUES:
        return enum_of([*specials, *range(head, head + length)])
    return {"type": "integer", "minimum": min(specials, default=head), "maximum": head + length - 1}
