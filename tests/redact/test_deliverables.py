"""What a task is about survives; somebody else's credential does not."""

from __future__ import annotations

import pytest

from dense.redact import redact
from dense.redact.walk import texts_of
from dense.trajectory import Observation, Source, Step, Task, ToolCall, Trajectory

HERE = Source("trace.json", line=1)
VALUE = "Qx7" + "!mR2vLp9"


def survives(task: str | None, command: str, output: str, said: str = "Done.") -> bool:
    """Whether the value is still wherever it was."""
    calls = (ToolCall("bash", {"command": command}, "c"),)
    steps = (Step(HERE, calls=calls, observations=(Observation(output, "c"),)), Step(HERE, message=said))
    trace = Trajectory("native", "x", HERE, task=Task(task) if task else None, steps=steps)
    before = "\n".join(texts_of(trace)).count(VALUE)
    after = "\n".join(texts_of(redact(trace, environment={})[0])).count(VALUE)
    assert before
    assert after in (0, before), "replaced at some places only"
    return after > 0


RECOVER = "Recover the password from disk.img and write it to /app/found.txt."


@pytest.mark.parametrize(
    ("task", "command", "output", "said"),
    [
        (RECOVER, "strings disk.img | grep PASS", f"PASSWORD={VALUE}\n", "Done."),
        (RECOVER, f"echo '{VALUE}' > /app/found.txt", "", "Done."),
        ("Crack the archive's password.", "./crack", f"password: {VALUE}", f"The password is {VALUE}."),
        ("Crack the archive's password.", f"7z x -p'{VALUE}' a.7z", "Everything is Ok", f"The password is {VALUE}."),
        ("What is the flag in this binary?", "./run", f"secret = '{VALUE}'", f"The flag is {VALUE}"),
        ("Find the admin password in the dump.", "strings d", f"ADMIN_PASSWORD={VALUE}", "Done."),
        ("Find the database password in the backup.", "cat .env", f"DATABASE_PASSWORD={VALUE}", "Done."),
        (
            f"Create the user app with password {VALUE}.",
            f"mysql -e \"CREATE USER a IDENTIFIED BY '{VALUE}'\"",
            "ok",
            "Done.",
        ),
        (f"Set the root password to `{VALUE}`.", f"echo 'root:{VALUE}' | chpasswd", "", "Done."),
    ],
)
def test_what_the_task_is_about(task: str, command: str, output: str, said: str) -> None:
    assert survives(task, command, output, said)


@pytest.mark.parametrize(
    ("task", "command", "output", "said"),
    [
        (None, "cat .env", f"DB_PASSWORD={VALUE}", "Done."),
        ("Fix the build.", "cat .env", f"password: {VALUE}", "Done."),
        (RECOVER, "env", f"PGPASSWORD={VALUE}", "Nothing found."),
        (RECOVER, "cat .env", f"SMTP_PASSWORD={VALUE}", "Nothing found."),
        (RECOVER, f"curl -u ci:{VALUE} https://ci.example.org", "200", "Nothing found."),
        ("Find why the password reset fails and fix it.", "cat .env", f"password: {VALUE}", "Fixed."),
        ("Fix the password field of the form.", "cat .env", f"password: {VALUE}", "Fixed."),
        (f"Fix the build. This is the .env:\nDB_PASSWORD={VALUE}\n", "make", "ok", "Done."),
    ],
)
def test_what_belongs_to_somebody_else(task: str | None, command: str, output: str, said: str) -> None:
    assert not survives(task, command, output, said)


def test_a_token_with_a_format_never_survives() -> None:
    token = "gh" + "p_" + "x7Kq2Lm9Pz4Rt8Wv3Ny6" * 2
    steps = (Step(HERE, message=f"The token is {token}"),)
    trace = Trajectory("native", "x", HERE, task=Task(f"Find the token; it is {token}."), steps=steps)
    assert token not in "\n".join(texts_of(redact(trace, environment={})[0]))
