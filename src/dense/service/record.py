"""The record of a run, `run.json`: who answered, what was asked, what it cost, what became of it."""

from __future__ import annotations

import platform
from functools import cache
from importlib.metadata import version

from msgspec import Struct

from dense.analysis.asking.prompt import prompt_hashes as analyst_prompts
from dense.draft import Asked
from dense.message.budget import Budgets
from dense.methods.no_hierarchy import Overview
from dense.model import CallTotals, ModelCall
from dense.options import Profile
from dense.trajectory import Source
from dense.version import __version__

RUN_SCHEMA = "dense.run/1"
RECORDED_PACKAGES = ("msgspec", "pydantic", "jinja2", "tree-sitter", "tree-sitter-bash", "genai-prices", "aiohttp")
"""Packages whose versions a record names."""


class Instead(Struct, frozen=True):
    """In whose place the rules answered."""

    model: str
    """The model."""
    reason: str
    """Why its own answer is not there."""
    is_unusable: bool
    """Whether an answer came that could not be used; False if none came."""


class RunRecord(Struct, frozen=True, omit_defaults=True, tag_field="schema", tag=RUN_SCHEMA):
    """How one method ran on one trajectory: the content of `run.json`, or of `failed.json` if it failed."""

    trajectory: str
    """The trajectory's ID."""
    source: Source
    """Where it was read."""
    format: str
    """In which format."""
    analyst: str
    """Who answered: a model by provider and name, or the analyst's name."""
    profile: Profile
    """Which calls DENSE makes."""
    budgets: Budgets
    """How long the feedback may be."""
    asked: tuple[Asked, ...]
    """Every question: how often it was asked, what was wrong with replies, whether it fell back."""
    fallbacks: int
    """How many questions had no usable reply."""
    calls: tuple[ModelCall, ...]
    """Every call to a model, with its tokens and its price."""
    totals: CallTotals
    """The sums of these calls."""
    prices: str
    """Where prices come from."""
    prompts: dict[str, str]
    """A hash of each prompt template."""
    redactions: dict[str, int]
    """How many credentials were replaced, by kind."""
    dropped: tuple[str, ...]
    """What was left out of the report to keep the budget."""
    seconds: float
    """How long the run took."""
    versions: dict[str, str]
    """Versions of this program, of Python and of the packages that shape a result."""
    method: str = "dense"
    """Which method made the feedback."""
    failure: str = ""
    """Why there is no feedback; empty if there is some."""
    instead: Instead | None = None
    """Set if the rules answered in a model's place: calls and costs are the model's."""
    trace: str = ""
    """A hash of the task and the steps as the method saw them: trees refer to the trace by it."""


def package_versions() -> dict[str, str]:
    """The versions that a run depends on, by package."""
    return dict(_package_versions())


@cache
def _package_versions() -> dict[str, str]:
    """Looking a version up reads and parses a file: once is enough."""
    versions = {name: version(name) for name in RECORDED_PACKAGES}
    return {"python": platform.python_version(), "dense": __version__, **versions}


def prompt_hashes() -> dict[str, str]:
    """A hash of each prompt template of DENSE and its ablations."""
    return dict(_prompt_hashes())


@cache
def _prompt_hashes() -> dict[str, str]:
    """Templates do not change while we run, and parsing them takes longer than a run by rules."""
    return analyst_prompts() | {"overview": Overview.prompt_hash()}
