"""What goes when there is not room for all of it, in which order, and how fast."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest

from dense.deliver import fit, markup
from dense.deliver.budget import Budgets
from dense.deliver.delivery import deliver
from dense.evidence.actions.effects import Effects
from dense.trajectory import Observation, Source, Step, Task, ToolCall
from dense.tree import Issue, Leaf, ReconciledTree, Shortcut, Subtask, Verdict

type Parse = Callable[[str], Any]

CONDENSED, FOLDED, COMPACT = (
    "text of succeeded shortcuts",
    "parts below the root's parts",
    "all but a compact record of the root",
)


def effects(step: Step) -> Effects:
    return Effects(writes=("f",))


def leaf(number: int, message: str = "m", seen: str = "o") -> Leaf:
    call = ToolCall("bash", {"command": f"run {number}"})
    return Leaf(f"n{number}", number + 1, Step(Source("x"), message, calls=(call,), observations=(Observation(seen),)))


def tree(detail: int = 1500, seen: int = 300) -> ReconciledTree:
    """Two open branches with a succeeded and a failed shortcut each, twelve actions, one open and one closed issue."""
    branches: list[Subtask] = []
    for branch in range(2):
        parts: list[Subtask | Shortcut] = []
        for part, outcome in enumerate(("succeeded", "failed")):
            first = branch * 6 + part * 3
            inner = Subtask(f"n{20 + branch * 2 + part}", 1, "inner", "i" * detail, (leaf(first + 2, seen="z" * seen),))
            tries = (leaf(first, seen="z" * seen), leaf(first + 1, seen="z" * seen), inner)
            parts.append(
                Shortcut(
                    f"shortcut_{branch * 2 + part}",
                    "tries",
                    tries,
                    outcome,
                    dead_end=f"no {branch}{part} " + "d" * detail,
                    working_path="w" * 30,
                )
            )
        branches.append(
            Subtask(
                f"n{30 + branch}",
                2,
                "branch",
                "what it did",
                tuple(parts),
                verdict=Verdict("coherent", "incomplete", "incomplete"),
            )
        )
    every = tuple(f"n{number}" for number in range(12))
    root = Subtask(
        "n12",
        0,
        "all",
        "what was reached",
        tuple(branches),
        verdict=Verdict("coherent", "failed", "broken", key_actions=every),
    )
    issues = (
        Issue("issue_0", "closed one", "n30", ("n0",), resolved_at="n12", resolution=("n5",)),
        Issue("issue_1", "open one", "n31", ("n8",)),
    )
    return ReconciledTree("t", Task("do it"), root, issues)


def full_size(of: ReconciledTree) -> int:
    return len(deliver(of, budgets=Budgets(10**6, 10**7), effects=effects).report.encode())


def at(share: float, of: ReconciledTree) -> tuple[str, tuple[str, ...]]:
    feedback = deliver(of, budgets=Budgets(int(full_size(of) * share), 10**7), effects=effects)
    return feedback.report, feedback.dropped


def test_with_room_for_all_nothing_goes(parse: Parse) -> None:
    report, dropped = at(1.01, tree())
    assert dropped == ()
    assert len(parse(report).below("key-action")) == 12


def test_first_succeeded_shortcuts_lose_their_text(parse: Parse) -> None:
    report, dropped = at(0.9, tree())
    assert dropped == (CONDENSED,)
    shortcuts = parse(report).below("shortcut")
    assert [(s["outcome"], s.names()) for s in shortcuts[:2]] == [
        ("succeeded", ["key-action"] * 3),
        ("failed", ["dead-end", "working-path", "key-action", "key-action", "task"]),
    ]
    lessons = parse(report).only("task").only("lessons").all("lesson")
    assert [lesson.only("dead-end").text[:5] for lesson in lessons] == ["no 00", "no 01", "no 10", "no 11"]


def test_then_the_roots_parts_are_folded(parse: Parse) -> None:
    report, dropped = at(0.6, tree())
    assert dropped == (CONDENSED, FOLDED)
    root = parse(report).only("task")
    assert root.names() == ["summary", "open-issue", "lessons", "task", "task"]
    assert [part.names() for part in root.all("task")] == [["summary", *["key-action"] * 6]] * 2
    assert [part.get("open-issue") for part in root.all("task")] == [None, "issue_1"]


def test_then_whole_actions_go_from_the_end(parse: Parse) -> None:
    of = tree(detail=10)
    actions = [f"a{number}" for number in range(1, 13)]
    for share in (0.75, 0.6, 0.4, 0.3):
        report, dropped = at(share, of)
        gone = [name for name in dropped if name.startswith("key-action")]
        kept = [action["action"] for action in parse(report).below("key-action")]
        assert kept == actions[: len(kept)]
        assert gone == [f"key-action {name}" for name in reversed(actions[len(kept) :])]
        assert dropped[:2] == (CONDENSED, FOLDED)
    assert len(kept) < 5


def test_no_more_goes_than_must() -> None:
    """An action more would not have fitted."""
    of = tree(detail=10)
    report, dropped = at(0.5, of)
    gone = [name for name in dropped if name.startswith("key-action")]
    assert gone
    assert len(report.encode()) + 800 > full_size(of) * 0.5


def test_last_a_compact_record_of_the_root(parse: Parse) -> None:
    report, dropped = at(512 / full_size(tree()) + 0.001, tree())
    assert dropped[-1] == COMPACT
    root = parse(report).only("task")
    assert (root["id"], root["state"], root["completion-scope"]) == ("n12", "broken", "trajectory_local")
    assert [part.text for part in root.parts] == ["open one", "what was reached"]


@pytest.mark.parametrize("room", [512, 700, 1000, 3000, 9000])
def test_a_compact_record_shows_as_many_issues_as_fit(parse: Parse, room: int) -> None:
    issues = tuple(Issue(f"issue_{n}", f"Nr. {n} " + "é" * 150, "n0", is_fatal=n == 7) for n in range(20))
    of = ReconciledTree("t", None, Subtask("n1", 0, "t", "s" * 5000, (leaf(0),)), issues)
    block = fit.compact(of, room)
    root = parse(markup.write(block, "0" * 8)).only("task")
    assert markup.size(block) <= room
    shown = root.all("open-issue")
    assert shown[0]["id"] == "issue_7", "the fatal one first"
    assert int(root.get("open-issues-not-shown") or 0) == 20 - len(shown)
    assert all(part.text.endswith(" […cut]") for part in shown if len(part.text) < 150)
    assert root.only("summary").text.endswith("s […cut]")
    if room > 600:
        assert markup.size(block) > room - 60, "room is used"


def test_a_giant_body_gives_way_before_other_actions(parse: Parse) -> None:
    """One log of a megabyte does not cost the call that made it, nor the actions around it."""
    made = [leaf(0), leaf(1, seen="x" * 1_000_000), leaf(2)]
    of = ReconciledTree("t", None, Subtask("n3", 0, "t", "s", tuple(made)))
    feedback = deliver(of, effects=effects)
    actions = parse(feedback.report).below("key-action")
    assert [action["action"] for action in actions] == ["a1", "a2", "a3"]
    assert feedback.dropped == ("a2, observation 1 (1000000 bytes)",)
    giant = deliver(
        ReconciledTree("t", None, Subtask("n1", 0, "t", "s", (leaf(0, seen="x" * 1_000_000),))), effects=effects
    )
    (action,) = parse(giant.report).below("key-action")
    assert action.only("observation")["omitted"] == "1000000 bytes"
    assert action.only("tool-call").only("argument").text == "run 0"
    assert giant.dropped == ("a1, observation 1 (1000000 bytes)",)


def test_of_many_large_bodies_as_many_stay_as_fit(parse: Parse) -> None:
    """All twelve calls stay, and the smaller ones of the results."""
    made = tuple(leaf(number, seen="x" * (2000 + 1000 * number)) for number in range(12))
    keys = tuple(one.id for one in made)
    of = ReconciledTree(
        "t",
        None,
        Subtask("n12", 0, "t", "s", made, verdict=Verdict("coherent", "unknown", "unknown", key_actions=keys)),
    )
    feedback = deliver(of, budgets=Budgets(40_000), effects=effects)
    actions = parse(feedback.report).below("key-action")
    assert len(actions) == 12
    omitted = [action.only("observation").get("omitted") is not None for action in actions]
    assert omitted == sorted(omitted), "the larger ones are omitted"
    assert 4 <= omitted.index(True) <= 6


def test_optional_sections_go_whole_notes_before_the_guide() -> None:
    of = tree(detail=10)
    notes = ["first " * 20, "second " * 20]

    def sections(room: int) -> tuple[list[str], tuple[str, ...]]:
        feedback = deliver(of, budgets=Budgets(4000, room), notes=notes, effects=effects)
        found = re.findall(r"^(How to read it|<note )", feedback.message, re.MULTILINE)
        return found, tuple(name for name in feedback.dropped if name.startswith(("note", "reading")))

    assert sections(9000) == (["How to read it", "<note ", "<note "], ())
    base = len(deliver(of, budgets=Budgets(4000, 9000), effects=effects).message.encode()) - len("do it")
    assert sections(base + 200) == (["How to read it", "<note "], ("note 2",))
    assert sections(base) == (["How to read it"], ("note 2", "note 1"))
    assert sections(base - 1) == ([], ("note 2", "note 1", "reading guide"))


def test_fifty_megabytes_take_well_under_two_seconds() -> None:
    parts = [
        Subtask(
            f"n{1001 + part}",
            1,
            "part",
            "s" * 300,
            tuple(leaf(part * 10 + place, seen="é" * 25_000) for place in range(10)),
            verdict=Verdict("coherent", "unknown", "unknown"),
        )
        for part in range(100)
    ]
    of = ReconciledTree("t", None, Subtask("n1000", 0, "t", "s", tuple(parts)))
    start = time.process_time()
    feedback = deliver(of, effects=effects)
    assert time.process_time() - start < 1.5
    assert len(feedback.report.encode()) <= 180 * 1024
