"""The report as one self-contained page: it works from a file, without network, with keyboard alone, dark and light."""

from __future__ import annotations

from dense.report.page.write import write_page

__all__ = ["write_page"]
