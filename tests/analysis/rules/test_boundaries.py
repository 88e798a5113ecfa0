"""Where stretches end, and which belong together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from cpu_time import assert_growth
from hypothesis import given, settings
from hypothesis import strategies as st
from made_facts import facts

import dense
from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.observations.result import ObservedFailure, ObservedResult
from dense.analysis.actions.observations.result import TestRun as Run
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.links.action_links import ActionLinks
from dense.analysis.rules.boundaries import (
    MAX_ACTIONS,
    MAX_TOP_NODES,
    StretchTraits,
    ends,
    higher_ends,
    is_top,
    stretch_traits,
)
from dense.knowledge.errors import EXCEPTION
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Leaf

EXAMPLES = Path(__file__).parents[3] / "examples"
OK = ObservedResult(is_empty=False)
PASSED = ObservedResult(tests=(Run("pytest", 5, 0, "5 passed"),), is_empty=False)
BROKEN = ObservedResult(tests=(Run("pytest", 3, 2, "2 failed, 3 passed"),), is_empty=False)
CRASHED = ObservedResult(failures=(ObservedFailure(EXCEPTION, "KeyError: 'amount'"),), is_empty=False)


def step(command: str, message: str = "", *, is_answered: bool = False) -> Step:
    observations = (Observation("go on", origin="user"),) if is_answered else ()
    calls = (ToolCall("bash", {"command": command}),) if command else ()
    return Step(Source("trace"), message=message, calls=calls, observations=observations)


type Action = str | tuple[str, ObservedResult] | tuple[str, ObservedResult, str]


def made(actions: Sequence[Action]) -> list[ActionFacts]:
    """Facts of shell commands, with what came back and what was said. `talk` alone says something."""
    found: list[ActionFacts] = []
    for number, action in enumerate(actions, 1):
        command = action if isinstance(action, str) else action[0]
        came = OK if isinstance(action, str) else action[1]
        message = action[2] if len(action) == 3 and not isinstance(action, str) else ""
        one = step("" if command == "talk" else command, message)
        found.append(facts(Leaf(f"n{number - 1}", number, one), effects(one), came))
    return found


def cut(actions: Sequence[Action]) -> list[int]:
    found = made(actions)
    return ends(found, ActionLinks(found))


@pytest.mark.parametrize(
    ("example", "expected"),
    [
        ("csv-report/trial", [4, 8, 12, 14]),
        ("clean-success/session.jsonl", [6, 8]),
        ("looks-successful/rollout.jsonl", [5, 11, 14]),
        ("password-recovery/recovery.traj.json", [5, 12, 22]),
    ],
)
def test_examples(example: str, expected: list[int]) -> None:
    found: list[ActionFacts] = []
    for number, one in enumerate(next(iter(dense.read(EXAMPLES / example))).steps, 1):
        done = effects(one)
        found.append(facts(Leaf(f"n{number - 1}", number, one), done, observe(one, done)))
    assert ends(found, ActionLinks(found)) == expected


LOOK = ["cat a.py", "cat b.py", "cat c.py", "grep -rn foo src"]
MAKE = ["sed -i s/a/b/ a.py", "python a.py"]


@pytest.mark.parametrize(
    ("actions", "expected"),
    [
        # few actions are one stretch
        (["ls", "cat > a.py <<E\nE", "python a.py"], [3]),
        # from looking to changing
        ([*LOOK, *MAKE, "cat a.py"], [4, 7]),
        # a check that passed ends it, when something else follows
        (["sed -i s/a/b/ a.py", "cat a.py", ("pytest", PASSED), "cat z.md", "sed -i s/a/b/ z.md", "cat z.md"], [3, 6]),
        # a failure and its repair stay together
        (["ls", ("python a.py", CRASHED), "cat in.csv", "sed -i s/a/b/ a.py", "python a.py", "cat out.txt"], [6]),
        # what was written is run before anything ends
        ([*LOOK[:3], "cat > new.py <<E\nE", "python new.py", "python new.py --all"], [3, 6]),
        # a word alone is not enough for a short one
        (["cat a", "cat b", ("cat b", OK, "Now b again"), "cat b", "cat a"], [5]),
        # a commit
        (["sed -i s/a/b/ a.py", "cat a.py", "git commit -am x", "cat > n.md <<E\nE", "cat n.md", "ls"], [3, 6]),
        # handing over twice, as some harnesses ask for
        (["ls", "cat a", "cat b", "cat c", "submit", "submit"], [4, 6]),
        # what is announced belongs to what follows
        (["cat a", "cat b", "cat c", "cat d", "talk", "sed -i s/a/b/ a.py", "cat > b.py <<E\nE"], [4, 7]),
    ],
)
def test_cuts(actions: list[Action], expected: list[int]) -> None:
    assert cut(actions) == expected


def test_a_user_who_speaks_ends_a_stretch() -> None:
    steps = [step(f"cat f{n}", is_answered=n == 3) for n in range(8)]
    found = [facts(Leaf(f"n{n}", n + 1, one), effects(one), OK) for n, one in enumerate(steps)]
    assert ends(found, ActionLinks(found)) == [4, 8]


def test_a_long_row_of_the_same_is_cut_all_the_same() -> None:
    found = cut([f"grep -n x{n} disk.img" for n in range(60)])
    assert all(end - start <= 12 for start, end in zip([0, *found], found, strict=False))


def test_a_row_of_failures_and_repairs_ends_at_last() -> None:
    found = cut([("python a.py", CRASHED), "sed -i s/a/b/ a.py"] * 40)
    assert all(end - start <= MAX_ACTIONS for start, end in zip([0, *found], found, strict=False))


COMMANDS = st.sampled_from([
    "ls", "cat a.py", "cat b.py", "sed -i s/a/b/ a.py", "sed -i s/a/b/ b.py", "python a.py", "python b.py", "pytest",
    "pytest tests/test_a.py", "pip install x", "rm b.py", "git commit -am x", "python -c 'import x'", "submit", "talk",
    "python server.py &", "curl localhost:8000", "make", "cat > c.py <<E\nE",
])  # fmt: skip
ACTIONS = st.lists(
    st.tuples(
        COMMANDS,
        st.sampled_from([OK, PASSED, BROKEN, CRASHED, ObservedResult()]),
        st.sampled_from(["", "Now", "Step 2"]),
    ),
    min_size=1,
    max_size=90,
)


@settings(max_examples=150, deadline=None)
@given(ACTIONS)
def test_ends_are_a_partition(actions: list[tuple[str, ObservedResult, str]]) -> None:
    found = cut(actions)
    assert found == sorted(set(found))
    assert found[-1] == len(actions)
    sizes = [end - start for start, end in zip([0, *found], found, strict=False)]
    # One more than the longest where a last action would be left alone otherwise.
    assert all(2 <= size <= MAX_ACTIONS + 1 for size in sizes) or len(actions) == 1


@settings(max_examples=50, deadline=None)
@given(ACTIONS)
def test_no_cut_between_a_failure_and_its_repair(actions: list[tuple[str, ObservedResult, str]]) -> None:
    found = made(["cat > a.py <<E\nE", *actions])
    history = ActionLinks(found)
    start = 0
    for end in ends(found, history)[:-1]:
        crossing = [n for n in range(start, end) if history.failure_ends[n] >= end]
        # only where the stretch would have grown too long
        assert (
            not crossing
            or max(history.failure_ends[n] for n in range(start, start + MAX_ACTIONS - 1)) >= start + MAX_ACTIONS - 1
        )
        start = end


# Higher levels


def node(product: str, *, has_failed: bool = False, opens: bool = False) -> StretchTraits:
    return StretchTraits(frozenset([product]), frozenset([product]), has_failed=has_failed, opens=opens)


def test_nodes_that_work_on_the_same_go_together() -> None:
    nodes = [
        node("a.py"),
        node("a.py"),
        node("a.py"),
        node("b.py"),
        node("b.py"),
        node("b.py"),
        node("b.py"),
        node("c.py"),
    ]
    nodes += [node("c.py"), node("c.py"), node("c.py"), node("d.py"), node("d.py"), node("d.py")]
    assert higher_ends(nodes) == [3, 7, 11, 14]


def test_a_node_that_ends_in_failure_goes_with_the_next() -> None:
    nodes = [node(f"f{n}", has_failed=n == 2) for n in range(12)]
    assert 3 not in higher_ends(nodes)


@pytest.mark.parametrize("count", range(MAX_TOP_NODES + 1, MAX_TOP_NODES * MAX_TOP_NODES + 1))
def test_an_ordinary_trajectory_has_two_to_eight_phases_above_its_stretches(count: int) -> None:
    assert 2 <= len(higher_ends([node(f"f{n}") for n in range(count)])) <= MAX_TOP_NODES


def test_a_hundred_thousand_actions_come_down_in_two_levels() -> None:
    nodes = [node(f"f{n % 50}") for n in range(17_000)]
    for _ in range(2):
        found = higher_ends(nodes)
        nodes = [nodes[end - 1] for end in found]
    assert len(nodes) <= 150


@given(st.lists(st.builds(node, st.sampled_from("abc"), has_failed=st.booleans(), opens=st.booleans()), max_size=200))
def test_higher_ends_are_a_partition(nodes: list[StretchTraits]) -> None:
    found = higher_ends(nodes)
    assert found == sorted(set(found))
    assert not nodes or found[-1] == len(nodes)


def test_what_is_the_top() -> None:
    assert [count for count in range(1, 20) if is_top(count)] == list(range(1, MAX_TOP_NODES + 1))


def test_a_stretch_by_its_facts() -> None:
    found = stretch_traits(made(["talk", "cat in.csv", "echo 1 > out.json", ("pytest", PASSED)]))
    assert found == StretchTraits(
        frozenset(["out.json"]), frozenset(["in.csv", "out.json"]), "explore", has_passed=True
    )


def test_time_is_linear() -> None:
    found = made(["cat a.py", ("python a.py", CRASHED), "sed -i s/a/b/ a.py", ("pytest", PASSED)] * 4)

    def work(count: int) -> Callable[[], object]:
        many = [msgspec.structs.replace(found[n % 16], action=n + 1) for n in range(count)]
        return lambda: ends(many, ActionLinks(many))

    work(500)()
    assert_growth(work, 2_000, 16_000, most=20)
