"""Writes the page: one HTML file with its style, its script and all texts, that asks no address.

What is seen first is plain JSON. The texts of steps are compressed in chunks, which the script opens when a step is
shown or searched, so that a trace of thousands of steps opens at once."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from dense.errors import DenseError
from dense.service.private_files import write_files
from dense.text.html import escape_controls, page_source, page_template, policy_hash, script_json, without_infinities
from dense.trajectory import Step
from dense.version import __version__
from dense.view.compare import differences
from dense.view.load import LoadedRun
from dense.view.model import run_values, step_values

HERE = Path(__file__).parent
CHUNK_CHARS, CHUNK_STEPS = 400_000, 200
"""A chunk of steps is closed when it has this many characters or steps."""


def write_view(runs: Sequence[LoadedRun], path: Path) -> Path:
    """Write the page of one run, or of two side by side; returns its path."""
    write_files(path.parent.resolve(), {path.name: page_html(runs).encode("utf-8", "replace")})
    return path


def page_html(runs: Sequence[LoadedRun]) -> str:
    """The page's text."""
    from markupsafe import Markup

    if not 1 <= len(runs) <= 2:
        raise DenseError(f"a page shows one run or two, not {len(runs)}")
    style, script = (page_source(HERE, name) for name in ("page.css", "page.js"))
    values = [run_values(run) for run in runs]
    chunks: list[str] = []
    for run, value in zip(runs, values, strict=True):
        value["chunks"] = list(_add_chunks(run.trajectory.steps, chunks))
    compared = differences(*values) if len(values) == 2 else []
    title = " and ".join(str(value["name"]) for value in values)
    return page_template(HERE).render(
        title=title,
        version=__version__,
        data=Markup(script_json(_visible({"runs": values, "differences": compared}))),
        chunks=chunks,
        style=Markup(style),
        script=Markup(script),
        style_hash=policy_hash(style),
        script_hash=policy_hash(script),
    )


def _add_chunks(steps: Sequence[Step], chunks: list[str]) -> Iterator[tuple[int, int]]:
    """Append the compressed texts of the steps; yields, for each chunk, its place in the list and its last step."""
    waiting: list[dict[str, Any]] = []
    size = 0
    for number, step in enumerate(steps, 1):
        values = step_values(step)
        waiting.append(values)
        size += len(json.dumps(values, ensure_ascii=False, default=str))
        if size >= CHUNK_CHARS or len(waiting) >= CHUNK_STEPS or number == len(steps):
            yield len(chunks), number
            chunks.append(_packed(waiting))
            waiting, size = [], 0


def _packed(values: list[dict[str, Any]]) -> str:
    text = json.dumps(_visible(without_infinities(values)), ensure_ascii=True, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 6, mtime=0)).decode()


def _visible(value: Any) -> Any:
    """The same with each character that acts without markup (a control, a change of direction) written out."""
    if isinstance(value, str):
        return escape_controls(value.replace("\r\n", "\n"))
    if isinstance(value, list | tuple):
        return [_visible(inner) for inner in cast("Sequence[Any]", value)]
    if isinstance(value, dict):
        return {name: _visible(inner) for name, inner in cast("dict[str, Any]", value).items()}
    return value
