"""Every way to turn an attempt into feedback, ours among the baselines, behind one door.

`METHODS` is the table of short names; `dense.service` runs a method. How to write one: docs/add-a-method.md."""

from __future__ import annotations

from dense.methods.catalogue import METHODS, method, names
from dense.methods.listing import listing, texts
from dense.methods.method import AnyMethod, Draft, Means, Method, PrivilegedMethod, TaskMethod

__all__ = [
    "METHODS",
    "AnyMethod",
    "Draft",
    "Means",
    "Method",
    "PrivilegedMethod",
    "TaskMethod",
    "listing",
    "method",
    "names",
    "texts",
]
