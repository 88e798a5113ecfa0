"""Which methods there are: a table of short names, any `module:Class`, and entry points of other packages."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast, get_args

from dense.errors import UnknownMethod
from dense.methods.method import AnyMethod, Sees

METHODS = {
    "none": "dense.methods.controls:NoFeedback",
    "advisor": "dense.methods.controls:Advisor",
    "self-reflection": "dense.methods.replay:SelfReflection",
    "all-at-once": "dense.methods.all_at_once:AllAtOnce",
    "step-by-step": "dense.methods.step_by_step:StepByStep",
    "dense": "dense.methods.trees:Dense",
    "dense-no-shortcuts": "dense.methods.trees:NoShortcuts",
    "dense-no-hierarchy": "dense.methods.no_hierarchy:NoHierarchy",
    "dense-flat": "dense.methods.trees:Flat",
    "verifier-feedback": "dense.methods.replay:VerifierFeedback",
}
GROUP = "dense.methods"
"""The group of entry points under which other packages name theirs."""


def method(name: str) -> AnyMethod:
    """The method of a short name, of an entry point, or a class as `module:Class`."""
    path = METHODS.get(name) or _entry_point(name) or name
    module, colon, cls = path.partition(":")
    if not colon:
        raise UnknownMethod(f"unknown method {name!r}; known are {', '.join(names())}, and any `module:Class`")
    try:
        made: Any = getattr(import_module(module), cls)()
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise UnknownMethod(f"the method {name!r} cannot be loaded: {error}") from None
    return _checked(made, name)


def names() -> Iterator[str]:
    """All short names: our own, then those of other packages."""
    yield from METHODS
    yield from (point.name for point in _points() if point.name not in METHODS)


def _checked(made: Any, name: str) -> AnyMethod:
    """A class that is none of the three kinds is told so before anything is run."""
    for attribute in ("name", "calls"):
        if not isinstance(getattr(made, attribute, None), str):
            raise UnknownMethod(f"the method {name!r} lacks the text `{attribute}`; see docs/add-a-method.md")
    if getattr(made, "sees", None) not in get_args(Sees):
        raise UnknownMethod(
            f"the method {name!r} must say what it `sees`: {', '.join(get_args(Sees))}; see docs/add-a-method.md"
        )
    if not callable(getattr(made, "feedback", None)):
        raise UnknownMethod(f"the method {name!r} has no function `feedback`; see docs/add-a-method.md")
    return cast("AnyMethod", made)


def _entry_point(name: str) -> str | None:
    return next((point.value for point in _points() if point.name == name), None)


def _points() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: point.name)
