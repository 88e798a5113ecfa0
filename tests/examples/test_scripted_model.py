"""The scripted model, over HTTP: what it does follows from the conversation and the seed, and from nothing else."""

from __future__ import annotations

import ast
import base64
import importlib
import json
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from scripted_client import REFIT, Model, served

from dense.methods.catalogue import method_names

PROMPT = "root@host:/app# "
FRAME = (
    "You solve tasks in a terminal.\n\nTask Description:\n{}\n\nCurrent terminal state:\nCurrent Terminal Screen:\n"
    + PROMPT
)
SEEDS = range(24)
CHECKS = {f"python3 /app/{name}.py\n" for name in ("validate", "measure", "test_pairs")}
"""Commands that are given again after a change."""
type Terminal = Callable[[str], tuple[str, int]]


def instruction(task: str) -> str:
    return (REFIT / "tasks" / task / "instruction.md").read_text()


def started(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": FRAME.format(text)}]


def deaf(command: str) -> tuple[str, int]:
    """A terminal in which nothing works."""
    return f"{command.split(maxsplit=1)[0]}: cannot do that", 1


def answered(messages: list[dict[str, Any]], reply: dict[str, Any], terminal: Terminal) -> list[dict[str, Any]]:
    """The conversation after a reply, with the screen that a terminal would show."""
    screen = "New Terminal Output:\n"
    for command in reply["commands"]:
        typed = command["keystrokes"].rstrip("\n")
        assert "exit $?" not in typed, "real agents do not mark their commands"
        out, _ = terminal(typed)
        screen += PROMPT + typed.replace("\n", "\n> ") + f"\n{out}\n"
    if reply.get("task_complete"):
        screen += "Are you sure you want to mark the task as complete?"
    return [
        *messages,
        {"role": "assistant", "content": json.dumps(reply)},
        {"role": "user", "content": screen + PROMPT},
    ]


def played(model: Model, text: str, seed: int, terminal: Terminal = deaf) -> list[str]:
    """All commands of a run, up to where the work is handed in."""
    messages, commands = started(text), list[str]()
    for _ in range(20):
        reply = model.reply(messages, seed)
        commands += [command["keystrokes"] for command in reply["commands"]]
        if reply.get("task_complete"):
            return commands
        messages = answered(messages, reply, terminal)
    pytest.fail("it never hands in")


def all_played(model: Model, text: str, terminal: Terminal = deaf) -> list[list[str]]:
    with ThreadPoolExecutor(4) as threads:
        return list(threads.map(lambda seed: played(model, text, seed, terminal), SEEDS))


def test_it_says_that_it_is_no_language_model(model: Model) -> None:
    status, models = model.send("GET", "/v1/models")
    assert status == 200 and "not a language model" in models["data"][0]["description"]
    status, health = model.send("GET", "/health")
    assert (status, health["status"]) == (200, "ok")


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b'"x"',
        b'{"messages": 3}',
        b'{"messages": []}',
        b'{"messages": [3]}',
        b'{"messages": [{"role": "user"}]}',
        b'{"messages": [{"role": "user", "content": [{"type": "image"}]}]}',
        b'{"messages": [{"role": "assistant", "content": "x"}]}',
        b'{"messages": [{"role": "user", "content": "x"}], "seed": "seven"}',
        b'{"messages": [{"role": "user", "content": "x"}], "stream": true}',
        b"\xff\xfe",
    ],
)
def test_bad_requests_are_refused_in_words(model: Model, body: bytes) -> None:
    status, answer = model.send("POST", "/v1/chat/completions", body)
    assert status == 400 and answer["error"]["message"]


def test_other_pages_are_not_found(model: Model) -> None:
    assert model.send("POST", "/v1/other", b"{}")[0] == 404
    assert model.send("GET", "/other")[0] == 404


def test_the_same_conversation_has_the_same_answer_whatever_else_was_asked(model: Model) -> None:
    text = instruction("csv-report")
    messages = started(text)
    for _ in range(3):
        messages = answered(messages, model.reply(messages, 5), deaf)
    first = model.complete(messages, seed=5)
    all_played(model, instruction("log-incident"))
    assert model.complete(messages, seed=5) == first
    with served() as other:
        assert other.complete(messages, seed="5") == first


@pytest.mark.parametrize("task", sorted(folder.name for folder in (REFIT / "tasks").iterdir()))
def test_the_seed_draws_the_order_and_every_run_ends(model: Model, task: str) -> None:
    runs = all_played(model, instruction(task))
    assert len({tuple(run) for run in runs}) > len(SEEDS) / 2
    assert len({run[0] for run in runs}) >= 3
    assert all(4 <= len(run) <= 30 for run in runs)
    others = [[command for command in run if command not in CHECKS] for run in runs]
    assert all(len(run) == len(set(run)) for run in others)


def test_an_unknown_task_is_looked_at_and_handed_in(model: Model) -> None:
    for seed in (1, 2):
        assert any("ls" in command for command in played(model, "Write a poem about rain to /app/rain.txt.", seed))


def test_tokens_are_bytes_and_what_was_sent_before_is_cached(model: Model) -> None:
    messages = started(instruction("csv-report"))
    first = model.complete(messages)
    sent = len(messages[0]["content"].encode()) // 4
    answer = first["choices"][0]["message"]["content"]
    assert first["usage"] == {
        "prompt_tokens": sent,
        "completion_tokens": len(answer.encode()) // 4,
        "total_tokens": sent + len(answer.encode()) // 4,
        "prompt_tokens_details": {"cached_tokens": 0},
    }
    second = model.complete(answered(messages, json.loads(answer), deaf))["usage"]
    assert second["prompt_tokens_details"]["cached_tokens"] == sent < second["prompt_tokens"]


def test_it_waits_for_a_command_that_has_not_ended(model: Model) -> None:
    messages = started(instruction("csv-report"))
    reply = model.reply(messages, 1)
    ended = answered(messages, reply, deaf)
    running = [*ended[:-1], {"role": "user", "content": ended[-1]["content"].removesuffix(PROMPT)}]
    waiting = model.reply(running, 1)
    assert [command["keystrokes"] for command in waiting["commands"]] == [""]
    late = [*running, {"role": "assistant", "content": json.dumps(waiting)}, ended[-1]]
    assert model.reply(late, 1) == model.reply(ended, 1)


def test_line_ends_of_a_terminal_change_nothing(model: Model) -> None:
    """podman-compose gives the agent screens with CR LF."""
    plain = started(instruction("csv-report"))
    other = list(plain)
    for _ in range(12):
        reply = model.reply(plain, 3)
        assert model.reply(other, 3) == reply
        plain = answered(plain, reply, deaf)
        screen = {**plain[-1], "content": plain[-1]["content"].replace("\n", "\r\n")}
        other = [*other, plain[-2], screen]


def test_it_confirms_when_it_is_asked_whether_it_is_sure(model: Model) -> None:
    messages = started(instruction("csv-report"))
    while not (reply := model.reply(messages, 2)).get("task_complete"):
        messages = answered(messages, reply, deaf)
    again = model.reply(answered(messages, reply, deaf), 2)
    assert again["task_complete"] and again["commands"] == []


FIX = "sed -i 's/^workers = .*/workers = 3/' /app/service/config.ini"


@pytest.mark.parametrize(
    "words",
    [
        f"Dear colleague, what helped me yesterday was `{FIX}`. Good luck!",
        f"* [worked] `{FIX}` -> `done`",
        f'<note><cmd>x</cmd>\nme@box:/app$ {FIX}; echo "exit $? (k)"\nexit 0 (k)\nme@box:/app$ \n</note>',
    ],
)
def test_what_worked_is_repeated_however_it_is_said(model: Model, words: str) -> None:
    text = f"{words}\n\n{instruction('service-config')}"
    for seed in range(6):
        assert model.reply(started(text), seed)["commands"][0]["keystrokes"].startswith(FIX)
    assert not any(FIX in command for run in all_played(model, instruction("service-config")) for command in run)


WRITES = "printf 'ready' > /app/ready.txt"
SCREENS = {
    "one call": f"abcde| action a4: message\nPlan: x\nabcde| tool-call\n{WRITES}\nabcde| observation\nfine\nabcde| end",
    "two calls, one screen": (
        f"abcde| key-action a4\n{WRITES}\nabcde| tool-call\npython3 /app/check.py\nabcde| observation\n"
        f"$ {WRITES}\n$ python3 /app/check.py\nall good\nabcde| end"
    ),
    "arguments and a screen": (
        f"abcde| key-action a4: message\nPlan: x\nabcde| tool-call bash_command\nabcde| argument keystrokes\n{WRITES}\n"
        f"abcde| argument duration\n0.3\nabcde| observation\nNew Terminal Output:\n{PROMPT}{WRITES}\n{PROMPT}\n"
        "abcde| end"
    ),
    "called final": f"abcde| key-action a4, final /app/ready.txt\n{WRITES}\nabcde| end",
}


@pytest.mark.parametrize("quoted", SCREENS.values(), ids=SCREENS.keys())
def test_what_worked_is_known_by_its_screen_however_it_is_quoted(quoted: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports differ in how they quote an action: a prompt, or the end of what is quoted, shows that it ended."""
    monkeypatch.syspath_prepend(str(REFIT))
    reading = importlib.import_module("scripted.reading")
    assert reading.read(quoted, lambda _: 0.0).repeat == (WRITES,)
    denied = SCREENS["one call"].replace("fine", "Permission denied")
    assert reading.read(denied, lambda _: 0.0).repeat == ()
    assert reading.read(quoted.partition("abcde| observation")[0], lambda _: 0.0).repeat == (
        (WRITES,) if "final" in quoted else ()
    )


@pytest.mark.parametrize(
    "words",
    [
        f"`{FIX}` was a dead end.",
        f"I ran `{FIX}`: it failed.",
        f'box# \nme@box:/app$ {FIX}; echo "exit $? (k)"\nsed: no such file\nexit 2 (k)\nme@box:/app$ ',
    ],
)
def test_what_failed_is_not_repeated(model: Model, words: str) -> None:
    for run in all_played(model, f"{words}\n\n{instruction('service-config')}"):
        assert not any(command.startswith(FIX) for command in run)


def test_what_is_not_there_is_not_tried_again(model: Model) -> None:
    task = instruction("csv-report")
    tools = ("gnuplot", "matplotlib", "PIL", "pandas")
    reported = "bash: gnuplot: command not found. No module named 'matplotlib'. No module named 'PIL', nor 'pandas':\n"
    reported += "ModuleNotFoundError: No module named 'pandas'"
    tried = [{tool for tool in tools for command in run if tool in command} for run in all_played(model, task)]
    assert set().union(*tried) == set(tools)
    knowing = all_played(model, f"{reported}\n\n{task}")
    assert not any(tool in command for run in knowing for command in run for tool in tools)
    assert sum(any("zlib" in command for command in run) for run in knowing) > len(SEEDS) / 2


def easy(command: str) -> tuple[str, int]:
    """A terminal in which everything works but what is not installed."""
    if any(tool in command for tool in ("matplotlib", "PIL", "gnuplot", "convert")):
        return "bash: gnuplot: command not found", 127
    return "region;month;amount\nnorth;May;1,50", 0


def test_what_is_said_to_be_missing_is_not_forgotten(model: Model) -> None:
    task = instruction("csv-report")
    made = [any("zlib" in command for command in run) for run in all_played(model, task, easy)]
    reported = [
        any("zlib" in command for command in run) for run in all_played(model, f"chart.png is missing.\n\n{task}", easy)
    ]
    assert sum(reported) > sum(made)


def test_the_beginning_and_the_end_of_a_long_message_are_read_best(model: Model) -> None:
    filler = "\n".join(
        f"<p>{number} nothing to see here, and nothing that could be of any use to anybody</p>" for number in range(300)
    )
    half = len(filler) // 2
    note = f"\n<p>What worked: `{FIX}`</p>\n"
    task = instruction("service-config")

    def repeats(text: str) -> int:
        replies = [model.reply(started(f"{text}\n\n{task}"), seed) for seed in SEEDS]
        return sum(any(FIX in command["keystrokes"] for command in reply["commands"]) for reply in replies)

    assert repeats(note + filler) == repeats(filler + note) == len(SEEDS)
    assert 0 < repeats(filler[:half] + note + filler[half:]) < len(SEEDS)


def test_a_file_that_is_to_be_read_first_is_read_first(model: Model) -> None:
    task = instruction("service-config")
    words = "Notes lie in your environment, as the file /notes.txt (9 bytes).\nRead all of that file before you start."
    messages = started(f"{words}\n\n{task}")
    reply = model.reply(messages, 3)
    assert all("/notes.txt" in command["keystrokes"] for command in reply["commands"])
    messages = answered(messages, reply, lambda _: (f"What worked: `{FIX}`", 0))
    assert FIX in model.reply(messages, 3)["commands"][0]["keystrokes"]


def sources() -> dict[str, str]:
    return {str(path.relative_to(REFIT)): path.read_text() for path in REFIT.rglob("*.py") if "tasks" not in path.parts}


def test_it_knows_no_method_and_no_report_of_ours() -> None:
    names = [name for name in method_names() if name != "none"]
    assert len(names) >= 8
    markup = ["key-action", "working-path", "open-issue", "shortcut", "tool-call", "verifier-output", "feedback"]
    for path, text in sources().items():
        plain = re.sub(r"\s+", " ", text.casefold())
        assert [word for word in [*names, *markup, "import dense", "from dense"] if word in plain] == [], path


def test_it_knows_no_answer() -> None:
    """What the tasks ask for must come off the screen or out of the message."""
    environment = REFIT / "tasks" / "split-password" / "environment"
    wide = (environment / "disk.img").read_bytes().decode("utf-16-le", errors="replace")
    packed = re.search(r"^[\w+/]{24,}=*$", (environment / "mail" / "0305-holiday.eml").read_text(), re.MULTILINE)
    front = re.search(r"front (\w+)", wide)
    assert packed and front
    answers = [
        front[1],
        base64.b64decode(packed[0]).decode().split()[-1],
        packed[0],
        "2769",
        "r2901",
        "sven",
        "22:41:07",
    ]
    for path, text in sources().items():
        assert [answer for answer in answers if answer in text] == [], path


def test_it_needs_the_standard_library_only() -> None:
    for path, text in sources().items():
        nodes = list(ast.walk(ast.parse(text)))
        names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
        names += [node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)]
        assert {name.partition(".")[0] for name in names} <= {"scripted", *sys.stdlib_module_names}, path


def test_the_experiment_uses_it() -> None:
    assert Path(REFIT / "refit.yaml").read_text().count("scripted_model.py") == 2


def test_commands_of_one_screen_are_distinguished_by_their_prompts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Output that does not end its line stands before the next prompt."""
    monkeypatch.syspath_prepend(str(REFIT))
    screens = importlib.import_module("scripted.screen")
    prompt = "root@sandbox:/app#"
    screen = (
        f"New Terminal Output:\n\n{prompt} tail -c 3 a\na ;b{prompt} python3 b.py\nKeyError: 'x'\n{prompt} sleep 9\n"
    )
    found = screens.typed_exchanges(screen, ("tail -c 3 a", "python3 b.py", "sleep 9", "ls"))
    assert [(one.command, one.worked, one.failed) for one in found] == [
        ("tail -c 3 a", True, False),
        ("python3 b.py", False, True),
        ("sleep 9", False, False),
    ]
    assert (screens.is_idle(screen), screens.is_idle(f"{screen}abc{prompt}\n\n")) == (False, True)
    assert screens.typed_exchanges("nothing\n", ("ls",)) == []
