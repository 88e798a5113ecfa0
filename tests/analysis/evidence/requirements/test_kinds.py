"""What is not a file: ports, limits, values, commands, and demands in words."""

from __future__ import annotations

import pytest

from dense.analysis.evidence.requirements import requirements
from dense.trajectory import Task


def found(text: str, kind: str) -> list[tuple[str, str]]:
    return [(one.subject, one.role) for one in requirements(Task(text)) if one.kind == kind]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Start a web server on port 8080.", [("8080", "deliverable")]),
        ("The service must listen on localhost:3000.", [("3000", "deliverable")]),
        ("Serve the page at http://127.0.0.1:5000/health for checks.", [("5000", "deliverable")]),
        ("A database is running on port 5432.", [("5432", "given")]),
        ("The report has 8080 lines.", []),
        ("Port 99999 does not exist.", []),
    ],
)
def test_ports(text: str, expected: list[tuple[str, str]]):
    assert found(text, "port") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It must finish within **60 seconds**.", [("within 60 seconds", "deliverable")]),
        ("The error should be less than 0.01.", [("less than 0.01", "deliverable")]),
        ("Accuracy must be >= 0.95 on the test set.", [(">= 0.95", "deliverable")]),
        ("Le temps doit être ≤ 5 s.", [("≤ 5 s", "deliverable")]),
        ("Count the shops that have more than 20 seats.", [("more than 20 seats", "mentioned")]),
        ("There are 20 seats in room 4.", []),
    ],
)
def test_limits(text: str, expected: list[tuple[str, str]]):
    assert [(subject.lower(), role) for subject, role in found(text, "threshold")] == [
        (subject.lower(), role) for subject, role in expected
    ]


def test_limits_under_a_heading_that_demands():
    text = "## Acceptance Criteria\n\n- the gap stays: `gap < 0.5`\n- no more than 3 retries\n"
    assert found(text, "threshold") == [("< 0.5", "deliverable"), ("no more than 3 retries", "deliverable")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Make sure that `make test` passes.", [("make test", "deliverable")]),
        ("`python3 check.py` must report no error.", [("python3 check.py", "deliverable")]),
        ("Run `npm run build` first.", [("npm run build", "given")]),
        ("Do not use `git push --force`.", [("git push --force", "forbidden")]),
        ("The server can be asked with `curl localhost`.", [("curl localhost", "given")]),
        (
            "All tests must pass:\n\n```bash\n$ pytest -q\ncargo test\n```\n",
            [("pytest -q", "deliverable"), ("cargo test", "deliverable")],
        ),
        ('He said "find the best one".', []),
    ],
)
def test_commands(text: str, expected: list[tuple[str, str]]):
    assert found(text, "command") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Write a JSON object with the key `total` to a.json.", [("total", "deliverable")]),
        ("Create hello.txt with 'Good morning' as its content.", [("Good morning", "deliverable")]),
        ("The answer must have the format `FLAG{...}`.", [("FLAG{...}", "deliverable")]),
        ("Give your result in the format FINAL ANSWER: [number].", [("FINAL ANSWER:", "deliverable")]),
        ("The column `date` is in ISO format.", [("date", "mentioned")]),
    ],
)
def test_values(text: str, expected: list[tuple[str, str]]):
    assert found(text, "value") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The menu must work without a mouse.", [("The menu must work without a mouse.", "deliverable")]),
        ("Do not ask the user.", [("Do not ask the user.", "forbidden")]),
        ("Die Ausgabe muss sortiert sein.", [("Die Ausgabe muss sortiert sein.", "deliverable")]),
        ("La page doit rester lisible.", [("La page doit rester lisible.", "deliverable")]),
        ("コードは簡潔にすること。", [("コードは簡潔にすること。", "deliverable")]),
        ("- add a button\n- the colour is free\n", [("add a button", "deliverable")]),
        ("We should have seen it coming.", []),
        ("The sky is blue.", []),
        ("Should it be blue?", []),
    ],
)
def test_demands_in_words(text: str, expected: list[tuple[str, str]]):
    assert found(text, "clause") == expected


def test_the_commands_of_a_pasted_session_are_no_requirements() -> None:
    order = "Run `make check` before you hand over.\n"
    record = "".join(f"$ cargo build -p part{n}\nnote: run `cargo report --id {n}`\n" for n in range(4))
    commands = [one.subject for one in requirements(Task(order)) if one.kind == "command"]
    assert commands == ["make check"]
    assert not [one for one in requirements(Task(f"Go on with this:\n{record}")) if one.kind == "command"]
