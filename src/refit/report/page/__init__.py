"""The report as one self-contained page: it works from a file, without network, with keyboard alone, dark and light.

In: a `Report` and its tables and figures. Out: `index.html`. Never imports anything outside `refit.report` but
nouns."""

from __future__ import annotations

from refit.report.page.write import write_page

__all__ = ["write_page"]
