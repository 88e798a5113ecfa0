"""What holds for every text: no exception, the same answer twice, bounds, and time linear in the length."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest
from cpu_time import assert_growth, assert_within
from hypothesis import given
from hypothesis import strategies as st

from dense.analysis.evidence.requirements import requirements
from dense.trajectory import Task

PIECES = st.sampled_from(
    "Write to a/b.txt `x.py` `` ``` ~~~ \n \n\n # ## - * 1. > | ' \" “ 「 」 : , . ; ? ! ( ) must not < 3 "
    ">= 2 % port 80 /app/ "
    "<issue> </issue> 写入 に保存 を作成 不要 에 저장 Ändere nicht if that and Save the output file "
    "İ ß \t \x00 ∞ …".split(" ")
)
TEXTS = st.one_of(
    st.text(max_size=400), st.lists(PIECES, max_size=60).map(" ".join), st.lists(PIECES, max_size=60).map("".join)
)


@given(TEXTS)
def test_any_text_gives_bounded_requirements_in_its_own_words(text: str):
    task = Task(text)
    found = requirements(task)
    assert found == requirements(task)
    assert len(found) <= 60
    assert all(one.subject and len(one.clause) <= 300 for one in found)
    assert len({(one.kind, one.subject) for one in found}) == len(found)
    assert all(one.subject in text for one in found if one.kind == "file")


def test_no_task_asks_for_nothing():
    assert requirements(None) == ()
    assert requirements(Task("  \n ")) == ()


HARD = [
    "a",
    "`",
    '"',
    "'",
    "a.",
    "/",
    "a/",
    "(",
    "*",
    "- ",
    "> ",
    "# ",
    "| ",
    "```\n",
    "1",
    "1,",
    "<",
    "in ",
    "写",
    "に",
    "and ",
    "a.txt, ",
    "`a.txt` and ",
    "__",
    "$ ",
    "…",
    "\n",
    "must not ",
]


@pytest.mark.parametrize("piece", HARD)
def test_time_is_linear(piece: str):
    """Twenty times the text may take forty times as long, and a short text is never slow."""

    def work(size: int) -> Callable[[], object]:
        return partial(requirements, Task("Write " + piece * (size // len(piece))))

    assert_growth(work, 10_000, 200_000, most=40)
    assert_within(0.25, work(10_000))
