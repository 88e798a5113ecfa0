"""`dense distill`: the command's options. What it does is in `distilling`, loaded only when it is run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from dense.cli.read import given_task
from dense.errors import DenseError

ASK_ABOVE = 1.0
"""USD above which a run asks before it spends."""
TREE_BUDGET = 180 * 1024
LEAST_CONTEXT = 2_000
"""Tokens of the smallest window that prompts can be made for."""


def distill(
    paths: Annotated[list[Path], typer.Argument(help="Files or folders with traces.", show_default=False)],
    out: Annotated[Path, typer.Option("--out", help="The folder to write to: a folder in it for each trajectory.")],
    model: Annotated[
        str | None, typer.Option("--model", help="The analyst: PROVIDER/NAME, or http://host:port/v1#NAME.")
    ] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="Another address for the provider.")] = None,
    answers: Annotated[
        Path | None,
        typer.Option("--answers", help="Take the answers from this file, or from the folder that --record wrote to."),
    ] = None,
    record: Annotated[
        bool, typer.Option("--record", help="Keep the answers of each trajectory in its folder, for --answers.")
    ] = False,
    method: Annotated[
        str, typer.Option("--method", help="How feedback is made: `dense methods` lists them; or module:Class.")
    ] = "dense",
    profile: Annotated[
        Literal["fast", "paper"], typer.Option("--profile", help="paper: exactly the paper's calls.")
    ] = "fast",
    only_estimate: Annotated[bool, typer.Option("--estimate", help="Tell what it would cost, and stop.")] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help=f"Do not ask before spending more than {ASK_ABOVE:.0f} USD.")
    ] = False,
    max_usd: Annotated[float | None, typer.Option("--max-usd", help="Stop cleanly before more is spent.")] = None,
    no_redact: Annotated[bool, typer.Option("--no-redact", help="Leave credentials in.")] = False,
    small: Annotated[bool, typer.Option("--small", help="Short prompts and answers, for small local models.")] = False,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Calls at once.")] = 16,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Trajectories at once.")] = 4,
    context: Annotated[
        int | None,
        typer.Option(
            "--context", metavar="TOKENS", help="The model's window. [default: as its provider's models have]"
        ),
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="The file of answers that were paid for. [default: OUT/answers.sqlite]"),
    ] = None,
    tree_budget: Annotated[
        int | None,
        typer.Option("--tree-budget", help=f"Bytes of the report. [default: {TREE_BUDGET}, or as many as --budget]"),
    ] = None,
    budget: Annotated[int, typer.Option("--budget", help="Bytes of the report with what is around it.")] = 200 * 1024,
    format: Annotated[str | None, typer.Option("--format", help="Read as this format.")] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="The task's instruction; @FILE reads it from a file.")
    ] = None,
) -> None:
    """Distill traces into feedback for the next attempt."""
    if model is not None and answers is not None:
        raise DenseError("two that answer: take --model or --answers; with neither, the built-in rules answer")
    tree_budget = min(TREE_BUDGET, budget) if tree_budget is None else tree_budget
    _check_numbers(tree_budget, budget, context)
    if ":" in method or ":" in (format or ""):
        sys.path.insert(0, str(Path.cwd()))  # a method or a reader of the user's own is most likely here
    from dense.cli.distilling import Settings, Trajectories, run
    from dense.distillation import Budgets

    settings = Settings(
        out,
        model,
        base_url,
        answers,
        record,
        profile,
        Budgets(tree_budget, budget),
        not no_redact,
        small,
        concurrency,
        jobs,
        cache if cache is not None or model is None else out / "answers.sqlite",
        max_usd,
        method,
        context,
    )
    trajectories = Trajectories(paths, format, given_task(task))
    report = run(trajectories, settings, only_estimate=only_estimate, yes=yes)
    if report is not None:
        report.show()
    if trajectories.problems and report is None:
        raise DenseError("; ".join(trajectories.problems))
    if report is not None and report.failures:
        raise typer.Exit(1)


def _check_numbers(tree_budget: int, budget: int, context: int | None) -> None:
    """What no run could keep to is told before anything is read or paid for."""
    from dense.deliver.message import LEAST

    for option, given in (("--budget", budget), ("--tree-budget", tree_budget)):
        if given < LEAST:
            raise DenseError(f"{option} {given}: the smallest budget that can be kept is {LEAST} bytes")
    if tree_budget > budget:
        raise DenseError(
            f"--tree-budget {tree_budget}, --budget {budget}: the report is a part of the whole and cannot be longer"
        )
    if context is not None and context < LEAST_CONTEXT:
        raise DenseError(f"--context {context}: a window of at least {LEAST_CONTEXT:,} tokens is needed")
