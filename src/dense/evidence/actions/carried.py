"""What earlier steps left for later ones: programs that were written and are run later, the file that an editor has
open. Still from calls alone."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from dense.evidence.actions.code_texts import note_code_texts
from dense.evidence.actions.effects import Effects
from dense.evidence.actions.ledger import Ledger
from dense.evidence.actions.programs.files import UNNAMED
from dense.evidence.actions.python_code import parsed, scan_python
from dense.evidence.actions.shell.command import Command
from dense.evidence.actions.shell.interpret import run_shell
from dense.text.search import contains_any

PROGRAMS = (".py", ".sh", ".bash", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".php")
"""Names of files that are known as programs."""
SHORT = 2_000
"""A program of so many characters is looked at as a whole."""
GOING_ON = ("", " ", "\t", ")", "]", "}", "#")
"""How lines begin that belong to the statement before."""
CLAUSES = ("else:", "elif ", "except", "finally:", "case ", '"""', "'''")
CHANGING = (
    *("open(", "write", "to_", "save", "dump", "mkdir", "makedirs", "remove", "unlink", "rmtree", "rename", "replace("),
    *("copy", "move", "touch", "system(", "subprocess", "run(", "Popen", "extract", "export", "ZipFile", "tarfile"),
)
"""Without one of these a statement changes no file."""
MOST = 100
"""How many programs are kept in mind, the latest ones."""


class Program(Struct, gc=False):
    """A program that some step wrote. What it does is found out when it runs."""

    path: str
    text: str
    effects: Effects | None = None


class Carried:
    """Goes along with the steps of one trajectory, in their order."""

    __slots__ = ("_opened", "_programs")

    def __init__(self) -> None:
        self._programs: dict[str, Program] = {}
        self._opened = ""

    def completed(self, done: Effects, contents: Mapping[str, str], opened: str) -> Effects:
        """What a step did, with what follows from earlier ones; `contents` are the files that it wrote, `opened` the
        one that it opened."""
        if opened:
            self._opened = opened
        if self._opened and UNNAMED in done.writes:
            done = replace(done, writes=tuple([self._opened if path == UNNAMED else path for path in done.writes]))
        if self._programs and done.scripts and not done.tests:
            done = self._with_programs(done, contents)
        for path, text in contents.items():
            if path.endswith(PROGRAMS):
                name = path.rpartition("/")[2]
                self._programs.pop(name, None)
                self._programs[name] = Program(path, text)
                if len(self._programs) > MOST:
                    del self._programs[next(iter(self._programs))]
        return done

    def _with_programs(self, done: Effects, contents: Mapping[str, str]) -> Effects:
        """With what the programs that it runs write and remove. Those that it wrote itself are known already."""
        writes, deletes = dict.fromkeys(done.writes), dict.fromkeys(done.deletes)
        for path in done.scripts:
            found = self._programs.get(path.rpartition("/")[2])
            if found is None or path in contents or not is_end(path, found.path):
                continue
            if found.effects is None:
                found.effects = effects_of(found)
            writes.update(dict.fromkeys(found.effects.writes))
            deletes.update(dict.fromkeys(found.effects.deletes))
        if len(writes) == len(done.writes) and len(deletes) == len(done.deletes):
            return done
        return replace(done, writes=tuple(writes), deletes=tuple(deletes))


def is_end(path: str, other: str) -> bool:
    """Whether one path is the end of the other: they may be the same file."""
    path, other = path.removeprefix("./"), other.removeprefix("./")
    return path == other or path.endswith(f"/{other}") or other.endswith(f"/{path}")


def changing_part(code: str) -> str:
    """Of a long program the statements at the margin that may change a file, and what they take from lines beside them:
    a tree of all of it takes longer than all else that is done with a trace. The whole where the part is no program."""
    if len(code) <= SHORT:
        return code
    blocks: list[list[str]] = []
    for line in code.split("\n"):
        is_new = line[:1] not in GOING_ON and not line.startswith(CLAUSES)
        if is_new and not (blocks and blocks[-1][-1].startswith("@")):
            blocks.append([line])
        elif blocks:
            blocks[-1].append(line)
    texts = ["\n".join(block) for block in blocks]
    part = "\n".join([text for text in texts if "\n" not in text.rstrip() or contains_any(text, CHANGING)])
    return part if parsed(part) is not None else code


def effects_of(program: Program) -> Effects:
    """What a program does when it runs, as far as its text tells."""
    ledger = Ledger()
    if program.path.endswith(".py"):
        scan_python(changing_part(program.text), ledger, "", lambda text: run_shell(text, ledger, "", 1))
    elif program.path.endswith((".sh", ".bash")):
        run_shell(program.text, ledger, "", 1)
    else:
        note_code_texts(program.text, Command((), ""), ledger)
    return ledger.close()
