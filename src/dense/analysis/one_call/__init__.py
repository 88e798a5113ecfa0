"""The fast profile of a language model: the whole tree in one call, or windows side by side and one closing call.

Comes in: a trajectory. Goes out: a `TreeDraft`. `analyst` decides what is asked, `prompt` what the model sees, `reply`
and `answer` read what it wrote and keep every piece that holds, `to_draft` makes the draft of it. Must never import
`message` or `methods`."""

from dense.analysis.one_call.analyst import OneCallAnalyst
from dense.analysis.one_call.prompt import render_one_call
from dense.analysis.one_call.questions import Closing, Look, OneCallQuestion, Whole, Window

__all__ = [
    "Closing",
    "Look",
    "OneCallAnalyst",
    "OneCallQuestion",
    "Whole",
    "Window",
    "render_one_call",
]
