"""The report under the paper's budget: what it shows, which actions it quotes, and in which order things go."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.analysis.actions.action import Actions
from dense.facets import Artifact, Facets, Mechanism
from dense.message.page import ReportPage, write_items
from dense.message.paper_report import Selection, paper_report
from dense.trajectory import Observation, Source, Step, Task, ToolCall
from dense.tree import Issue, Leaf, Node, ReconciledTree, Shortcut, Subtask, Verdict, leaves

KEY = "0" * 8


def act(number: int, command: str, seen: str = "", code: int | None = 0) -> Leaf:
    calls = (ToolCall("bash", {"command": command}, f"c{number}"),) if command else ()
    observations = (Observation(seen, f"c{number}", exit_code=code),) if calls else ()
    said = f"Step {number}." if command else f"Done, report {number}."
    return Leaf(f"n{number - 1}", number, Step(Source("t"), said, calls=calls, observations=observations), -1, "SECRET")


def case(size: int = 1) -> ReconciledTree:
    """Constructed: a complete branch with a shortcut in it, an unfinished one with a nested part, and a last message.

    a1 fails and a2 writes (shortcut_0, succeeded), a3 tests; a4 fails, a5 fails (shortcut_1, partial), a6 looks, a7
    writes within the nested part n12, a8 looks; a9 is the final message."""
    pad = "x" * size
    a = [
        act(1, "pip show pandas", "not found", 1),
        act(2, f"cat > sum.py <<'E'\n{pad}\nE"),
        act(3, "pytest -q", "1 passed"),
        act(4, "gnuplot a.gp", f"gnuplot: command not found {pad}", 127),
        act(5, "convert a.png", "convert: command not found", 127),
        act(6, "ls", "sum.py"),
        act(7, f"cat > chart.py <<'E'\n{pad}\nE"),
        act(8, "cat chart.py", pad),
        act(9, ""),
    ]
    first = Shortcut("shortcut_0", "Sum", (a[0], a[1]), "succeeded", "pandas is missing", "use csv", evidence=("n1",))
    done = Subtask(
        "n10",
        1,
        "Sum the column",
        "sum.py prints 30.",
        (first, a[2]),
        Facets(artifacts=(Artifact("sum.py"),)),
        Verdict("coherent", "complete", "complete", resolved=("issue_2",), key_actions=("n2",)),
    )
    tries = Shortcut(
        "shortcut_1", "Draw", (a[3], a[4]), "partial", "no plotting tool", "write PNG by hand", "issue_0", ("n3", "n4")
    )
    nested = Subtask(
        "n12",
        1,
        "Write a script",
        "chart.py is written.",
        (a[5], a[6]),
        verdict=Verdict("coherent", "complete", "complete"),
    )
    chart = Subtask(
        "n11",
        2,
        "Draw the chart",
        "No chart was drawn.",
        (tries, nested, a[7]),
        Facets(key_mechanisms=(Mechanism("zlib and struct"),), open_issues=("FACET-NEVER-SHOWN",)),
        Verdict("coherent", "incomplete", "incomplete", ("issue_1",), restated=("issue_0",)),
    )
    root = Subtask(
        "n9",
        0,
        "All",
        "The sum is right, the chart is missing.",
        (done, chart, a[8]),
        verdict=Verdict("coherent", "incomplete", "incomplete", restated=("issue_0", "issue_1")),
    )
    issues = (
        Issue("issue_0", "chart.png cannot be drawn", "shortcut_1", ("n3",)),
        Issue("issue_1", "chart.png is missing", "n11", ("n7",)),
        Issue("issue_2", "RESOLVED-NEVER-SHOWN", "shortcut_0", ("n0",), "serious", "n10", ("n2",)),
    )
    return ReconciledTree("t", Task("Sum and draw."), root, issues)


def text(page: ReportPage) -> str:
    return write_items(page.items, KEY)


def quoted(page: ReportPage) -> list[str]:
    return [item.text for item in page.items if item.kind == "key-action"]


def test_paper_first_rendering() -> None:
    page = paper_report(case())(10**6)
    report = text(page)
    assert page.dropped == ()
    assert report.startswith("state: incomplete (completion-scope: trajectory_local, judged from its actions a1-a9")
    # The complete branch is folded: its summary and its actions, no shortcut and no facet of its own.
    assert "task n10 a1-a3 complete: Sum the column. sum.py prints 30" in report
    assert not re.search(r"(?m)^ *shortcut shortcut_0|artifacts", report)
    # The unfinished one expands: facets, issues by task and by shortcut, its nested part.
    assert re.search(r"(?m)^task n11 a4-a8 incomplete: Draw the chart", report)
    assert " key-mechanisms: zlib and struct" in report
    assert re.search(
        r"(?m)^ shortcut shortcut_1 a4-a5 partial; source n3 n4: Draw; dead-end: no plotting tool; "
        r"working-path: write PNG by hand; evidence \[a4 a5\]$",
        report,
    )
    assert re.search(r"(?m)^  open-issue issue_0: chart.png cannot be drawn \[a4\]$", report)
    assert re.search(r"(?m)^ task n12 a6-a7 complete: Write a script", report)
    assert [len(re.findall(rf"(?m)^ *open-issue issue_{n}: ", report)) for n in range(3)] == [3, 2, 0]
    assert "lesson shortcut_0 a1-a2: dead-end: pandas is missing; working-path: use csv" in report
    assert "NEVER-SHOWN" not in report


def test_paper_numeric_labels_are_not_shown() -> None:
    report = text(paper_report(case())(10**6))
    assert "SECRET" not in report
    assert not re.search(r"(?m)label|^\S* ?-[12]\b", report)


def test_paper_required_actions() -> None:
    selection = Selection(case(), Actions([leaf.step for leaf in leaves(case().root)]))
    # a3: critic, verification and resolution; a2, a7: products; a4, a8: evidence; a1, a5: failures; a9: final response.
    assert sorted(selection.required) == ["n0", "n1", "n2", "n3", "n4", "n6", "n7", "n8"]
    assert selection.optional == ()


def test_paper_other_key_actions_by_role_while_whole_ones_fit() -> None:
    steps = [
        act(1, "echo 1 > a.txt"),
        act(2, "pytest -q"),
        act(3, "make"),
        act(4, "ls"),
        act(5, "echo 2 > b.txt"),
        act(6, "pytest -q x"),
        act(7, "ls"),
    ]
    tree = ReconciledTree(
        "t", Task("x"), Subtask("n7", 0, "t", "s", tuple(steps), verdict=Verdict("coherent", "complete", "complete"))
    )
    selection = Selection(tree, Actions([leaf.step for leaf in leaves(tree.root)]))
    assert sorted(selection.required) == ["n4", "n5", "n6"]
    assert selection.optional == ("n2", "n0", "n1")
    fit = paper_report(tree)
    whole = fit(10**6)
    assert quoted(whole) == ["a1", "a2", "a3", "a5", "a6", "a7"]
    assert quoted(fit(whole.size - 1)) == ["a1", "a3", "a5", "a6", "a7"]
    assert fit(whole.size - 1).dropped == ()  # nothing that must be there went


def test_paper_bodies_are_the_source_s_bytes() -> None:
    tree = case(300)
    items = {item.text: item for item in paper_report(tree)(10**6).items if item.quotes}
    for leaf in leaves(tree.root):
        if item := items.get(f"a{leaf.action}"):
            bodies = [body for _, body in item.quotes]
            calls = [str(call.arguments["command"]) for call in leaf.step.calls]
            assert bodies == [leaf.step.message, *calls, *[seen.text for seen in leaf.step.observations]]


def test_paper_overflow_goes_in_the_paper_s_order() -> None:
    tree = case(500)
    # A shortcut that succeeded in an unfinished branch, so that there is something to condense.
    chart = tree.root.children[1]
    assert isinstance(chart, Subtask)
    recovered = Shortcut("shortcut_2", "Look", chart.children[1:], "succeeded", "wrong folder " * 20, "use ls")
    tree = _with_child(tree, 1, _replaced(chart, children=(chart.children[0], recovered)))
    fit = paper_report(tree)
    whole = fit(10**6)
    everything = quoted(whole)
    assert everything == ["a1", "a2", "a3", "a4", "a5", "a7", "a8", "a9"]
    assert whole.dropped == ()

    condensed = fit(whole.size - 1)
    assert re.search(r"(?m)^ shortcut shortcut_2 a6-a8 succeeded: Look$", text(condensed))
    assert " shortcut shortcut_1 a4-a5 partial; source" in text(condensed)
    assert (quoted(condensed), len(condensed.dropped)) == (everything, 1)

    folded = fit(condensed.size - 1)
    assert quoted(folded) == everything
    assert not re.search(r"(?m)^ +(?:shortcut|task|open-issue)|mechanisms", text(folded))
    assert re.search(r"(?m)^task n11 a4-a8 incomplete: Draw the chart\. No chart was drawn$", text(folded))
    assert len(re.findall(r"(?m)^open-issue issue_[01]: ", text(folded))) == 2

    room, expected = folded.size, list(everything)
    while expected:
        fewer = fit(room - 1)
        expected.pop()
        assert quoted(fewer) == expected
        assert fewer.dropped[-1].startswith(f"key-action {everything[len(expected)]} (")
        room = fewer.size
    compact = fit(room - 1)
    assert [item.kind for item in compact.items] == ["state", "summary", "open-issue", "open-issue"]
    assert compact.dropped[-1].startswith("all but a record of the root (")
    assert text(fit(120)).startswith("state: incomplete (completion-scope: trajectory_local")
    assert fit(10).items == ()


@given(st.integers(0, 12_000), st.sampled_from([1, 200, 900]))
@settings(max_examples=200, deadline=None)
def test_paper_overflow_never_empties_a_body(room: int, size: int) -> None:
    tree = case(size)
    fit = paper_report(tree)
    page, whole = fit(room), fit(10**6)
    assert page.size <= room
    bodies = {item.text: item for item in whole.items if item.quotes}
    shown = [item for item in page.items if item.quotes]
    assert all(item == bodies[item.text] for item in shown)
    assert [item.text for item in shown] == list(bodies)[: len(shown)]
    if len(shown) < len(bodies):  # blocks go only after everything else was folded
        assert not any(item.label.startswith(" ") for item in page.items)
    if whole.size <= room:
        assert page == whole


def _replaced(node: Subtask, children: tuple[Node, ...]) -> Subtask:
    return Subtask(node.id, node.level, node.title, node.summary, children, node.facets, node.verdict)


def _with_child(tree: ReconciledTree, place: int, child: Node) -> ReconciledTree:
    children = (*tree.root.children[:place], child, *tree.root.children[place + 1 :])
    return ReconciledTree(tree.trajectory, tree.task, _replaced(tree.root, children), tree.issues)


@pytest.mark.parametrize("size", [1, 4_000])
def test_paper_the_same_bytes_every_time(size: int) -> None:
    assert paper_report(case(size))(9_000) == paper_report(case(size))(9_000)
