"""What earlier steps left for later ones: programs that were written and are run later, the file that an editor has
open. Still from calls alone."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from dense.evidence.actions.effects import UNNAMED, Effects, EffectsBuilder
from dense.evidence.actions.python_code import record_code_texts, record_python
from dense.evidence.actions.shell.interpret import run_shell
from dense.knowledge.programs import INTERPRETER_OF

MAX_PROGRAMS = 100
"""How many programs are kept, the latest ones."""


class WrittenProgram(Struct, gc=False):
    """A program that some step wrote. What it does is found out when it runs."""

    path: str
    text: str
    effects: Effects | None = None


class EarlierSteps:
    """Goes along with the steps of one trajectory, in their order."""

    def __init__(self) -> None:
        self._programs: dict[str, WrittenProgram] = {}
        self._opened = ""

    def complete(self, step: EffectsBuilder) -> Effects:
        """The effects of a step, with what follows from earlier ones."""
        effects = step.build()
        self._opened = step.opened or self._opened
        if self._opened and UNNAMED in effects.writes:
            writes = [self._opened if path == UNNAMED else path for path in effects.writes]
            effects = replace(effects, writes=tuple(writes))
        if self._programs and effects.scripts and not effects.tests:
            effects = self._with_programs(effects, step)
        for path, text in step.contents.items():
            if _ending(path) in INTERPRETER_OF:
                self._keep(WrittenProgram(path, text))
        return effects

    def _keep(self, program: WrittenProgram) -> None:
        name = program.path.rpartition("/")[2]
        self._programs.pop(name, None)
        self._programs[name] = program
        if len(self._programs) > MAX_PROGRAMS:
            del self._programs[next(iter(self._programs))]

    def _with_programs(self, effects: Effects, step: EffectsBuilder) -> Effects:
        """With what the programs that it runs read, write and remove. Those that it wrote itself are known already."""
        reads, writes, deletes = map(dict.fromkeys, (effects.reads, effects.writes, effects.deletes))
        for path in effects.scripts:
            found = self._programs.get(path.rpartition("/")[2])
            if found is None or path in step.contents or not is_same_end(path, found.path):
                continue
            if found.effects is None:
                found.effects = program_effects(found)
            reads |= dict.fromkeys(found.effects.reads)
            writes |= dict.fromkeys(found.effects.writes)
            deletes |= dict.fromkeys(found.effects.deletes)
        return replace(effects, reads=tuple(reads), writes=tuple(writes), deletes=tuple(deletes))


def is_same_end(path: str, other: str) -> bool:
    """Whether one path is the end of the other: they may be the same file."""
    path, other = path.removeprefix("./"), other.removeprefix("./")
    return path == other or path.endswith(f"/{other}") or other.endswith(f"/{path}")


def program_effects(program: WrittenProgram) -> Effects:
    """What a program does when it runs, as far as its text shows."""
    builder = EffectsBuilder()
    interpreter = INTERPRETER_OF[_ending(program.path)]
    if interpreter == "python":
        record_python(program.text, builder, "", lambda text: run_shell(text, builder, "", 1))
    elif interpreter == "bash":
        run_shell(program.text, builder, "", 1)
    else:
        record_code_texts(program.text, builder, "")
    return builder.build()


def _ending(path: str) -> str:
    return path.rpartition(".")[2]
