"""The files of `dense lessons`: the page, and the evidence beside it, from which a message takes what it may see."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from dense.errors import DenseError
from dense.lessons.lesson import LessonEvidence
from dense.stored import decode_stored
from dense.text.terminal import plain_json

EVIDENCE_SUFFIX = ".jsonl"


def evidence_file(path: Path) -> Path:
    """The evidence of a page, or the file itself if it is evidence."""
    return path if path.suffix == EVIDENCE_SUFFIX else path.with_suffix(EVIDENCE_SUFFIX)


def read_evidence(path: Path) -> tuple[LessonEvidence, ...]:
    """The evidence of a page of lessons: from the file beside it, because a page cannot leave out a task."""
    file = evidence_file(path)
    try:
        lines = file.read_bytes().splitlines()
        advice = "make the lessons again"
        return tuple([decode_stored(line, LessonEvidence, file, advice) for line in lines if line.strip()])
    except OSError as error:
        raise DenseError(
            f"{file}: the evidence of lessons cannot be read ({error.strerror}); `dense lessons` writes it"
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DenseError(f"{file}: not the evidence of `dense lessons` ({error})") from None


def encode_evidence(evidence: Iterable[LessonEvidence]) -> bytes:
    """The evidence as lines of JSON."""
    return plain_json(b"".join(msgspec.json.encode(piece) + b"\n" for piece in evidence))
