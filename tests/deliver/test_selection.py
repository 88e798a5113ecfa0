"""Which actions are shown, and in which role."""

from __future__ import annotations

from typing import Any

from dense.deliver import selection
from dense.evidence.actions.effects import Effects
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Issue, Leaf, Node, ReconciledTree, Shortcut, State, Subtask, Verdict

KINDS = {"w": Effects(writes=("f",)), "t": Effects(tests=("pytest",)), "d": Effects(deletes=("f",))}


def effects(step: Step) -> Effects:
    return KINDS.get(step.message[:1], Effects())


def actions(kinds: str, start: int = 0, **more: Any) -> tuple[Leaf, ...]:
    """One action for each letter: w writes, t tests, d deletes, r reads, s only says something, capitals fail."""
    made: list[Leaf] = []
    for number, kind in enumerate(kinds, start):
        seen = Observation("seen", exit_code=1 if kind.isupper() else 0)
        calls = () if kind == "s" else (ToolCall("bash", {"command": "x"}),)
        step = Step(Source("x"), kind.lower(), calls=calls, observations=(seen,))
        made.append(Leaf(f"n{number}", number + 1, step, **more))
    return tuple(made)


def subtask(name: str, state: State | None, *children: Node, keys: tuple[str, ...] = ()) -> Subtask:
    verdict = Verdict("coherent", "unknown", state, key_actions=keys) if state else None
    return Subtask(name, 1, name, name, children, verdict=verdict)


def roles(root: Subtask, *issues: Issue, room: int = 10**6) -> dict[str, str]:
    chosen = selection.select(ReconciledTree("t", None, root, issues), effects=effects, room=room).choices
    assert [choice.leaf.action for choice in chosen] == sorted(choice.leaf.action for choice in chosen)
    return {choice.leaf.id: " ".join(choice.roles) for choice in chosen}


def test_a_branch_is_represented_by_what_it_made_checked_said_and_ended_with() -> None:
    made = actions("rwrwtrtrsr")
    assert roles(subtask("n99", "complete", subtask("n98", "complete", *made))) == {
        "n1": "delivery",
        "n3": "product",
        "n4": "check",
        "n6": "verification",
        "n8": "response",
        "n9": "terminal",
    }


def test_a_product_is_rather_one_that_did_not_fail() -> None:
    assert roles(subtask("n99", "complete", *actions("wWr")))["n0"] == "product"
    assert roles(subtask("n99", "complete", *actions("rWr")))["n1"] == "product"
    assert roles(subtask("n99", "complete", *actions("rdr")))["n1"] == "product"


def test_unfinished_parts_have_their_own_representatives_complete_ones_below_do_not() -> None:
    inner = subtask("n98", "broken", *actions("rr"))
    done = subtask("n97", "complete", *actions("rr", 2))
    open_part = subtask("n96", "incomplete", inner, done, *actions("rr", 4))
    shown = roles(subtask("n99", "incomplete", open_part))
    assert shown == {"n1": "terminal", "n3": "last", "n5": "terminal"}


def test_what_is_folded_away_is_no_branch() -> None:
    hidden = subtask("n98", "incomplete", *actions("rr"))
    folded = subtask("n97", "complete", hidden, *actions("rr", 2))
    assert roles(subtask("n99", "complete", folded)) == {"n3": "terminal"}


def test_what_was_never_reconciled_is_unfinished() -> None:
    inner = subtask("n98", None, *actions("rr"))
    assert roles(subtask("n99", None, subtask("n97", None, inner, *actions("r", 2))))["n1"] == "terminal"


def test_evidence_of_open_issues_and_of_resolutions() -> None:
    """An inner node is represented by its last write or test, else by its last action; a wrong name is passed over."""
    first, second = subtask("n98", "complete", *actions("rwrr")), subtask("n97", "complete", *actions("rrrr", 4))
    root = subtask("n99", "complete", first, second)
    still = Issue("issue_0", "x", "n98", ("n0", "n98", "nowhere"))
    closed = Issue("issue_1", "y", "n98", ("n2",), resolved_at="n99", resolution=("n4", "n97"))
    shown = roles(root, still, closed)
    assert {name: shown[name] for name in ("n0", "n1", "n4", "n7")} == {
        "n0": "issue",
        "n1": "issue product",
        "n4": "resolution",
        "n7": "resolution terminal",
    }
    assert "n2" not in shown, "what raised a closed issue is not needed any more"


def test_what_the_analyst_selected() -> None:
    tries = Shortcut("shortcut_0", "t", actions("rrr"), "unknown", key_actions=("n0",))
    shown = roles(subtask("n99", "complete", tries, *actions("rr", 3), keys=("n3",)))
    assert (shown["n0"], shown["n3"]) == ("selected", "selected")


def test_a_shortcut_shows_what_failed_and_what_worked() -> None:
    tries = Shortcut("shortcut_0", "t", actions("rRRwrr"), "succeeded", dead_end="d", working_path="w")
    shown = roles(subtask("n99", "complete", subtask("n98", "complete", tries, *actions("wr", 6))))
    assert (shown["n2"], shown["n3"]) == ("failure", "working-path")
    labelled = (*actions("rr"), *actions("rr", 2, label=-1), *actions("r", 4, label=0))
    tries = Shortcut("shortcut_0", "t", labelled, "partial", dead_end="d", working_path="w")
    shown = roles(subtask("n99", "complete", subtask("n98", "complete", tries, *actions("wr", 5))))
    assert (shown["n3"], shown["n4"]) == ("failure", "working-path")


def test_a_shortcut_that_only_failed_has_no_working_path() -> None:
    tries = Shortcut("shortcut_0", "t", actions("rrr"), "failed", dead_end="d", evidence=("n1",))
    shown = roles(subtask("n99", "complete", subtask("n98", "complete", tries, *actions("r", 3))))
    assert shown == {"n1": "failure", "n3": "terminal"}


def test_the_rest_goes_by_role_and_the_latest_first() -> None:
    """Writes before tests, and what does not fit is told."""
    root = subtask("n99", "complete", subtask("n98", "complete", *actions("wtwtwtr")))
    every = roles(root)
    assert every == {
        "n0": "delivery",
        "n1": "check",
        "n2": "delivery",
        "n3": "check",
        "n4": "product",
        "n5": "verification",
        "n6": "terminal",
    }
    order: list[set[str]] = []
    for room in range(0, 10_000, 50):
        shown = set(roles(root, room=room))
        if not order or shown != order[-1]:
            order.append(shown)
    required = {"n4", "n5", "n6"}
    assert order[-5:] == [
        required,
        required | {"n2"},
        required | {"n0", "n2"},
        required | {"n0", "n2", "n3"},
        required | {"n0", "n1", "n2", "n3"},
    ]
    for room in range(2000, 10_000, 500):
        chosen = selection.select(ReconciledTree("t", None, root), effects=effects, room=room)
        shown = {choice.leaf.action for choice in chosen.choices}
        told = [int(name.split()[0][1:]) for name in chosen.left_out]
        assert sorted(told) == sorted(set(range(1, 8)) - shown)


def test_the_last_action_of_a_part_is_its_last_one_and_not_the_last_before_a_shortcut() -> None:
    tried = Shortcut("shortcut_0", "tried", actions("rr", 2), "failed", dead_end="it failed")
    assert "n1" not in roles(subtask("n99", "complete", subtask("n98", "complete", *actions("rr"), tried)))
