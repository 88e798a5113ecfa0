"""Every way to turn an attempt into feedback behind one contract: DENSE, its ablations, and what others hang in.

`method` holds the contract, `catalogue` the table of short names, `questions` what a method with prompts of its own
needs; a new method is one module and one line of that table, or an entry point (docs/add-a-method.md).

Comes in: a task, a trajectory, for privileged methods an outcome, and a `MethodContext`. Goes out: a `FeedbackDraft`.
`dense.service` runs methods; nothing here imports it, writes files or knows budgets."""

from __future__ import annotations

from dense.message.message import MessageFrame
from dense.message.page import Item, ReportPage
from dense.methods.catalogue import METHODS, MethodEntry, method, method_names
from dense.methods.list_report import list_report, text_items
from dense.methods.method import AnyMethod, FeedbackDraft, Method, MethodContext, PrivilegedMethod, TaskMethod

__all__ = [
    "METHODS",
    "AnyMethod",
    "FeedbackDraft",
    "Item",
    "MessageFrame",
    "Method",
    "MethodContext",
    "MethodEntry",
    "PrivilegedMethod",
    "ReportPage",
    "TaskMethod",
    "list_report",
    "method",
    "method_names",
    "text_items",
]
