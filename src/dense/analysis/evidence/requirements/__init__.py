"""What a task names, and in which role.

    requirements(task)   files, ports, values, limits, commands, demands: deliverable, given, forbidden or mentioned

In: a task. Out: `Requirement`s in the order of the text. The structure of the text decides first (headings, lists,
lead-ins, code, quotes), then the word lists of `knowledge.words`. In doubt the role is `mentioned`. Never raises; the
time is linear in the text, and of a very long text only the beginning and the end are read. Never imports anything
of dense but `knowledge`, `text` and nouns."""

from __future__ import annotations

from dense.analysis.evidence.requirements.extract import requirements
from dense.analysis.evidence.requirements.requirement import Kind, Requirement, Role

__all__ = ["Kind", "Requirement", "Role", "requirements"]
