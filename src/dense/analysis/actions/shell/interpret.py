"""Goes through shell texts: takes programs out of the programs around them and records what each does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.analysis.actions.check_commands import is_check
from dense.analysis.actions.effects import EffectsBuilder, located
from dense.analysis.actions.programs.files import found_by
from dense.analysis.actions.programs.operands import is_build, is_service, record_program
from dense.analysis.actions.python_code import record_code_texts, record_python
from dense.analysis.actions.shell.command import Command, operands, option, words_behind
from dense.analysis.actions.shell.grammar import parse
from dense.knowledge.program import Program
from dense.knowledge.program import words as words_of
from dense.knowledge.programs import known_program, program_name
from dense.knowledge.test_runners import RUNNERS

MAX_DEPTH = 6
"""Shells within shells."""
MAX_WRAPPERS = 8
"""Programs around programs."""
MAX_NAME_CHARS = 200
MAX_SCRIPT_CHARS = 500
READING = ("<", "<>")
CODE_FLAG = re.compile(r"-[a-zA-Z]*c$")
PROGRAM_FILE = re.compile(r"(?!/(?:usr|bin|sbin|opt)/)[^\s$]*/")
"""How a program is called that may be of the task's own."""
SCRIPT_OPTIONS = words_of("-r --require -o -O -cp -classpath -I --loader --import")
XARGS_OPTIONS = words_of("-I -n -P -L -d -s -a -E -j")


def run_shell(text: str, builder: EffectsBuilder, cwd: str = "", depth: int = 0) -> None:
    """Records what a shell text does."""
    if depth <= MAX_DEPTH:
        commands = parse(without_edit_blocks(text), cwd)
        for command in commands:
            run_command(command, builder, depth, commands)


def without_edit_blocks(text: str) -> str:
    """Without the lines between `edit` and `end_of_edit`: SWE-agent's own heredoc, which is no shell text."""
    if "end_of_edit" not in text:
        return text
    kept: list[str] = []
    is_inside = False
    for line in text.split("\n"):
        if not is_inside:
            is_inside = line.startswith("edit")
            kept.append("edit" if is_inside else line)
        elif line.strip() == "end_of_edit":
            is_inside = False
    return "\n".join(kept)


def run_command(command: Command, builder: EffectsBuilder, depth: int, beside: Sequence[Command] = ()) -> None:
    """Records what a simple command does; `beside` are the commands of the same text."""
    _record_redirects(command, builder)
    words = list(command.words)
    is_left = command.is_background
    for _ in range(MAX_WRAPPERS):
        if not words or not words[0]:
            return
        name = program_name(words[0])
        row = known_program(name)
        is_left = is_left or "detaches" in row.traits
        inner = _unwrapped(name, row, words, command, builder, depth)
        if inner is None:
            is_left = is_left and not any(other.words[:1] == ("wait",) for other in beside)
            _run_program(name, row, words, command, builder, depth, is_left=is_left)
            return
        words = inner


def _record_redirects(command: Command, builder: EffectsBuilder) -> None:
    for redirect in command.redirects:
        if redirect.operator in READING:
            builder.read(redirect.target, cwd=command.cwd)
            continue
        builder.write(redirect.target, cwd=command.cwd)
        text = _printed(command)
        if text is not None and redirect.target != "/dev/null":
            builder.keep_content(located(redirect.target, command.cwd), text)


def _printed(command: Command | None) -> str | None:
    """What a command prints, if the shell text itself holds it."""
    if command is None or not command.words:
        return None
    name = program_name(command.words[0])
    if name in ("cat", "tee"):
        return command.stdin
    if name in ("echo", "printf"):
        return " ".join(word for word in command.words[1:] if word not in ("-e", "-n", "-en"))
    return None


def _input(command: Command) -> str | None:
    """What a command gets as its input, if the shell text itself holds it."""
    return command.stdin if command.stdin is not None else _printed(command.previous)


# Programs around programs


def _unwrapped(
    name: str, row: Program, words: list[str], command: Command, builder: EffectsBuilder, depth: int
) -> list[str] | None:
    """The words behind a wrapper; an empty list if its text was gone through; None if it is no wrapper."""
    for wrapper in row.wrappers:
        inner = words_behind(words, wrapper)
        if inner is None or (not inner and wrapper.verbs):
            continue
        if wrapper.takes_text:
            run_shell(" ".join(inner), builder, command.cwd, depth + 1)
            return []
        return inner
    if name in ("xargs", "parallel"):
        return _behind_xargs(words, command, builder)
    text = _inner_text(row, words, command)
    if text is None:
        return None
    run_shell(text, builder, command.cwd, depth + 1)
    return []


def _behind_xargs(words: list[str], command: Command, builder: EffectsBuilder) -> list[str]:
    """`xargs rm` gets its files through the pipe: they are those that the program before it looked at."""
    position = 1
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in XARGS_OPTIONS else 1
    inner = words[position:]
    fed = _fed_paths(command.previous)
    if any("{}" in word for word in inner):
        return [word.replace("{}", fed[0]) for word in inner]
    builder.runs.setdefault(words[0])
    is_shell = bool(inner) and "shell" in known_program(program_name(inner[0])).traits
    return inner if is_shell or not inner else [*inner, *fed]


def _fed_paths(previous: Command | None) -> list[str]:
    """The paths that come out of a pipe, as far as the programs before show."""
    while previous is not None and previous.words:
        name = program_name(previous.words[0])
        looked_at = EffectsBuilder()
        record_program(name, previous.words, previous, looked_at)
        if looked_at.reads:
            return found_by(previous.words) if name == "find" else list(looked_at.reads)
        previous = previous.previous
    return ["{}"]


def _inner_text(row: Program, words: list[str], command: Command) -> str | None:
    """The shell text in `bash -c "…"`, `bash <<EOF`, `… | bash`."""
    if "shell" not in row.traits:
        return None
    at = next((n for n, word in enumerate(words[1:], 1) if CODE_FLAG.match(word)), len(words))
    if at + 1 < len(words):
        return words[at + 1]
    return _input(command) if not operands(words, row.valued) or words[-1] == "-" else None


# Programs themselves


def _run_program(
    name: str, row: Program, words: list[str], command: Command, builder: EffectsBuilder, depth: int, *, is_left: bool
) -> None:
    """Records what a program does, out of all wrappers; `is_left` says whether it is left running."""
    word = words[0]
    is_name = len(word) <= MAX_NAME_CHARS and "\n" not in word and word[0] not in "$#"
    if is_name and ("/" in word or "builtin" not in row.traits):
        builder.runs[word] = None
        if "/" in word and PROGRAM_FILE.match(word):
            builder.scripts[located(word, command.cwd)] = None
    checks = is_check(name, row, words)
    if "py" in row.extensions:
        checks = _run_python(words, command, builder, depth) or checks
    elif "interpreter" in row.traits:
        _run_interpreter(name, row, words, command, builder)
    record_program(name, words, command, builder, row)
    if checks:
        builder.tests[command.text.strip()] = None
    elif is_service(name, row, words) or (is_left and "never_serves" not in row.traits):
        builder.services[command.text.strip()] = None
    if not checks and is_build(row, words):
        builder.builds[command.text.strip()] = None


def _run_python(words: list[str], command: Command, builder: EffectsBuilder, depth: int) -> bool:
    """Python with a module, a program text, a text from its input, or a file. Whether the code checks something."""
    position = 1
    while position < len(words):
        word = words[position]
        if word == "-m":
            _run_module(words[position + 1 :], command, builder)
            return False
        if word == "-":
            break
        if word.startswith("-"):
            if CODE_FLAG.match(word):
                return _run_code("\n".join(words[position + 1 : position + 2]), command, builder, depth)
            position += 2 if word in ("-W", "-X") else 1
            continue
        path = located(word, command.cwd)
        if len(word) <= MAX_SCRIPT_CHARS and "\n" not in word:
            builder.scripts[path] = None
        content = builder.take_content(path)
        if content is not None:
            builder.checks[path] = _run_code(content, command, builder, depth)
        return builder.checks.get(path, False)
    code = _input(command)
    return _run_code(code, command, builder, depth) if code else False


def _run_code(code: str, command: Command, builder: EffectsBuilder, depth: int) -> bool:
    return record_python(code, builder, command.cwd, lambda text: run_shell(text, builder, command.cwd, depth + 1))


def _run_module(rest: list[str], command: Command, builder: EffectsBuilder) -> None:
    """`python -m pip install x` is `pip install x`; a module that is no known tool is a program of the task's own."""
    if not rest:
        return
    name = rest[0].partition(".")[0]
    row = known_program(name)
    if "module" in row.traits:
        record_program(name, [name, *rest[1:]], command, builder)
    elif not ("checks" in row.traits or name in RUNNERS.modules or len(rest[0]) > MAX_NAME_CHARS or "\n" in rest[0]):
        builder.scripts[rest[0]] = None


def _run_interpreter(name: str, row: Program, words: list[str], command: Command, builder: EffectsBuilder) -> None:
    """An interpreter of another language with a program text, a file, or a text from its input."""
    code = option(words, *row.code_options)
    if code is None:
        rest = operands(words, SCRIPT_OPTIONS)
        if name in ("go", "deno", "bun") and rest[:1] != ["run"]:
            return
        rest = rest[1:] if rest[:1] == ["run"] else rest
        if rest and rest[0] != "-" and len(rest[0]) <= MAX_SCRIPT_CHARS and "\n" not in rest[0]:
            path = located(rest[0], command.cwd)
            builder.scripts[path] = None
            code = builder.take_content(path)
        else:
            code = command.stdin
    if code:
        record_code_texts(code, builder, command.cwd)
