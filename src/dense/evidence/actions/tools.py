"""What a call of a tool does, by the tool's name and its arguments; and the shell texts among calls."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

import msgspec
from msgspec import Struct

from dense.evidence.actions.ledger import Ledger
from dense.evidence.actions.patches import note_patch
from dense.evidence.actions.programs.files import UNNAMED
from dense.evidence.actions.programs.network import ask
from dense.evidence.actions.python_code import scan_python
from dense.evidence.actions.shell.arguments import Remembering, values
from dense.evidence.actions.shell.interpret import run_shell
from dense.knowledge.programs import program_name
from dense.trajectory import ToolCall

SHELLS = values("""
    bash shell sh zsh terminal exec command cmd powershell pwsh execcommand executebash executecommand runcommand
    runshellcommand bashcommand runterminalcmd runterminalcommand runinterminal shellcommand localshell
    localshellcall launchprocess containerexec executeshell shellexec bashtool runbash runshell sandboxexec
    terminalexecute executeterminal bashexec linuxterminal cmdrun writestdin sendkeys typekeys sendinput sshexec
    dockerexec runscript executescript terminaluse
""")
"""Names without case, `_` and `-`."""
CHAT_TERMINALS = values("computerterminal codeexecutor executor")
"""Agents that run the fenced code of what they are told."""
TYPING = values("writestdin sendkeys typekeys sendinput")
PYTHONS = values("""
    python ipython pythoninterpreter executepython runpython executeipythoncell ipythonrun codeinterpreter jupyter
    pythonrepl pythonexec jupytercell runcode executecode pythontool codeexecution notebookrun
""")
WRITERS = values("""
    edit write multiedit notebookedit writefile writetofile createfile savefile newfile create replace strreplace
    searchreplace editfile replaceinfile applydiff insert insertcontent insertatline appendfile appendtofile
    updatefile editblock fileedit filewrite fswrite undoedit writefiles editexistingfile strreplacebasededit
    editnotebook createnewfile singlefindandreplace filecreate saveto putfile writetext modifyfile patchfile
    morphedit smartedit createdirectory mkdir savecode savecodetofile codereplace replacecode codeinsert insertcode
""")
PATCHES = values("applypatch patch")
EDITORS = values("strreplaceeditor strreplacebasededittool fileeditor texteditor openhandsfileeditor editor")
DELETERS = values("deletefile removefile delete remove rm filedelete deletedirectory deletepath")
MOVERS = values("movefile renamefile move rename copyfile copy mv cp")
LOOKERS = values("""
    read readfile view viewfile open openfile cat readmanyfiles readfiles ls listdir listdirectory glob grep search
    searchfile searchdir findfile findfiles codebasesearch grepsearch filesearch searchfiles listfiles
    searchfilecontent viewimage fileread fsread list directorytree readtextfile readmultiplefiles getfileinfo
    notebookread viewcodeitem searchcode ripgrep globfilesearch scrolldown scrollup find readimage viewrange
    filesurfer tree getfilecontents readlints printcodecontext printdefinition
""")
OPENERS = values("open openfile create createfile")
"""Tools after which an editor without names edits what they named."""
ASKERS = values("""
    webfetch websearch googlewebsearch fetch fetchurl browsernavigate navigate goto openurl visit visitpage
    visitwebpage browse browser websearchcall httprequest searchweb googlesearch tavilysearch bravesearch
    duckduckgosearch webbrowser browserinteractive wikipediasearch webread search_web urlfetch readurl
    readurlcontent scrape scrapeurl crawl exasearch browsergoto searchinternet geturl request httpget
    puppeteernavigate
""")
SILENT = values("""
    task agent todowrite todoread think finish submit updateplan plan finalanswer marktaskcomplete taskcomplete
    attemptcompletion exitplanmode enterplanmode askuserquestion askuser bashoutput killshell killbash tasktracker
    reporttaskcompletion complete done wait sleep toolsearch skill slashcommand respond messageuser taskoutput
    savememory spawnagent waitagent closeagent delegate newtask switchmode condensation taskcreate taskupdate
    tasklist taskget
""")
"""Tools that touch nothing but the conversation, and those that start agents: what these do counts as their own."""
OTHERS = PYTHONS.union(WRITERS, EDITORS, PATCHES, LOOKERS, ASKERS, DELETERS, MOVERS, SILENT)
"""Tools that are known not to be shells."""

COMMAND_KEYS = (
    "command",
    "cmd",
    "keystrokes",
    "chars",
    "script",
    "commands",
    "commandline",
    "code",
    "input",
    "keys",
    "text",
    "bash_command",
)
CODE_KEYS = ("code", "input", "source", "python", "script", "content", "cell", "program", "command")
PATH_KEYS = (
    "file_path",
    "path",
    "filepath",
    "filename",
    "file",
    "notebook_path",
    "target_file",
    "absolute_path",
    "relative_workspace_path",
    "targetfile",
    "file_name",
    "abspath",
    "absolutepath",
    "relativepath",
    "file_paths",
    "paths",
    "files",
    "dir_path",
    "directory",
    "dir",
    "dirpath",
    "output_path",
    "destination",
    "filenames",
    "uri",
    "target_notebook",
    "directory_path",
    "target_directory",
    "replace_path",
)
TEXT_KEYS = (
    "content",
    "file_text",
    "contents",
    "text",
    "code_edit",
    "file_content",
    "new_content",
    "new_string",
    "codecontent",
    "code",
)
SOURCE_KEYS = ("source", "source_path", "old_path", "from", "src", "oldpath", "source_file")
TARGET_KEYS = (
    "destination",
    "destination_path",
    "new_path",
    "to",
    "dst",
    "newpath",
    "target",
    "target_path",
    "destination_file",
)
ADDRESS_KEYS = ("url", "uri", "href", "address", "urls", "link")
QUERY_KEYS = ("query", "q", "search_term", "queries", "search_query", "search_queries", "prompt", "input")
KEY_PRESS = re.compile(
    r"(?:C-[a-z]|M-[a-z]|\^[A-Z]|Enter|Escape|Tab|Space|BSpace|Up|Down|Left|Right|PageUp|PageDown|Home|End|q|y|n|)$"
)
FENCE = re.compile(r"```(\w*)[^\n]*\n(.*?)```", re.DOTALL)
WRITING = re.compile(
    r"(?:^|[_-])(?:write|create|edit|update|append|insert|replace|patch|save|modify|overwrite|add|upload|export)(?:$|[_-])|^(?:write|create|edit|save|append)"
)
REMOVING = re.compile(r"(?:^|[_-])(?:delete|remove|unlink)(?:$|[_-])")
RUNNING = re.compile(r"(?:^|[_-])(?:bash|shell|exec|execute|terminal|command|cmd|console)(?:$|[_-])")
SHELL_FENCES = ("sh", "bash", "shell", "console")


class Call(Struct, frozen=True, gc=False):
    """A tool's call with the name as the tables know it."""

    name: str
    plain: str
    arguments: dict[str, Any]

    def text(self, keys: Sequence[str]) -> str | None:
        return next(iter(self.texts(keys)), None)

    def texts(self, keys: Sequence[str]) -> list[str]:
        """The first argument that one of these names has, as texts."""
        for key in filter(self.arguments.__contains__, keys):
            value = self.arguments[key]
            if isinstance(value, str):
                return [value]
            if isinstance(value, list):
                texts = [one for one in map(path_of, cast("list[Any]", value)) if one is not None]
                if texts:
                    return texts
        return []


def path_of(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, dict):
        inner = cast("dict[Any, Any]", value)
        return next(
            (
                inner[key]
                for key in ("path", "file_path", "url", "query", "keystrokes")
                if isinstance(inner.get(key), str)
            ),
            None,
        )
    return None


def known(call: ToolCall) -> Call:
    """Without the server of an MCP tool and the name space of a function; arguments by small names."""
    arguments = call.arguments
    if len(arguments) == 1 and isinstance(text := arguments.get("input"), str) and text.startswith("{"):
        arguments = decoded(text) or arguments
    name = call.name
    return Call(name, plain_name(name), {key.lower(): value for key, value in arguments.items()})


def _plain_name(name: str) -> str:
    if name.startswith("mcp__") and name.count("__") >= 2:
        name = name.split("__", 2)[2]
    name = re.split(r"[.:/]", name)[-1] or name
    return re.sub(r"[^a-z0-9]", "", name.lower())


plain_name = Remembering(_plain_name).__getitem__
"""A tool's name as the tables have it: small letters and digits."""


def decoded(text: str) -> dict[str, Any] | None:
    """Arguments that were recorded as JSON text."""
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def is_shell(call: Call) -> bool:
    if call.plain in SHELLS:
        return True
    if call.plain in CHAT_TERMINALS:
        return any(language in SHELL_FENCES for language, _ in fences(call))
    if call.plain in OTHERS:
        return False
    return "keystrokes" in call.arguments or bool(RUNNING.search(call.name.lower()) and call.text(("command", "cmd")))


def shell_text(call: Call) -> str | None:
    """The shell text that a shell tool was given."""
    if call.plain in CHAT_TERMINALS:
        return "\n".join(code for language, code in fences(call) if language in SHELL_FENCES)
    for key in COMMAND_KEYS:
        value = call.arguments.get(key)
        if isinstance(value, str):
            if key in ("keystrokes", "chars", "keys") or call.plain in TYPING:
                return typed(value)
            return fenced(value)
        if isinstance(value, list) and value:
            return text_of_words([str(word) for word in cast("list[Any]", value)])
    return None


def fences(call: Call) -> list[tuple[str, str]]:
    return FENCE.findall(call.text(("input", "message", "content")) or "")


def fenced(text: str) -> str:
    """Without the fence that a chat puts around it."""
    found = FENCE.search(text) if text.lstrip().startswith("```") else None
    return found[2] if found else text


def typed(keys: str) -> str:
    """What was typed into a terminal, without the key that ends it; nothing where only keys were pressed."""
    text = without_last_keys(keys)
    return "" if KEY_PRESS.match(text.strip()) else text


def without_last_keys(keys: str) -> str:
    while True:
        text = keys.rstrip("\r\n").removesuffix("Enter").removesuffix("C-m")
        if text == keys:
            return keys
        if not text or text[-1].isspace():
            keys = text.rstrip(" \t")
        else:  # `Enter` ends a word, as in `pressEnter`
            return keys.rstrip("\r\n")


def text_of_words(words: list[str]) -> str:
    """`["bash", "-lc", "…"]` is the text itself."""
    name = program_name(words[0])
    if len(words) >= 3 and (
        (name in ("bash", "sh", "zsh") and re.match(r"-[a-z]*c$", words[1]))
        or (name in ("powershell", "pwsh", "cmd") and words[-2].lower() in ("-command", "-c", "/c"))
    ):
        return words[-1] if name not in ("bash", "sh", "zsh") else words[2]
    if any(" " in word or "\n" in word for word in words[:1]):
        return "\n".join(words)  # a list of commands, not of words
    return shlex.join(words)


def in_order(calls: Sequence[ToolCall]) -> tuple[Call | str, ...]:
    """The calls of a step, those of shells as their texts. What is typed bit by bit, or line by line into an
    open heredoc, is one text."""
    if len(calls) != 1:
        return tuple(joined(map(known, calls)))
    name, arguments = calls[0].name, calls[0].arguments
    text = arguments.get("command") if len(arguments) == 1 else None
    if isinstance(text, str) and takes_commands(name):  # as most do
        text = fenced(text) if "```" in text else text
    else:
        call = known(calls[0])
        if is_typed(call):
            return tuple(joined([call]))
        if not is_shell(call):
            return (call,)
        text = shell_text(call)
    return (text,) if text and not text.isspace() else ()


def _takes_commands(name: str) -> bool:
    plain = plain_name(name)
    return plain in SHELLS and plain not in TYPING


takes_commands = Remembering(_takes_commands).__getitem__
"""Whether a tool is a shell that is given whole commands."""


def joined(calls: Iterable[Call]) -> Iterator[Call | str]:
    open_text = ""
    for call in calls:
        if not is_shell(call):
            yield call
            continue
        text = shell_text(call)
        if text is None:
            continue
        if not is_typed(call):
            yield from filter(str.strip, [open_text, text])
            open_text = ""
            continue
        raw = next((value for key in COMMAND_KEYS if isinstance(value := call.arguments.get(key), str)), "\n")
        if open_text and text:
            text = open_text + text
        elif open_text:
            text = open_text if raw.strip() in ("", "Enter", "C-m") else ""
        open_text = ""
        if (
            text
            and (has_open_heredoc(text) or without_last_keys(raw) == raw)
            and raw.strip() not in ("Enter", "C-m", "")
        ):
            open_text = text + ("" if without_last_keys(raw) == raw else "\n")
        elif text.strip():
            yield text
    if open_text.strip():
        yield open_text.rstrip("\n")


def is_typed(call: Call) -> bool:
    return "keystrokes" in call.arguments or call.plain in TYPING


def has_open_heredoc(text: str) -> bool:
    from dense.evidence.actions.shell.heredocs import take_heredocs

    if "<<" not in text:
        return False
    return len(take_heredocs(text, take_open=True)[1]) > len(take_heredocs(text, take_open=False)[1])


def run_call(tool: Call, ledger: Ledger) -> None:
    """Notes what a call of a tool that is no shell does."""
    if tool.plain in SILENT:
        return
    if tool.plain in CHAT_TERMINALS:
        for language, code in fences(tool):
            if language in ("python", "py", ""):
                run_code(Call(tool.name, "python", {"code": code}), ledger)
    elif tool.plain in PYTHONS:
        run_code(tool, ledger)
    elif tool.plain in PATCHES:
        if not note_patch(
            tool.text(("input", "patch", "diff", "patchtext", "patch_text", "content", "command", "cmd")) or "", ledger
        ):
            ledger.write(*tool.texts(PATH_KEYS))
    elif tool.plain in EDITORS:
        run_editor(tool, ledger)
    elif tool.plain in WRITERS:
        run_writer(tool, ledger)
    elif tool.plain in DELETERS:
        ledger.delete(*tool.texts(PATH_KEYS))
    elif tool.plain in MOVERS:
        run_mover(tool, ledger)
    elif tool.plain in ASKERS:
        ask(ledger, *(tool.texts(ADDRESS_KEYS) or tool.texts(QUERY_KEYS)))
    elif tool.plain in LOOKERS:
        ledger.read(*tool.texts(PATH_KEYS))
        if tool.plain in OPENERS:
            ledger.opened = tool.text(PATH_KEYS) or ""
    else:
        run_unknown(tool, ledger)


def run_code(tool: Call, ledger: Ledger) -> None:
    code = tool.text(CODE_KEYS)
    if code is None:
        return
    ledger.runs["python"] = None
    language = tool.arguments.get("language")
    if isinstance(language, str) and language.lower() in ("bash", "sh", "shell"):
        run_shell(code, ledger)
        return
    for line in code.split("\n") if "!" in code or "%" in code else ():
        if re.match(r"\s*(?:!|%(?:pip|conda|cd)\b)", line):
            run_shell(line.strip().lstrip("!%"), ledger)
    if code.startswith("%%bash"):
        run_shell(code.partition("\n")[2], ledger)
    elif scan_python(fenced(code), ledger, "", lambda text: run_shell(text, ledger, "", 1)):
        ledger.tests["python"] = None


def run_editor(tool: Call, ledger: Ledger) -> None:
    verb = tool.text(("command", "action", "operation"))
    if verb == "view":
        ledger.read(*tool.texts(PATH_KEYS))
    elif verb is not None or "file_text" in tool.arguments or "new_str" in tool.arguments:
        run_writer(tool, ledger)


def run_writer(tool: Call, ledger: Ledger) -> None:
    paths = (
        tool.texts(PATH_KEYS) or edited_paths(tool.arguments.get("edits")) or edited_paths(tool.arguments.get("files"))
    )
    ledger.write(*(paths or [UNNAMED]))
    if tool.plain in OPENERS:
        ledger.opened = paths[0] if paths else ""
    content = tool.text(TEXT_KEYS)
    if (
        len(paths) == 1
        and content is not None
        and not any(key in tool.arguments for key in ("old_string", "old_str", "old_code"))
    ):
        ledger.keep(paths[0], content)


def edited_paths(edits: Any) -> list[str]:
    if not isinstance(edits, list):
        return []
    return list(dict.fromkeys(path for path in map(path_of, cast("list[Any]", edits)) if path))


def run_mover(tool: Call, ledger: Ledger) -> None:
    sources = tool.texts(SOURCE_KEYS) or tool.texts(("path", "file_path"))
    (ledger.read if tool.plain.startswith(("copy", "cp")) else ledger.delete)(*sources)
    ledger.write(*tool.texts(TARGET_KEYS))


def run_unknown(tool: Call, ledger: Ledger) -> None:
    """A tool that no table knows: it ran, and its arguments tell what they can."""
    name = tool.name.split("__")[-1].lower()
    paths = [path for path in tool.texts(PATH_KEYS) if re.search(r"[./\\~]", path) and " " not in path.strip()]
    ask(ledger, *(address for address in tool.texts(ADDRESS_KEYS) if re.match(r"\w+://|[\w-]+\.[\w.-]+", address)))
    if REMOVING.search(name):
        ledger.delete(*paths)
    elif WRITING.search(name) or "screenshot" in name or "generate" in name:
        ledger.write(*paths)
    else:
        ledger.read(*(path for path in paths if "://" not in path))
    if len(tool.name) <= 200 and tool.name.strip() and "\n" not in tool.name:
        ledger.runs[tool.name] = None


def background_texts(calls: Sequence[ToolCall]) -> list[str]:
    """Commands that a harness was asked to leave running."""
    found: list[str] = []
    for call in calls:
        if len(call.arguments) > 1 and is_left_running(call) and (text := shell_text(known(call))):
            found.append(text.strip())
    return found


def is_left_running(call: ToolCall) -> bool:
    return call.arguments.get("run_in_background") is True or call.arguments.get("is_background") is True
