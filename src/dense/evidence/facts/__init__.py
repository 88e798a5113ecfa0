"""What is known of each action: its family, phase, targets, signature, output, and what the agent says of it.

Effects and observed results come in, one per step; `ActionFacts` and small questions about paths and messages go out.
Imports nothing of `links`, `checks`, `detectors` or `narrate`."""
