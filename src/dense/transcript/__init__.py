"""A trajectory as text that a model or a person reads: numbered actions, cleaned, each thing shown once.

Comes in: a trajectory. Goes out: `TranscriptAction`s with their blocks (calls, bodies, outputs), and their text within
a number of characters. Cleaning removes what is no evidence (harness wrappers, escape codes, progress bars, echoes);
repetition becomes a reference to the action that showed it first; clipping comes last, works on whole lines of the
cleaned original, and says truthfully how much it left out. Never imports an analyst, a method or a renderer."""

from dense.transcript.actions import Block, TranscriptAction, command_of, transcript_actions
from dense.transcript.show import escape_headers, show
from dense.transcript.wrappers import visible

__all__ = ["Block", "TranscriptAction", "command_of", "escape_headers", "show", "transcript_actions", "visible"]
