"""Every way to turn an attempt into feedback, ours among the baselines, behind one door.

    method(name) → what it may see, by its type → Draft → the same budget, frame and accounting → Feedback

`run` is the door, `METHODS` the table of short names. How to write one: docs/add-a-method.md."""

from __future__ import annotations

from dense.methods.catalogue import METHODS, method, names
from dense.methods.listing import listing, texts
from dense.methods.method import AnyMethod, Draft, Means, Method, PrivilegedMethod, TaskMethod
from dense.methods.runner import Made, Trail, run

__all__ = [
    "METHODS",
    "AnyMethod",
    "Draft",
    "Made",
    "Means",
    "Method",
    "PrivilegedMethod",
    "TaskMethod",
    "Trail",
    "listing",
    "method",
    "names",
    "run",
    "texts",
]
