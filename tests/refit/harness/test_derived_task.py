"""A derived task is the original in all but the message to its agent."""

# pyright: reportMissingTypeStubs=false
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.errors import DenseError
from dense.message.injected_feedback import without_injected
from dense.trajectory import Source, Step, Task, Trajectory
from refit.harness import derived_task
from refit.harness.derived_task import (
    FEEDBACK_FILE,
    MAX_ARGUMENT_BYTES,
    MIN_LINKED_BYTES,
    derive,
    digest,
    fits_argument,
    instruction_of,
    instruction_with,
)
from refit.harness.harbor_import import import_harbor

INSTRUCTION = "Write the word hello, and nothing else, to /app/out.txt.\n"


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All that is in a folder: by name, the mode and the content or the target."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in folder.rglob("*"):
        name, mode = path.relative_to(folder).as_posix(), path.lstat().st_mode
        if path.is_symlink():
            found[name] = mode, os.fsencode(path.readlink())
        else:
            found[name] = mode, b"" if path.is_dir() else path.read_bytes()
    return found


def test_only_the_instruction_changes(task: Path, tmp_path: Path) -> None:
    (task / "environment" / "empty").mkdir()
    (task / "environment" / "inner").symlink_to("seed.txt")
    (task / "environment" / "dangling").symlink_to("nowhere/at/all")
    (task / "environment" / "to-folder").symlink_to("empty")
    (task / "environment" / "binary").write_bytes(bytes(range(256)))
    before = contents(task)
    made = derive(task, tmp_path / "out" / "greet", "A message.\r\nÄ\n" + INSTRUCTION)
    assert contents(task) == before
    after = contents(made.folder)
    assert after.pop("instruction.md")[1] == ("A message.\r\nÄ\n" + INSTRUCTION).encode()
    before.pop("instruction.md")
    assert after == before
    assert made.delivered == "instruction" and made.file is None
    assert made.original_digest == digest(task) != digest(made.folder)
    assert made.folder.name == task.name


def test_only_large_files_are_links(task: Path, tmp_path: Path) -> None:
    (task / "tests" / "large.bin").write_bytes(bytes(MIN_LINKED_BYTES))
    (task / "tests" / "small.bin").write_bytes(bytes(MIN_LINKED_BYTES - 1))
    made = derive(task, tmp_path / "out", "message")
    linked = [path.name for path in made.folder.rglob("*") if path.samefile(task / path.relative_to(made.folder))]
    assert linked == ["large.bin"]


def test_an_edit_of_the_task_does_not_reach_it(task: Path, tmp_path: Path) -> None:
    made = derive(task, tmp_path / "out", None)
    before = contents(made.folder)
    for path in [path for path in task.rglob("*") if path.is_file()]:
        with path.open("a") as file:
            file.write("edited in place")
    assert contents(made.folder) == before


def test_what_compose_could_mount_is_a_copy(task: Path, tmp_path: Path) -> None:
    (task / "environment" / "docker-compose.yaml").write_text("services: {main: {volumes: ['./:/data']}}\n")
    for place in ("environment", "tests"):
        (task / place / "large.bin").write_bytes(bytes(MIN_LINKED_BYTES))
    made = derive(task, tmp_path / "out", None)
    with (made.folder / "environment" / "large.bin").open("a") as file:
        file.write("what a container wrote")
    assert (task / "environment" / "large.bin").read_bytes() == bytes(MIN_LINKED_BYTES)
    assert (made.folder / "tests" / "large.bin").samefile(task / "tests" / "large.bin")


def test_copies_where_there_can_be_no_links(task: Path) -> None:
    """Another file system: memory instead of a disk."""
    shared = Path("/dev/shm")
    if not shared.is_dir() or shared.stat().st_dev == task.stat().st_dev:
        pytest.skip("no other file system here")
    out = shared / f"dense-test-{os.getpid()}" / "greet"
    (task / "tests" / "large.bin").write_bytes(bytes(MIN_LINKED_BYTES))
    try:
        made = derive(task, out, "message")
        before, after = contents(task), contents(made.folder)
        before.pop("instruction.md")
        assert after.pop("instruction.md")[1] == b"message"
        assert after == before
        assert not (made.folder / "tests" / "large.bin").samefile(task / "tests" / "large.bin")
    finally:
        subprocess.run(["rm", "-rf", out.parent], check=True)


def test_what_lay_there_before_goes(task: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (out / "left").mkdir(parents=True)
    (out / "left" / "over").write_text("x")
    assert not (derive(task, out, None).folder / "left").exists()
    assert derive(task, out, None).original_digest == digest(out) == digest(task)


def test_the_task_alone(task: Path, tmp_path: Path) -> None:
    made = derive(task, tmp_path / "out", None)
    assert (made.delivered, made.message_sha256, made.file) == ("", "", None)
    assert contents(made.folder) == contents(task)


def test_a_long_message_is_a_file(task: Path, tmp_path: Path) -> None:
    message = "é" * (MAX_ARGUMENT_BYTES // 2) + INSTRUCTION
    made = derive(task, tmp_path / "out" / "greet", message, as_file=True)
    assert made.delivered == "file" and made.file is not None
    assert made.file.read_text() == message
    assert made.folder not in made.file.parents
    text = (made.folder / "instruction.md").read_text()
    assert FEEDBACK_FILE in text and text.endswith(f"\n{INSTRUCTION}")
    assert len(text) < 1500
    assert contents(made.folder).keys() == contents(task).keys()


def test_the_limit_is_in_bytes() -> None:
    assert fits_argument("x" * MAX_ARGUMENT_BYTES)
    assert not fits_argument("x" * (MAX_ARGUMENT_BYTES - 1) + "é")
    assert not fits_argument("it's " * (MAX_ARGUMENT_BYTES // 8)), "quoting makes it longer"
    assert instruction_with("x" * 2 * MAX_ARGUMENT_BYTES, "task").delivered == "instruction"


def test_a_pointer_is_cut_from_a_trace_like_a_message() -> None:
    pointer = instruction_with("x", INSTRUCTION, as_file=True).text
    trajectory = Trajectory("atif", "t", Source("t"), task=Task(pointer), steps=(Step(Source("t"), "hi"),))
    cut = without_injected(trajectory)
    assert cut.task is not None and cut.task.instruction == INSTRUCTION


def test_the_canary_is_no_part_of_the_task(task: Path) -> None:
    assert instruction_of(task) == INSTRUCTION


lines = st.sampled_from(
    ["", "  ", "# A canary here", "<!-- CANARY -->", "<!-- canary", "# Title", "text", " # canary "]
)


@settings(deadline=None)  # Harbor is imported on the way
@given(st.lists(lines, max_size=8))
def test_canaries_as_harbor_sees_them(parts: list[str]) -> None:
    import_harbor()
    from harbor.models.task.task import strip_canary

    text = "\n".join(parts)
    assert derived_task._without_canary(text) == strip_canary(text)


@pytest.mark.parametrize("change", ["content", "name", "mode", "link", "new", "gone"])
def test_a_digest_sees_every_change(task: Path, change: str) -> None:
    seed = task / "environment" / "seed.txt"
    link = task / "environment" / "link"
    link.symlink_to("seed.txt")
    before = digest(task)
    match change:
        case "content":
            seed.write_text("Seed\n")
        case "name":
            seed.rename(seed.with_name("seeds.txt"))
        case "mode":
            seed.chmod(0o755)
        case "link":
            link.unlink()
            link.symlink_to("Dockerfile")
        case "new":
            (task / "environment" / "new").write_text("")
        case _:
            seed.unlink()
    assert digest(task) != before


def test_a_digest_is_of_content_alone(task: Path, tmp_path: Path) -> None:
    other = tmp_path / "copy"
    subprocess.run(["cp", "-r", task, other], check=True)
    (other / "environment" / "seed.txt").chmod(0o600)
    assert digest(other) == digest(task)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda task: (task / "instruction.md").unlink(), "instruction.md: cannot be read"),
        (lambda task: (task / "instruction.md").write_bytes(b"\xff\xfe"), "not in UTF-8"),
        (lambda task: (task / "task.toml").unlink(), "task.toml: cannot be read"),
        (lambda task: (task / "task.toml").write_text("a = ["), "task.toml: cannot be read"),
        (lambda task: (task / "task.toml").write_text('[[steps]]\nname = "one"\n'), "several steps"),
        (lambda task: os.mkfifo(task / "pipe"), "neither a file nor a folder"),
    ],
)
def test_what_is_no_task_is_reported(task: Path, tmp_path: Path, spoil: object, said: str) -> None:
    assert callable(spoil)
    spoil(task)
    with pytest.raises(DenseError, match=said):
        derive(task, tmp_path / "out", "message")


def test_no_folder_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DenseError, match="no such folder"):
        digest(tmp_path / "nowhere")
