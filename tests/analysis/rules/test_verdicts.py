"""Where issues are raised, and where the evidence of a later part closes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from made_attempt import Action, attempt

from dense.analysis.rules import RulesAnalyst
from dense.draft import SubtaskDraft
from dense.readers import UnreadFile, files_of, read_file
from dense.service import distill_sync
from dense.tree import Issue, ReconciledTree, Subtask, nodes

FAILED = "F...\nFAILED t.py::test_total - assert -1 == 3\n1 failed, 3 passed in 0.1s\n"
PASSED = "....\n4 passed in 0.10s\n"
LOOKS: list[Action] = [
    ("ls", "shop.py\nt.py"),
    ("pytest -q", FAILED, 1),
    *((f"cat docs/{name}.md", "z") for name in "abcdef"),
]
OTHER_WORK: list[Action] = [
    ("mkdir -p out", ""),
    ("echo 1 > out/a.txt", ""),
    ("cat out/a.txt", "1"),
]
REPAIR: list[Action] = [("sed -i 's/a - b/a + b/' shop.py", ""), ("pytest -q", PASSED), "Done."]


def reconciled(*actions: Action) -> ReconciledTree:
    return distill_sync(attempt("Make the tests pass.", *actions), RulesAnalyst()).reconciled


def state(tree: ReconciledTree, identifier: str) -> str:
    (found,) = [node for node in nodes(tree.root) if isinstance(node, Subtask) and node.id == identifier]
    assert found.verdict is not None
    return found.verdict.state


def test_a_part_raises_what_is_open_at_its_end_and_its_parent_closes_it_on_later_evidence() -> None:
    tree = reconciled(*LOOKS, *OTHER_WORK, *REPAIR)
    (issue,) = tree.issues
    assert (issue.code, issue.evidence) == ("required_check_failed", ("n1",))
    assert (issue.severity, state(tree, issue.raised_at)) == ("doubt", "unknown")
    assert issue.raised_at in {child.id for child in tree.root.children}
    assert (issue.resolved_at, issue.resolution) == (tree.root.id, ("n12",))
    assert tree.root.verdict is not None
    assert tree.root.verdict.resolved == (issue.id,)
    assert tree.root.verdict.state != "incomplete"


def test_what_is_closed_within_its_part_is_no_issue() -> None:
    assert reconciled(*LOOKS[:2], *REPAIR).issues == ()


def test_what_nothing_closes_stays_open() -> None:
    tree = reconciled(*LOOKS, *OTHER_WORK, REPAIR[0], ("pytest -q", FAILED, 1), "Done.")
    (issue,) = [one for one in tree.issues if one.code == "required_check_failed"]
    assert (issue.resolved_at, issue.resolution) == (None, ())
    assert tree.root.verdict is not None
    assert tree.root.verdict.state == "incomplete"


def test_what_has_not_earned_an_issue_is_a_remark_and_changes_no_state() -> None:
    tree = reconciled(("cat shop.py", "a - b"), REPAIR[0], "Done.")
    (remark,) = tree.remarks
    assert (remark.code, remark.evidence) == ("unverified_change", ("a2",))
    assert not tree.issues and not tree.next_steps
    assert state(tree, tree.root.id) == "unknown"


def test_real_traces_have_issues_that_a_later_part_closes(corpus: Path) -> None:
    closed: dict[str, list[Issue]] = {}
    for folder in ("mini-swe-agent-traj", "inspect-eval"):
        for file in files_of(corpus / folder):
            for item in read_file(file):
                if not isinstance(item, UnreadFile) and (trajectory := item.collect()).steps:
                    tree = distill_sync(trajectory, RulesAnalyst()).reconciled
                    closed[str(trajectory.source)] = [one for one in tree.issues if one.resolved_at is not None]
    issues = [issue for found in closed.values() for issue in found]
    # In a whole that is complete, a part that leaves something open joins the one that closes it.
    assert len(issues) >= 4
    assert {issue.code for issue in issues} >= {"check_failed"}
    assert all(issue.resolution and issue.resolved_at != issue.raised_at for issue in issues)


def test_a_complete_whole_has_only_complete_parts() -> None:
    task = "Write the sum of `in.txt` to `/app/sum.txt`."
    looks = [(f"cat part{n}.txt", f"{n} of 4") for n in range(4)]
    fails = [("python3 a.py", "Traceback (most recent call last):\nKeyError: 'x'", 1)] * 2
    made = [("awk '{s+=$1} END {print s}' in.txt > /app/sum.txt", ""), ("cat /app/sum.txt", "42")]
    draft = RulesAnalyst().analysed(attempt(task, *looks, *fails, *made, "It is done.")).draft
    states = {part.verdict.completion for part in _parts(draft.root)}
    assert draft.root.verdict.completion == "complete"
    assert states <= {"complete"}


def test_no_part_repeats_the_whole() -> None:
    """As in the corpus's gcode-to-text__eCLG4sR, which is a single stretch of seven actions."""
    draft = RulesAnalyst().analysed(attempt("Make it work.", *LOOKS[:3])).draft
    assert not list(_parts(draft.root))
    for length in range(2, len(LOOKS) + 1):
        whole = RulesAnalyst().analysed(attempt("Make it work.", *LOOKS[:length], *OTHER_WORK)).draft.root
        assert all((part.first, part.last) != (whole.first, whole.last) for part in _parts(whole))


def test_a_search_that_found_nothing_is_not_complete() -> None:
    task = "Find the key in `/app/logs` and write it to `/app/key.txt`."
    looks = [(f"grep -rn 'key{n}' /app/logs", "", 1) for n in range(6)]
    draft = RulesAnalyst().analysed(attempt(task, *looks, "I looked everywhere.")).draft
    assert "complete" not in {part.verdict.completion for part in (draft.root, *_parts(draft.root))}


def _parts(part: SubtaskDraft) -> Iterator[SubtaskDraft]:
    for child in part.children:
        if isinstance(child, SubtaskDraft):
            yield child
            yield from _parts(child)
