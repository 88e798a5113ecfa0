"""What was tried last and failed, what never ran, and work of which nothing is left."""

from __future__ import annotations

import pytest
from made_attempt import Action, analysed, attempt

from dense.analyst.rules import RulesAnalyst
from dense.detectors.finding import Finding
from dense.detectors.findings import Analysis
from dense.evidence.actions import EffectsCache
from dense.service import distill_sync
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

DONE = "It is done and works."
COMMIT = ("git commit -am totals", "[main 1f2e3d4] totals\n 1 file changed")
REJECTED = ("git push origin main", " ! [rejected] main -> main (fetch first)\nerror: failed to push some refs", 1)
PUSHED = ("git push origin main", "To example.org:a/b.git\n   aa11..bb22  main -> main")
CONFLICT = (
    "git merge topic",
    "Auto-merging a.py\nCONFLICT (content): Merge conflict in a.py\nAutomatic merge failed",
    1,
)
DENIED = ("echo hello > /etc/issue", "bash: /etc/issue: Permission denied", 1)
STARTED = ("nohup python3 -m http.server 8080 &", "")
DEAF = ("curl -sS localhost:8080/", "curl: (7) Failed to connect to localhost port 8080: Connection refused", 7)
HEARD = ("curl -sS localhost:8080/", "<h1>hello</h1>")


def found(analysis: Analysis, *kinds: str) -> list[Finding]:
    return [one for one in analysis.findings if one.kind in kinds]


def the(analysis: Analysis, kind: str) -> Finding:
    (only,) = found(analysis, kind)
    return only


def state(trajectory: Trajectory) -> str:
    verdict = distill_sync(trajectory, RulesAnalyst()).reconciled.root.verdict
    assert verdict is not None
    return verdict.state


def summary(trajectory: Trajectory) -> str:
    return distill_sync(trajectory, RulesAnalyst()).reconciled.root.summary


# The last deed


@pytest.mark.parametrize(
    ("task", "actions"),
    [
        ("Commit the change and push it to origin main.", (COMMIT, REJECTED)),
        ("Bitte committen und dann `git push`.", (COMMIT, REJECTED)),
        ("Merge branch `topic` into main.", (CONFLICT, ("git status -s", "UU a.py"))),
        ("Write the word hello to `/etc/issue`.", (DENIED, ("cat /etc/issue", "Debian"))),
        (
            "Add a column `age` to the table in `/app/db.sqlite`.",
            (
                ("sqlite3 /app/db.sqlite 'ALTER TABLE user ADD age INT'", "Error: no such table: user", 1),
                ("sqlite3 /app/db.sqlite .tables", "users"),
            ),
        ),
    ],
)
def test_what_the_task_asks_for_and_failed_last_is_serious(task: str, actions: tuple[Action, ...]) -> None:
    trajectory = attempt(task, *actions, DONE)
    finding = the(Analysis(trajectory, EffectsCache()), "failed_deed")
    assert finding.is_serious
    assert "The task asks for it." in finding.text
    assert state(trajectory) == "incomplete"


@pytest.mark.parametrize(
    ("task", "actions"),
    [
        ("Commit the change. Do not push it.", (COMMIT, REJECTED)),
        ("Commit the change.", (COMMIT, REJECTED)),
        ("Merge the two tables into one.", (CONFLICT, ("git status -s", "UU a.py"))),
        ("Set up the web server.", (("apt-get install -y nginx", "E: Unable to locate package nginx", 100),)),
        ("Write the word hello to `/etc/issue`.", (("mkdir -p /app/out", ""), DENIED)),
    ],
)
def test_what_failed_last_and_is_not_plainly_asked_for_is_only_told(task: str, actions: tuple[Action, ...]) -> None:
    trajectory = attempt(task, *actions, DONE)
    finding = the(Analysis(trajectory, EffectsCache()), "failed_deed")
    assert not finding.is_serious
    assert state(trajectory) == "unknown"


@pytest.mark.parametrize(
    "actions",
    [
        (COMMIT, REJECTED, ("git pull --rebase", "Successfully rebased"), PUSHED),
        (("pip install numpi", "ERROR: No matching distribution found for numpi", 1), ("python solve.py", "42")),
        (("sed -i s/a/b/ app.py", ""), ("python app.py", "42"), ("pkill -f server", "", 1)),
        (("sed -i s/a/b/ app.py", ""), ("python app.py", "42"), ("rm notes.txt", "rm: cannot remove 'notes.txt'", 1)),
        (("sed -i s/a/b/ app.py", ""), ("git commit -am x", "nothing to commit, working tree clean", 1)),
        (("python repro.py", "bash: cannot open", 2), ("cat app.py", "x = 1")),
        (("cat missing.txt", "cat: missing.txt: No such file or directory", 1),),
    ],
)
def test_what_worked_since_or_does_not_matter_opens_nothing(actions: tuple[Action, ...]) -> None:
    assert not found(analysed("Fix the app and push it.", *actions, DONE), "failed_deed")


def test_what_was_meant_to_fail_opens_nothing() -> None:
    call = ToolCall("bash", {"command": "echo x > /etc/issue"}, "c1")
    came = Observation("bash: /etc/issue: Permission denied", "c1", exit_code=1)
    steps = (Step(Source("made"), "Try it.", "", (call,), (came,)), Step(Source("made"), "It is refused, as expected."))
    trajectory = Trajectory("made", "made", Source("made"), task=Task("See whether you may write."), steps=steps)
    assert not found(Analysis(trajectory, EffectsCache()), "failed_deed")


def test_the_summary_tells_a_failure_before_the_claim() -> None:
    told = summary(attempt("Commit the change and push it.", COMMIT, REJECTED, "All is pushed."))
    assert 0 <= told.find("failed to push") < told.find("All is pushed")


# Services


def test_a_port_that_never_answered_is_serious() -> None:
    trajectory = attempt("Start a web server on port 8080.", STARTED, DEAF, DONE)
    finding = the(Analysis(trajectory, EffectsCache()), "unanswered")
    assert finding.is_serious
    assert "Connection refused" in finding.text
    assert state(trajectory) == "incomplete"
    assert "Connection refused" in summary(trajectory)


@pytest.mark.parametrize(
    "answer",
    [("HTTP/1.1 500 Internal Server Error\n\n{}", "curl -si"), ("503", "curl -so /dev/null -w '%{http_code}'")],
)
def test_the_named_address_with_an_error_of_the_server_is_serious(answer: tuple[str, str]) -> None:
    text, program = answer
    asked = (f"{program} http://localhost:3000/health", text)
    task = "Deploy the app so that `curl http://localhost:3000/health` returns 200."
    assert the(analysed(task, ("docker compose up -d", "Started"), asked, DONE), "unanswered").is_serious


@pytest.mark.parametrize(
    ("actions", "is_open"),
    [
        ((STARTED, DEAF, HEARD), False),
        ((STARTED, HEARD, ("pkill -f http.server", ""), DEAF), False),
        ((STARTED, HEARD, DEAF), True),
        ((STARTED, DEAF, STARTED), True),
        ((STARTED, DEAF, ("ss -ltn", "LISTEN 0.0.0.0:8080")), True),
        ((STARTED, ("curl -si localhost:8080/x", "HTTP/1.0 404 File not found")), True),
        ((STARTED, ("curl -sS localhost:9090/", DEAF[1], 7)), False),
        ((("ss -ltn", "LISTEN 0.0.0.0:22"), DEAF), False),
        ((STARTED, DEAF, ("python test_server.py", "answers")), False),
        ((STARTED, ("for i in 1 2 3; do curl -s localhost:8080/ && break; done", f"{DEAF[1]}\n<h1>hello</h1>")), False),
    ],
)
def test_any_other_answer_is_never_serious(actions: tuple[Action, ...], is_open: bool) -> None:
    trajectory = attempt("Start a web server on port 8080.", *actions, DONE)
    findings = found(Analysis(trajectory, EffectsCache()), "unanswered")
    assert [one.is_serious for one in findings] == ([False] if is_open else [])
    assert state(trajectory) != "incomplete"


def test_a_status_that_the_task_wants_is_no_failure() -> None:
    task = "Make the server on port 8080 answer `http://localhost:8080/gone` with 503."
    asked = ("curl -si http://localhost:8080/gone", "HTTP/1.1 503 Service Unavailable")
    assert not found(analysed(task, STARTED, asked, DONE), "unanswered")


# Messages that the harness did not take


def refused(
    code: str, *later: Action, before: tuple[Action, ...] = (), task: str = "Fix `shop/cart.py`."
) -> Trajectory:
    first = attempt(task, ("cat shop/cart.py", "a - b"), *before)
    said = f"Now I change it.\n\n```bash\n{code}\n"
    no = Observation("Please always provide EXACTLY ONE action in triple backticks, found 0 actions.", origin="system")
    steps = (*first.steps, Step(Source("made"), said, observations=(no,)), *attempt(task, *later).steps)
    return Trajectory("made", "made", Source("made"), task=first.task, steps=steps)


def test_a_change_in_a_refused_message_was_never_made() -> None:
    trajectory = refused("sed -i 's/a - b/a + b/' shop/cart.py", DONE)
    finding = the(Analysis(trajectory, EffectsCache()), "unmade")
    assert finding.is_serious
    assert finding.evidence == (2,)
    assert "shop/cart.py" in finding.text
    assert "found 0 actions" in finding.text
    assert state(trajectory) == "incomplete"


def test_beside_other_changes_it_leaves_the_state_unknown() -> None:
    other = ("sed -i s/x/y/ shop/cart.py", "")
    trajectory = refused("sed -i 's/a - b/a + b/' shop/cart.py", DONE, before=(other,))
    assert not the(Analysis(trajectory, EffectsCache()), "unmade").is_serious
    assert state(trajectory) == "unknown"


def test_a_run_in_a_refused_message_never_ran() -> None:
    edit = ("sed -i 's/a - b/a + b/' shop/cart.py", "")
    finding = the(Analysis(refused("python try_cart.py", DONE, before=(edit,)), EffectsCache()), "unmade")
    assert not finding.is_serious
    assert "never ran" in finding.text


@pytest.mark.parametrize(
    ("code", "later"),
    [
        ("sed -i 's/a - b/a + b/' shop/cart.py", ("sed -i 's/a - b/a + b/' shop/cart.py", "")),
        ("python try_cart.py", ("python try_cart.py", "3")),
        ("cat shop/other.py", ("ls", "shop")),
    ],
)
def test_what_was_done_later_all_the_same_is_not_told(code: str, later: Action) -> None:
    assert not found(Analysis(refused(code, later, DONE), EffectsCache()), "unmade")


# Nothing left

BROKEN = ("pytest -q tests/", "FAILED tests/test_a.py::test_x - assert 1 == 2\n1 failed, 9 passed in 0.1s", 1)
WORKS = ("pytest -q tests/", "10 passed in 0.1s")
EDIT = ("sed -i 's/a - b/a + b/' shop/cart.py", "")
BACK = ("git checkout -- shop/cart.py", "Updated 1 path from the index")


def test_the_only_change_taken_back_is_open() -> None:
    trajectory = attempt("Fix the totals so that `pytest -q tests/` passes.", BROKEN, EDIT, WORKS, BACK, DONE)
    finding = the(Analysis(trajectory, EffectsCache()), "taken_away")
    assert finding.is_serious
    assert finding.evidence == (2, 4)
    assert state(trajectory) == "incomplete"
    assert "before the changes were taken back" in summary(trajectory)


def test_without_a_check_that_it_had_mended_the_state_stays_unknown() -> None:
    trajectory = attempt(
        "Find out why the totals are wrong.", EDIT, ("python app.py", "debug"), BACK, "It is the sign."
    )
    assert not the(Analysis(trajectory, EffectsCache()), "taken_away").is_serious
    assert state(trajectory) == "unknown"


@pytest.mark.parametrize(
    "actions",
    [
        (BROKEN, EDIT, BACK, EDIT, WORKS),
        (BROKEN, EDIT, BACK, ("sed -i s/x/y/ shop/tax.py", ""), WORKS),
        (BROKEN, EDIT, WORKS),
        (BROKEN, ("sed -i s/1/2/ tests/test_a.py", ""), ("git checkout -- tests/test_a.py", ""), EDIT, WORKS),
    ],
)
def test_what_was_changed_again_is_not_taken_away(actions: tuple[Action, ...]) -> None:
    assert not found(analysed("Fix the totals in the shop.", *actions, DONE), "taken_away")


SUBMIT = "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git add -A && git diff --cached"
NEW = "diff --git a/trial/x.py b/trial/x.py\nnew file mode 100644\n--- /dev/null\n@@ -0,0 +1 @@\n+x = 1\n"
OLD = "diff --git a/shop/x.py b/shop/x.py\n--- a/shop/x.py\n+++ b/shop/x.py\n@@ -1 +1 @@\n-x = 0\n+x = 1\n"
MADE = ("mkdir trial && echo 'x = 1' > trial/x.py", "")


def test_a_hand_over_that_changes_nothing_of_the_project_is_told() -> None:
    trajectory = attempt("Totals are wrong.", MADE, (SUBMIT, NEW))
    finding = the(Analysis(trajectory, EffectsCache()), "only_new")
    assert not finding.is_serious
    assert "trial/x.py" in finding.text
    assert state(trajectory) == "unknown"


@pytest.mark.parametrize(("task", "diff"), [("Totals are wrong.", OLD + NEW), ("Write `trial/x.py`.", NEW)])
def test_one_with_a_change_or_with_what_is_asked_for_is_not(task: str, diff: str) -> None:
    assert not found(analysed(task, MADE, (SUBMIT, diff)), "only_new")


# The agent's own list and its own check


def planned(status: str, name: str = "TodoWrite", field: str = "todos", words: str = "content") -> Trajectory:
    items = [{words: "Login page", "status": "completed"}, {words: "Signup page", "status": status}]
    call = ToolCall(name, {field: items}, "p")
    noted = Step(Source("made"), "", "", (call,), (Observation("noted", "p"),))
    made = attempt("Build both pages.", ("echo hi > login.html", ""), "The login page is ready.")
    return Trajectory("made", "made", Source("made"), task=made.task, steps=(made.steps[0], noted, made.steps[1]))


@pytest.mark.parametrize(
    "trajectory", [planned("pending"), planned("pending", "update_plan", "plan", "step"), planned("not_started")]
)
def test_what_the_agents_own_list_has_as_not_begun_is_told(trajectory: Trajectory) -> None:
    finding = the(Analysis(trajectory, EffectsCache()), "planned")
    assert not finding.is_serious
    assert '"Signup page"' in finding.text
    assert "Login page" not in finding.text


@pytest.mark.parametrize("status", ["completed", "in_progress", "cancelled"])
def test_what_was_begun_is_not(status: str) -> None:
    assert not found(Analysis(planned(status), EffectsCache()), "planned")


def test_what_the_last_check_printed_is_told_though_it_ended_well() -> None:
    own = ("python test_edges.py", "PASS\nFAIL. Expected [(x, 2)]\nPASS")
    removed = ("rm test_edges.py", "")
    finding = the(analysed("Fix it.", EDIT, ("echo 1 > test_edges.py", ""), own, removed, DONE), "doubted")
    assert not finding.is_serious
    assert "FAIL. Expected [(x, 2)]" in finding.text
    assert "removed at a4" in finding.text
    passed = ("python test_edges.py", "PASS\nPASS")
    assert not found(analysed("Fix it.", EDIT, own, EDIT, passed, DONE), "doubted")


# What recovers what


def test_a_look_is_no_recovery_of_a_change() -> None:
    change = ("sqlite3 app.db 'ALTER TABLE user ADD age INT'", "Error: no such table: user", 1)
    look = ("sqlite3 app.db .tables", "users")
    again = ("sqlite3 app.db 'ALTER TABLE users ADD age INT'", "")
    assert analysed(None, change, look, DONE).history.recovered_by(1) is None
    assert analysed(None, change, look, again, DONE).history.recovered_by(1) == 3


def test_another_failure_after_the_recovery_is_another_attempt() -> None:
    fails = ("python solve.py", "Traceback (most recent call last):\nKeyError: 'a'", 1)
    works = ("python solve.py", "42")
    other = ("npm install leftpad", "npm ERR! 404 Not Found", 1)
    (first, *_) = analysed(None, ("echo 1 > solve.py", ""), fails, works, other, DONE).attempts
    assert (first.first, first.last, first.recovery) == (2, 3, 3)
