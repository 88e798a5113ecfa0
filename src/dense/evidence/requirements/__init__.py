"""The task: what it names, and in which role.

    requirements(task)   files, ports, values, limits, commands, demands: deliverable, given, forbidden or mentioned

It works on the text's structure first (headings, lists, lead-ins, code, what stands in quotes) and on small tables of
words in the larger languages second. It is meant to be right when it says `deliverable`, and says `mentioned` when in
doubt. It never raises, and takes time linear in the text; of a very long text it looks at the beginning and the end."""

from __future__ import annotations

from dense.evidence.requirements.extract import requirements
from dense.evidence.requirements.requirement import Kind, Requirement, Role

__all__ = ["Kind", "Requirement", "Role", "requirements"]
