"""`dense distill`: the command's options. What it does is in `distill_run`, loaded only when it is run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from dense.cli.read_options import given_task
from dense.deliver.budget import parse_budget
from dense.errors import DenseError, WrongUsage

LESSONS = "dense+lessons"
"""The method that --lessons chooses."""
MIN_CONTEXT_TOKENS = 2_000
"""The smallest context window that prompts can be made for."""


def distill(
    call: typer.Context,
    paths: Annotated[
        list[Path], typer.Argument(help="Files or folders with traces; - reads one from the input.", show_default=False)
    ],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Write a folder for each trajectory in this one. [default: print the message of the only one]"
        ),
    ] = None,
    report: Annotated[bool, typer.Option("--report", help="Without --out: print the report alone.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="With --out: print a JSON line for each result, as in OUT/index.jsonl.")
    ] = False,
    environment: Annotated[
        Literal["fresh", "same"],
        typer.Option("--environment", help="same: the next attempt works where this one left its files."),
    ] = "fresh",
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
    only_estimate: Annotated[bool, typer.Option("--estimate", help="Print what it would cost, and stop.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before spending more than 1 USD.")] = False,
    max_usd: Annotated[float | None, typer.Option("--max-usd", help="Stop cleanly before more is spent.")] = None,
    no_redact: Annotated[bool, typer.Option("--no-redact", help="Leave credentials in.")] = False,
    redact: Annotated[
        Literal["builtin", "kingfisher"], typer.Option("--redact", help="kingfisher: add Kingfisher's rules to ours.")
    ] = "builtin",
    small: Annotated[bool, typer.Option("--small", help="Short prompts and answers, for small local models.")] = False,
    concurrency: Annotated[int, typer.Option("--concurrency", min=1, help="Calls at once.")] = 16,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Trajectories at once.")] = 4,
    context: Annotated[
        int | None,
        typer.Option(
            "--context", metavar="TOKENS", help="The model's window. [default: as its provider's models have]"
        ),
    ] = None,
    look: Annotated[
        int,
        typer.Option("--look", metavar="TOKENS", help="What one call of the fast profile sees of a trace.", min=4_000),
    ] = 24_000,
    cache: Annotated[
        Path | None,
        typer.Option("--cache", help="The file of answers that were paid for. [default: OUT/answers.sqlite, or none]"),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="BYTES|paper",
            help="Bytes of the message without the task. [default: a quarter of the trace's text, 3,000 to 24,000]",
        ),
    ] = None,
    lessons: Annotated[
        Path | None,
        typer.Option("--lessons", help="Append lessons from other tasks: a file that `dense lessons` wrote."),
    ] = None,
    turn: Annotated[
        str,
        typer.Option("--turn", metavar="last|all|N", help="Which request of a session the feedback is for."),
    ] = "all",
    format: Annotated[str | None, typer.Option("--format", help="Read as this format.")] = None,
    task: Annotated[
        str | None, typer.Option("--task", help="The task's instruction; @FILE reads it from a file.")
    ] = None,
) -> None:
    """Distill traces into feedback for the next attempt.

    Without --out, the message for the next attempt is printed, and everything else goes to the error stream."""
    if answers is not None and _is_from_settings(call, "model"):
        model = None  # who gives answers needs no model, whatever the settings file says
    if model is not None and answers is not None:
        raise WrongUsage("--model and --answers exclude each other: choose one")
    if context is not None and context < MIN_CONTEXT_TOKENS:
        raise WrongUsage(f"--context {context}: a window of at least {MIN_CONTEXT_TOKENS:,} tokens is needed")
    if out is None and record:
        raise WrongUsage("--record keeps answers in the folder of --out: give one")
    if as_json and out is None:
        raise WrongUsage("--json prints what was written to the folder of --out: give one")
    if report and out is not None:
        raise WrongUsage("--report prints the report, and --out writes it: choose one")
    if no_redact and redact != "builtin":
        raise WrongUsage("--no-redact and --redact exclude each other: choose one")
    if lessons is not None and method == "dense":
        method = LESSONS
    if (lessons is not None) != (method == LESSONS):
        raise WrongUsage(f"--lessons FILE goes with the method dense, which is then {LESSONS}")
    try:
        budget_choice = parse_budget(budget)
    except ValueError as error:
        raise WrongUsage(f"--budget: {error}") from None
    if ":" in method or ":" in (format or ""):
        sys.path.insert(0, str(Path.cwd()))  # a method or a reader of the user's own is most likely here
    from dense.cli.distill_estimate import confirm_cost, print_estimate
    from dense.cli.distill_run import DistillSettings, TraceInputs, run
    from dense.cli.distill_text import print_feedback
    from dense.lessons.files import read_evidence
    from dense.service.feedback import FeedbackOptions
    from dense.service.turns import parse_turn

    settings = DistillSettings(
        out=out,
        method=method,
        options=FeedbackOptions(
            profile=profile,
            budget=budget_choice,
            redacted="kingfisher" if redact == "kingfisher" else not no_redact,
            environment=environment,
            lessons=read_evidence(lessons) if lessons is not None else (),
            turn=parse_turn(turn),
        ),
        model=model,
        base_url=base_url,
        context_tokens=context,
        look_tokens=look,
        is_small=small,
        answers=answers,
        record=record,
        cache=cache or (out / "answers.sqlite" if out else None),
        max_usd=max_usd,
        concurrency=concurrency,
        jobs=jobs,
    )
    traces = TraceInputs(paths=paths, format=format, task=given_task(task))
    if only_estimate:
        print_estimate(traces, settings)
        if traces.problems:
            raise DenseError("; ".join(traces.problems))
        return
    if model is not None and not yes:
        confirm_cost(traces, settings)
    summary = asyncio.run(run(traces, settings))
    if out is None:
        print_feedback(summary, is_report=report)
    elif as_json:
        summary.show_json()
    else:
        summary.show()
    if summary.failures:
        raise typer.Exit(1)


def _is_from_settings(call: typer.Context, option: str) -> bool:
    """Whether an option's value comes from a settings file."""
    source = call.get_parameter_source(option)
    return source is not None and source.name == "DEFAULT_MAP"
