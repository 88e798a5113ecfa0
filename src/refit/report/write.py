"""Writes a report: the numbers, then all that is rendered from them. The same experiment gives the same bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from dense.errors import DenseError
from refit.report.build import build
from refit.report.model import Report
from refit.report.statistics.bootstrap import DRAWS, SEED
from refit.report.surrogates import writable_experiment
from refit.report.table import ReportTable, comma_separated, latex, markdown
from refit.report.tables import tables
from refit.results import Experiment, Prices


def make(
    experiment: Experiment,
    folder: Path,
    *,
    exclude: Sequence[str] = (),
    seed: int = SEED,
    draws: int = DRAWS,
    prices: Mapping[str, Prices] | None = None,
    case: str | None = None,
) -> Report:
    """Builds the report of an experiment and writes `report.json`, `tables/`, `figures/` and `index.html` to a folder.

    `exclude` names tasks without which all numbers are given once more; `prices` go before the experiment's own; `case`
    is the task that the page shows as a case, by default the one whose methods differ most."""
    from refit.report.figures import draw
    from refit.report.page import write_page

    experiment = writable_experiment(experiment)
    report = build(experiment, exclude=exclude, seed=seed, draws=draws, prices=prices)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_json(report, folder)
        write_tables(report, folder)
        draw(report, folder)
        write_page(report, experiment, folder, case)
    except OSError as problem:
        raise DenseError(f"cannot write the report to {folder}: {problem}; name another folder") from problem
    return report


def write_json(report: Report, folder: Path) -> None:
    """`report.json`: the whole report, as it is."""
    text = msgspec.json.format(msgspec.json.encode(report, order="deterministic", enc_hook=str), indent=1)
    (folder / "report.json").write_bytes(text + b"\n")


def write_tables(report: Report, folder: Path) -> None:
    """`tables/*.{md,csv,tex}`, and `all.tex`, a document of all of them. Tables of an earlier report do not stay."""
    table_folder = folder / "tables"
    table_folder.mkdir(exist_ok=True)
    for old in table_folder.iterdir():
        if old.suffix in (".md", ".csv", ".tex"):
            old.unlink()
    report_tables = tables(report)
    for table in report_tables:
        (table_folder / f"{table.name}.md").write_text(markdown(table, report.notes), encoding="utf-8")
        (table_folder / f"{table.name}.csv").write_text(
            comma_separated(table, report.notes), encoding="utf-8", newline=""
        )
        (table_folder / f"{table.name}.tex").write_text(latex(table, report.notes), encoding="ascii")
    (table_folder / "all.tex").write_text(_document(report_tables), encoding="ascii")


def _document(report_tables: Sequence[ReportTable]) -> str:
    packages = "\\usepackage[landscape,margin=15mm]{geometry}\n\\usepackage{booktabs,longtable}"
    inputs = "\n".join(f"\\input{{{table.name}}}\n\\clearpage" for table in report_tables)
    return f"\\documentclass{{article}}\n{packages}\n\\begin{{document}}\n{inputs}\n\\end{{document}}\n"
