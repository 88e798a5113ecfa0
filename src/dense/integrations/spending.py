"""Distills for hooks and MCP, which run by themselves: by the user's own settings, within the limit of a day."""

from __future__ import annotations

import os

from msgspec.structs import replace

from dense.integrations.settings import DEFAULT_USD_PER_DAY, Settings
from dense.integrations.state import append_line, lines_of, now, state_folder
from dense.model import CallTotals, highest_prices_of, resolve
from dense.options import FeedbackOptions
from dense.redact import clean_line
from dense.service import Distillation, distill_sync
from dense.service.distill import distill_session
from dense.trajectory import Trajectory

SPENT = "spent.jsonl"


def distill_within_limit(
    trajectory: Trajectory, settings: Settings, *, caller: str, is_session: bool = True
) -> Distillation:
    """Distill by the model that the user's settings name, if there is one and something is left to spend today; else,
    and if it cannot be used, by the built-in rules. `caller` is what the log calls whoever asked."""
    options = settings.options
    by_rules = replace(options, model=None, base_url=None)
    left = settings.hook_max_usd_per_day - _spent_today()
    if options.model is None or left <= 0:
        return _distill(trajectory, by_rules, is_session=is_session)
    limit = left if options.max_usd is None else min(left, options.max_usd)
    done = _distill(trajectory, replace(options, max_usd=limit, or_rules=True), is_session=is_session)
    if (instead := done.record.instead) is not None:
        line = {"at": now(), "hook": caller, "error": clean_line(f"{instead.reason}; the rules were used", 500)}
        append_line(state_folder() / "log.jsonl", line)
    append_line(state_folder() / SPENT, {"at": now(), "usd": _spent_usd(done.record.totals, options)})
    return done


def _spent_usd(totals: CallTotals, options: FeedbackOptions) -> float:
    """What was spent. Where a program does not say what it cost, the dearest model's price of its tokens counts; where
    it reports no tokens either, the default limit of a day for each call."""
    unknown = totals.unpriced + totals.unknown_tries
    if not unknown:
        return totals.usd or 0.0
    spec = resolve(options.model or "", base_url=options.base_url, environment=os.environ)
    counted = highest_prices_of(spec).usd(replace(totals.usage, cost_usd=None), now())
    return (totals.usd or 0.0) + (unknown * DEFAULT_USD_PER_DAY if counted is None else counted)


def _distill(trajectory: Trajectory, options: FeedbackOptions, *, is_session: bool) -> Distillation:
    return distill_session(trajectory, options) if is_session else distill_sync(trajectory, options=options)


def _spent_today() -> float:
    today = now()[:10]
    return sum(
        float(line.get("usd") or 0) for line in lines_of(state_folder() / SPENT) if str(line.get("at"))[:10] == today
    )
