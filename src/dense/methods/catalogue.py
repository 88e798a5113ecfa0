"""Which methods there are: a table of short names, any `module:Class`, and entry points of other packages."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast, get_args

from msgspec import Struct

from dense.errors import UnknownMethod, describe_exception
from dense.methods.method import AnyMethod, Sees


class MethodEntry(Struct, frozen=True):
    """A method: where it is, and what `dense methods` says about it without loading it."""

    path: str
    """`module:Class`."""
    sees: Sees
    calls: str


METHODS = {
    "dense": MethodEntry(
        "dense.methods.dense:Dense",
        "trajectory",
        "1; long attempts: one for each window and one to close; profile paper: about two for each action",
    ),
    "dense+lessons": MethodEntry("dense.methods.dense_lessons:DenseWithLessons", "trajectory", "as dense"),
    "dense-no-shortcuts": MethodEntry("dense.methods.dense:NoShortcuts", "trajectory", "as dense"),
    "dense-no-hierarchy": MethodEntry("dense.methods.no_hierarchy:NoHierarchy", "trajectory", "1"),
    "dense-flat": MethodEntry("dense.methods.dense:Flat", "trajectory", "as dense"),
}
"""Our own methods, by name. A test compares each entry with its class."""
ENTRY_POINT_GROUP = "dense.methods"
"""The group of entry points of other packages' methods: each names a class, or a `MethodEntry` that says where it is.
REFIT's baselines are there, too."""
BASELINES, OLD_BASELINES = "refit.baselines.", "dense.methods.baselines."
"""Where the baselines are, and where they were: experiments name them."""
FEEDBACK_ARGUMENTS = {
    "task": ("task", "context"),
    "trajectory": ("trajectory", "context"),
    "outcome": ("trajectory", "outcome", "context"),
}
"""The arguments of `feedback`, by what the method sees."""


def method(name: str) -> AnyMethod:
    """The method of a short name, of an entry point, or a class as `module:Class`."""
    point = None if name in METHODS else _entry_point(name)
    path = METHODS[name].path if name in METHODS else point or name
    module, colon, attribute = path.partition(":")
    if not colon and point is not None:
        raise UnknownMethod(f"the method {name!r} cannot be loaded: its entry point {point!r} is no `module:Class`")
    if not colon:
        raise UnknownMethod(f"unknown method {name!r}; known are {', '.join(method_names())}, and any `module:Class`")
    if f"{module}.".startswith(OLD_BASELINES):
        raise UnknownMethod(f"the method {name!r} has moved: write {BASELINES + path.removeprefix(OLD_BASELINES)!r}")
    try:
        loaded = getattr(import_module(module), attribute)
        if isinstance(loaded, MethodEntry):
            return method(loaded.path)
        instance = loaded()
        return instance if name in METHODS else _checked(instance, name)  # types and tests check our own
    except UnknownMethod:
        raise
    except (ImportError, AttributeError, SyntaxError) as error:  # their text is enough
        raise UnknownMethod(f"the method {name!r} cannot be loaded: {error}") from None
    except (Exception, SystemExit) as error:  # a module of somebody's own may raise anything, or be a script
        raise UnknownMethod(f"the method {name!r} cannot be loaded: {describe_exception(error, module)}") from None


def method_names() -> Iterator[str]:
    """All short names: our own, then those of other packages."""
    yield from METHODS
    yield from (point.name for point in _entry_points() if point.name not in METHODS)


def describe_method(name: str) -> tuple[Sees, str]:
    """What the method of a name sees, and how many calls it makes. Only a class without a `MethodEntry` is loaded."""
    known = METHODS.get(name) or _described(name) or method(name)
    return known.sees, known.calls


def _described(name: str) -> MethodEntry | None:
    """What an entry point says of its method, if it names a `MethodEntry`."""
    module, _, attribute = (_entry_point(name) or "").partition(":")
    try:
        loaded = getattr(import_module(module), attribute)
    except (Exception, SystemExit):  # `method` says what is wrong
        return None
    return loaded if isinstance(loaded, MethodEntry) else None


def _checked(instance: Any, name: str) -> AnyMethod:
    """The method, if it has what all three kinds need; `UnknownMethod` says what is missing."""
    for attribute in ("name", "calls"):
        if not isinstance(getattr(instance, attribute, None), str):
            raise UnknownMethod(f"the method {name!r} lacks the text `{attribute}`; see docs/add-a-method.md")
    if getattr(instance, "sees", None) not in get_args(Sees):
        raise UnknownMethod(
            f"the method {name!r} must say what it `sees`: {', '.join(get_args(Sees))}; see docs/add-a-method.md"
        )
    if not callable(getattr(instance, "feedback", None)):
        raise UnknownMethod(f"the method {name!r} has no function `feedback`; see docs/add-a-method.md")
    _check_function(instance, name)
    return cast("AnyMethod", instance)


def _check_function(instance: Any, name: str) -> None:
    """Whether `feedback` can be awaited, and takes what it will be given."""
    if not inspect.iscoroutinefunction(instance.feedback):
        raise UnknownMethod(f"the method {name!r} must have an `async def feedback`; see docs/add-a-method.md")
    given = FEEDBACK_ARGUMENTS[instance.sees]
    try:
        inspect.signature(instance.feedback).bind(*given)
    except TypeError as error:
        raise UnknownMethod(
            f"the method {name!r} sees {instance.sees!r}: `feedback` is given ({', '.join(given)}), "
            f"and does not take that ({error}); see docs/add-a-method.md"
        ) from None


def _entry_point(name: str) -> str | None:
    """The `module:Class` of an entry point, without the extras that it may name."""
    return next((point.value.partition("[")[0].strip() for point in _entry_points() if point.name == name), None)


def _entry_points() -> list[EntryPoint]:
    return sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda point: point.name)
