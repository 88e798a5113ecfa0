"""Where attempts are made: a fresh environment and a fresh model context each, the message the only channel.

    Order → Harness.attempt → Attempted

`harbor` runs them on Harbor, `sandbox` is an environment for Harbor that needs no Docker, `recorded` gives what earlier
runs left."""

from __future__ import annotations

from dense.harness.harness import AttemptOrder, AttemptResult, Delivery, Harness, Received, Recipient

__all__ = ["AttemptOrder", "AttemptResult", "Delivery", "Harness", "Received", "Recipient"]
