"""The JSON schemas of the answers, for providers that hold a model to one. Parts of a subtask have no parts."""

from __future__ import annotations

from typing import Any, get_args

from dense.tree import Coherence, Completion, Met, ShortcutOutcome

type Schema = dict[str, Any]

_TEXT: Schema = {"type": "string"}
_ACTION: Schema = {"type": "integer", "minimum": 1}
_FLAG: Schema = {"type": "boolean"}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _object(required: str, **properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


def _enum(literal: object) -> Schema:
    return {"type": "string", "enum": list(get_args(literal))}


_ACTIONS = _list(_ACTION)
_VERDICT: Schema = {"why": _TEXT, "coherence": _enum(Coherence), "completion": _enum(Completion)}
_DIGEST: Schema = {
    "title": _TEXT,
    "summary": _TEXT,
    "mechanisms": _list(_TEXT),
    "order": _list(_TEXT),
    "values": _list(_object("value check", value=_TEXT, check=_ACTION)),
    **_VERDICT,
}
_NEEDED = "title summary why completion"
_SUBTASK = _object(f"to {_NEEDED}", to=_ACTION, **_DIGEST)
_GROUP = _object(f"parts {_NEEDED}", parts=_list(_SUBTASK), **_DIGEST)
_PHASE = _object(f"to {_NEEDED}", to=_TEXT, **_DIGEST)

_REQUIREMENTS = _list(_object("text met", text=_TEXT, met=_enum(Met), by=_ACTIONS))
_SHORTCUTS = _list(
    _object(
        "from to dead_end outcome",
        **{"from": _ACTION},
        to=_ACTION,
        dead_end=_TEXT,
        working_path=_TEXT,
        outcome=_enum(ShortcutOutcome),
    )
)
_ISSUES = _list(_object("text evidence", text=_TEXT, evidence=_ACTIONS, quote=_TEXT, fixed_by=_ACTIONS, fatal=_FLAG))
_PRODUCTS = _list(_object("path action", path=_TEXT, action=_ACTION, check=_ACTION))
_ROOT = _object("summary why completion", summary=_TEXT, **_VERDICT)
_NEXT_STEPS = _list(_object("do", do=_TEXT, because=_ACTIONS, untested=_FLAG))
_LABELS = _list(_object("action label", action=_ACTION, why=_TEXT, label={"type": "integer", "enum": [-1, -2]}))

SCHEMAS: dict[str, Schema] = {
    "whole": _object(
        "requirements subtasks root next_steps",
        requirements=_REQUIREMENTS,
        subtasks=_list({"anyOf": [_SUBTASK, _GROUP]}),
        shortcuts=_SHORTCUTS,
        issues=_ISSUES,
        products=_PRODUCTS,
        root=_ROOT,
        next_steps=_NEXT_STEPS,
        key_actions=_ACTIONS,
        labels=_LABELS,
    ),
    "window": _object(
        "subtasks",
        subtasks=_list(_SUBTASK),
        shortcuts=_SHORTCUTS,
        issues=_ISSUES,
        products=_PRODUCTS,
        key_actions=_ACTIONS,
        labels=_LABELS,
    ),
    "closing": _object(
        "phases root",
        requirements=_REQUIREMENTS,
        phases=_list(_PHASE),
        shortcuts=_SHORTCUTS,
        known_issues=_list(_object("id", id=_TEXT, same_as=_TEXT, fixed_by=_ACTIONS)),
        issues=_ISSUES,
        products=_PRODUCTS,
        root=_ROOT,
        next_steps=_NEXT_STEPS,
        key_actions=_ACTIONS,
    ),
}
"""By the kind of question."""
