"""What a finished Harbor trial came to, from the files that it left; also those of other people and older releases.

Nothing is made up: a reward that the verifier did not write is None, tokens that were not recorded are unknown. Tokens
come from the trial's own record; where that has none, from the trace, and then they are those of completed calls only,
because a trace loses calls that were under way."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from msgspec import Struct

from dense.errors import DenseError
from dense.readers import Stream, files_of, read_file
from dense.readers.json_value import number, obj, objs, string, whole
from dense.redact import clean_line, redact_text
from dense.text.clip import clip_middle
from dense.text.terminal import plain_line
from dense.trajectory import Step, Usage, uncached
from refit.harness.harness import AttemptResult
from refit.harness.verifier_checks import read_checks

RESULT_FILE = "result.json"
MAX_PROBLEM_CHARS = 400
NOT_A_TOOL = frozenset({"mark_task_complete"})
"""Calls in traces that call nothing: how Harbor writes down that terminus-2 says it is done."""

PROVIDER_FAILED = frozenset(
    """
    ApiError ApiRateLimitError ApiInternalServerError ApiOverloadedError ApiConnectionClosedError
    ApiResponseStalledError UnknownApiError NetworkConnectionError ApiConnectionError ApiUsageLimitError
    ApiProviderResourceNotFoundError AgentAuthenticationError ModelNotFoundError
    RateLimitError InternalServerError ServiceUnavailableError BadGatewayError APIConnectionError APIError Timeout
    AuthenticationError PermissionDeniedError NotFoundError BudgetExceededError
    """.split()
)
"""Exceptions of Harbor's agents and of litellm that say: the model was out of reach. Some agents are graded all the
same; that grade is of the outage, whatever it is, and the attempt is not scored."""


def read_trial(folder: Path, base: Path | None = None) -> AttemptResult | None:
    """What came of the trial in this folder; None where it holds no complete record of one.

    Paths are relative to `base`: the folder around the trial by default."""
    result = _result(folder)
    if result is None:
        return None
    base = folder.parent if base is None else base
    parts = [result, *objs(result.get("step_results"))]
    exception = next(filter(None, (obj(part.get("exception_info")) for part in parts)), obj(None))
    kind = string(exception.get("exception_type"))
    reward = number(obj(obj(result.get("verifier_result")).get("rewards")).get("reward"))
    usage, is_whole = _usage(parts)
    trace = read_trace(folder)
    if usage is None and trace is not None:
        usage, is_whole = trace.usage, False
    checks = read_checks(folder)
    return AttemptResult(
        trial=_relative(folder, base),
        reward=None if kind in PROVIDER_FAILED else reward,
        exception=None if kind is None else clean_line(kind),
        problem=_problem(result, exception, reward),
        usage=usage,
        is_partial=usage is not None and (not is_whole or _ended_the_agent(result, exception)),
        tool_calls=None if trace is None else trace.calls,
        turns=None if trace is None else trace.turns,
        checks_passed=None if checks is None else checks.passed,
        checks=None if checks is None else checks.total,
        seconds=_seconds(result),
        trace="" if trace is None else _relative(trace.path, base),
    )


def incomplete(trial: str) -> AttemptResult:
    """An attempt whose trial left half a record, or none."""
    return AttemptResult(trial=trial, exception="IncompleteTrial", problem="the trial left no complete record")


def _result(folder: Path) -> dict[str, Any] | None:
    """The trial's record, if it was written to its end."""
    try:
        result = obj(json.loads((folder / RESULT_FILE).read_bytes()))
    except (OSError, ValueError, RecursionError):
        return None
    return result if string(result.get("trial_name")) and string(result.get("finished_at")) else None


def _usage(parts: list[dict[str, Any]]) -> tuple[Usage | None, bool]:
    """The agent's tokens, over all steps of the task, and whether every step's were recorded.

    Harbor counts what a cache served inside the input."""
    contexts = [obj(part["agent_result"]) for part in parts if part.get("agent_result") is not None]
    usages = [usage for context in contexts if (usage := _usage_of(context)) != Usage()]
    total: Usage | None = None
    for usage in usages:
        total = usage if total is None else total + usage
    return total, len(usages) == len(contexts)


def _usage_of(context: dict[str, Any]) -> Usage:
    total, cached = whole(context.get("n_input_tokens")), whole(context.get("n_cache_tokens"))
    return Usage(
        input=uncached(total, cached),
        cache_read=cached,
        output=whole(context.get("n_output_tokens")),
        cost_usd=number(context.get("cost_usd")),
    )


DAY = timedelta(days=1)


def _ended_the_agent(result: dict[str, Any], exception: dict[str, Any]) -> bool:
    """Whether the exception came before the verifier's turn: calls that were under way then are not in the tokens.

    Some releases write this time in the zone of their machine and all others in UTC. It lies between start and end of
    the trial: where that allows several zones, any in which it came before counts."""
    if not exception:
        return False
    verifying = _time(obj(result.get("verifier")).get("started_at"))
    occurred = _time(exception.get("occurred_at"))
    if verifying is None or occurred is None:
        return True
    if not _is_naive(exception.get("occurred_at")) or _is_naive(obj(result.get("verifier")).get("started_at")):
        return occurred <= verifying
    start, end = _time(result.get("started_at")), _time(result.get("finished_at"))
    if not datetime.min.replace(tzinfo=UTC) + DAY < occurred < datetime.max.replace(tzinfo=UTC) - DAY:
        return True  # no time at which anything was run
    shifted = [occurred + timedelta(minutes=15 * quarter) for quarter in range(-56, 57)]
    within = [time for time in shifted if (start is None or start <= time) and (end is None or time <= end)]
    return any(time <= verifying for time in within or [occurred])


def _problem(result: dict[str, Any], exception: dict[str, Any], reward: float | None) -> str:
    """Why it was not scored, for people; empty where it was."""
    kind = string(exception.get("exception_type"))
    if kind is None and reward is not None:
        return ""
    if kind is not None:
        if reward is not None and kind not in PROVIDER_FAILED:
            return ""
        text = " ".join((string(exception.get("exception_message")) or "").split())
        graded = "" if reward is None else f"; the verifier's {reward:g} is that of a run without its model"
        return f"{kind}: {_clean(text)}{graded}" if text else f"{kind}{graded}"
    rewards = obj(obj(result.get("verifier_result")).get("rewards"))
    if rewards:
        return f"the verifier gave no number called `reward`, only {_clean(', '.join(sorted(rewards)))}"
    return "the verifier gave no reward"


def _clean(text: str) -> str:
    text = plain_line(redact_text(text)[0])
    return clip_middle(text, MAX_PROBLEM_CHARS, head=0.3)  # tools say at the end what went wrong


def _seconds(result: dict[str, Any]) -> float | None:
    """From the environment's start to the grade, or as much of that as was recorded."""
    starts = (obj(result.get("environment_setup")).get("started_at"), result.get("started_at"))
    ends = (obj(result.get("verifier")).get("finished_at"), result.get("finished_at"))
    start, end = (next(filter(None, map(_time, times)), None) for times in (starts, ends))
    return None if start is None or end is None else max((end - start).total_seconds(), 0.0)


def _is_naive(value: Any) -> bool:
    """Whether a time has no zone."""
    return isinstance(value, str) and datetime.fromisoformat(value).tzinfo is None


def _time(value: Any) -> datetime | None:
    """A time in UTC; one without a zone as if it were."""
    try:
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None
    return moment if moment is None or moment.tzinfo else moment.replace(tzinfo=UTC)


class TraceCounts(Struct, frozen=True):
    """What a trace adds up to."""

    path: Path
    """Its first file."""
    turns: int
    """How often the agent acted."""
    calls: int
    """How many tools it called, its subagents' included."""
    usage: Usage | None
    """The tokens that the trace reports."""


def read_trace(trial: Path) -> TraceCounts | None:
    """The trace of a trial, counted. A trace that cannot be read is none."""
    counts: TraceCounts | None = None
    for path, stream in _streams(trial):
        before = counts or TraceCounts(path, 0, 0, None)
        steps = list(map(_calls, stream.counted()))
        usage = stream.usage if before.usage is None or stream.usage is None else before.usage + stream.usage
        counts = TraceCounts(before.path, before.turns + len(steps), before.calls + sum(steps), usage or before.usage)
    return counts


def _streams(trial: Path) -> Iterator[tuple[Path, Stream]]:
    steps = sorted(trial.glob("steps/*/agent/trajectory.json"))
    for folder in steps or [trial]:
        try:
            for file in files_of(folder):
                for item in read_file(file):
                    if isinstance(item, Stream):
                        yield file.path, item
        except DenseError:
            continue


def _calls(step: Step) -> int:
    own = sum(call.name not in NOT_A_TOOL for call in step.calls)
    return own + sum(_calls(inner) for subagent in step.subagents for inner in subagent.steps)


def _relative(path: Path, base: Path) -> str:
    return path.relative_to(base, walk_up=True).as_posix()
