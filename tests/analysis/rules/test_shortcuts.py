"""What the feedback on a whole attempt says of what failed and of what came of it."""

from __future__ import annotations

import pytest
from made_attempt import Action, attempt
from msgspec import structs

from dense.analysis.rules.analyst import RulesAnalyst
from dense.analysis.wording.facets import facet_text
from dense.facets import FACETS
from dense.service import distill_sync
from dense.tree import Shortcut, Subtask, nodes

FAILED = (
    "F...\nE       assert total([1, 2]) == 3\nFAILED t.py::test_total - assert -1 == 3\n1 failed, 3 passed in 0.1s\n"
)
PASSED = "....\n4 passed in 0.10s\n"
KEY_ERROR = "Traceback (most recent call last):\n  File \"<stdin>\", line 1, in <module>\nKeyError: 'a'\n"


def parts(name: str, *actions: Action) -> list[str]:
    """All texts of one name in the tree of an attempt: of shortcuts, facets and subtasks."""
    root = distill_sync(attempt("Make the tests pass.", *actions), RulesAnalyst()).reconciled.root
    found = [getattr(node, name, "") for node in nodes(root)]
    if (facet := f"{name}s") in FACETS:
        found += [facet_text(node.facets, facet) for node in nodes(root) if isinstance(node, Subtask)]
    return [text for text in found if text]


def shortcuts(task: str, *actions: Action) -> list[Shortcut]:
    root = distill_sync(attempt(task, *actions), RulesAnalyst()).reconciled.root
    return [node for node in nodes(root) if isinstance(node, Shortcut)]


def test_a_dead_end_is_what_was_tried_and_not_the_check() -> None:
    actions = [
        ("sed -i 's/a - b/a * b/' shop.py", ""),
        ("pytest -q", FAILED, 1),
        ("sed -i 's/a [*] b/a + b/' shop.py", ""),
        ("pytest -q", PASSED),
    ]
    (reported, *_) = parts("dead_end", *actions)
    assert reported == (
        "changed `a - b` to `a * b` in `shop.py`: 1 of 4 tests fail: `test_total` (`assert total([1, 2]) == 3`)"
    )


def test_no_change_is_to_blame_for_a_tool_that_is_not_there() -> None:
    missing = "/usr/bin/python3: No module named pytest"
    actions = [
        ("sed -i 's/a - b/a + b/' shop.py", ""),
        ("python3 -m pytest -q", missing, 1),
        ("pip install pytest", "ERROR: No matching distribution found for pytest", 1),
        ("python3 -m pytest -q", missing, 1),
        ("python3 -m unittest", "Ran 4 tests in 0.1s\n\nOK\n"),
    ]
    assert all(reported.startswith("`pytest` is not installed (a2)") for reported in parts("dead_end", *actions))
    assert parts("dead_end", *actions)


def test_no_name_of_ours_stands_for_a_text_that_was_typed_in() -> None:
    actions = [
        ("cat shop.py", "x\n" * 40),
        ("cat > t.py <<'EOF'\nx = 1\nEOF\npython - <<'EOF'\nprint(d['a'])\nEOF", KEY_ERROR, 1),
        ("python - <<'EOF'\nprint(d.get('a'))\nEOF", "None"),
    ]
    report = distill_sync(attempt("Make it work.", *actions), RulesAnalyst()).feedback.report
    assert "/dev/heredoc" not in report


def test_a_package_that_is_not_to_be_had_is_no_module() -> None:
    error = "E: Unable to locate package nginx"
    reported = parts("summary", ("apt-get install -y nginx", error, 100), ("service nginx start", "unrecognized", 1))
    assert reported
    assert "`nginx`: no such package" in reported[0]


def test_a_folder_is_no_file_that_was_made() -> None:
    made = [("git checkout -q main", ""), ("echo 1 > /app/a.txt", ""), ("pytest -q", PASSED)]
    reported = parts("artifact", *made, ("pip install x", ""), ("cat /etc/hosts", "a"), ("ls /etc", "b"))
    assert reported
    assert all("`.`" not in one for one in reported)


REPRODUCTION = ("cat > repro.py <<'EOF'\nimport shop\nprint(shop.d['a'])\nEOF", "")
SOLUTION = ("sed -i 's/a - b/a + b/' shop.py", "")


@pytest.mark.parametrize("removed", [(), (("rm repro.py", ""),)])
def test_a_reproduction_before_any_change_is_no_dead_end(removed: tuple[Action, ...]) -> None:
    run = "python3 repro.py"
    assert not parts("dead_end", REPRODUCTION, (run, KEY_ERROR, 1), SOLUTION, (run, "1\n"), *removed)
    again = ("sed -i 's/a + b/b + a/' shop.py", "")
    other = KEY_ERROR.replace("'a'", "'b'")
    reported = parts("dead_end", REPRODUCTION, (run, KEY_ERROR, 1), SOLUTION, (run, other, 1), again, (run, "1\n"))
    assert reported
    assert reported[0].startswith("before any change: ran `python3 repro.py`: `KeyError: 'a'`; changed `a - b` to")


def test_the_script_that_the_task_asks_for_is_no_reproduction() -> None:
    write = ("cat > demo.py <<'EOF'\nprint(d['a'])\nEOF", "")
    change = ("sed -i 's/x/a/' demo.py", "")
    actions = [write, ("python3 demo.py", KEY_ERROR, 1), change, ("python3 demo.py", "1\n"), ("echo 1 > b.py", "")]
    root = distill_sync(attempt("Write `demo.py`, which prints 1.", *actions), RulesAnalyst()).reconciled.root
    assert any("KeyError" in getattr(node, "dead_end", "") for node in nodes(root))


def test_a_recovery_on_one_check_is_no_working_path_while_another_is_open() -> None:
    actions = [
        ("python3 check_speed.py", "5.9 s, limit 2.0 s: TOO SLOW", 1),
        ("sed -i 's/a - b/a * b/' shop.py", ""),
        ("pytest -q", FAILED, 1),
        ("sed -i 's/a [*] b/a + b/' shop.py", ""),
        ("pytest -q", PASSED),
    ]
    task = "Make shop.py fast: `python3 check_speed.py` must pass, and `pytest -q` too."
    (partial,) = shortcuts(task, *actions)
    assert partial.outcome == "partial"
    assert partial.working_path.startswith("not `python3 check_speed.py` (failed at a1), only this: changed")
    (fine,) = shortcuts(task, *actions, ("python3 check_speed.py", "0.9 s, limit 2.0 s: ok", 0))
    assert fine.outcome == "succeeded"
    assert fine.working_path.startswith("changed")


def test_a_result_that_the_agent_rejects_is_no_recovery() -> None:
    """The same output later is rejected, too; what the agent accepts is the way that worked."""
    wrong = ("python repro.py", "Final state: unchanged\nISSUE NOT REPRODUCED\n")
    made = attempt(
        "Make the tests pass.",
        ("sed -i 's/a - b/a + b/' repro.py", ""),
        ("python repro.py", KEY_ERROR, 1),
        wrong,
        ("sed -i 's/x = 1/x = 2/' repro.py", ""),
        wrong,
        ("sed -i 's/x = 2/x = 3/' repro.py", ""),
        ("python repro.py", "Final state: changed\nISSUE REPRODUCED\n"),
        "Great, it is reproduced.",
    )
    steps = [*made.steps]
    steps[3] = structs.replace(steps[3], message="The issue was NOT reproduced.")
    root = distill_sync(structs.replace(made, steps=tuple(steps)), RulesAnalyst()).reconciled.root
    ways = [node.working_path for node in nodes(root) if isinstance(node, Shortcut) and node.working_path]
    assert ways
    assert all("`ISSUE REPRODUCED`" in way and "NOT REPRODUCED" not in way for way in ways)
