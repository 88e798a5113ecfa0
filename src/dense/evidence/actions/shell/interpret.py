"""Goes through shell texts: takes programs out of the programs around them and notes what each does."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from msgspec import Struct

from dense.evidence.actions.code_texts import note_code_texts
from dense.evidence.actions.ledger import Ledger, located
from dense.evidence.actions.programs.files import found_by
from dense.evidence.actions.programs.network import ask
from dense.evidence.actions.programs.services import is_service, may_serve, may_stay
from dense.evidence.actions.programs.table import HANDLERS, SILENT, Handler, note_program
from dense.evidence.actions.python_code import scan_python
from dense.evidence.actions.shell.arguments import Remembering, behind, has_flag, operands, option, values
from dense.evidence.actions.shell.command import Command
from dense.evidence.actions.shell.grammar import parse
from dense.evidence.actions.tests import is_check, is_interpreter, is_python, may_check
from dense.knowledge.programs import ROWS, known_program, program_name

DEEPEST = 6
"""Shells within shells."""
SHELLS = values("bash sh zsh dash ksh ash fish su")
CODE_OPTIONS = {
    "node": ("-e", "--eval", "-p", "-pe"),
    "nodejs": ("-e", "--eval", "-p"),
    "ruby": ("-e",),
    "perl": ("-e", "-E"),
    "php": ("-r",),
    "rscript": ("-e",),
    "r": ("-e",),
    "deno": ("eval",),
    "bun": ("-e",),
    "julia": ("-e",),
    "lua": ("-e",),
}
NO_SCRIPTS = values("""
    pip venv virtualenv pytest unittest doctest py_compile compileall mypy pyright pylint flake8 tox nox coverage json
    http timeit cProfile profile pdb trace zipfile tarfile gzip black isort ruff site sysconfig platform ensurepip
    uvicorn gunicorn flask
""")
"""Modules that are tools, not a program of the task's own."""
READING = ("<", "<>")
CODE_FLAG = re.compile(r"-[a-zA-Z]*c$")
LONGEST_PROGRAM = 200
PROGRAM_FILE = re.compile(r"(?!/(?:usr|bin|sbin|opt)/)[^\s$]*/")
WRAPPING = SHELLS.union(
    [name for row in ROWS if row.wrappers for name in row.names],
    values("xargs parallel docker podman powershell pwsh cmd tmux screen nohup setsid daemonize"),
)
"""Programs that may run another one."""


def run_shell(text: str, ledger: Ledger, cwd: str = "", depth: int = 0) -> None:
    """Notes what a shell text does."""
    if depth <= DEEPEST:
        run_commands(commands_in(text, cwd), ledger, depth)


def commands_in(text: str, cwd: str = "") -> list[Command]:
    """The simple commands of a shell text."""
    return parse(without_edit_blocks(text) if "end_of_edit" in text else text, cwd)


def run_commands(found: Sequence[Command], ledger: Ledger, depth: int = 0) -> None:
    """Notes what the commands of one shell text do."""
    for command in found:
        run_command(command, ledger, depth, found)


def without_edit_blocks(text: str) -> str:
    """Without what stands between `edit` and `end_of_edit`: SWE-agent's own heredoc, which is no shell."""
    kept: list[str] = []
    is_inside = False
    for line in text.split("\n"):
        if not is_inside:
            is_inside = line.startswith("edit")
            kept.append("edit" if is_inside else line)
        elif line.strip() == "end_of_edit":
            is_inside = False
    return "\n".join(kept)


def run_command(command: Command, ledger: Ledger, depth: int, beside: Sequence[Command] = ()) -> None:
    """`beside` are the commands of the same text."""
    if command.redirects:
        note_redirects(command, ledger)
    words = list(command.words)
    stays = command.is_background
    for _ in range(8):  # wrappers around wrappers
        if not words or not words[0]:
            return
        program = known_by(words[0])
        if not program.may_wrap:
            break
        stays = stays or program.name in ("nohup", "setsid", "daemonize")
        inner = unwrapped(program.name, words, command, ledger, depth)
        if inner is None:
            break
        words = inner
    else:
        return
    stays = stays and ("wait",) not in [other.words[:1] for other in beside]
    run_program(program, words, command, ledger, depth, stays=stays)


class Known(Struct, frozen=True, gc=False):
    """What the word by which a program is called tells of it."""

    name: str
    """The name by which it is known."""
    may_wrap: bool
    """Whether it may run another program."""
    is_noted: bool
    """Whether it is among the programs that ran."""
    is_file: bool
    """Whether it is a file that may be of the task's own."""
    is_python: bool
    is_interpreter: bool
    """Whether it runs programs in another language."""
    may_check: bool
    may_serve: bool
    handler: Handler | None
    """What notes its files, packages and addresses."""


def _known_by(word: str) -> Known:
    name = program_name(word)
    has_folder = "/" in word
    is_noted = len(word) <= LONGEST_PROGRAM and "\n" not in word and word[0] not in "$#"
    is_noted = is_noted and (has_folder or name not in SILENT)
    return Known(
        name,
        may_wrap=name in WRAPPING,
        is_noted=is_noted,
        is_file=is_noted and has_folder and PROGRAM_FILE.match(word) is not None,
        is_python=is_python(name),
        is_interpreter=name in CODE_OPTIONS or is_interpreter(name) or name in SHELLS,
        may_check=may_check(name, word),
        may_serve=may_serve(name, word),
        handler=HANDLERS.get(name),
    )


known_by = Remembering(_known_by).__getitem__


def note_redirects(command: Command, ledger: Ledger) -> None:
    for redirect in command.redirects:
        if redirect.operator in READING:
            ledger.read(redirect.target, cwd=command.cwd)
        else:
            ledger.write(redirect.target, cwd=command.cwd)
            remember(redirect.target, command, ledger)


def remember(path: str, command: Command, ledger: Ledger) -> None:
    """Keeps what was written, so that a program that is run in the same step is known."""
    text = produced(command)
    if text is not None and path not in ("/dev/null",):
        ledger.keep(located(path, command.cwd), text)


def produced(command: Command | None) -> str | None:
    """What a command prints, where that stands in the text itself."""
    if command is None or not command.words:
        return None
    name = program_name(command.words[0])
    if name in ("cat", "tee"):
        return command.stdin
    if name in ("echo", "printf"):
        return " ".join(word for word in command.words[1:] if word not in ("-e", "-n", "-en"))
    return None


def unwrapped(name: str, words: list[str], command: Command, ledger: Ledger, depth: int) -> list[str] | None:
    """The words behind a wrapper; an empty list where its text was gone through; None where it is no wrapper."""
    if name == "env" and "-S" in words:
        return shlex_words(option(words, "-S") or "")
    for wrapper in known_program(name).wrappers:
        inner = behind(words, wrapper)
        if inner is None:
            continue
        if name == "ssh":
            ask(ledger, next(iter(operands(words, wrapper.valued)), ""))
        if name == "coverage" and inner:
            return ["python", *(["-m", *inner[:]] if "-m" in words[:3] else inner)]
        if wrapper.takes_text:
            run_shell(" ".join(inner), ledger, command.cwd, depth + 1)
            return []
        return inner
    if name in ("xargs", "parallel"):
        return behind_xargs(words, command, ledger)
    if name in ("docker", "podman"):
        return behind_docker_run(words, ledger)
    return behind_shell(name, words, command, ledger, depth)


def shlex_words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError:
        return text.split()


def behind_xargs(words: list[str], command: Command, ledger: Ledger) -> list[str]:
    """`xargs rm` gets its files through the pipe: they are those that the program before it looked at."""
    position = 1
    place = "{}"
    while position < len(words) and words[position].startswith("-"):
        word = words[position]
        if word in ("-I", "-i", "--replace") or word.startswith("-I"):
            place = words[position + 1] if word == "-I" and position + 1 < len(words) else word[2:] or "{}"
        position += 2 if word in ("-I", "-n", "-P", "-L", "-d", "-s", "-a", "-E", "-j") else 1
    inner = words[position:]
    fed = fed_paths(command.previous)
    if any(place in word for word in inner):
        return [word.replace(place, fed[0]) for word in inner]
    ledger.runs.setdefault(words[0])
    return [*inner, *fed] if inner and program_name(inner[0]) not in SHELLS else inner


def fed_paths(previous: Command | None) -> list[str]:
    """The paths that come out of a pipe, as far as the programs before tell."""
    while previous is not None and previous.words:
        name = program_name(previous.words[0])
        if name == "find":
            return found_by(previous.words)
        if name == "echo":
            return list(previous.words[1:])
        if name not in ("cat", "head", "tail", "sort", "uniq"):
            book = Ledger()
            note_program(name, previous.words, previous, book)
            if book.reads:
                return list(book.reads)
        if previous.previous is None and name in ("git", "ls", "rg"):
            return ["."]
        previous = previous.previous
    return ["{}"]


DOCKER_VALUES = values("""
    -e -v -p -w -u --name --network --env --volume --publish --workdir --user --entrypoint --env-file -m --memory
    --cpus --platform --mount --hostname -h --restart --gpus --label -l --add-host --shm-size --ipc --cap-add
    --security-opt --ulimit
""")


def behind_docker_run(words: list[str], ledger: Ledger) -> list[str] | None:
    """What a container is told to run, where it is told so and stays in the foreground."""
    rest = operands(words[1:], DOCKER_VALUES) if words[1:2] == ["run"] else []
    if len(rest) < 2 or has_flag(words, "", "-d", "--detach"):
        return None
    image = rest[0]
    at = words.index(image)
    ledger.runs.setdefault(words[0])
    return words[at + 1 :]


def behind_shell(name: str, words: list[str], command: Command, ledger: Ledger, depth: int) -> list[str] | None:
    """`bash -c "…"`, `bash <<EOF`, `tmux new -d "…"`: the text is gone through."""
    text: str | None = None
    if name in SHELLS:
        at = next((n for n, word in enumerate(words[1:], 1) if re.match(r"-[a-z]*c$", word)), None)
        if at is not None and at + 1 < len(words):
            text = words[at + 1]
        elif not operands(words, values("-o -O")) or words[-1] == "-":
            text = command.stdin if command.stdin is not None else produced(command.previous)
    elif name in ("powershell", "pwsh", "cmd"):
        at = next((n for n, word in enumerate(words[1:], 1) if word.lower() in ("-command", "-c", "/c", "/k")), None)
        text = " ".join(words[at + 1 :]) if at is not None else None
    elif name in ("tmux", "screen"):
        rest = operands(words, values("-s -S -t -n -c -x -y -dmS -L"))
        if rest[:1] == ["send-keys"] or (rest[:1] == ["send"]):
            text = "\n".join(word for word in rest[1:] if word not in ("Enter", "C-m", "C-c"))
        elif name == "screen" or rest[:1] in (["new"], ["new-session"], ["new-window"]):
            inner = rest if name == "screen" else rest[1:]
            if inner:
                ledger.services[command.text] = None
                text = " ".join(inner)
    if text is None:
        return None
    run_shell(text, ledger, command.cwd, depth + 1)
    return []


def run_program(program: Known, words: list[str], command: Command, ledger: Ledger, depth: int, *, stays: bool) -> None:
    """A program itself, out of all wrappers."""
    name = program.name
    if program.is_noted:
        ledger.runs[words[0]] = None
        if program.is_file:
            ledger.scripts[located(words[0], command.cwd)] = None
    checks = program.may_check and is_check(name, words)
    if program.is_python:
        checks = run_python(words, command, ledger, depth) or checks
    elif program.is_interpreter:
        run_interpreter(name, words, command, ledger, depth)
    if program.handler is not None:
        program.handler(words, command, ledger)
    if name == "find" and ("-exec" in words or "-execdir" in words):
        run_found(words, command, ledger, depth)
    elif name == "tee":
        keep_copies(words, command, ledger)
    if checks:
        ledger.tests[command.text.strip()] = None
    elif (program.may_serve and is_service(name, words)) or (stays and may_stay(name)):
        ledger.services[command.text.strip()] = None


def keep_copies(words: list[str], command: Command, ledger: Ledger) -> None:
    """`tee` writes what it is given into all of its files."""
    content = command.stdin if command.stdin is not None else produced(command.previous)
    if content is not None:
        for path in operands(words):
            ledger.keep(located(path, command.cwd), content)


def run_found(words: Sequence[str], command: Command, ledger: Ledger, depth: int) -> None:
    """`find … -exec program {} +`."""
    at = next(n for n, word in enumerate(words) if word in ("-exec", "-execdir"))
    inner: list[str] = []
    found = found_by(words)
    for word in words[at + 1 :]:
        if word in (";", "+", "\\;"):
            break
        inner += found if word == "{}" else [word.replace("{}", found[0])]
    if inner and depth < DEEPEST:
        run_command(Command(tuple(inner), command.text, command.cwd), ledger, depth + 1)


def run_python(words: list[str], command: Command, ledger: Ledger, depth: int) -> bool:
    """Python with a module, a program text, a text from its input, or a file. Whether the code checks something."""
    position = 1
    while position < len(words):
        word = words[position]
        if word == "-m":
            run_module(words[position + 1 :], command, ledger)
            return False
        if word == "-":
            break
        if word.startswith("-"):
            if CODE_FLAG.match(word):
                return scan_code("\n".join(words[position + 1 : position + 2]), command, ledger, depth)
            position += 2 if word in ("-W", "-X") else 1
            continue
        path = located(word, command.cwd)
        if len(word) <= 500 and "\n" not in word:
            ledger.scripts[path] = None
        content = ledger.take(path)
        if content is not None:
            ledger.checks[path] = scan_code(content, command, ledger, depth)
        return ledger.checks.get(path, False)
    code = command.stdin if command.stdin is not None else produced(command.previous)
    return scan_code(code, command, ledger, depth) if code else False


def scan_code(code: str, command: Command, ledger: Ledger, depth: int) -> bool:
    return scan_python(code, ledger, command.cwd, lambda text: run_shell(text, ledger, command.cwd, depth + 1))


def run_module(rest: list[str], command: Command, ledger: Ledger) -> None:
    """`python -m pip install x` is `pip install x`."""
    if not rest:
        return
    if rest[0] in ("pip", "venv", "virtualenv", "black", "isort", "ruff", "zipfile", "gzip"):
        name = "virtualenv" if rest[0] == "venv" else rest[0]
        note_program(name, [name, *rest[1:]], command, ledger)
    if rest[0].partition(".")[0] not in NO_SCRIPTS and len(rest[0]) <= 200 and "\n" not in rest[0]:
        ledger.scripts[rest[0]] = None


def run_interpreter(name: str, words: list[str], command: Command, ledger: Ledger, depth: int) -> None:
    code = option(words, *CODE_OPTIONS[name]) if name in CODE_OPTIONS else None
    if code is None:
        rest = operands(words, values("-r --require -o -O -cp -classpath -I --loader --import"))
        if name in ("go", "deno", "bun") and rest[:1] != ["run"]:
            return
        rest = rest[1:] if rest[:1] == ["run"] else rest
        path = rest[0] if rest and rest[0] != "-" else None
        if path is not None and len(path) <= 500 and "\n" not in path:
            where = located(path, command.cwd)
            ledger.scripts[where] = None
            content = ledger.take(where)
            if content is not None and name in (*SHELLS, "source", "."):
                run_shell(content, ledger, command.cwd, depth + 1)
            elif content is not None:
                note_code_texts(content, command, ledger)
            return
        code = command.stdin
    if code:
        note_code_texts(code, command, ledger)
