"""What a call of a tool that is no shell does, and the programs that earlier steps wrote."""

from __future__ import annotations

import re

from msgspec import Struct
from msgspec.structs import replace

from dense.analysis.actions.calls import ParsedCall, without_fence
from dense.analysis.actions.effects import UNNAMED, Effects, EffectsBuilder
from dense.analysis.actions.programs.files import record_patch
from dense.analysis.actions.python_code import record_code_texts, record_python
from dense.analysis.actions.shell.interpret import run_shell
from dense.knowledge import tools as known
from dense.knowledge.programs import INTERPRETER_OF
from dense.knowledge.tools import WRITING_NAME

PART_KEYS = ("old_string", "old_str", "old_code")
"""Arguments of edits: what is written is not all of the file."""
MAX_NAME_CHARS = 200


def run_call(call: ParsedCall, builder: EffectsBuilder) -> None:
    """Records what a call of a tool that is no shell does."""
    match call.kind:
        case "talk" | "shell":
            pass
        case "chat_terminal":
            for language, code in call.fences:
                if language in ("python", "py", ""):
                    _run_python(code, builder)
        case "python":
            _run_code(call, builder)
        case "patch":
            if not record_patch(call.text(known.PATCH_KEYS) or "", builder):
                builder.write(*call.texts(known.PATH_KEYS))
        case "editor":
            _run_editor(call, builder)
        case "write":
            _run_writer(call, builder)
        case "delete" | "move":
            sources = call.texts(known.SOURCE_KEYS) or call.texts(known.PATH_KEYS)
            (builder.read if call.plain.startswith(("copy", "cp")) else builder.delete)(*sources)
            builder.write(*call.texts(known.TARGET_KEYS))
        case "ask":
            builder.ask(*(call.texts(known.ADDRESS_KEYS) or call.texts(known.QUERY_KEYS)))
        case "look":
            builder.read(*call.texts(known.PATH_KEYS))
            if "opens" in call.tool.traits:
                builder.opened = call.text(known.PATH_KEYS) or ""
        case "":
            _run_unknown(call, builder)


def _run_code(call: ParsedCall, builder: EffectsBuilder) -> None:
    code = call.text(known.CODE_KEYS)
    if code is None:
        return
    _run_python(code, builder)


def _run_python(code: str, builder: EffectsBuilder) -> None:
    builder.runs["python"] = None
    if record_python(without_fence(code), builder, "", lambda text: run_shell(text, builder, "", 1)):
        builder.tests["python"] = None


def _run_editor(call: ParsedCall, builder: EffectsBuilder) -> None:
    verb = call.text(known.VERB_KEYS)
    if verb == "view":
        builder.read(*call.texts(known.PATH_KEYS))
    elif verb is not None or "file_text" in call.arguments or "new_str" in call.arguments:
        _run_writer(call, builder)


def _run_writer(call: ParsedCall, builder: EffectsBuilder) -> None:
    paths = call.texts(known.PATH_KEYS)
    builder.write(*(paths or [UNNAMED]))
    if "opens" in call.tool.traits:
        builder.opened = paths[0] if paths else ""
    content = call.text(known.TEXT_KEYS)
    if len(paths) == 1 and content is not None and not any(key in call.arguments for key in PART_KEYS):
        builder.keep_content(paths[0], content)


def _run_unknown(call: ParsedCall, builder: EffectsBuilder) -> None:
    """A tool that no row knows: it ran, and its arguments show what they can."""
    name = call.name.split("__")[-1].lower()
    paths = [path for path in call.texts(known.PATH_KEYS) if re.search(r"[./\\~]", path) and " " not in path.strip()]
    builder.ask(*(text for text in call.texts(known.ADDRESS_KEYS) if re.match(r"\w+://|[\w-]+\.[\w.-]+", text)))
    if WRITING_NAME.search(name):
        builder.write(*paths)
    else:
        builder.read(*(path for path in paths if "://" not in path))
    if call.name.strip() and len(call.name) <= MAX_NAME_CHARS and "\n" not in call.name:
        builder.runs[call.name] = None


# Programs that earlier steps wrote

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
            written = self._programs.get(path.rpartition("/")[2])
            if written is None or path in step.contents or not is_same_end(path, written.path):
                continue
            if written.effects is None:
                written.effects = program_effects(written)
            reads |= dict.fromkeys(written.effects.reads)
            writes |= dict.fromkeys(written.effects.writes)
            deletes |= dict.fromkeys(written.effects.deletes)
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
