"""Takes credentials out of a trajectory and leaves everything else as it is.

    texts of a trajectory → scan (token formats, contexts, values of the environment) → marks in their place

In: a trajectory or a text. Out: the same without credentials, and `Redactions`, which counts them by kind. A secret
becomes `[redacted: github-token 1]`; equal secrets of one trajectory have the same number, and a value that is secret
at one place is replaced at all others. What a task is about (a recovered password, a flag) stays: `deliverables` says
when.

`clean_labels` and `clean_line` are the door of everything that leaves beside the quoted texts of a trace: IDs, names,
places, and lines of our own that name them. Never imports anything of dense but nouns and `text`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from hashlib import sha256
from typing import Literal

from dense.redact.deliverables import Deliverables
from dense.redact.environment import secrets_of
from dense.redact.kingfisher import kingfisher_secrets
from dense.redact.redactions import Redactions
from dense.redact.replacer import Replacer
from dense.redact.texts import Texts
from dense.redact.walk import labels_of, rewrite_labels, rewrite_trajectory, texts_of, without_depth
from dense.text.clip import clip_end
from dense.text.terminal import plain_line
from dense.trajectory import Trajectory

__all__ = ["Engine", "Redaction", "Redactions", "Texts", "clean_labels", "clean_line", "redact", "redact_text"]

Engine = Literal["kingfisher"]
Redaction = bool | Engine
"""Whether credentials are replaced, and by which rules besides our own."""
MAX_LINE_CHARS = 1_000
"""Of a line of our own that names what a trace names."""
MAX_LABEL_CHARS = 200
MAX_PATH_CHARS = 1_000
SPARE_CHARS = 4_096
"""So much more than its limit is looked at of a line: no credential that begins within is cut in two."""


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
    replacer = _replacer(environment, Deliverables(trajectory))
    redacted = _replaced(replacer, texts or Texts(texts_of(trajectory)), engine)
    if replacer.redactions:
        new = iter(redacted)
        trajectory = rewrite_trajectory(trajectory, lambda _: next(new))
    labels = labels_of(trajectory)
    rewritten = replacer.replace_more(labels)
    if rewritten != labels:
        trajectory = rewrite_labels(trajectory, dict(zip(labels, rewritten, strict=True)).__getitem__)
    return trajectory, replacer.redactions


def clean_labels(trajectory: Trajectory) -> Trajectory:
    """The trajectory with each label on one line, bounded, without what acts on a terminal, and without arguments that
    are nested too deeply. Different labels stay different. Whoever passes a trajectory on has done this, whether or not
    it is redacted."""
    trajectory = without_depth(trajectory)
    labels = labels_of(trajectory)
    shown = {label: _plain_label(label) for label in labels}
    return (
        rewrite_labels(trajectory, shown.__getitem__) if any(new != old for old, new in shown.items()) else trajectory
    )


def clean_line(text: str, limit: int = MAX_LINE_CHARS) -> str:
    """A text for a line of our own: no credentials, nothing that acts on a terminal, at most so many characters."""
    return clip_end(plain_line(redact_text(text[: 4 * limit + SPARE_CHARS])[0]), limit)


def _plain_label(label: str) -> str:
    line = plain_line(label)
    limit = MAX_PATH_CHARS if "/" in line else MAX_LABEL_CHARS
    if len(line) > limit:
        line = line[:limit]
    return line if line == label else f"{line.strip()}…{sha256(label.encode('utf-8', 'replace')).hexdigest()[:8]}"


def redact_text(
    text: str, *, engine: Engine | None = None, environment: Mapping[str, str] | None = None
) -> tuple[str, Redactions]:
    """Redact one text, with a numbering of its own."""
    replacer = _replacer(environment)
    (redacted,) = _replaced(replacer, Texts([text]), engine)
    return redacted, replacer.redactions


def _replacer(environment: Mapping[str, str] | None, deliverables: Deliverables | None = None) -> Replacer:
    return Replacer(secrets_of(os.environ if environment is None else environment), deliverables)


def _replaced(replacer: Replacer, texts: Texts, engine: Engine | None) -> list[str]:
    redacted = replacer.replace(texts)
    if engine == "kingfisher":
        replacer.add_known(kingfisher_secrets(redacted))
        redacted = replacer.replace(Texts(redacted))
    return redacted
