"""JSON Schemas in the narrower dialects that some providers take. Pure functions from a schema to a new one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

Schema = dict[str, Any]


def close_objects(schema: Schema) -> Schema:
    """The same schema with every object closed to further properties, as strict modes demand."""
    return _mapped(schema, _close)


def describe_keywords(schema: Schema, keywords: tuple[str, ...]) -> Schema:
    """The same schema with these keywords moved into descriptions, for providers that reject them."""

    def describe(node: Schema) -> Schema:
        limits = ", ".join(f"{word} {node[word]}" for word in keywords if word in node)
        if not limits:
            return node
        rest = {word: value for word, value in node.items() if word not in keywords}
        return {**rest, "description": f"{rest['description']} ({limits})" if "description" in rest else limits}

    return _mapped(schema, describe)


def is_strict(schema: Schema) -> bool:
    """Whether every object requires all of its properties, so that `strict` may be asked for."""
    strict = True

    def look(node: Schema) -> Schema:
        nonlocal strict
        strict = strict and set(node.get("properties", ())) == set(node.get("required", ()))
        return node

    _mapped(schema, look)
    return strict


def _close(node: Schema) -> Schema:
    return {**node, "additionalProperties": False} if "properties" in node else node


def _mapped(node: Schema, change: Callable[[Schema], Schema]) -> Schema:
    """A schema with each of its schemas changed, inner ones first. Values such as enums and defaults are left alone."""
    mapped = dict(node)
    for word in ("properties", "$defs", "definitions"):
        if isinstance(node.get(word), dict):
            named = cast(dict[str, Any], node[word])
            mapped[word] = {name: _mapped(inner, change) for name, inner in named.items()}
    for word in ("anyOf", "oneOf", "allOf", "prefixItems"):
        if isinstance(node.get(word), list):
            mapped[word] = [_mapped(inner, change) for inner in cast(list[Schema], node[word])]
    if isinstance(node.get("items"), dict):
        mapped["items"] = _mapped(cast(Schema, node["items"]), change)
    return change(mapped)
