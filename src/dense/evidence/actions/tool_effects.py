"""What a call of a tool that is no shell does, by the tool's kind and its arguments."""

from __future__ import annotations

import re

from dense.evidence.actions.effects import UNNAMED, EffectsBuilder
from dense.evidence.actions.programs.files import record_patch
from dense.evidence.actions.python_code import record_python
from dense.evidence.actions.shell.interpret import run_shell
from dense.evidence.actions.tool_calls import ParsedCall, without_fence
from dense.knowledge import tools as known
from dense.knowledge.tools import REMOVING_NAME, WRITING_NAME

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
    builder.ask(*(one for one in call.texts(known.ADDRESS_KEYS) if re.match(r"\w+://|[\w-]+\.[\w.-]+", one)))
    if REMOVING_NAME.search(name):
        builder.delete(*paths)
    elif WRITING_NAME.search(name):
        builder.write(*paths)
    else:
        builder.read(*(path for path in paths if "://" not in path))
    if call.name.strip() and len(call.name) <= MAX_NAME_CHARS and "\n" not in call.name:
        builder.runs[call.name] = None
