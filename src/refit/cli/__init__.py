"""`dense refit`: the commands' options. What they do is in `run`, `table` and `results`, loaded when run.

In: arguments. Out: text and an exit code. Never imports Harbor or matplotlib itself."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from dense.cli.option_fields import with_fields

refit = typer.Typer(
    help="Measure whether feedback helps: paired reruns on Harbor.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

File = Annotated[Path, typer.Argument(help="The experiment: a YAML file; see docs/refit.md.", show_default=False)]
ExperimentPath = Annotated[
    Path, typer.Argument(help="The experiment: its folder, or its YAML file.", show_default=False, metavar="EXPERIMENT")
]
Out = Annotated[
    Path | None, typer.Option("--out", help="The experiment's folder. [default: out/refit/NAME]", show_default=False)
]


class PriceChoice(StrEnum):
    """How input that a cache served or stored is priced."""

    cached = "cached"
    paper = "paper"


class GateMeasure(StrEnum):
    """Which number of a comparison a gate looks at."""

    point = "point"
    low = "low"
    high = "high"


@refit.command()
def plan(
    file: File,
    out: Out = None,
    like: Annotated[
        Path | None,
        typer.Option("--like", help="Traces like those to come: the analyst's calls and cost are estimated on them."),
    ] = None,
) -> None:
    """Show what would run: cells, calls, estimated cost. Runs nothing."""
    from refit.cli.run import plan

    plan(file, out, like)


@refit.command()
def run(
    file: File,
    out: Out = None,
    extend: Annotated[
        bool, typer.Option("--extend", help="Accept changes that only add cells: methods, tasks, repetitions, rounds.")
    ] = False,
    retry_invalid: Annotated[
        bool, typer.Option("--retry-invalid", help="Try cells again that were given up as not scored.")
    ] = False,
) -> None:
    """Run what is missing of an experiment. Interrupt and run again as often as you like."""
    from refit.cli.run import run

    run(file, out, extend=extend, retry_invalid=retry_invalid)


@refit.command()
def status(path: ExperimentPath, out: Out = None) -> None:
    """Show how far an experiment is, what is invalid and why, and who runs it."""
    from refit.cli.results import status

    status(path, out)


class ReportOptions(Struct, frozen=True, kw_only=True):
    """What a report shows, and how."""

    to: Annotated[
        Path | None, typer.Option("--to", help="The report's folder. [default: EXPERIMENT/report]", show_default=False)
    ] = None
    exclude: Annotated[
        list[str] | None,
        typer.Option("--exclude", metavar="TASK", help="Give all numbers once more without this task; repeatable."),
    ] = None
    price: Annotated[
        list[str] | None,
        typer.Option(
            "--price",
            metavar="NAME=INPUT,OUTPUT",
            help="USD for a million tokens, of a recipient or of `analyst`; cache reads and writes may follow.",
        ),
    ] = None
    privileged: Annotated[
        list[str] | None,
        typer.Option("--privileged", metavar="METHOD", help="Show this method apart: it saw outcomes; repeatable."),
    ] = None
    prices: Annotated[
        PriceChoice,
        typer.Option(
            "--prices",
            help="`paper`: all input at the base rate, as the paper prices it; otherwise cached input at its own rate.",
        ),
    ] = PriceChoice.cached
    case: Annotated[
        str | None,
        typer.Option("--case", metavar="TASK", help="Show this task as a case. [default: where methods differ most]"),
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", min=0, max=2**32 - 1, help="Of the resampling.")] = None


@refit.command()
@with_fields()
def report(
    path: ExperimentPath,
    options: ReportOptions,
    out: Out = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="Print only where the report is.")] = False,
) -> None:
    """Write tables, figures and a page: report/index.html."""
    from refit.cli.results import report

    report(path, out, options, quiet=quiet)


@refit.command()
def compare(
    first: Annotated[str, typer.Argument(help="An experiment: its folder or YAML file, `#METHOD` behind it or not.")],
    second: Annotated[str, typer.Argument(help="Another one, or another method of the same.")],
    fail_under: Annotated[
        float | None,
        typer.Option("--fail-under", metavar="POINTS", help="Exit with code 3 if the second less the first is below."),
    ] = None,
    by: Annotated[
        GateMeasure, typer.Option("--by", help="What the limit is for: the difference, or an end of its interval.")
    ] = GateMeasure.point,
    round: Annotated[int, typer.Option("--round", min=1, help="Which round is compared.")] = 1,
    recipient: Annotated[list[str] | None, typer.Option("--recipient", help="Only this one; repeatable.")] = None,
    seed: Annotated[int | None, typer.Option("--seed", min=0, max=2**32 - 1, help="Of the resampling.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the comparison as JSON.")] = False,
) -> None:
    """Compare two experiments by pairs: the difference with its interval, and an exit code for CI."""
    from refit.cli.results import compare

    compare(
        first,
        second,
        fail_under=fail_under,
        by=by.value,
        round=round,
        recipients=tuple(recipient or ()),
        seed=seed,
        as_json=json,
    )


@refit.command("export")
def export_(
    path: ExperimentPath,
    to: Annotated[Path, typer.Argument(help="The table: .csv, .jsonl or .parquet.", show_default=False)],
    out: Out = None,
) -> None:
    """Write all results as a table; docs/results-table.md describes it."""
    from refit.cli.results import export

    export(path, to, out)


@refit.command("import")
def import_(
    sources: Annotated[
        list[Path], typer.Argument(help="Tables (.csv, .jsonl, .parquet), or folders of finished Harbor jobs.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The experiment's folder.")],
    name: Annotated[str | None, typer.Option("--name", help="What to call it. [default: the folder's name]")] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method", metavar="JOB=METHOD[:ROUND]", help="Which method a Harbor job ran; a job without is round 0."
        ),
    ] = None,
) -> None:
    """Import results from elsewhere, for the same report."""
    from refit.cli.results import import_results

    import_results(sources, out, name, tuple(method or ()))
