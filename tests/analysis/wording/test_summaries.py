"""Summaries and facets of stretches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest
from cpu_time import assert_growth
from hypothesis import given
from hypothesis import strategies as st
from made_facts import facts

import dense
from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects
from dense.analysis.evidence.links.action_links import ActionLinks
from dense.analysis.rules.facets import find_facets
from dense.analysis.wording.facets import facet_text
from dense.analysis.wording.narrator import NarratedDigest, Narrator
from dense.analysis.wording.summaries import MAX_SUMMARY_CHARS
from dense.facets import FACETS
from dense.trajectory import Observation, Source, Step, ToolCall
from dense.tree import Leaf

EXAMPLES = Path(__file__).parents[3] / "examples"
FAILED = "FAILED t.py::test_a - assert 1\n1 failed, 3 passed in 0.1s\n"
PASSED = "....\n4 passed in 0.10s\n"
NO_MODULE = "Traceback (most recent call last):\n  File \"s.py\", line 1\nModuleNotFoundError: No module named 'yaml'\n"


def shell(command: str, text: str = "", code: int = 0) -> Step:
    call = ToolCall("bash", {"command": command})
    return Step(Source("t"), calls=(call,), observations=(Observation(text, exit_code=code),))


def leaves_of(steps: Sequence[Step]) -> tuple[Leaf, ...]:
    return tuple(Leaf(f"n{n}", n + 1, step) for n, step in enumerate(steps))


def narrator(steps: Sequence[Step]) -> Narrator:
    known = [facts(leaf, done := effects(leaf.step), observe(leaf.step, done)) for leaf in leaves_of(steps)]
    return Narrator(ActionLinks(known), steps)


def flat(digest: NarratedDigest) -> SimpleNamespace:
    """A digest with its facets beside its summary."""
    facets = find_facets(digest.stretch, frozenset(), frozenset({digest.look}))
    return SimpleNamespace(
        title=digest.title, summary=digest.summary, **{name: facet_text(facets, name) or "none" for name in FACETS}
    )


def digest_of(*steps: Step) -> SimpleNamespace:
    return flat(narrator(steps).digests([(1, len(steps))])[0])


def test_the_way_that_worked_and_what_showed_it() -> None:
    answer = digest_of(shell("pytest -q", FAILED, 1), shell("sed -i 's/360/3600/' dur.py"), shell("pytest -q", PASSED))
    assert answer.summary == "Ran `sed -i 's/360/3600/' dur.py`. `pytest -q`: all 4 tests pass."
    assert answer.key_mechanisms == "`360` → `3600` in `dur.py`"
    assert answer.artifacts == "`dur.py`"
    assert answer.dead_ends == "none"


def test_a_check_that_passed_before_the_last_change_says_so() -> None:
    answer = digest_of(shell("pytest -q", PASSED), shell("sed -i 's/a/b/' dur.py"))
    assert "all 4 tests pass, before the last change." in answer.summary


def test_a_failed_check_that_nothing_fixed_is_left() -> None:
    answer = digest_of(shell("sed -i 's/a/b/' dur.py"), shell("pytest -q", FAILED, 1))
    assert answer.summary.endswith("Still failing: `pytest -q`: 1 of 4 tests fail: `test_a`.")


def test_of_two_checks_in_one_action_the_other_one_does_not_take_back_both() -> None:
    both = shell("python3 -m unittest; python3 check_speed.py", "Ran 4 tests in 0.1s\n\nOK\n5.9 s: TOO SLOW\n", 1)
    answer = digest_of(both, shell("sed -i 's/a/b/' p.py"), shell("python3 -m unittest", "Ran 4 tests in 0.1s\n\nOK\n"))
    assert "check_speed.py" in answer.summary


def test_what_is_missing_is_a_dead_end() -> None:
    answer = digest_of(
        shell("gnuplot x", "bash: gnuplot: command not found", 127),
        shell("convert y", "bash: convert: command not found", 127),
    )
    assert answer.dead_ends == "`gnuplot`: command not found; `convert`: command not found"
    assert answer.summary == "Did not work: `gnuplot`: command not found; `convert`: command not found."


def test_what_was_missing_and_installed_comes_first() -> None:
    answer = digest_of(
        shell("python3 s.py", NO_MODULE, 1), shell("pip install pyyaml", "done"), shell("python3 s.py", "7 rows")
    )
    assert answer.critical_order == "install `pyyaml` before `python3 s.py`"
    assert answer.final_state == "installed `pyyaml`"
    assert answer.summary == "Installed `pyyaml`; ran `python3 s.py`: `7 rows`."


def test_a_value_is_key_only_when_a_later_action_shows_it_again() -> None:
    made = shell("python3 sum.py --to out.json", "total: 30\n")
    assert digest_of(made).key_values == "none"
    written = shell("echo '{\"total\": 30}' > out.json")
    assert digest_of(made, written, shell("cat out.json", '{"total": 30}')).key_values == "total `30`"
    assert digest_of(made, written, shell("cat out.json", '{"total": 31}')).key_values == "none"


def test_what_the_agent_typed_itself_is_no_key_value() -> None:
    typed, shown = shell("echo 'flag: X7Q' > f.txt"), shell("cat f.txt", "flag: X7Q")
    assert digest_of(typed, shown, shown, shown).key_values == "none"
    write = ToolCall("Write", {"file_path": "f.py", "content": "open('f.txt', 'w').write('flag: X7Q')"})
    script = Step(Source("t"), calls=(write,), observations=(Observation("ok"),))
    assert digest_of(script, shell("python3 f.py > f.txt"), shown).key_values == "none"


def test_what_a_program_made_and_was_read_back_is_a_key_value() -> None:
    assert digest_of(shell("python3 sum.py > out.txt"), shell("cat out.txt", "total: 30")).key_values == "total `30`"


def test_a_claim_is_quoted_as_a_claim() -> None:
    message = "I'm done. Everything works and is tested. It prints 12 lines now."
    answer = digest_of(shell("cat a.py", "x\n" * 30), Step(Source("t"), message=message))
    assert answer.summary == 'Looked at `a.py`. Said "It prints 12 lines now."'
    bare = digest_of(shell("cat a.py", "x\n" * 30), Step(Source("t"), message="Everything works and is tested."))
    assert bare.summary == "Looked at `a.py`."


def test_agents_are_named_where_there_are_several() -> None:
    steps = [
        Step(Source("t"), message="Please find the opening hours of the museum.", agent="Lead"),
        Step(
            Source("t"),
            agent="Surfer",
            calls=(ToolCall("visit", {"url": "http://m.org"}),),
            observations=(Observation("open 9 to 5"),),
        ),
    ]
    assert "`Surfer` opened `http://m.org`: `open 9 to 5`" in digest_of(*steps).summary


def test_what_an_agent_answers_to_another_is_described() -> None:
    asked = Step(Source("t"), agent="Lead", calls=(ToolCall("Surfer", {"input": "Find the opening hours. " * 5}),))
    answered = Step(Source("t"), agent="Surfer", message="I clicked 'Opening hours' on the page of the museum.")
    assert (
        """`Surfer` said "I clicked 'Opening hours' on the page of the museum.\""""
        in digest_of(asked, answered, asked).summary
    )


def test_a_user_is_heard() -> None:
    step = Step(Source("t"), message="Which day do you mean?", observations=(Observation("Friday.", origin="user"),))
    assert digest_of(shell("cat a.py", "x\n" * 9), step).summary.endswith('The user said "Friday."')


def test_files_that_were_removed_again_are_no_artifacts() -> None:
    answer = digest_of(shell("echo 1 > a.txt"), shell("echo 2 > b.txt"), shell("rm a.txt"))
    assert answer.artifacts == "`b.txt`"
    assert answer.final_state == "removed `a.txt`"


def test_the_final_summary_leaves_what_is_open_to_the_issues() -> None:
    steps = (shell("sed -i 's/a/b/' dur.py"), shell("pytest -q", FAILED, 1))
    whole = (1, 2, [(1, 2)])
    assert narrator(steps).final_summary(*whole, with_failures=False) == "Ran `sed -i 's/a/b/' dur.py`."
    assert "Still failing" in narrator(steps).final_summary(*whole, with_failures=True)


def test_the_whole_is_described_by_its_parts() -> None:
    steps = (
        shell("cat notes.txt", "x\n" * 9),
        shell("python3 sum.py > total.txt"),
        shell("cat total.txt", "total: 30"),
        shell("sed -i 's/a/b/' dur.py"),
        shell("pytest -q", PASSED),
    )
    one = narrator(steps)
    parts = [(1, 1), (2, 3), (4, 5)]
    briefs = [one.final_summary(*part, with_failures=False) for part in parts]
    whole = one.final_summary(1, 5, parts, with_failures=False)
    assert whole == "Looking at `total.txt` showed `total: 30`. `pytest -q`: all 4 tests pass."
    assert "Ran `sed -i 's/a/b/' dur.py`" in briefs[2]
    assert whole not in briefs
    assert whole == narrator(steps).final_summary(1, 5, parts, with_failures=False)


def test_a_hand_over_is_described_by_what_it_says_is_missing() -> None:
    said = "summary.json is in place with the total. chart.png does not exist, since no tool can draw it here."
    over = Step(Source("t"), said, "", (ToolCall("mark_task_complete", {}),), (Observation("Are you sure?"),))
    again = Step(Source("t"), "Nothing changes here, so I confirm it.", "", over.calls, (Observation(""),))
    assert digest_of(shell("echo 1 > summary.json"), over, again).summary.endswith(
        'Ended the attempt and said "chart.png does not exist, since no tool can draw it here."'
    )


def test_a_tool_that_is_not_there_is_a_dead_end() -> None:
    answer = digest_of(shell("gnuplot x", "bash: gnuplot: command not found", 127))
    assert answer.dead_ends == "`gnuplot`: command not found"


def test_a_runner_that_is_not_there_is_described_with_the_one_that_is() -> None:
    no_pytest = shell("python3 -m pytest", "/usr/bin/python3: No module named pytest", 1)
    answer = digest_of(no_pytest, shell("python3 -m unittest", "Ran 4 tests in 0.1s\n\nOK\n"))
    assert answer.dead_ends == "`pytest`: no such module (`python3 -m unittest` runs)"


def test_a_check_that_could_not_run_is_not_failing() -> None:
    answer = digest_of(shell("sed -i s/a/b/ dur.py"), shell("pytest -q", "14 errors in 0.41s\n", 2))
    assert answer.summary.endswith("Could not run: `pytest -q`: no test could start (14 errors).")


def test_the_final_summary_is_the_same_whatever_was_asked_before() -> None:
    steps = (shell("pytest -q", FAILED, 1), shell("sed -i 's/a/b/' dur.py"), shell("pytest -q", FAILED, 1))
    whole = (1, 3, [(1, 3)])
    for tells_left in (True, False):
        one = narrator(steps)
        asked_before = one.digests([(1, 3)])[0]
        first, again = (
            one.final_summary(*whole, with_failures=tells_left),
            one.final_summary(*whole, with_failures=tells_left),
        )
        assert first == again == narrator(steps).final_summary(*whole, with_failures=tells_left)
        assert (first == asked_before.summary) is tells_left


def test_each_action_is_described_once() -> None:
    steps = (shell("cat a.py", "x"), shell("echo 1 > b.txt"))
    one = narrator(steps)
    one.digests([(1, len(steps))])[0]
    assert one.action(2) is one.action(2)
    assert one.action(2).action_text == "ran `echo 1 > b.txt`"


def of_example(path: str) -> SimpleNamespace:
    return digest_of(*next(iter(dense.read(EXAMPLES / path))).steps)


def test_the_csv_example() -> None:
    answer = of_example("csv-report/trial")
    assert "`6 rows, total 30`" in answer.summary
    assert "`/app/summary.json`" in answer.artifacts
    assert "chart.png" not in answer.artifacts
    assert answer.key_values == "total `30`"
    assert "delimiter=';'" in answer.key_mechanisms
    assert "`gnuplot`: command not found" in answer.dead_ends


def test_the_example_that_only_looks_successful() -> None:
    assert "TOO SLOW" in of_example("looks-successful/rollout.jsonl").summary


def test_the_password_example_shows_the_candidate() -> None:
    assert "8XDR7K2MQ9T4HBV6NC3LW54 23 True True" in of_example("password-recovery/recovery.traj.json").summary


def test_the_example_that_succeeded() -> None:
    answer = of_example("clean-success/session.jsonl")
    assert "`python3 -m unittest -v`: all 5 tests pass." in answer.summary


TEXTS = st.text(st.sampled_from("ab /'\"`$()<>|&;\n\\{}:=1. \x1b"), max_size=60)
COMMANDS = (
    st.sampled_from(["cat a.py", "python3 s.py", "echo 1 > a.txt", "rm a.txt", "pytest", "pip install x", ""]) | TEXTS
)


@given(
    st.lists(
        st.tuples(COMMANDS, TEXTS | st.sampled_from([FAILED, PASSED, NO_MODULE]), st.sampled_from([0, 1])), max_size=8
    )
)
def test_any_stretch_has_words(actions: list[tuple[str, str, int]]) -> None:
    steps = [shell(*action) if action[0] else Step(Source("t"), message=action[1]) for action in actions]
    answer = digest_of(*steps)
    assert 0 < len(answer.title) <= 60
    assert 0 < len(answer.summary) <= MAX_SUMMARY_CHARS + 300
    assert "\n" not in answer.summary
    assert answer == digest_of(*steps)


@pytest.mark.parametrize("kind", ["edit", "fail", "look", "checks"])
def test_a_long_stretch_costs_in_proportion(kind: str) -> None:
    def steps(count: int) -> list[Step]:
        if kind == "edit":
            return [shell(f"echo 1 > f{n}.txt; rm f{n - 3}.txt") for n in range(count)]
        if kind == "fail":
            return [shell(f"python3 s{n % 9}.py", NO_MODULE if n % 3 else "7", 1 if n % 3 else 0) for n in range(count)]
        if kind == "checks":
            both = [shell("pytest a.py; pytest b.py", FAILED, 1), shell("pytest a.py", PASSED)]
            return both * (count // 2)
        return [shell(f"cat f{n}.txt", "x") for n in range(count)]

    def work(count: int) -> Callable[[], object]:
        one = narrator(steps(count))
        return lambda: one.digests([(1, count)])[0]

    assert_growth(work, 1000, 4000, most=12)


def test_a_command_that_comes_back_is_no_result() -> None:
    command = "sed -i '317s/^/    /' src/libponyc/expr/match.c"
    assert digest_of(shell(command, command), shell("ls", "a\nb")).summary.count("317s") == 1


def test_scratch_files_are_no_artifacts() -> None:
    answer = digest_of(shell("echo 'import x' > repro.py"), shell("sed -i s/a/b/ x.py"), shell("rm repro.py"))
    assert answer.artifacts == "`x.py`"
    steps = (shell("echo 'import x' > repro.py"), shell("ls", "repro.py"), shell("rm repro.py"))
    first = flat(narrator(steps).digests([(1, 1)])[0])
    assert first.artifacts == "none"


def test_headings_of_runners_are_no_values() -> None:
    text = "rootdir: /testbed\n1: 0.95\ntotal: 30\n"
    steps = (shell("python make.py > out.txt", text), shell("cat out.txt", text))
    assert digest_of(*steps).key_values == "total `30`"


COUNT = "awk -F';' '{a[$1]+=$3} END {for (r in a) print r, a[r]}' sales.csv > regions.dat; cat regions.dat"
COUNTED = "east 12\nnorth 10\n"


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (f"{COUNT}; gnuplot plot.gp", f"{COUNTED}bash: gnuplot: command not found"),
        (f"{COUNT}\nmagick regions.dat chart.png", f"{COUNTED}sh: 1: magick: not found"),
    ],
)
def test_results_that_were_shown_before_a_program_was_missing(command: str, output: str) -> None:
    answer = digest_of(shell("ls", "sales.csv"), shell(command, output, 127))
    assert answer.summary.startswith("Wrote `regions.dat`, which holds `east 12`, `north 10`.")


@pytest.mark.parametrize(
    ("command", "output"),
    [
        (f"{COUNT}; wc -l sales.csv; gnuplot plot.gp", f"{COUNTED}7 sales.csv\nbash: gnuplot: command not found"),
        (f"{COUNT}; python3 draw.py", f"{COUNTED}{NO_MODULE}"),
        ("cat regions.dat; gnuplot plot.gp", f"{COUNTED}bash: gnuplot: command not found"),
    ],
)
def test_what_may_be_of_another_command_is_no_contents(command: str, output: str) -> None:
    assert "holds" not in digest_of(shell("ls", "sales.csv"), shell(command, output, 127)).summary


def test_contents_that_were_written_over_are_not_described() -> None:
    tried = shell(f"{COUNT}; gnuplot plot.gp", f"{COUNTED}bash: gnuplot: command not found", 127)
    assert "east 12" not in digest_of(tried, shell("echo x > regions.dat")).summary


def test_what_was_found_right_before_a_run_is_described_with_it() -> None:
    look = shell("grep -ao 'KEY=.*' disk.img", "KEY=8XD")
    run = shell("python3 -c \"print('8XD' + 'W54')\"", "8XDW54")
    assert "`KEY=8XD`; ran `python3" in digest_of(shell("ls -l", "disk.img"), look, run).summary
    assert "KEY" not in digest_of(look, shell("python3 a.py", "1"), run).summary


def test_a_counted_run_is_the_proof_before_one_that_only_compares_or_compiles() -> None:
    edit, run = shell("sed -i 's/a - b/a + b/' cart.py"), shell("pytest -q tests/", "10 passed in 0.1s")
    build = shell("python -m py_compile cart.py", "a;\nb;\nc;\nd;\ne;\n;;")
    printed = "`python -m py_compile cart.py` printed 6 lines and no error."
    summary = digest_of(edit, run, build).summary
    assert "`pytest -q tests/`: all 10 tests pass." in summary
    assert "py_compile" not in summary
    assert printed in digest_of(edit, build).summary
    assert printed in digest_of(run, edit, build).summary


def test_who_says_nothing_is_not_quoted() -> None:
    done = Step(Source("made"), "The file `a.txt` holds 12 rows.")
    assert "nothing" not in digest_of(Step(Source("made"), ""), done).summary
