"""A judgement is one class and one template: whoever adds one touches those, and the analyst that asks it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from dense.analysis.analyst import __file__ as analyst_file
from dense.analysis.asking.prompt import FOLDER
from dense.analysis.asking.questions import JUDGEMENTS, Judgement, Question, as_judgement

ANALYST = Path(analyst_file).parent
KINDS = [judgement.__name__ for judgement in JUDGEMENTS]


@pytest.mark.parametrize("judgement", JUDGEMENTS, ids=KINDS)
def test_three_files_know_a_judgement(judgement: type[Judgement]) -> None:
    """Its module, its template and the profile that asks it. The package re-exports the names of the first ten."""
    word = re.compile(rf"\b{judgement.__name__}\b")
    knowing = [path for path in ANALYST.rglob("*.py") if path.name != "__init__.py" and word.search(_code(path))]
    module = Path(inspect.getfile(judgement))
    assert {path.name for path in knowing} == {module.name}
    assert len(knowing) == 2
    assert module in knowing
    assert (FOLDER / f"{judgement.__name__.lower()}.md.j2").is_file()


def _code(path: Path) -> str:
    """The source without docstrings and comments."""
    return re.sub(r'"""[\s\S]*?"""|#[^\n]*', "", path.read_text())


def test_only_judgements_are_rendered_as_such() -> None:
    class Other(Question, frozen=True, kw_only=True):
        """A question of another method."""

    with pytest.raises(TypeError, match="other is no judgement"):
        as_judgement(Other(task=None))
