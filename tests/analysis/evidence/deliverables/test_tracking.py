"""Files that the task asks for: who made them, who showed them."""

from __future__ import annotations

import msgspec
import pytest
from made_attempt import Action, assess, attempt, evidence_of, state, trajectory

from dense.analysis.evidence.deliverables.tracking import TrackedFile
from dense.analysis.evidence.facts.paths import is_named
from dense.trajectory import Observation, Source, Step, ToolCall

TASK = "Write the sum of `in.txt` to `/app/sum.txt`."
MADE = ("awk '{s+=$1} END {print s}' in.txt > /app/sum.txt", "")
READ = ("cat /app/sum.txt", "42")
DONE = "Done."


def tracked(*actions: Action, task: str = TASK) -> TrackedFile:
    (only,) = evidence_of(task, *actions).tracked_files
    return only


@pytest.mark.parametrize(
    "text",
    [
        "cat /app/sum.txt",
        "-rw-r--r-- 1 a a 3 sum.txt",
        "saved to app/sum.txt.",
        "open('/app/sum.txt')",
        'Path("/app") / "sum.txt"',
        "写入sum.txt。",
        "--- a/sum.txt",
        "file:///app/sum.txt",
        "├── sum.txt",
        "./sum.txt:3: 42",
    ],
)
def test_a_file_is_named_by_any_path_that_may_be_its_own(text: str) -> None:
    assert is_named(text, "/app/sum.txt")


@pytest.mark.parametrize(
    "text",
    [
        "ls /app/sum.txt.bak",
        "diff /app/tests/expected_sum.txt",
        "cat /tmp/sum.txt",
        "cat tests/sum.txt",
        "my-sum.txt",
        ".sum.txt",
        "sum.txt~",
        "sum.txt_old",
        "/data/sum.txt",
    ],
)
def test_a_file_is_not_named_by_a_longer_word_or_at_another_path(text: str) -> None:
    assert not is_named(text, "/app/sum.txt")


def test_a_file_that_was_made_and_read() -> None:
    file = tracked(MADE, READ, DONE)
    assert (file.made, file.shown, file.missed) == ((1,), (2,), ())
    assert file.is_shown and not file.is_missing and not file.is_old


def test_a_failed_attempt_makes_nothing() -> None:
    file = tracked(("awk x in.txt > /app/sum.txt", "bash: /app/sum.txt: Permission denied", 1), DONE)
    assert (file.made, file.tried, file.is_missing) == ((), (1,), True)


def test_a_failed_check_does_not_undo_the_write_before_it() -> None:
    both = ("echo 42 > /app/sum.txt && pytest -q", "FAILED t.py::test_a\n1 failed in 0.1s", 1)
    assert tracked(both, DONE).made == (1,)


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("ls /app/sum.txt.bak", "ls: cannot access '/app/sum.txt.bak': No such file or directory"),
        ("cmp /app/sum.txt /app/expected_sum.txt", "cmp: /app/expected_sum.txt: No such file or directory"),
        ("ls /data/sum.txt", "ls: cannot access '/data/sum.txt': No such file or directory"),
    ],
)
def test_another_file_that_is_missing_says_nothing(command: str, output: str) -> None:
    assert tracked(MADE, READ, (command, output, 1), DONE).missed == ()


def test_a_file_that_was_looked_for_too_early_is_there_later() -> None:
    missing = ("cat /app/sum.txt", "cat: /app/sum.txt: No such file or directory", 1)
    file = tracked(missing, MADE, READ, DONE)
    assert (file.missed, file.is_missing) == ((1,), False)
    assert state(attempt(TASK, missing, MADE, READ, DONE)) == "complete"


def test_an_echoed_command_does_not_show_the_file() -> None:
    echo = ("python gen.py --out /app/sum.txt", "$ python gen.py --out /app/sum.txt")
    assert tracked(echo, DONE).shown == ()


@pytest.mark.parametrize(
    "before",
    [
        ("cat /app/sum.txt", "7"),
        ("sed -i s/7/42/ /app/sum.txt", ""),
    ],
)
def test_a_file_that_was_there_before_is_old(before: Action) -> None:
    assert tracked(before, MADE, READ, DONE).is_old


@pytest.mark.parametrize("path", ["out/*.txt", "out/<name>.txt", "out/"])
def test_a_pattern_or_a_folder_is_not_tracked(path: str) -> None:
    assert evidence_of(f"Write the results to `{path}`.", READ, DONE).tracked_files == []


def test_a_file_of_the_same_name_elsewhere_may_be_it() -> None:
    assert tracked(("python main.py", "Saved: output/sum.txt"), DONE).may_exist
    assert not tracked(("python main.py", "Saved."), DONE).may_exist


def test_a_file_that_is_made_and_read_back_at_once_is_shown() -> None:
    assert tracked(("wc -l < in.txt > /app/sum.txt && cat /app/sum.txt", "42"), DONE).is_shown
    assert not tracked(("cat /app/sum.txt; wc -l < in.txt > /app/sum.txt", "41"), DONE).is_shown
    assert not tracked(("wc -l < in.txt > /app/sum.txt && cat in.txt", "1"), DONE).is_shown


CONFIG = "cat > /app/site.conf <<'EOF'\naccess_log /app/sum.txt;\nEOF\n"


def test_a_file_that_is_only_named_in_another_one_is_not_made() -> None:
    written = tracked(
        (f"{CONFIG}chown www /app/site.conf", ""), ("cat /app/site.conf", "access_log /app/sum.txt;"), DONE
    )
    assert (written.made, written.shown, written.may_exist) == ((), (), False)
    assert tracked((CONFIG, ""), ("nginx -t", "test is successful"), DONE).is_missing
    assert tracked((CONFIG, ""), ("./serve --once", "ok"), DONE).may_exist
    assert tracked(("cat > /app/p.py <<'EOF'\nopen('/app/sum.txt', 'w')\nEOF\npython /app/p.py", ""), DONE).made == (1,)


@pytest.mark.parametrize(
    "name", ["TodoWrite", "todoWrite", "attemptCompletion", "update_plan", "return_result", "finish"]
)
def test_to_do_lists_and_hand_overs_make_no_files(name: str) -> None:
    """Also beside a command in the same step, and in what the tool answers."""
    run = attempt(TASK, MADE, READ, ("ls", "in.txt"), DONE)
    listing = run.steps[2]
    said = ToolCall(name, {"text": "- [x] write /app/sum.txt"}, "t")
    both = msgspec.structs.replace(listing, calls=(*listing.calls, said))
    alone = Step(Source("made"), calls=(said,), observations=(Observation("/app/sum.txt: done", "t"),))
    for steps in ((*run.steps[:2], both, run.steps[3]), (*run.steps[:2], alone, run.steps[3])):
        (file,) = assess(msgspec.structs.replace(run, steps=steps)).evidence.tracked_files
        assert (file.made, file.is_shown) == ((1,), True)
    (file,) = assess(trajectory(TASK, alone)).evidence.tracked_files
    assert file.is_missing


def test_to_run_a_program_does_not_make_it() -> None:
    task, made, run = "Write `/app/p.py`.", ("cat > /app/p.py <<'E'\nprint(1)\nE", ""), ("python3 /app/p.py", "1")
    file = tracked(made, run, DONE, task=task)
    assert (file.made, file.shown, file.is_shown) == ((1,), (2,), True)
