"""Each thing is said once: what a shortcut or an issue says is not repeated by the part that it lies in."""

from __future__ import annotations

import re

import pytest
from made_attempt import Action, attempt

from dense.analysis.rules import RulesAnalyst
from dense.analysis.wording.facets import facet_text
from dense.service import distill_sync
from dense.tree import Shortcut, Subtask, nodes

CHART = "Draw the amounts and save the picture as `/app/chart.png`."
LOOK = ("cat sales.csv", "north;4\nsouth;8")
TRIES: tuple[Action, ...] = (
    ("gnuplot -e \"set output '/app/chart.png'; plot 'sales.csv'\"", "bash: gnuplot: command not found", 127),
    ("convert -size 9x9 xc:white /app/chart.png", "bash: convert: command not found", 127),
)
GIVEN_UP = "The picture is not there: nothing here can draw."


def report(task: str, *actions: Action) -> str:
    return distill_sync(attempt(task, *actions), RulesAnalyst()).feedback.report


def parts(task: str, *actions: Action) -> list[Subtask]:
    """The parts; the whole if it has none."""
    root = distill_sync(attempt(task, *actions), RulesAnalyst()).reconciled.root
    return [node for node in nodes(root) if isinstance(node, Subtask) and node is not root] or [root]


def test_failures_of_a_shortcut_are_no_dead_ends_of_its_part() -> None:
    tried = [
        node for node in parts(CHART, LOOK, *TRIES, GIVEN_UP) if any(isinstance(c, Shortcut) for c in node.children)
    ]
    assert tried
    assert all(node.facets.dead_ends == () for node in tried)
    text = report(CHART, LOOK, *TRIES, GIVEN_UP)
    assert text.count("xc:white") == 1  # the action itself; the issue says what was not installed
    assert text.count("`convert` is not installed") == 1


def test_a_failure_that_no_shortcut_describes_stays_a_dead_end() -> None:
    (part,) = parts("Draw something.", LOOK, TRIES[0], ("ls", "sales.csv"), "There is nothing to draw with.")
    assert "`gnuplot`: command not found" in facet_text(part.facets, "dead_ends")


def test_an_issue_with_several_tries_describes_what_they_lacked() -> None:
    found = re.search(r"^open-issue_0: .*", report(CHART, LOOK, *TRIES, GIVEN_UP), re.MULTILINE)
    assert found is not None
    assert "Tried without success: `gnuplot` is not installed (a2); `convert` is not installed (a3)" in found[0]


def test_an_only_part_does_not_repeat_what_the_root_says() -> None:
    made = ("awk '{s+=$1} END {print s}' in.txt > /app/sum.txt", "")
    (whole,) = parts("Put the sum into `/app/sum.txt`.", made, ("cat /app/sum.txt", "30"), "It is there.")
    assert whole.summary.count("Looking at `/app/sum.txt` showed `30`") == 1
    assert "read back" not in whole.summary


@pytest.mark.parametrize("word", ["Everything is in place.", "Alles ist fertig."])
def test_parts_of_several_each_have_their_summary(word: str) -> None:
    long = [(f"cat in{n}.csv", f"region;{n}") for n in range(9)]
    made = [("echo 30 > /app/sum.txt", ""), ("cat /app/sum.txt", "30")]
    looked, wrote = parts("Put the sum into `/app/sum.txt`.", *long, *made, word)
    assert looked.summary.startswith("Looked at `in0.csv`") and "echo 30" not in looked.summary
    assert wrote.summary.startswith("Ran `echo 30 > /app/sum.txt`") and "in0.csv" not in wrote.summary


def test_cells_of_a_table_are_no_proven_values() -> None:
    def proven(output: str) -> list[str]:
        write = ("cat > recover.py <<'E'\nimport json\njson.dump(x, open('rows.json', 'w'))\nE", "")
        actions = (write, ("python3 recover.py", output), ("cat rows.json", output), "Done.")
        return [
            facet_text(part.facets, "key_values") for part in parts("Recover the rows into `/app/rows.json`.", *actions)
        ]

    assert any("11.75" in values for values in proven('{"rows": 231, "median": 11.75}'))
    rows = '[{"rows": 231, "median": 11.75}, {"rows": 232, "median": 12.75}]'
    assert not any("75" in values for values in proven(rows))


def test_what_is_published_is_named_before_a_rerun() -> None:
    push = "git add -A && git commit -m x && git push origin main"
    text = report("Update `notes.md`.", ("echo hi > notes.md", ""), (push, "9efe77f..2e593ed main -> main"), "Pushed.")
    assert "a2 ran `git push origin main`" in text
    assert "outside" not in report(
        "Update `notes.md`.", ("echo hi > notes.md", ""), ("git push --dry-run", ""), ("echo 'git push'", ""), "Done."
    )


def test_a_limit_is_named_only_if_one_was_recorded() -> None:
    text = report("Write `/app/a.txt`.", ("ls", "b.txt"), ("cat b.txt", "7"))
    assert "(a1-a2). It breaks off there." in text
    assert "limit" not in text


def test_a_failed_fetch_is_a_dead_end_and_the_last_words_are_no_closing_message() -> None:
    refused = ("curl https://a.org/x", "curl: (6) Could not resolve host: a.org", 6)
    actions = (refused, LOOK, "Which file do you mean?")
    (part,) = parts("Find it.", *actions)
    assert "Could not resolve host: a.org" in facet_text(part.facets, "dead_ends")
    text = report("Find it.", *actions)
    assert "Could not resolve host: a.org" in text
    assert "It ended with a message." in text
    assert "It ended with a closing message." in report("Find it.", LOOK, "The search is complete.")
