"""What a step did that follows from an earlier one."""

from __future__ import annotations

from dense.analysis.actions.action import Actions
from dense.analysis.actions.effects import Effects
from dense.analysis.actions.tool_effects import WrittenProgram, program_effects
from dense.trajectory import Source, Step, ToolCall


def after(*commands: str | ToolCall) -> list[Effects]:
    calls = [one if isinstance(one, ToolCall) else ToolCall("bash", {"command": one}) for one in commands]
    steps = [Step(Source("x"), calls=(call,)) for call in calls]
    return [action.effects for action in Actions(steps)]


FIX = "cat > fix.py <<'E'\np = 'src/app.py'\ntext = open(p).read()\nopen(p, 'w').write(text.replace('a', 'b'))\nE"


def test_a_program_that_an_earlier_step_wrote() -> None:
    wrote, looked, ran = after(FIX, "ls", "cd /repo && python3 fix.py")
    assert wrote.writes == ("fix.py",)
    assert looked.writes == ()
    assert ran.writes == ("src/app.py",)
    assert ran.scripts == ("/repo/fix.py",)


def test_of_two_programs_of_one_name_the_last_one_runs() -> None:
    other = FIX.replace("src/app.py", "src/other.py")
    *_, first, _, second = after(FIX, "python fix.py", other, "python fix.py")
    assert (first.writes, second.writes) == (("src/app.py",), ("src/other.py",))


def test_a_program_elsewhere_is_another_one() -> None:
    *_, ran = after(FIX.replace("> fix.py", "> /tmp/fix.py"), "python /repo/fix.py")
    assert ran.writes == ()


def test_a_check_stays_a_check() -> None:
    """What a test writes on its way is no product."""
    *_, ran = after("cat > test_x.py <<'E'\nopen('out.txt', 'w')\nE", "pytest test_x.py")
    assert ran.writes == ()


def test_a_shell_script_and_one_that_a_tool_wrote() -> None:
    write = ToolCall("Write", {"file_path": "/app/go.sh", "content": "rm -f old.txt\necho hi > new.txt\n"})
    *_, ran = after(write, "bash go.sh")
    assert (ran.writes, ran.deletes) == (("new.txt",), ("old.txt",))


def test_an_editor_without_names_edits_what_is_open() -> None:
    opened, edited, created, typed = after(
        "open src/app.py 10", "edit 3:3\n    return 1\nend_of_edit", "create new.py", "edit 1:1\nx\nend_of_edit"
    )
    assert opened.reads == ("src/app.py",)
    assert edited.writes == ("src/app.py",)
    assert created.writes == ("new.py",)
    assert typed.writes == ("new.py",)


def test_the_same_with_tools() -> None:
    *_, edited = after(ToolCall("open", {"path": "a.py"}), ToolCall("edit", {"search": "a", "replace": "b"}))
    assert edited.writes == ("a.py",)


def test_files_that_git_takes_back() -> None:
    one, with_branch, again, of_tag = after(
        "git checkout src/app.py",
        "git checkout main",
        "git checkout -- a.py && sed -i s/a/b/ a.py",
        "git checkout v1.2 src/app.py src/b.py",
    )
    assert one.undoes == one.writes == ("src/app.py",)
    assert with_branch.undoes == ()
    assert (again.writes, again.undoes) == (("a.py",), ())
    assert of_tag.undoes == ("src/app.py", "src/b.py")


def test_a_program_by_its_language() -> None:
    def writes(path: str, text: str) -> tuple[str, ...]:
        return program_effects(WrittenProgram(path, text)).writes

    assert writes("a.py", "from pathlib import Path\nOUT = 'results'\nPath(OUT + '.json').write_text('')") == (
        "results.json",
    )
    assert writes("a.sh", "echo hi > new.txt") == ("new.txt",)
    assert writes("a.js", "fs.writeFileSync('a.json', '1')") == ("a.json",)
