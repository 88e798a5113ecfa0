"""The built-in analyst: answers all judgements from the trace alone, by rules. No key, no network, no cost, the same
answers every time.

    RulesAnalyst(trajectory)    an analyst for this trajectory

What it does is in `analysis.py`: the trace is looked at once, as a whole. The other modules each know one thing."""

from __future__ import annotations

from dense.analyst.rules.analyst import RulesAnalyst

__all__ = ["RulesAnalyst"]
