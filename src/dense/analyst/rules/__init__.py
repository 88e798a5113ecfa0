"""The built-in analyst: drafts the tree from the evidence alone. No key, no network, no cost, the same draft every
time.

    RulesAnalyst().draft(trajectory)    the draft, at once

`boundaries` cuts the trajectory into nested stretches, `labels` says which actions helped, `shortcuts` groups attempts,
`verdicts` puts findings and their resolutions onto the tree. What is found comes from `dense.detectors`, the words from
`dense.narrate`. Must never import questions, prompts or models."""

from __future__ import annotations

from dense.analyst.rules.analyst import RulesAnalyst

__all__ = ["RulesAnalyst"]
