"""An error family is one row: a new one is read, classified and narrated without any other change."""

from __future__ import annotations

import re

import pytest
from made_facts import facts

from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.observations.result import ObservedResult
from dense.analysis.actions.step_effects import effects
from dense.analysis.wording.actions import describe_output
from dense.knowledge.errors import ERROR_FAMILIES, ERRORS, EXIT, KILLED, ErrorFamily, ErrorTable
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Leaf

NO_SUCH_IMAGE = ErrorFamily(
    code="no_such_image",
    label="no such image",
    phrases=("manifest unknown",),
    line_start=r"Image missing: ",
    subject=re.compile(r"manifest for (\S+) not found|missing: (\S+)"),
    exit_codes=frozenset({177}),
    is_missing_dependency=True,
    is_external=True,
    prevents_start=True,
    voids_check=True,
)
EXTENDED = ErrorTable((NO_SUCH_IMAGE, *ERROR_FAMILIES))


def step_of(command: str, text: str, code: int | None) -> Step:
    call = ToolCall("bash", {"command": command})
    return Step(Source("trace"), calls=(call,), observations=(Observation(text, exit_code=code),))


def observed(text: str, code: int | None = None, errors: ErrorTable = EXTENDED) -> ObservedResult:
    step = step_of("./build.sh", text, code)
    return observe(step, effects(step), errors=errors)


@pytest.mark.parametrize(
    ("text", "code", "subject"),
    [
        ("Error: manifest for acme-base not found: manifest unknown", 1, "acme-base"),
        ("Image missing: acme-base", 1, "acme-base"),
        ("", 177, "177"),
    ],
)
def test_a_new_family_is_classified(text: str, code: int, subject: str) -> None:
    (failure,) = observed(text, code).failures
    assert (failure.family, failure.subject) == (NO_SUCH_IMAGE, subject)
    assert NO_SUCH_IMAGE not in [one.family for one in observed(text, code, ERRORS).failures]


def test_a_new_family_is_narrated() -> None:
    text = "Error: manifest for acme-base not found: manifest unknown"
    step = step_of("pytest -q", text, 1)
    done = effects(step)
    known = facts(Leaf("n0", 1, step), done, observe(step, done, errors=EXTENDED))
    assert describe_output(known, step) == "`acme-base` is not installed: no test ran"


def test_every_family_has_its_own_code_and_label() -> None:
    assert len({family.code for family in ERROR_FAMILIES}) == len(ERROR_FAMILIES)
    assert len({family.label for family in ERROR_FAMILIES}) == len(ERROR_FAMILIES)


def test_no_exit_code_means_two_families() -> None:
    codes = [code for family in ERROR_FAMILIES for code in family.exit_codes]
    assert len(codes) == len(set(codes))
    assert ERRORS.by_exit_code(-9) is KILLED
    assert ERRORS.by_exit_code(3) is None and EXIT.is_vague
