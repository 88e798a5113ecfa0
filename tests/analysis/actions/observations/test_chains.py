"""Which link of a chain of commands failed. The outputs are what bash, GNU coreutils and pytest print."""

from __future__ import annotations

import pytest

from dense.analysis.actions.observations.chains import LinkOutcome, failed_link, outcomes_of_step
from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.step_effects import effects
from dense.trajectory import Observation, Source, Step, ToolCall


def outcomes(command: str, output: str, code: int | None) -> tuple[LinkOutcome, ...]:
    call = ToolCall("bash", {"command": command}, "1")
    step = Step(Source("made"), calls=(call,), observations=(Observation(output, "1", exit_code=code),))
    return outcomes_of_step(step, observe(step, effects(step)))


@pytest.mark.parametrize(
    ("command", "output", "code", "states"),
    [
        ("cd a && make && ./a", "make: *** [Makefile:2: a] Error 1", 2, "passed failed skipped"),
        ("cd a && make", "bash: line 1: cd: a: No such file or directory", 1, "failed skipped"),
        ("make && ./a && echo finished", "cc -o a a.c\n", 1, "passed failed skipped"),
        ("make && echo built && ./a", "cc -o a a.c\nbuilt\n", 3, "passed passed failed"),
        ("make && echo built && ./a", "cc -o a a.c\n", 2, "failed skipped skipped"),
        ("cat no.txt; ls", "cat: no.txt: No such file or directory\na.c\n", 0, "failed passed"),
        ('./run; echo "rc=$?"; ls', "rc=4\na.c\n", 0, "failed passed passed"),
        ("./run > log 2>&1; rc=$?; cat log; echo exit $rc", "bad\nexit 1\n", 0, "failed passed unknown passed"),
        ("./run || echo FAILED", "FAILED\n", 0, "failed passed"),
        ("./run || echo FAILED", "fine\n", 0, "passed skipped"),
        ("pytest -q x.py | tail -1", "1 failed, 2 passed in 0.10s\n", 0, "failed"),
        ("pytest -q x.py | tail -1 && echo sent", "3 passed in 0.10s\nsent\n", 0, "passed passed"),
        ("./run | head -3", "one\n", 0, "unknown"),
        ("set -o pipefail; ./run | head -3", "one\n", 0, "unknown passed"),
        ("set -e\nmake\n./a\necho finished", "cc -o a a.c\n", 9, "passed passed failed skipped"),
        ("ls; grep -r x .", "a.c\n", 1, "unknown passed"),
        ("ls && fi", "bash: -c: line 1: syntax error near unexpected token `fi'", 2, "unknown failed"),
        ("ls && fi", "/bin/bash: eval: line 1: syntax error near unexpected token `fi'", 2, "failed skipped"),
        ("for f in a b; do make $f && ./$f; done && echo finished", "finished", 0, "passed passed"),
        ("(cd a && make) && ./a", "make: *** No targets.  Stop.", 2, "failed skipped"),
        ("cat > x.py <<'EOF' && python3 x.py\nprint(1) && 2\nEOF", "SyntaxError: invalid syntax", 1, "passed failed"),
    ],
)
def test_a_failure_is_its_own_links(command: str, output: str, code: int | None, states: str) -> None:
    shown = outcomes(command, output, code)
    assert " ".join(link.state for link in shown) == states, shown


def test_the_failed_link_has_its_code_and_its_line() -> None:
    link = failed_link(outcomes("make && ./a && ls", "bash: line 1: ./a: Permission denied", 126))
    assert link is not None
    assert (link.text, link.joint, link.exit_code) == ("./a", "&&", 126)
    assert "Permission denied" in link.line
    assert failed_link(outcomes("make && ls", "a.c", 0)) is None


def test_several_calls_have_an_output_each() -> None:
    calls = tuple([ToolCall("bash", {"command": "make && ./a"}, str(number)) for number in range(2)])
    seen = (Observation("fine", "0", exit_code=0), Observation("make: *** [a] Error 1", "1", exit_code=2))
    step = Step(Source("made"), calls=calls, observations=seen)
    states = [link.state for link in outcomes_of_step(step, observe(step, effects(step)))]
    assert states == ["passed", "passed", "failed", "skipped"]
