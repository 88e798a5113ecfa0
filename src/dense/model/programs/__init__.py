"""Programs as models: the command lines of coding agents, and any command that reads a prompt and prints an answer.

In: a `ChatRequest`. Out: a `ChatReply`, from a process of its own: the prompt on standard input, in an empty private
folder, without tools, hooks, project files or a stored session. `table` has a row for each program, beside it a module
that knows how the program is started and what its output means; `prompt` keeps a program from reading commands or names
of files out of a trace, `process` ends it in time. Never imports anything of dense but `model` and nouns."""

from dense.model.programs.program import GUARD
from dense.model.programs.program_model import ProgramModel
from dense.model.programs.prompt import PROMPT_VERSION
from dense.model.programs.table import COMMAND, PROGRAMS

__all__ = ["COMMAND", "GUARD", "PROGRAMS", "PROMPT_VERSION", "ProgramModel"]
