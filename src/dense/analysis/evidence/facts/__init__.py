"""What is known of each action: its family, phase, targets, signature, output, and what the agent says of it.

In: effects and observed results, one per step. Out: `ActionFacts`, and small questions about paths and messages.
Never imports `links`, `checks`, `detectors` or `wording`."""
