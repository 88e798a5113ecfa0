"""Questions to a language model about a trace: what it is shown, what it is asked, what its answer must look like.

Comes in: a trajectory, and an answerer (`analysis/model.py` asks a chat model, `scripted` a file). Goes out: checked
answers. `views` makes the parts of the trace that a question shows, `prompt` the text from `prompts/`, `schemas` the
form of the answer; `asker` asks, checks and asks once for a correction. Must never import `one_call`, `message` or
anything above."""
