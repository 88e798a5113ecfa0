"""`dense distill`: the command's options. What it does is in `distill_run`, loaded only when it is run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated

import typer
from msgspec import Struct

from dense.cli.option_fields import with_fields
from dense.cli.read_options import ReadOptions
from dense.errors import DenseError, WrongUsage
from dense.options import FeedbackOptions


class OutputOptions(Struct, frozen=True, kw_only=True):
    """What is done with the results, and in which order."""

    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write a folder for each trajectory in this one. [default: print the message of the only one]"
        ),
    ] = None
    report: Annotated[bool, typer.Option("--report", help="Without --out: print the report alone.")] = False
    as_json: Annotated[
        bool, typer.Option("--json", help="With --out: print a JSON line for each result, as in OUT/index.jsonl.")
    ] = False
    record: Annotated[
        bool, typer.Option("--record", help="Keep the answers of each trajectory in its folder, for --answers.")
    ] = False
    only_estimate: Annotated[bool, typer.Option("--estimate", help="Print what it would cost, and stop.")] = False
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before spending more than 1 USD.")] = False
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Trajectories at once.")] = 4

    def check(self) -> None:
        """Raise `WrongUsage` if these do not go together."""
        if self.out is None and self.record:
            raise WrongUsage("--record keeps answers in the folder of --out: give one")
        if self.as_json and self.out is None:
            raise WrongUsage("--json prints what was written to the folder of --out: give one")
        if self.report and self.out is not None:
            raise WrongUsage("--report prints the report, and --out writes it: choose one")


@with_fields()
def distill(
    paths: Annotated[
        list[Path], typer.Argument(help="Files or folders with traces; - reads one from the input.", show_default=False)
    ],
    output: OutputOptions,
    options: FeedbackOptions,
    source: ReadOptions,
) -> None:
    """Distill traces into feedback for the next attempt.

    Without --out, the message for the next attempt is printed, and everything else goes to the error stream."""
    output.check()
    if ":" in options.method:
        sys.path.insert(0, str(Path.cwd()))  # a method of the user's own is most likely here
    from dense.cli.distill_estimate import confirm_cost, print_estimate
    from dense.cli.distill_run import DistillRequest, TraceInputs, run
    from dense.cli.distill_text import exit_code, print_feedback

    request = DistillRequest.of(output, options)
    traces = TraceInputs(paths=paths, source=source)
    if output.only_estimate:
        print_estimate(traces, request.options)
        if traces.problems:
            raise DenseError("; ".join(traces.problems))
        return
    if options.model is not None and not output.yes:
        confirm_cost(traces, request.options)
    summary = asyncio.run(run(traces, request))
    if output.out is None:
        print_feedback(summary, is_report=output.report)
    elif output.as_json:
        summary.show_json()
    else:
        summary.show()
    code = 1 if summary.failures else exit_code(trace.instead for trace in summary.done)
    if code:
        raise typer.Exit(code)
