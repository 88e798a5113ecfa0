"""The built-in analyst: drafts the tree from the evidence alone. No key, no network, no cost, the same draft every
time.

    RulesAnalyst().analysed(trajectory)    the analysis, without an event loop

In: a clean trajectory. Out: a `TreeDraft`. `boundaries` cuts the trajectory into nested stretches, `labels` says which
actions helped, `shortcuts` groups failed tries, `verdicts` puts findings and their resolutions onto the tree. Findings
come from `detectors`, words from `wording`. Never imports questions, prompts or models."""

from __future__ import annotations

from dense.analysis.rules.analyst import RulesAnalyst

__all__ = ["RulesAnalyst"]
