"""Files that a task asks for: where they were made, who saw them, what became of them. Own texts, several wordings."""

from __future__ import annotations

import pytest
from made_attempt import Action, analysed, attempt

from dense.analyst.rules import RulesAnalyst
from dense.detectors.finding import Finding
from dense.evidence.deliverables.sightings import is_named, sightings
from dense.evidence.deliverables.tracking import Tracked
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

TASK = "Write the sum of `in.txt` to `/app/sum.txt`."
MADE = ("awk '{s+=$1} END {print s}' in.txt > /app/sum.txt", "")
READ = ("cat /app/sum.txt", "42")
DONE = "Done."


def followed(task: str, *actions: Action) -> Tracked:
    (only,) = analysed(task, *actions).tracked
    return only


def unmet(task: str, *actions: Action) -> list[Finding]:
    return [one for one in analysed(task, *actions).findings if one.kind in ("unmet", "lost")]


def the(task: str, *actions: Action) -> Finding:
    (only,) = unmet(task, *actions)
    return only


def state(task: str, *actions: Action) -> str:
    verdict = distill_sync(attempt(task, *actions), RulesAnalyst()).reconciled.root.verdict
    assert verdict is not None
    return verdict.state


# Names in texts


@pytest.mark.parametrize(
    "text",
    [
        "cat /app/sum.txt",
        "-rw-r--r-- 1 a a 3 sum.txt",
        "saved to app/sum.txt.",
        "open('/app/sum.txt')",
        'Path("/app") / "sum.txt"',
        "> $OUT/sum.txt",
        "out={folder}/sum.txt",
        "cp x ../sum.txt",
        "写入sum.txt。",
        "--- a/sum.txt",
        "file:///app/sum.txt",
        "├── sum.txt",
        "open(folder + '/sum.txt')",
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
def test_a_file_is_not_named_by_a_longer_word_or_in_another_folder(text: str) -> None:
    assert not is_named(text, "/app/sum.txt")


def test_a_drive_is_part_of_a_path() -> None:
    assert is_named(r"type C:\out\sum.txt", "C:/out/sum.txt")
    assert not is_named(r"type D:\out\sum.txt", "C:/out/sum.txt")


def test_names_without_end_are_looked_at_up_to_a_bound() -> None:
    assert len(list(sightings("sum.txt " * 100_000, "/app/sum.txt"))) <= 1_000


# Looked for in vain


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("ls /app/sum.txt.bak", "ls: cannot access '/app/sum.txt.bak': No such file or directory"),
        ("cmp /app/sum.txt /app/expected_sum.txt", "cmp: /app/expected_sum.txt: No such file or directory"),
        ("ls /data/sum.txt", "ls: cannot access '/data/sum.txt': No such file or directory"),
        ("sed -i s/x/y/ /app/sum.txt; edit", "The text `x` was not found in /app/sum.txt"),
    ],
)
def test_another_file_that_is_not_there_says_nothing_of_this_one(command: str, output: str) -> None:
    assert followed(TASK, MADE, READ, (command, output, 1), DONE).missed == ()
    assert not unmet(TASK, MADE, READ, (command, output, 1), DONE)


def test_contents_that_speak_of_a_missing_file_are_contents() -> None:
    task = "Write every line of `app.log` with an error to `errors.txt`."
    shown = "12:00 ERROR cannot open errors.txt\n12:01 ERROR No such file or directory: errors.txt"
    one = followed(task, ("grep ERROR app.log > errors.txt", ""), ("cat errors.txt", shown), DONE)
    assert one.missed == ()
    assert one.is_shown


def test_a_file_that_was_made_is_never_told_as_made_by_nobody() -> None:
    gone = ("cat /app/sum.txt", "cat: /app/sum.txt: No such file or directory", 1)
    finding = the(TASK, MADE, gone, DONE)
    assert finding.is_serious
    assert "no action made it" not in finding.text
    assert "a1" in finding.text
    assert "a2" in finding.text
    assert finding.evidence == (1, 2)


def test_a_bare_name_that_is_not_found_may_be_of_another_folder() -> None:
    gone = ("cat sum.txt", "cat: sum.txt: No such file or directory", 1)
    assert not the(TASK, MADE, gone, DONE).is_serious
    assert state(TASK, MADE, gone, DONE) == "unknown"


def test_what_is_made_after_a_look_in_vain_is_there() -> None:
    gone = ("cat /app/sum.txt", "cat: /app/sum.txt: No such file or directory", 1)
    assert not unmet(TASK, gone, MADE, READ, DONE)
    assert state(TASK, gone, MADE, READ, DONE) == "complete"


@pytest.mark.parametrize("command", ["ls /app", "ls -la /app/", "cd / && ls -l /app"])
def test_a_listing_of_the_folder_without_the_file_shows_that_it_is_not_there(command: str) -> None:
    finding = the(TASK, MADE, (command, "in.txt\nnotes.md"), DONE)
    assert finding.is_serious
    assert "not found at a2" in finding.text
    assert state(TASK, MADE, (command, "in.txt\nnotes.md"), DONE) == "incomplete"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("ls /app | head -2", "in.txt\nnotes.md"),
        ("ls /app/*.md", "/app/notes.md"),
        ("ls /data", "in.txt"),
        ("ls", "in.txt"),
        ("ls -d /app", "/app"),
        ("ls /app", "in.txt\nsum.txt"),
    ],
)
def test_a_part_of_a_listing_shows_nothing(command: str, output: str) -> None:
    assert followed(TASK, MADE, (command, output), DONE).missed == ()


def test_what_still_runs_may_yet_make_it() -> None:
    started = ("nohup python gen.py > /app/sum.txt &", "")
    assert not the(TASK, started, ("ls /app", "gen.py"), DONE).is_serious


@pytest.mark.parametrize("said", ["skipped", '"not there"', "'no such luck'"])
def test_what_a_command_says_instead_of_an_error_is_one(said: str) -> None:
    task = "Copy `/data/model.bin` to `/app/model.bin`."
    copied = (f"cp /data/model.bin /app/model.bin 2>/dev/null || echo {said}", said.strip("\"'"))
    finding = the(task, copied, "Copied.")
    assert finding.is_serious
    assert "Tried without success: a1" in finding.text
    assert [one.kind for one in analysed(task, copied, "Copied.").findings] == ["unmet"]
    fine = (f"cp /data/model.bin /app/model.bin || echo {said}", "")
    assert not unmet(task, fine, "Copied.")


def test_a_look_in_vain_is_one_whatever_it_says() -> None:
    one = followed(TASK, ("ls /app/sum.txt 2>/dev/null || echo missing", "missing"), DONE)
    assert (one.shown, one.missed) == ((), (1,))


# Made in another place


@pytest.mark.parametrize(
    "command",
    [
        "awk '{s+=$1} END {print s}' in.txt > /tmp/sum.txt",
        "python3 - <<'X'\nopen('/tmp/sum.txt', 'w').write('42')\nX",
        "cd /tmp && awk '{s+=$1} END {print s}' in.txt > sum.txt",
    ],
)
def test_a_file_in_another_place_is_not_the_one_that_is_asked_for(command: str) -> None:
    actions: list[Action] = [(command, ""), ("cat /tmp/sum.txt", "42"), DONE]
    finding = the(TASK, *actions)
    assert finding.is_serious
    assert "`/tmp/sum.txt` (a1)" in finding.text
    assert "`/app/sum.txt`" in finding.text
    assert state(TASK, *actions) == "incomplete"


@pytest.mark.parametrize(
    "carried",
    ["cp /tmp/sum.txt /app/sum.txt", "mv /tmp/sum.txt /app/", "mv /tmp/sum.txt /app", "cd /app && cp /tmp/sum.txt ."],
)
def test_what_is_brought_there_is_there(carried: str) -> None:
    away = ("awk x in.txt > /tmp/sum.txt", "")
    assert not unmet(TASK, away, (carried, ""), READ, DONE)
    assert state(TASK, away, (carried, ""), READ, DONE) == "complete"


def test_where_something_was_copied_a_wrong_place_is_only_doubtful() -> None:
    away, copied = ("awk x in.txt > /tmp/sum.txt", ""), ("cp -r /tmp/out /srv/out", "")
    assert not the(TASK, away, copied, DONE).is_serious
    assert state(TASK, away, copied, DONE) == "unknown"


def test_a_folder_that_may_be_the_same_by_another_name_is_only_doubtful() -> None:
    away = ("cd /home/agent && awk x in.txt > sum.txt", "")
    assert not the(TASK, away, ("cat sum.txt; pwd", "42\n/home/agent"), DONE).is_serious
    seen = ("cat /app/in.txt", "40\n2")  # here the folder is used, and is another one
    assert the(TASK, seen, away, DONE).is_serious


def test_a_repository_may_be_mounted_elsewhere() -> None:
    task = "Fix the total in `/repo/shop/cart.py`."
    assert not unmet(task, ("sed -i s/a/b/ /testbed/shop/cart.py", ""), ("git diff", "+++ b/shop/cart.py\n+b"), DONE)


def test_a_place_that_could_not_be_written_is_told_with_the_one_that_could() -> None:
    denied = ("echo abc > /etc/app/key.txt", "bash: /etc/app/key.txt: Permission denied", 1)
    finding = the(
        "Write the key to `/etc/app/key.txt`.", denied, ("echo abc > ~/key.txt && cat ~/key.txt", "abc"), DONE
    )
    assert not finding.is_serious
    assert "Permission denied" in finding.text
    assert "`~/key.txt` (a2) instead" in finding.text


def test_a_relative_path_is_no_other_place() -> None:
    assert not unmet(TASK, ("awk x in.txt > sum.txt", ""), ("cat sum.txt", "42"), DONE)
    assert not unmet("Save the sum to `out/sum.txt`.", ("awk x in.txt > /app/out/sum.txt", ""), DONE)


def test_a_program_that_names_another_place_leaves_it_open() -> None:
    """What it writes is not known: neither made nor missing."""
    task = "Save the plot as `/app/out/plot.png`."
    ran = ("python3 plot.py --out /home/agent/plot.png", "saved /home/agent/plot.png")
    assert not unmet(task, ran, DONE)
    assert (
        state(task, ran, ("ls -l /home/agent/plot.png", "-rw-r--r-- 1 a a 9 /home/agent/plot.png"), DONE) == "unknown"
    )


def test_a_program_that_ran_after_a_look_in_vain_may_have_made_it() -> None:
    looked = ("cat /app/sum.txt", "cat: /app/sum.txt: No such file or directory", 1)
    program = ("cat > gen.py <<'X'\nopen(where + '/sum' + '.txt', 'w')\nX", "")
    task = "Write the total to `/app/sum_of_all.txt`."
    named = ("cat > gen.py <<'X'\nopen(where + 'sum_of_all' + ext, 'w')\nX", "")
    looked = ("cat /app/sum_of_all.txt", "cat: /app/sum_of_all.txt: No such file or directory", 1)
    assert not unmet(task, looked, named, ("python gen.py", "ok"), DONE)
    assert the(task, named, ("python gen.py", "ok"), looked, DONE).is_serious
    assert the(task, looked, program, DONE).is_serious


# Removed


@pytest.mark.parametrize("command", ["rm -rf /app/*.txt", "rm /app/s*", "rm -r /app/"])
def test_a_pattern_or_a_folder_that_is_removed_takes_the_file_away(command: str) -> None:
    finding = the(TASK, MADE, READ, (command, ""), DONE)
    assert finding.is_fatal
    assert command.rstrip("/") in finding.text
    assert state(TASK, MADE, READ, (command, ""), DONE) == "broken"


@pytest.mark.parametrize("command", ["rm -rf /app/*.log", "rm *.txt", "rm -rf /app/build", "rm -rf /tmp/*.txt"])
def test_what_does_not_fit_it_leaves_it(command: str) -> None:
    assert not unmet(TASK, MADE, READ, (command, ""), DONE)


def test_a_folder_that_is_emptied_and_filled_again_is_only_doubtful() -> None:
    assert not the(TASK, MADE, ("rm -rf /app/* && python fill.py", "ok"), DONE).is_serious
    assert not the(TASK, MADE, ("rm -rf /app/*", ""), ("make all", "ok"), DONE).is_serious
    assert not unmet(TASK, MADE, ("rm -rf /app/*", ""), MADE, READ, DONE)


def test_removed_first_and_made_in_the_same_command() -> None:
    again = ("rm -f /app/sum.txt && python gen.py --out /app/sum.txt", "ok")
    assert not unmet(TASK, again, READ, DONE)
    assert the(TASK, MADE, ("python show.py /app/sum.txt; rm /app/sum.txt", "42"), DONE).is_fatal


# Empty, an error, not to be run


FETCH = "Download the list of users to `/app/users.json`."
FETCHED = ("curl -s https://api.example.com/users -o /app/users.json", "")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("ls -l /app/users.json", "-rw-r--r-- 1 a a 0 Jan  1 10:00 /app/users.json"),
        ("wc -c /app/users.json", "0 /app/users.json"),
        ("ls -la /app", "total 4\n-rw-r--r-- 1 a a 12 Jan  1 10:00 in.txt\n-rw-r--r-- 1 a a 0 Jan  1 10:00 users.json"),
    ],
)
def test_a_document_of_no_bytes_is_none(command: str, output: str) -> None:
    finding = the(FETCH, FETCHED, (command, output), DONE)
    assert finding.is_serious
    assert "0 bytes" in finding.text
    assert state(FETCH, FETCHED, (command, output), DONE) == "incomplete"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("ls -l /app/users.json", "-rw-r--r-- 1 a a 940 Jan  1 10:00 /app/users.json"),
        ("wc -c /app/users.json", "940 /app/users.json"),
        ("wc -l /app/users.json", "0 /app/users.json"),
        ("ls -l /app", "-rw-r--r-- 1 a a 0 Jan  1 x.json\n-rw-r--r-- 1 a a 9 Jan  1 users.json"),
        ("cat /app/users.json", '[{"id": 0}]'),
    ],
)
def test_a_document_with_bytes_is_one(command: str, output: str) -> None:
    assert not unmet(FETCH, FETCHED, (command, output), DONE)
    assert state(FETCH, FETCHED, (command, output), DONE) == "complete"


def test_a_text_may_be_empty() -> None:
    task = "Write the lines with errors to `/app/errors.txt`."
    made, looked = ("grep ERROR log > /app/errors.txt; true", ""), ("wc -c /app/errors.txt", "0 /app/errors.txt")
    assert not the(task, made, looked, DONE).is_serious
    assert not the(
        "Create an empty `/app/a.json`.", ("> /app/a.json", ""), ("wc -c /app/a.json", "0 /app/a.json"), DONE
    ).is_serious


@pytest.mark.parametrize(
    "contents",
    [
        '{"error": "401 Unauthorized"}',
        '{"errors": [{"code": 7}], "message": "Bad credentials"}',
        "404: Not Found",
        "<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>",
    ],
)
def test_an_error_that_was_fetched_is_no_result(contents: str) -> None:
    actions: list[Action] = [FETCHED, ("cat /app/users.json", contents), DONE]
    finding = the(FETCH, *actions)
    assert not finding.is_serious
    assert finding.evidence == (1, 2)
    assert state(FETCH, *actions) == "unknown"


@pytest.mark.parametrize("contents", ['{"users": [], "errors": []}', '[{"error": "none"}]', '{"error_rate": 0.1}'])
def test_data_that_speak_of_errors_are_data(contents: str) -> None:
    assert not unmet(FETCH, FETCHED, ("cat /app/users.json", contents), DONE)


def test_a_page_that_is_asked_for_is_no_error() -> None:
    task = "Download the start page to `/app/index.html`."
    page = "<!DOCTYPE html>\n<html><head><title>Start</title></head></html>"
    assert not unmet(task, ("curl -s https://example.com -o /app/index.html", ""), ("cat /app/index.html", page), DONE)


RUN = "Write `/app/run.sh` that prints the date, and make it executable."
WRITTEN = ("cat > /app/run.sh <<'X'\n#!/bin/bash\ndate\nX", "")
DENIED = ("/app/run.sh", "bash: /app/run.sh: Permission denied", 126)


def test_a_program_that_may_not_be_run_is_not_what_was_asked_for() -> None:
    finding = the(RUN, WRITTEN, DENIED, ("cat /app/run.sh", "#!/bin/bash\ndate"), DONE)
    assert finding.is_serious
    assert "Permission denied" in finding.text
    plain = "Write `/app/run.sh` that prints the date."
    assert not the(plain, WRITTEN, DENIED, DONE).is_serious


def test_a_program_that_was_allowed_since_is() -> None:
    allowed, ran = ("chmod +x /app/run.sh", ""), ("/app/run.sh", "Mon Nov 16")
    assert not unmet(RUN, WRITTEN, DENIED, allowed, DONE)
    assert not unmet(RUN, WRITTEN, DENIED, allowed, ran, DONE)


def test_a_program_that_failed_when_it_ran_last_is_not_shown_to_be_done() -> None:
    task = "Write `/app/sum.sh` that adds its arguments."
    written, read = ("cat > /app/sum.sh <<'X'\necho $(($1+$2))\nX", ""), ("cat /app/sum.sh", "echo $(($1+$2))")
    assert not analysed(task, written, ("bash /app/sum.sh 1 2", "line 1: oops", 2), read, DONE).is_shown_done
    assert analysed(task, written, ("bash /app/sum.sh 1 2", "3"), read, DONE).is_shown_done


# Forgotten


def test_no_whole_is_shown_while_a_file_of_the_same_sentence_was_never_touched() -> None:
    task = "Create `/app/a.txt` with the words that `b.txt` holds, and `/app/c.txt` with the rest."
    made, read = ("grep -w it b.txt > /app/a.txt", ""), ("cat /app/a.txt", "it is")
    assert not analysed(task, made, read, DONE).is_shown_done
    assert state(task, made, read, DONE) == "unknown"
    assert analysed(task, made, ("grep -vw it b.txt > /app/c.txt", ""), read, DONE).is_shown_done


def test_a_forgotten_file_of_a_row_is_missing() -> None:
    task = (
        "Create `/app/a.txt` with the word alpha, `/app/b.txt` with the word beta and `/app/c.txt` with the word gamma."
    )
    made: list[Action] = [("echo alpha > /app/a.txt", ""), ("echo beta > /app/b.txt", "")]
    finding = the(task, *made, ("cat /app/a.txt /app/b.txt", "alpha\nbeta"), DONE)
    assert finding.is_serious
    assert "`/app/c.txt`" in finding.text


# Words


@pytest.mark.parametrize("task", ["Change the title in `/app/index.html`.", "Ändere den Titel in `/app/index.html`."])
def test_a_change_that_was_not_made_is_told_as_such(task: str) -> None:
    call = ToolCall("Edit", {"file_path": "/app/index.html", "old_string": "<h1>", "new_string": "<h2>"}, "c1")
    refused = Observation("String to replace not found in file.", "c1", is_error=True)
    steps = (Step(Source("made"), "", "", (call,), (refused,)), Step(Source("made"), "It is changed."))
    trajectory = Trajectory("made", "made", Source("made"), task=Task(task), steps=steps)
    (issue,) = distill_sync(trajectory, RulesAnalyst()).reconciled.issues
    assert "asks for a change of `/app/index.html`, and none was made" in issue.text
    assert "not found in file" in issue.text


def test_a_file_that_is_to_be_written_is_not_told_as_a_change() -> None:
    (finding,) = unmet(
        "Fix the price, and write what you did to `/app/NOTES.md`.", ("sed -i s/a/b/ price.py", ""), DONE
    )
    assert "no action made it" in finding.text


# Looked at since


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("mv /app/old.txt /app/new.txt && ls /app", "new.txt"),
        ("echo 1 > /app/new.txt && cat /app/new.txt", "1"),
        ("sed -i s/a/b/ /app/new.txt && git diff --stat", " new.txt | 2 +-"),
    ],
)
def test_a_command_that_looks_at_what_it_changed_has_looked(command: str, output: str) -> None:
    task = "Write the number to `/app/new.txt`."
    assert not [one for one in analysed(task, (command, output), DONE).findings if one.kind == "unverified"]


@pytest.mark.parametrize(
    ("command", "output"),
    [
        ("echo 1 > /app/new.txt", ""),
        ("echo 1 > /app/new.txt && ls /data", "other.txt"),
        ("cp -v /app/a.txt /app/new.txt", "'/app/a.txt' -> '/app/new.txt'"),
        ("cat in.txt > /app/new.txt", "$ cat in.txt > /app/new.txt"),
    ],
)
def test_a_command_that_only_changes_has_not(command: str, output: str) -> None:
    task = "Write the number to `/app/new.txt`."
    assert [one for one in analysed(task, (command, output), DONE).findings if one.kind == "unverified"]


# Where the trace is not plain


def test_what_a_program_says_of_a_file_of_its_name_leaves_it_open() -> None:
    assert not unmet(TASK, ("python main.py", "Saved: output/sum.txt"), DONE)
    assert the(TASK, ("python main.py", "Saved."), DONE).is_serious


def test_a_screen_that_does_not_show_the_listing_yet_shows_nothing() -> None:
    assert followed(TASK, MADE, ("ls /app", "New Terminal Output:\nroot@box:/# ls /app"), DONE).missed == ()
    assert followed(TASK, MADE, ("ls /app", "a.txt\n[37 lines omitted]\nz.txt"), DONE).missed == ()


def test_what_is_written_where_nothing_is_there_yet_is_written() -> None:
    made = ("[ -f /app/sum.txt ] || echo '0' > /app/sum.txt; cat /app/sum.txt", "0")
    assert followed(TASK, made, DONE).tried == ()


def test_a_file_that_is_filled_after_the_look_is_not_empty() -> None:
    looked = ("ls -l /app/users.json", "-rw-r--r-- 1 a a 0 Jan  1 10:00 /app/users.json")
    later = ("python fill.py", "ok")
    assert not the(FETCH, FETCHED, looked, later, DONE).is_serious
    behind = ("nohup curl -s https://api.example.com/users -o /app/users.json &", "")
    assert not the(FETCH, behind, looked, DONE).is_serious
