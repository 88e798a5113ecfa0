"""`process_partition`: from work items to rows. The only function that makes rows, wherever it runs.

It depends on its arguments and on what the items hold, writes nothing, and gives one row for each trace. What a file
contains never raises: a trace without feedback is a row with an `error`."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from dense.batch.inputs import RawTrace, open_item
from dense.batch.observed import failures_of
from dense.batch.rows import BatchRow, IssueCell
from dense.batch.sources import WorkItem
from dense.batch.spec import BatchSpec, WorkLimits
from dense.errors import CallFailed, DenseError, ModelError, UnansweredCalls, UnusableAnswer, describe_exception
from dense.lessons.lesson import task_hash
from dense.lessons.project import project_of
from dense.message.injected_feedback import own_task
from dense.methods.catalogue import method
from dense.model import OpenModel
from dense.redact import MAX_LABEL_CHARS, clean_line
from dense.service.analysts import analyst_choice, opened_model
from dense.service.drafting import first_error
from dense.service.feedback import UNREAD, FailedRun, FeedbackRun, describe_failure, make_feedback
from dense.service.files import RECONCILED
from dense.text.clip import clip_end
from dense.trajectory import Trajectory
from dense.tree import ReconciledTree

MAX_TASK_NAME = 120
MAX_ERROR = 1_000
MAX_QUOTE = 300
MAX_SUFFIX = 12


class Partition(Struct, frozen=True):
    """Work for one call."""

    items: tuple[WorkItem, ...]
    fatal: dict[str, str] = {}
    """Traces, by item and part, that ended the process that read them, each with how: they get a row with an error."""


class PartitionResult(Struct):
    """What came of a partition."""

    rows: list[BatchRow] = []
    done: list[str] = []
    """The digests of the items of which nothing is left to do."""
    known: int = 0
    """Traces of which an earlier run had made the row."""
    copied: int = 0
    """Rows of traces that an earlier run had found elsewhere: copied, not made again."""
    ignored: dict[str, int] = {}
    """Files that are no traces, by how their names end."""
    stop: str = ""
    """Why the whole run must stop; empty if it need not."""
    usd: float = 0.0
    """What calls to a model cost, answers from a cache apart."""


class Watch:
    """How a partition follows what is around it. The default follows nothing."""

    def begin(self, trace: str) -> None:
        """Called before a trace, by item and part, is read."""

    def is_stopped(self) -> bool:
        """Whether to stop before the next trace."""
        return False

    def is_placed(self, key: str, source: str, part: str) -> bool:
        """Whether an earlier run made the row of this key at this place, and none for another trace there since."""
        del key, source, part
        return False

    def earlier(self, key: str) -> BatchRow | None:
        """The row of this key that an earlier run made, wherever its trace was; None if there is none."""
        del key
        return None


def process_partition(partition: Partition, spec: BatchSpec, limits: WorkLimits, watch: Watch) -> PartitionResult:
    """The rows of all traces of a partition."""
    done: list[PartitionResult] = []

    async def run() -> None:
        done.append(await _Run(partition, spec, limits, watch).run())

    asyncio.run(run())  # its result is not that of the coroutine: `asyncio.run` would format it for a message
    return done[0]


class _Run:
    def __init__(self, partition: Partition, spec: BatchSpec, limits: WorkLimits, watch: Watch) -> None:
        self._partition, self._spec, self._limits, self._watch = partition, spec, limits, watch
        self._hash, self._result = spec.hash, PartitionResult()
        self._retry: set[str] = set()
        """Items of which a trace is to be tried again by the next run."""

    async def run(self) -> PartitionResult:
        finished: list[str] = []
        try:
            async with (
                opened_model(self._spec.options, spent=self._limits.spent) as model,
                asyncio.TaskGroup() as group,
            ):
                waiting = asyncio.Semaphore(self._limits.jobs)
                for item in self._partition.items:
                    digest = item.digest(self._hash)
                    for trace, trajectory, number in self._traces(item, digest):
                        if model is None:
                            await self._make(trace, trajectory, number, digest, None)
                            continue
                        await waiting.acquire()

                        async def make_row(
                            trace: RawTrace, trajectory: Trajectory, number: int, digest: str, model: OpenModel
                        ) -> None:
                            try:
                                await self._make(trace, trajectory, number, digest, model)
                            finally:
                                waiting.release()

                        group.create_task(make_row(trace, trajectory, number, digest, model))
                    if self._watch.is_stopped():
                        break
                    finished.append(digest)
        except* ModelError as stop:
            self._result.stop = str(first_error(stop))
        self._result.done = [] if self._result.stop else [digest for digest in finished if digest not in self._retry]
        self._result.rows.sort(key=lambda row: (row.source, row.part, row.key))
        return self._result

    def _traces(self, item: WorkItem, digest: str) -> Iterator[tuple[RawTrace, Trajectory, int]]:
        """The trajectories of an item that no earlier run has done. Everything else is counted or becomes a row. What
        the watch raises is no trace's error: it ends the partition."""
        for trace in self._opened(item, digest):
            if self._watch.is_stopped():
                return
            input_part = f"{digest}\0{trace.part}"
            self._watch.begin(input_part)
            first = self._watch.earlier(self._key(trace, 0))
            if problem := self._partition.fatal.get(input_part) or trace.problem:
                self._fail(trace, digest, problem)
            elif first is not None and first.error and not first.trajectory:
                # It could not be read, and may end whoever tries again.
                self._fail(trace, digest, first.error.replace(first.source, trace.source))
            else:
                yield from self._read(trace, item, digest)

    def _opened(self, item: WorkItem, digest: str) -> Iterator[RawTrace]:
        try:
            for trace in open_item(item, self._spec, self._limits.max_bytes):
                yield trace._replace(source=clean_line(trace.source), part=clean_line(trace.part))
        except Exception as error:  # a file may be damaged in ways that its library's own errors describe
            self._fail(_unread(item), digest, _described(error))

    def _read(self, trace: RawTrace, item: WorkItem, digest: str) -> Iterator[tuple[RawTrace, Trajectory, int]]:
        number = 0
        try:
            for reading in trace.read():
                if isinstance(reading, Trajectory):
                    if not self._has_row(trace, reading, number, digest):
                        yield trace, reading, number
                    number += 1
                elif reading.is_trace or item.is_named or trace.part:
                    self._fail(trace, digest, reading.reason, number)
                else:
                    kind = kind_of(trace.source)
                    self._result.ignored[kind] = self._result.ignored.get(kind, 0) + 1
        except Exception as error:  # see above
            self._fail(trace, digest, _described(error), number)

    def _has_row(self, trace: RawTrace, trajectory: Trajectory, number: int, digest: str) -> bool:
        """Whether an earlier run made the row of a trajectory. If that was at another place, this one gets a copy."""
        key, part = self._key(trace, number), _part(trace, trajectory, number)
        if self._watch.is_placed(key, trace.source, part):
            self._result.known += 1
            return True
        row = self._watch.earlier(key)
        if row is None:
            return False
        identity = clean_line(trajectory.id, MAX_LABEL_CHARS)
        here = {"source": trace.source, "part": part, "item": digest, "trajectory": identity}
        about = {"task": _task_name(trajectory), "project": clean_line(project_of(trajectory))}
        self._result.rows.append(replace(row, **here, **about, written=None))
        self._result.copied += 1
        return True

    def _fail(self, trace: RawTrace, digest: str, problem: str, number: int = 0) -> None:
        key = self._key(trace, number)
        if self._watch.is_placed(key, trace.source, trace.part):
            self._result.known += 1
            return
        self._result.rows.append(
            BatchRow(
                key=key,
                content=trace.content,
                spec=self._hash,
                item=digest,
                source=trace.source,
                part=trace.part,
                bytes=trace.size,
                analyst=self._spec.analyst,
                version=self._spec.version,
                error=clean_line(problem, MAX_ERROR),
            )
        )

    def _key(self, trace: RawTrace, number: int) -> str:
        """The key of the n-th trajectory of a trace."""
        return hashlib.sha256(f"{self._hash}\0{trace.content}\0{number}".encode()).hexdigest()[:32]

    async def _make(
        self, trace: RawTrace, trajectory: Trajectory, number: int, digest: str, model: OpenModel | None
    ) -> None:
        options = self._spec.options.resolved(is_session=False)
        chosen = method("dense")
        run = await make_feedback(chosen, trajectory, analyst_choice(options, model), options=options)
        problem = ""
        if isinstance(run, FailedRun):
            if isinstance(run.error, ModelError) and not isinstance(run.error, CallFailed):
                raise run.error
            if isinstance(run.error, ModelError | UnansweredCalls | UnusableAnswer):
                self._retry.add(digest)
            problem = clip_end(describe_failure(run.error, chosen), MAX_ERROR)
        self._result.usd += run.record.totals.usd or 0.0
        row = _row(trace, trajectory, run, self._spec, error=problem)
        self._result.rows.append(row(self._key(trace, number), self._hash, digest, number))


def _row(
    trace: RawTrace,
    trajectory: Trajectory,
    run: FeedbackRun | FailedRun,
    spec: BatchSpec,
    *,
    error: str,
) -> Callable[[str, str, str, int], BatchRow]:
    """The row of a trajectory, without its keys."""
    tree = run.files.get(RECONCILED) if isinstance(run, FeedbackRun) else None
    assessment = run.assessment if isinstance(run, FeedbackRun) else None
    failures = failures_of(assessment) if assessment is not None else []
    issues, met = (
        (tree.issues, [requirement.met for requirement in tree.requirements])
        if isinstance(tree, ReconciledTree)
        else ((), [])
    )
    usage, totals, cleaned = trajectory.usage, run.record.totals, run.trajectory or UNREAD
    message = run.feedback.message if isinstance(run, FeedbackRun) else ""
    spent = totals.usage + totals.cached_usage
    prices = [price for price in (totals.usd, totals.cached_usd) if price is not None]

    def row(key: str, spec_hash: str, digest: str, number: int) -> BatchRow:
        return BatchRow(
            key=key,
            content=trace.content,
            spec=spec_hash,
            item=digest,
            source=trace.source,
            part=_part(trace, trajectory, number),
            trajectory=cleaned.id,
            format=cleaned.format,
            agent=cleaned.agent or "",
            agent_version=cleaned.agent_version or "",
            model=cleaned.model or "",
            task=_task_name(trajectory),
            task_hash=task_hash(own_task(trajectory)),
            project=clean_line(project_of(trajectory)),
            started=_started(trajectory),
            bytes=trace.size,
            steps=len(trajectory.steps),
            calls=sum(len(step.calls) for step in trajectory.steps),
            input_tokens=usage.input if usage else None,
            cache_read_tokens=usage.cache_read if usage else None,
            cache_write_tokens=usage.cache_write if usage else None,
            output_tokens=usage.output if usage else None,
            cost_usd=usage.cost_usd if usage else None,
            state=run.state if isinstance(run, FeedbackRun) else "",
            issues=[
                IssueCell(
                    issue.code,
                    issue.text,
                    issue.resolved_at is None,
                    issue.severity == "fatal",
                    clip_end(issue.quote, MAX_QUOTE),
                )
                for issue in issues
            ],
            requirements_met=met.count("yes"),
            requirements_not_met=met.count("no"),
            requirements_unchecked=met.count("unchecked"),
            failures=failures,
            message=message,
            message_bytes=len(message.encode()),
            analyst=spec.analyst,
            version=spec.version,
            analyst_tokens=sum(filter(None, (spent.input, spent.cache_read, spent.cache_write, spent.output))),
            analyst_usd=sum(prices) if prices or not totals.calls else None,
            notices=len(trajectory.notices),
            error=error,
        )

    return row


def _part(trace: RawTrace, trajectory: Trajectory, number: int) -> str:
    """The place of the n-th trajectory of a trace in its source; empty if it is the whole."""
    return trace.part or clean_line(trajectory.source.part or "") or (f"trajectory {number}" if number else "")


def _task_name(trajectory: Trajectory) -> str:
    task = own_task(trajectory)
    if task is None:
        return ""
    return clean_line(" ".join((task.name or task.instruction[: 40 * MAX_TASK_NAME]).split()), MAX_TASK_NAME)


def _started(trajectory: Trajectory) -> datetime | None:
    """When the first step that has a time was, in UTC."""
    for step in trajectory.steps[:20]:
        if step.timestamp:
            return parsed_time(step.timestamp)
    return None


def parsed_time(text: str) -> datetime | None:
    """A time as traces have it: ISO 8601, or seconds or milliseconds since 1970; None for anything else."""
    try:
        if text.replace(".", "", 1).isdigit():
            seconds = float(text)
            return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
        time = datetime.fromisoformat(text)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError, OSError):
        return None


def kind_of(uri: str) -> str:
    """How the name of a file ends; empty if that says nothing."""
    suffix = PurePosixPath(uri).suffix
    return suffix if len(suffix) < MAX_SUFFIX else ""


def _described(error: Exception) -> str:
    return str(error) if isinstance(error, DenseError) else describe_exception(error, "")


def _unread(item: WorkItem) -> RawTrace:
    content = hashlib.sha256(f"{item.uri}\0{item.stamp}\0{item.start}".encode("utf-8", "replace")).hexdigest()
    return RawTrace(
        source=clean_line(item.uri),
        part=f"byte {item.start}" if item.start else "",
        content=content,
        size=item.size,
        read=lambda: iter(()),
    )
