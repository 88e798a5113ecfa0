"""Runs `dense batch`: the engine, the progress on the error stream, the clean stop."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

from msgspec.structs import replace

from dense.batch.engines.engine import Engine
from dense.batch.run import BatchProgress, BatchRequest, run_batch
from dense.batch.store import ANSWERS, ERRORS, Target
from dense.cli.read_options import UNRECOGNISED
from dense.cli.text import other_files, printable
from dense.redact import clean_line
from dense.text.terminal import write_over

STOPPED = 130
LINE_SECONDS = 10.0
"""How often a line of progress is written where no terminal is."""
SCREEN_SECONDS = 0.5


def run(request: BatchRequest, engine: str, workers: int | None, *, is_quiet: bool) -> int:
    """Run a batch; gives the exit code: 0, 1 if traces have no feedback or the run was ended, 130 if it was stopped."""
    if request.spec.model and not request.limits.cache:
        cache = Target(request.target).local_path(ANSWERS)
        request = replace(request, limits=replace(request.limits, cache=str(cache) if cache else ""))
    shown = _ProgressLine(is_quiet=is_quiet)
    with _stop_signals() as stopped:
        progress = run_batch(request, _engine(engine, workers), watch=shown.show, is_stopped=lambda: bool(stopped))
    shown.end()
    for line in summary_lines(progress, request.target):
        print(line)
    if progress.stop:
        print(f"error: {clean_line(progress.stop)}", file=sys.stderr)
    if stopped:
        left = f"{progress.done:,} of {progress.listed:,}{'' if progress.is_listed else ' or more'} new inputs are done"
        print(f"stopped: {left}; the same command goes on from there", file=sys.stderr)
        return STOPPED
    if not progress.traces and not progress.stop and request.shards == 1:
        print(f"error: no trace found in {clean_line(', '.join(request.sources))}. {UNRECOGNISED}", file=sys.stderr)
        return 1
    return 1 if progress.errors or progress.stop else 0


def _engine(name: str, workers: int | None) -> Engine:
    if name == "ray":
        from dense.batch.engines.ray import RayEngine

        return RayEngine(workers)
    from dense.batch.engines.local import LocalEngine

    return LocalEngine(workers)


def summary_lines(progress: BatchProgress, target: str) -> list[str]:
    """What a run says at its end."""
    rate = f", {progress.rows / progress.seconds:.1f} a second" if progress.rows and progress.seconds else ""
    lines = [f"{progress.rows:,} new rows in {printable(target)}{rate}"]
    if progress.copied:
        lines.append(f"{progress.copied:,} of them are copies: the same traces had been analysed at other places")
    if progress.failed:
        lines.append(f"{progress.failed:,} of them have no feedback")
    if progress.errors:
        traces = "1 trace of the table has" if progress.errors == 1 else f"{progress.errors:,} traces of the table have"
        lines.append(f"{traces} no feedback: see {ERRORS}; --retry-errors tries again")
    if before := progress.skipped + progress.known:
        lines.append(f"{before:,} inputs were done before")
    lines += [f"skipped: {printable(line)}" for line in progress.passed.lines()]
    if progress.ignored:
        lines.append(f"skipped: {other_files(progress.ignored)}")
    if progress.usd:
        lines.append(f"{progress.usd:.4f} USD spent")
    return lines


class _ProgressLine:
    """How far a run is, on the error stream: one line that is written over, or a line now and then."""

    def __init__(self, *, is_quiet: bool) -> None:
        self._is_quiet, self._is_screen = is_quiet, sys.stderr.isatty()
        self._start = self._shown = time.monotonic()

    def show(self, progress: BatchProgress) -> None:
        now = time.monotonic()
        if self._is_quiet or now - self._shown < (SCREEN_SECONDS if self._is_screen else LINE_SECONDS):
            return
        self._shown = now
        text = progress_text(progress)
        if self._is_screen:
            write_over(text)
        else:
            print(text, file=sys.stderr, flush=True)

    def end(self) -> None:
        if self._is_screen and not self._is_quiet:
            write_over("")


def progress_text(progress: BatchProgress) -> str:
    """Inputs done, rate and time left, in a line."""
    rate = progress.done / progress.seconds if progress.seconds else 0.0
    known = f"{progress.listed:,}" if progress.is_listed else f"{progress.listed:,}+"
    parts = [f"{progress.done:,} of {known} inputs", f"{progress.rows:,} rows", f"{rate:.1f} inputs/s"]
    if progress.failed:
        parts.append(f"{progress.failed:,} failed")
    if rate and progress.is_listed:
        parts.append(f"{_duration((progress.listed - progress.done) / rate)} left")
    return " · ".join(parts)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


@contextmanager
def _stop_signals() -> Generator[list[int]]:
    """A list that is empty until Ctrl-C, SIGTERM or SIGHUP comes. A second Ctrl-C is the usual one."""
    came: list[int] = []

    def note(number: int, _: FrameType | None) -> None:
        if came and number == signal.SIGINT:
            raise KeyboardInterrupt
        came.append(number)

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, note) for number in numbers]
    try:
        yield came
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
