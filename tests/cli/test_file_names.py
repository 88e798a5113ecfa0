"""File names that are no UTF-8, in every place that a command takes: each costs at most its own row."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hostile import write_claude_session

BAD = b"b\xff\xfed"


def trace(task: str) -> bytes:
    """A session whose test fails, in the messages format."""
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "pytest -q"}'}}
    messages = [
        {"role": "user", "content": f"{task} Write /app/result.txt."},
        {"role": "assistant", "content": "I run the tests.", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "E   assert 1 == 2\n1 failed, 2 passed in 0.1s"},
        {"role": "assistant", "content": "One test still fails."},
    ]
    return json.dumps({"messages": messages}).encode()


class Place:
    """Traces, a project and a state folder; their names are bytes."""

    def __init__(self, base: Path) -> None:
        self.base = os.fsencode(base)
        self.many, self.project = self.base + b"/many", self.base + b"/pro" + BAD
        for folder in (self.many, self.project, self.project + b"/.git", self.base + b"/home"):
            os.mkdir(folder)  # noqa: PTH102 - paths are bytes here
        self.trace = self.many + b"/" + BAD + b".json"
        self.files = {
            b"good.json": trace("One."),
            BAD + b".json": trace("Two."),
            b"x\xe9.jsonl": trace("Three.") + b"\n",
        }
        for name, data in {**self.files, b"broken\xff.jsonl": b"{"}.items():
            Path(os.fsdecode(self.many + b"/" + name)).write_bytes(data)

    def run(self, *arguments: bytes | str, code: int = 0, given: str = "", folder: bytes | None = None) -> str:
        """What a command prints, both streams; `@/` is the folder of all."""
        words = [os.fsencode(word).replace(b"@/", self.base + b"/") for word in arguments]
        environment = {**os.environb, b"HOME": self.base + b"/home", b"DENSE_STATE_DIR": self.base + b"/st" + BAD}
        done = subprocess.run(
            [os.fsencode(sys.executable), b"-m", b"dense", *words], cwd=folder or self.base, env=environment,
            input=given.encode(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
        )  # fmt: skip
        text = done.stdout.decode()  # strictly: what is printed is UTF-8
        assert "Traceback" not in text, text
        assert done.returncode == code, text
        return text


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    return Place(tmp_path_factory.mktemp("names"))


def test_all_traces_but_the_broken_one_have_their_row(place: Place) -> None:
    assert "3 trajectories" in place.run("read", "@/many", code=1)
    assert place.run("read", "@/many", "--json", code=1).count('{"schema":"dense.trajectory') == 3
    text = place.run("distill", "@/many", "--out", b"@/o" + BAD, "--json", code=1)
    assert text.count('"state":"incomplete"') == 3
    for form in ("atif", "messages", "dense"):
        assert place.run("convert", "@/many", "--to", form, code=1).count("Write /app/result.txt.") == 3
        place.run("convert", "@/many", "--to", form, "--out", f"@/{form}".encode() + BAD, code=1)
        assert len(os.listdir(place.base + b"/" + form.encode() + BAD)) == 3  # noqa: PTH208
    assert "4 new rows" in place.run("batch", "@/many", "--out", "@/batch", "--workers", "1", code=1)
    assert place.run("batch", "search", "@/batch", "result.txt").endswith("3 traces\n")
    assert (
        "1 error" in (found := place.run("batch", "summary", "@/batch", "--html", b"@/s" + BAD)) or "written" in found
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ("read", b"@/many/" + BAD + b".json", "--json"),
        ("distill", b"@/many/" + BAD + b".json"),
        ("distill", b"@/many/" + BAD + b".json", "--out", b"@/two" + BAD),
        ("distill", b"@/many/" + BAD + b".json", "--estimate"),
        ("distill", b"@/many/" + BAD + b".json", "--task", b"do " + BAD),
        ("convert", b"@/many/" + BAD + b".json", "--to", "atif", "--out", b"@/c" + BAD + b".json"),
        ("show", b"@/many/" + BAD + b".json"),
        ("view", b"@/many/" + BAD + b".json", "--out", b"@/v" + BAD + b".html"),
        ("view", b"@/many/" + BAD + b".json"),
        ("config",),
        ("hook", "status"),
    ],
    ids=str,
)
def test_a_command_on_such_a_name(arguments: tuple[bytes | str, ...], place: Place) -> None:
    place.run(*arguments)
    place.run(*arguments, folder=place.project)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("distill", b"@/none" + BAD), "no such file or folder"),
        (("distill", b"@/many/broken\xff.jsonl"), "not valid JSON"),
        (("distill", "@/many/good.json", "--task", b"@@/n" + BAD), "--task"),
        (("distill", "@/many/good.json", "--answers", b"@/a" + BAD), "cannot be read as a script"),
        (("distill", "@/many/good.json", "--model", b"m" + BAD), "--model"),
        (("batch", "@/many", "--out", b"@/t" + BAD), "a table needs a folder whose name is UTF-8"),
        (("batch", "summary", b"@/t" + BAD), "a table needs a folder whose name is UTF-8"),
        (("lessons", b"@/t" + BAD), "a table needs a folder whose name is UTF-8"),
        (("setup", b"a" + BAD), "dense setup knows"),
        (("last", "--agent", b"a" + BAD), "no store is known"),
        (("refit", "plan", b"@/e" + BAD + b".yaml"), "cannot be read"),
        (("refit", "import", b"@/r" + BAD + b".csv", "--out", b"@/x" + BAD), "no such file or folder"),
        (("refit", "status", b"@/x" + BAD), "neither an experiment's folder"),
    ],
    ids=str,
)
def test_an_error_blames_what_is_wrong(arguments: tuple[bytes | str, ...], words: str, place: Place) -> None:
    text = place.run(*arguments, code=1)
    assert words in text
    assert "cannot be written" not in text


def test_sessions_of_a_project_with_such_a_name(place: Place) -> None:
    """No agent of ours can record such a folder as JSON, but its own sessions and hooks still work."""
    home = Path(os.fsdecode(place.base)) / "home"
    write_claude_session(home, Path("/elsewhere"), lambda text: text)
    for command in (("last",), ("sessions",), ("show", "--last")):
        assert "no session of a coding agent is stored" in place.run(*command, code=1, folder=place.project)
    names = {"cwd": os.fsdecode(place.project), "transcript_path": os.fsdecode(place.trace)}
    event = json.dumps({"session_id": "s1", **names})
    for command in ("session-start", "session-end", "work"):
        assert place.run("hook", command, given=event) == ""
    for _ in range(100):
        if "waiting: 0" in place.run("hook", "status"):
            break
    assert "failed" not in place.run("hook", "status")
    assert "next-step 1" in place.run("hook", "session-start", given=event.replace("s1", "s2"))


def test_a_file_that_cannot_be_made_is_blamed(place: Place) -> None:
    """And not the output of the command."""
    text = place.run("view", "@/many/good.json", "--out", f"@/{'n' * 300}.html", code=1)
    assert "File name too long" in text
    assert "the output cannot be written" not in text
