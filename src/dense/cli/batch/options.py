"""`dense batch`: the commands' options. What they do is in the modules beside it, loaded when run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from msgspec import Struct
from typer.core import TyperGroup

from dense.cli.option_fields import with_fields
from dense.cli.read_options import ReadOptions
from dense.errors import UnknownFormat, UnknownModel, WrongUsage
from dense.options import Entry, FeedbackOptions
from dense.text.numbers import whole

RUN = "run"


class RunByDefault(TyperGroup):
    """A group whose arguments are those of `run`, unless they begin with another command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` in front if no command is named."""
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [RUN, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """The options of `run` too: they are those of the group for whoever reads its help."""
        command = self.commands[RUN]
        with formatter.section("Options of dense batch SRC… --out DST"):
            records = [
                parameter.get_help_record(ctx)
                for parameter in command.get_params(ctx)
                if "--help" not in parameter.opts
            ]
            formatter.write_dl([record for record in records if record])
        super().format_options(ctx, formatter)


batch = typer.Typer(
    cls=RunByDefault,
    subcommand_metavar="SRC… --out DST | COMMAND [ARGS]...",
    help="Analyse many traces into a table: dense batch SRC… --out DST. Then ask questions about it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

TableUri = Annotated[str, typer.Argument(help="The target of a batch: a folder or a URI.", metavar="DST")]


class EngineOptions(Struct, frozen=True, kw_only=True):
    """Who does the work, and how much of it."""

    engine: Annotated[
        Literal["local", "ray"],
        typer.Option("--engine", help="ray: a Ray cluster (RAY_ADDRESS), or Ray on this machine."),
    ] = "local"
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Processes, or actors on Ray. [default: one for each core]")
    ] = None
    shard: Annotated[
        str, typer.Option("--shard", metavar="I/N", help="Only the I-th of N parts of the inputs, from 0.")
    ] = "0/1"
    max_trace_mb: Annotated[
        int, typer.Option("--max-trace-mb", min=1, help="A larger trace gets a row with an error.")
    ] = 200
    timeout: Annotated[float, typer.Option("--timeout", min=1, help="Seconds for one trace, without a model.")] = 600
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress.")] = False


class TableOptions(Struct, frozen=True, kw_only=True):
    """How the inputs are read, and what becomes of rows that are there."""

    format: Annotated[str | None, typer.Option("--format", help="Read all traces as this format.")] = None
    column: Annotated[
        str | None, typer.Option("--column", help="The column of Parquet inputs that holds the trace.")
    ] = None
    retry_errors: Annotated[
        bool, typer.Option("--retry-errors", help="Try the traces again that have a row with an error.")
    ] = False
    replace: Annotated[
        bool, typer.Option("--replace", help="Accept other settings than the target's, and analyse everything anew.")
    ] = False


@batch.command(RUN)
@with_fields(Entry.BATCH)
def run(
    sources: Annotated[
        list[str],
        typer.Argument(
            help="Folders, files or URIs (s3://, gs://, hf://) with traces, JSONL or Parquet.", metavar="SRC…"
        ),
    ],
    out: Annotated[str, typer.Option("--out", help="The target: a folder or a URI.", metavar="DST")],
    work: EngineOptions,
    options: FeedbackOptions,
    inputs: TableOptions,
) -> None:
    """Analyse traces into a table in Parquet. Run it again to add what is new; stop it whenever you like."""
    from dense.batch.run import BatchRequest
    from dense.batch.spec import BatchSpec, WorkLimits, prompts_hash
    from dense.cli.batch.run import run
    from dense.cli.session.version import code_commit

    ReadOptions(inputs.format).find_own_reader()
    if options.max_usd is not None and options.model is None:
        raise WrongUsage("--max-usd limits what a model costs: give one with --model")
    if options.max_usd is not None and work.engine == "ray":
        raise WrongUsage(
            "--max-usd and --engine ray exclude each other, because no actor knows what the others spend: leave out"
            " --engine ray (--concurrency sets how many calls run at once), or limit the key at the provider"
        )
    number, count = parse_shard(work.shard)
    _check_names(inputs.format, options)
    spec = BatchSpec(
        commit=code_commit(),
        options=options,
        format=inputs.format or "",
        column=inputs.column or "",
        prompts=prompts_hash(options.model or ""),
    )
    limits = WorkLimits(max_bytes=work.max_trace_mb << 20, seconds=work.timeout, jobs=max(1, options.concurrency // 4))
    request = BatchRequest(
        sources=tuple(sources),
        target=out,
        spec=spec,
        limits=limits,
        shard=number,
        shards=count,
        replaces=inputs.replace,
        retry_errors=inputs.retry_errors,
    )
    code = run(request, work.engine, work.workers, is_quiet=work.quiet)
    if code:
        raise typer.Exit(code)


def _check_names(format: str | None, options: FeedbackOptions) -> None:
    """That the format and the model are known, and that the model's key is there, before anything is read."""
    from dense.model import REPLAY
    from dense.model.providers import key_of
    from dense.model.resolve import find_program, resolve
    from dense.readers.detect import reader

    try:
        if format:
            reader(format)
        if options.model and not options.model.startswith(REPLAY):
            spec = resolve(options.model, base_url=options.base_url, environment=os.environ)
            key_of(spec, os.environ)
            if spec.is_program:
                find_program(spec, os.environ)
    except UnknownFormat as error:
        raise WrongUsage(f"--format {format}: {error}") from None
    except UnknownModel as error:
        raise WrongUsage(str(error)) from None


def parse_shard(text: str) -> tuple[int, int]:
    """The number of a shard, from 0, and how many there are."""
    number, _, count = text.partition("/")
    part, parts = whole(number), whole(count)
    if part is not None and parts is not None and 0 <= part < parts:
        return part, parts
    raise WrongUsage(f"--shard {text}: say I/N, with I from 0 to N-1, as 0/4")


Top = Annotated[int, typer.Option("--top", min=1, help="Rows of each table.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write one page to this file instead.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@batch.command()
def summary(table: TableUri, top: Top = 10, html: Html = None, as_json: Json = False) -> None:
    """States, issues, error families and failing tools; by agent, model, task and week."""
    from dense.cli.batch.queries import summary

    summary(table, top, html, as_json=as_json)


@batch.command()
def search(
    table: TableUri,
    text: Annotated[str, typer.Argument(help="What to look for, whatever its case.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many traces are shown.")] = 20,
    html: Html = None,
    as_json: Json = False,
) -> None:
    """Traces whose task, issues, failures or message hold a text. The exit code is 1 if there is none."""
    from dense.cli.batch.queries import search

    if not search(table, text, limit, html, as_json=as_json):
        raise typer.Exit(1)


@batch.command()
def diff(
    first: Annotated[str, typer.Argument(metavar="DST_A", help="A table.")],
    second: Annotated[str, typer.Argument(metavar="DST_B", help="Another one.")],
    top: Top = 10,
    html: Html = None,
    as_json: Json = False,
) -> None:
    """What is different between two tables: shares, and states of the same traces and tasks."""
    from dense.cli.batch.queries import diff

    diff(first, second, top, html, as_json=as_json)


def lessons(
    table: TableUri,
    out: Annotated[
        Path | None, typer.Option("--out", help="Write the page here, and its evidence beside it. [default: print it]")
    ] = None,
    source: Annotated[str, typer.Option("--source", help="Only traces whose URI begins like this.")] = "",
) -> None:
    """Dead ends that recurred in at least three tasks of a batch, and the way out that worked."""
    from dense.cli.batch.lessons import lessons

    if out is not None and out.suffix != ".md":
        raise WrongUsage(f"--out {out}: the page is Markdown: name a file that ends with .md")
    lessons(table, out, source)
