"""Where attempts are made: a fresh environment and a fresh model context each, the message the only channel.

    AttemptOrder → Harness.attempt → AttemptResult

In: an order with the task's folder and the message. Out: what came of the attempt, with its trace. `harbor` runs
attempts on Harbor, `sandbox` is an environment for Harbor that needs no Docker, `recorded` returns what earlier runs
left. Never imports `methods`, `service` or `refit`."""

from __future__ import annotations

from refit.harness.harness import AttemptOrder, AttemptResult, Delivery, Harness, Received, Recipient

__all__ = ["AttemptOrder", "AttemptResult", "Delivery", "Harness", "Received", "Recipient"]
