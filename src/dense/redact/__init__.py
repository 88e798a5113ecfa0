"""Takes credentials out of a trajectory and leaves everything else as it is.

    texts of a trajectory → scan (token formats, contexts, values of the environment) → marks in their place

In: a trajectory or a text. Out: the same without credentials, and `Redactions`, which counts them by kind. A secret
becomes `[redacted: github-token 1]`; equal secrets of one trajectory have the same number, and a value that is secret
at one place is replaced at all others. What a task is about (a recovered password, a flag) stays: `deliverables` says
when. Never imports anything of dense but nouns and `text`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal

from dense.redact.deliverables import Deliverables
from dense.redact.environment import secrets_of
from dense.redact.kingfisher import kingfisher_secrets
from dense.redact.redactions import Redactions
from dense.redact.replacer import Replacer
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
    """Redact a trajectory: the trajectory without credentials, and what was taken out.

    `engine="kingfisher"` adds Kingfisher's rules to ours. `environment` has the variables whose values are secret by
    their name: by default those of this process. Nothing of it is kept. `texts` are those of `texts_of`, if the caller
    has them already."""
    redacted, redactions = _redact(texts or Texts(texts_of(trajectory)), engine, environment, Deliverables(trajectory))
    if not redactions:
        return trajectory, redactions
    new = iter(redacted)
    return rewrite_trajectory(trajectory, lambda _: next(new)), redactions


def redact_text(
    text: str, *, engine: Engine | None = None, environment: Mapping[str, str] | None = None
) -> tuple[str, Redactions]:
    """Redact one text, with a numbering of its own."""
    (redacted,), redactions = _redact(Texts([text]), engine, environment)
    return redacted, redactions


def _redact(
    texts: Texts, engine: Engine | None, environment: Mapping[str, str] | None, deliverables: Deliverables | None = None
) -> tuple[list[str], Redactions]:
    replacer = Replacer(secrets_of(os.environ if environment is None else environment), deliverables)
    redacted = replacer.replace(texts)
    if engine == "kingfisher":
        replacer.add_known(kingfisher_secrets(redacted))
        redacted = replacer.replace(Texts(redacted))
    return redacted, replacer.redactions
