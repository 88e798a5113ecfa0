"""Tools that agents call: one row for each, or for several that work alike.

To add a tool, add its name to the row of its kind, or a row to `ROWS`. Names are as `plain_name` gives them: of Claude
Code, Codex, Gemini CLI, OpenHands, SWE-agent, mini-swe-agent, Terminus, Cline, Cursor, browser agents and others."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal, get_args

from msgspec import Struct

from dense.knowledge.program import by_key, words

Kind = Literal[
    "shell",  # runs shell text
    "chat_terminal",  # an agent that runs the fenced code in its message
    "python",  # runs Python
    "write",  # writes or edits the file that an argument names
    "editor",  # views, writes or edits, as the argument `command` says
    "patch",  # applies a patch that names its files
    "delete",
    "move",  # moves or copies
    "look",  # reads, lists or searches files
    "ask",  # opens an address or searches the web
    "talk",  # touches nothing but the conversation, or starts an agent whose actions count as its own
    "",  # no kind that says what it does to files
]

TRAITS = {
    "types": "types text into a terminal",
    "opens": "an editor without names edits what it named",
    "lists": "lists a folder",
    "delegates": "starts another agent",
    "plans": "updates the plan",
    "hands_over": "ends the work: submits, answers, gives up",
}


class Tool(Struct, frozen=True):
    """What is known of an agent's tool."""

    names: frozenset[str] = frozenset()
    kind: Kind = ""
    traits: frozenset[str] = frozenset()
    """Some of `TRAITS`."""


def _row(kind: Kind, names: str, traits: str = "") -> Tool:
    given = words(traits)
    if unknown := given.difference(TRAITS):
        raise ValueError(f"{names}: no such trait: {', '.join(sorted(unknown))}")
    if kind not in get_args(Kind):
        raise ValueError(f"{names}: no such kind: {kind}")
    listed = words(names)
    if not listed:
        raise ValueError("a row of tools without a name")
    if wrong := sorted(name for name in listed if not name.isalnum() or name != name.lower()):
        raise ValueError(f"{', '.join(wrong)}: never looked up: names are small letters and digits, as in `plain_name`")
    if not kind and not given:
        raise ValueError(f"{names}: neither a kind nor a trait, so that nothing is known of it")
    return Tool(listed, kind, given)


ROWS: tuple[Tool, ...] = (
    _row(
        "shell",
        """bash shell sh zsh terminal exec command cmd powershell pwsh execcommand executebash executecommand runcommand
        runshellcommand bashcommand runterminalcmd runterminalcommand runinterminal shellcommand localshell
        localshellcall launchprocess containerexec executeshell shellexec bashtool runbash runshell sandboxexec
        terminalexecute executeterminal bashexec linuxterminal cmdrun sshexec dockerexec runscript executescript
        terminaluse""",
    ),
    _row("shell", "writestdin sendkeys typekeys sendinput", "types"),
    _row("chat_terminal", "computerterminal codeexecutor executor"),
    _row(
        "python",
        """python ipython pythoninterpreter executepython runpython executeipythoncell ipythonrun codeinterpreter
        jupyter pythonrepl pythonexec jupytercell runcode executecode pythontool codeexecution notebookrun""",
    ),
    _row(
        "write",
        """edit write multiedit notebookedit writefile writetofile savefile newfile replace strreplace searchreplace
        editfile replaceinfile applydiff insert insertcontent insertatline appendfile appendtofile updatefile editblock
        fileedit filewrite fswrite undoedit writefiles editexistingfile strreplacebasededit editnotebook createnewfile
        singlefindandreplace filecreate saveto putfile writetext modifyfile patchfile morphedit smartedit
        createdirectory mkdir savecode savecodetofile codereplace replacecode codeinsert insertcode""",
    ),
    _row("write", "create createfile", "opens"),
    _row("editor", "strreplaceeditor strreplacebasededittool fileeditor texteditor openhandsfileeditor editor"),
    _row("patch", "applypatch patch"),
    _row("delete", "deletefile removefile delete remove rm filedelete deletedirectory deletepath"),
    _row("move", "movefile renamefile move rename copyfile copy mv cp"),
    _row(
        "look",
        """read readfile view viewfile cat readmanyfiles readfiles glob grep search searchfile searchdir findfile
        findfiles codebasesearch grepsearch filesearch searchfiles searchfilecontent viewimage fileread fsread
        readtextfile readmultiplefiles getfileinfo notebookread viewcodeitem searchcode ripgrep globfilesearch find
        readimage viewrange filesurfer getfilecontents readlints printcodecontext printdefinition scrolldown
        scrollup""",
    ),
    _row("look", "open openfile", "opens"),
    _row("look", "ls list listdir listdirectory listfiles directorytree tree", "lists"),
    _row(
        "ask",
        """webfetch websearch googlewebsearch fetch fetchurl browsernavigate navigate goto openurl visit visitpage
        visitwebpage browse browser websearchcall httprequest searchweb googlesearch tavilysearch bravesearch
        duckduckgosearch webbrowser browserinteractive wikipediasearch webread urlfetch readurl readurlcontent scrape
        scrapeurl crawl exasearch browsergoto searchinternet geturl request httpget puppeteernavigate""",
    ),
    _row("talk", "task agent spawnagent delegate newtask", "delegates"),
    _row("talk", "updateplan tasktracker taskcreate taskupdate plan", "plans"),
    _row(
        "talk",
        """submit terminate answer stop structuredoutput giveup transfertohumanagents transfertohuman finalresponse
        sendmsgtouser sendmessagetouser reportinfeasible exit""",
        "hands_over",
    ),
    _row(
        "talk",
        """think exitplanmode enterplanmode askuserquestion askuser killshell killbash toolsearch skill slashcommand
        respond messageuser savememory waitagent closeagent switchmode condensation bashoutput wait sleep
        taskoutput tasklist taskget""",
    ),
)

# Arguments, by the part that they play; the first that a call has counts.
COMMAND_KEYS = tuple(
    "command cmd keystrokes chars script commands commandline code input keys text bash_command".split()
)
CODE_KEYS = tuple("code input source python script content cell program command".split())
PATH_KEYS = tuple(
    """file_path path filepath filename file notebook_path target_file absolute_path relative_workspace_path targetfile
    file_name abspath absolutepath relativepath file_paths paths files dir_path directory dir dirpath output_path
    destination filenames uri target_notebook directory_path target_directory replace_path""".split()
)
TEXT_KEYS = tuple(
    "content file_text contents text code_edit file_content new_content new_string codecontent code".split()
)
OLD_TEXT_KEYS = tuple("old_string old_str oldtext old_text search find old old_code".split())
NEW_TEXT_KEYS = tuple("new_string new_str newtext new_text replace replacement new new_code".split())
SOURCE_KEYS = tuple("source source_path old_path from src oldpath source_file".split())
TARGET_KEYS = tuple("destination destination_path new_path to dst newpath target target_path destination_file".split())
ADDRESS_KEYS = tuple("url uri href address urls link".split())
QUERY_KEYS = tuple("query q search_term queries search_query search_queries prompt input".split())
PATTERN_KEYS = tuple("pattern query regex search_term search keyword search_query".split())
PATCH_KEYS = tuple("input patch diff patchtext patch_text content command cmd".split())
VERB_KEYS = ("command", "action", "operation")

LOOKING_VERBS = words("""
    get list search find lookup look read check show view describe fetch query calculate count retrieve inspect browse
    scroll screenshot snapshot extract navigate goto visit open scan watch hover help wait status info explain compare
    analyze summarize is has load locate detect identify
""")
"""First verbs in the names of tools that no row knows, and that only look."""
CHANGING_VERBS = words("""
    update create add book cancel modify delete set exchange return send post put remove edit write insert replace save
    upload move rename reserve order pay place register assign apply enable disable schedule approve reject change
    refund append patch commit push merge publish deploy transfer toggle mark grant revoke
""")
"""The same for those that change something."""

UNKNOWN = Tool()
_BY_NAME = by_key((name, row) for row in ROWS for name in row.names)
_END = r"(?:complet(?:e|ed|ion)|done|finish(?:ed)?)"
_WORK = r"(?:task|work|job|run|goal|session|conversation|chat|call|action)"
_RESULT = r"(?:(?:final|the|my|task)?(?:answer|result|solution|output|response|report|patch|task|work|flag)s?)"
SHAPES: tuple[tuple[re.Pattern[str], Tool], ...] = (
    (
        re.compile(r"(?:manage|update|write|set|read|clear)?todos?(?:list)?(?:write|read|update|manager|tool)?$"),
        Tool(kind="talk", traits=frozenset({"plans"})),
    ),
    (
        re.compile(
            rf"(?:agent|attempt|report|mark|signal)*{_WORK}?{_END}{_WORK}?$|end{_WORK}$|final(?:ize)?answer$"
            rf"|(?:submit|return|give|provide|deliver){_RESULT}$"
        ),
        Tool(kind="talk", traits=frozenset({"hands_over"})),
    ),
)
"""How to-do lists and hand-overs are named in harnesses that no row knows. Neither makes a file, whatever it names."""


def known_tool(name: str) -> Tool:
    """The row of a tool by its plain name, or what the shape of the name shows; `UNKNOWN` if neither says anything."""
    return _BY_NAME.get(name) or _shaped(name)


@lru_cache(1024)
def _shaped(name: str) -> Tool:
    return next((tool for shape, tool in SHAPES if shape.match(name)), UNKNOWN)


def tools_of_kind(*kinds: Kind) -> frozenset[str]:
    """The plain names of all tools of these kinds."""
    return frozenset(name for row in ROWS if row.kind in kinds for name in row.names)


@lru_cache(1024)
def own_name(name: str) -> str:
    """A tool's name without the server of an MCP tool and the name space of a function."""
    name = name[-200:]
    if name.startswith("mcp__") and name.count("__") >= 2:
        name = name.split("__", 2)[2]
    return re.split(r"[.:/]", name)[-1] or name


@lru_cache(1024)
def plain_name(name: str) -> str:
    """A tool's own name in small letters and digits, as the rows have it."""
    return "".join([letter for letter in own_name(name).lower() if letter.isalnum()])


SHELLS = tools_of_kind("shell")
PYTHONS = tools_of_kind("python")


def is_talk(name: str) -> bool:
    """Whether a tool, by its plain name, touches nothing but the conversation, or starts another agent."""
    return known_tool(name).kind == "talk"


KEY_PRESS = re.compile(
    r"(?:C-[a-z]|M-[a-z]|\^[A-Z]|Enter|Escape|Tab|Space|BSpace|Up|Down|Left|Right|PageUp|PageDown|Home|End|q|y|n|)$"
)
SHELL_FENCES = ("sh", "bash", "shell", "console")
SHELL_NAME = re.compile(r"(?:^|[_-])(?:bash|shell|exec|execute|terminal|command|cmd|console)(?:$|[_-])")
"""How a tool that no row knows is named if it is a shell."""
WRITING_NAME = re.compile(
    r"(?:^|[_-])(?:write|create|edit|update|append|insert|replace|patch|save|modify|overwrite|add|upload|export)(?:$|[_-])"
    r"|^(?:write|create|edit|save|append)|screenshot|generate"
)
NOT_STARTED = frozenset({"pending", "todo", "not_started", "open", "queued"})
"""How the planning tools of common agents mark an item that was not started."""
ITEM_FIELDS = ("content", "step", "title", "description", "text", "task", "name")
"""Fields in which they keep the words of an item."""
SAID_KEYS = tuple("description prompt task instruction instructions thought question message".split())
ANSWER_KEYS = tuple("answer result output final_answer args message summary text input content".split())
