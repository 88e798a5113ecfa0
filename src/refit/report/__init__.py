"""From an experiment to a report: every number with its uncertainty, tables, figures, a page, and what cannot be said.

    Experiment → build (pairs → metrics, comparisons, cumulative → Report) → report.json, tables, figures, index.html

In: an `Experiment`. Out: a `Report` and its files, by `make`. The report's numbers are in `model`; docs/report.md says
how they are computed. Never imports `refit`, `service` or `harness`."""

from __future__ import annotations

from refit.report.build import build
from refit.report.model import Report
from refit.report.statistics.bootstrap import DRAWS, SEED
from refit.report.write import make

__all__ = ["DRAWS", "SEED", "Report", "build", "make"]
