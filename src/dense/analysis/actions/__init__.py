"""What each action of a trajectory did and showed: its effects, what came back, and its text for a reader.

    action.py                       `Action`, which holds all of this, each once; `Actions`, those of a trajectory
    step_effects.py, effects.py     what the calls of a step did, or tried to do: reads, writes, runs, tests, installs
    calls.py, shell/, programs/     the calls by the names that tools are known by, and what is in shell text
    observations/                   what came back: exit codes, failures, test runs, named values
    blocks.py                       calls, bodies and outputs as cleaned text
    transcript.py, repeats.py, show.py    the text of all actions within a limit, each thing once

In: steps. Out: `Actions` with `Effects`, `ObservedResult`, `Block`s. All of it is pure, accepts any step whatever its
calls hold, and never raises. Effects come from calls alone: whether a command failed is for `observations` to say.
Sub-agents in a step have steps of their own. Cleaning removes what is no evidence (harness wrappers, escape codes,
progress bars, echoes); repetition becomes a reference to the action that showed it first; clipping comes last, works on
whole lines of the cleaned original, and says truthfully how much it left out. No English and no judgement; facts about
programs and tools are in `dense.knowledge`. Never imports evidence, an analyst, a method or a renderer."""
