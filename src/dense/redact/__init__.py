"""Credentials out, everything else untouched.

    texts of a trajectory → scan (shapes, contexts, values of the environment) → marks in their place

`redact` is the door. A secret becomes `[redacted: github-token 1]`; equal secrets of one trajectory have the same
number, so that a reader still sees that two places hold the same value. A trajectory without secrets comes back as it
is. What the task is about (a recovered password, a flag, a checksum) has no credential's shape and stays."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from dense.redact.environment import secrets_of
from dense.redact.kingfisher import kingfisher_secrets
from dense.redact.redactions import Redactions
from dense.redact.replacing import Replacing
from dense.redact.texts import Texts
from dense.redact.walk import rewrite_trajectory, texts_of
from dense.trajectory import Trajectory

__all__ = ["Engine", "Redactions", "Texts", "redact", "redact_text"]

Engine = Literal["kingfisher"]


def redact(
    trajectory: Trajectory,
    *,
    engine: Engine | None = None,
    environment: Mapping[str, str] | None = None,
    texts: Texts | None = None,
) -> tuple[Trajectory, Redactions]:
    """The trajectory without credentials, and what was taken out.

    `engine="kingfisher"` adds Kingfisher's rules to ours. `environment` is where the values come from that are secret
    because of their variable's name: this process's own unless told otherwise. Nothing of it is kept. `texts` are the
    trajectory's, in the order of `texts_of`, where somebody has them at hand."""
    redacted, redactions = _redact(texts or Texts(texts_of(trajectory)), engine, environment)
    if not redactions:
        return trajectory, redactions
    new = iter(redacted)
    return rewrite_trajectory(trajectory, lambda _: next(new)), redactions


def redact_text(
    text: str, *, engine: Engine | None = None, environment: Mapping[str, str] | None = None
) -> tuple[str, Redactions]:
    """The same for one text, with a numbering of its own."""
    (redacted,), redactions = _redact(Texts([text]), engine, environment)
    return redacted, redactions


def _redact(texts: Texts, engine: Engine | None, environment: Mapping[str, str] | None) -> tuple[list[str], Redactions]:
    replacing = Replacing(secrets_of(os.environ if environment is None else environment))
    redacted = replacing(texts)
    if engine == "kingfisher":
        replacing.know(kingfisher_secrets(redacted))
        redacted = replacing(Texts(redacted))
    return redacted, replacing.redactions
