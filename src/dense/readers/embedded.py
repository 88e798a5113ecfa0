"""Calls that an agent wrote into the text of its message, because its scaffold has no tool calls.

Each function takes a message and gives the rest of the text and the calls that were in it, or None if this is not its
way of writing. The command inside a call is the text's own, byte for byte.

A message may be anything, also long and hostile: no pattern here looks for an end that may be missing, because it would
go through the rest of the text from every beginning."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from dense.readers.content import text_of
from dense.readers.json_text import BadJson, decode
from dense.readers.json_value import flag, is_obj, is_seq, objs
from dense.trajectory import ToolCall


class MessageWithCalls(Struct, frozen=True, gc=False):
    """A message, split into what was said and what was called."""

    text: str
    calls: list[ToolCall]


_FENCE = re.compile(r"```(?:bash|sh|shell|mswea_bash_command)[ \t]*\n")
_FENCE_END = "\n```"
_INDENTED_END = re.compile(r"\n[ \t]{1,40}```")
_BLANK = re.compile(r"[ \t]*\Z")


def bash_fence(message: str) -> MessageWithCalls | None:
    """One shell block between the fences of Markdown (mini-swe-agent). Two are an error there, so no call was made.

    As the program does it, a block ends at the first line that begins with backticks, whatever follows them."""
    fence = _FENCE.search(message)
    if fence is None:
        return None
    start, inside = fence.span()
    end = message.find(_FENCE_END, inside)
    behind = end + len(_FENCE_END)
    if end < 0 or ("```" in message[behind:] and _has_block(message, behind)):
        return None
    said = (message[:start] + message[behind:]).strip()
    return MessageWithCalls(said, [ToolCall("bash", {"command": message[inside:end]})])


def indented_fence(message: str) -> MessageWithCalls | None:
    """The same for the only shell block of a message if its end is indented, as in an item of a list. Not every version
    of mini-swe-agent runs it: the answer shows whether this one did. An indent that all lines share is left out."""
    fence = _FENCE.search(message)
    end = _INDENTED_END.search(message, fence.end() - 1) if fence else None
    if fence is None or end is None or _FENCE.search(message, end.end()):
        return None
    start = message.rfind("\n", 0, fence.start()) + 1
    indent = message[start : fence.start()]
    command = message[fence.end() : end.start()] if end.start() >= fence.end() else ""
    lines = command.split("\n")
    if indent and _BLANK.match(indent) and all(line.startswith(indent) for line in lines if line.strip()):
        command = "\n".join(line.removeprefix(indent) for line in lines)
    if not command.strip():
        return None
    said = (message[: fence.start()] + message[end.end() :]).strip()
    return MessageWithCalls(said, [ToolCall("bash", {"command": command})])


def _has_block(message: str, start: int) -> bool:
    fence = _FENCE.search(message, start)
    return fence is not None and message.find(_FENCE_END, fence.end()) >= 0


_OUTPUT = re.compile(r"\s*(?:<returncode>|<output>|<warning>\s*The output)")
"""How mini-swe-agent answers a command that it ran."""
_NOT_RUN = re.compile(r"\s*Previous response had parsing errors")
"""How Terminus-2 answers if it could not parse an action."""


def spoken_calls(message: str, answer: str | None) -> MessageWithCalls | None:
    """The calls in a message of a chat whose scaffold has no tool calls; None if it makes none, or if the answer shows
    that they were not run. `answer` is what came back, None if nothing did. Fences are calls only if a program
    answers: people and models write commands to each other too."""
    if answer is not None and _NOT_RUN.match(answer):
        return None
    if spoken := terminus(message) or function_xml(message):
        return spoken
    return bash_fence(message) or indented_fence(message) if answer and _OUTPUT.match(answer) else None


_XML_CALL = re.compile(r"<function=([^<>\s]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_XML_PARAMETER = re.compile(r"<parameter=([^<>\s]+)>\n?")


def function_xml(message: str) -> MessageWithCalls | None:
    """`<function=name><parameter=key>value</parameter></function>` (OpenHands and SWE-agent without function
    calling)."""
    if "<function=" not in message:
        return None
    calls = [ToolCall(call[1], _parameters(call[2])) for call in _XML_CALL.finditer(message)]
    return MessageWithCalls(_XML_CALL.sub("", message).strip(), calls) if calls else None


def _parameters(text: str) -> dict[str, Any]:
    return {tag[1]: value.removesuffix("\n") for tag, value in _elements(text, _XML_PARAMETER, "</parameter>")}


def _elements(text: str, opening: re.Pattern[str], closing: str) -> Iterator[tuple[re.Match[str], str]]:
    """The elements with their content. Where no closing tag is left, there is no further element."""
    tag = opening.search(text)
    while tag and (end := text.find(closing, tag.end())) >= 0:
        yield tag, text[tag.end() : end]
        tag = opening.search(text, end + len(closing))


def terminus(message: str) -> MessageWithCalls | None:
    """Terminus-2's raw answer: JSON or XML with analysis, plan, keystrokes and whether the task is complete.

    Terminus-2 takes no answer without analysis and plan, and others write of commands too: without them it is none."""
    if '"commands"' in message and (start := _start_of_answer(message)) >= 0:
        return _terminus_json(message[start : message.rfind("}") + 1])
    if "<commands" in message:
        return _terminus_xml(message)
    return None


def _start_of_answer(message: str) -> int:
    """Where the JSON begins: thoughts before it may have braces of their own. -1 if there is none."""
    match = _FIRST_KEY.search(message, message.rfind("</think>") + 1)
    return match.start() if match else message.find("{")


_FIRST_KEY = re.compile(r"\{\s{0,20}\"(?:analysis|plan|state_analysis|explanation|commands|task_complete)\"")


def _terminus_json(text: str) -> MessageWithCalls | None:
    try:
        answer: Any = decode(text.encode())[0]
    except BadJson:
        return None
    if not is_obj(answer) or not (_THOUGHTS & answer.keys()) or not is_seq(answer.get("commands")):
        return None
    calls = [ToolCall("bash_command", command) for command in objs(answer["commands"])]
    if flag(answer.get("task_complete"), answer.get("is_task_complete")):
        calls.append(ToolCall("mark_task_complete"))
    analysis, plan = (text_of(answer.get(new)) or text_of(answer.get(old)) for new, old in _THOUGHT_KEYS)
    return MessageWithCalls(_analysis_and_plan(analysis, plan), calls)


_THOUGHT_KEYS = (("analysis", "state_analysis"), ("plan", "explanation"))
"""What Terminus-2 calls its thoughts, and what Terminus-1 did."""
_THOUGHTS = frozenset(key for keys in _THOUGHT_KEYS for key in keys)


_KEYSTROKES = re.compile(r"<keystrokes([^<>]*)>")
_DURATION = re.compile(r"duration=[\"']([\d.]+)[\"']")


def _terminus_xml(text: str) -> MessageWithCalls | None:
    before, _, rest = text.partition("<commands")
    inside, _, after = rest.rpartition("</commands>")
    said = before + after
    analysis, plan = element(said, "analysis"), element(said, "plan")
    if not (analysis or plan):
        return None
    calls: list[ToolCall] = []
    for tag, keystrokes in _elements(inside or rest, _KEYSTROKES, "</keystrokes>"):
        arguments: dict[str, Any] = {"keystrokes": keystrokes}
        if duration := _DURATION.search(tag[1]):
            arguments["duration"] = duration[1]
        calls.append(ToolCall("bash_command", arguments))
    if element(said, "task_complete").strip() == "true":
        calls.append(ToolCall("mark_task_complete"))
    return MessageWithCalls(_analysis_and_plan(analysis, plan), calls)


def element(text: str, name: str) -> str:
    """The content of the first element of this name, "" if there is none."""
    start = text.find(f"<{name}>")
    end = text.find(f"</{name}>", start)
    return text[start + len(name) + 2 : end].removeprefix("\n").removesuffix("\n") if 0 <= start < end else ""


def _analysis_and_plan(analysis: str, plan: str) -> str:
    """As Harbor writes them when it converts the answer itself."""
    return "\n".join(f"{name}: {text}" for name, text in (("Analysis", analysis), ("Plan", plan)) if text)


type Functions = Mapping[str, tuple[str, ...]]
"""The functions that a prompt offers, each with the names of its parameters."""

_OFFERED = re.compile(r"\(([^()\n]{0,300})\)(?=(?:\s?->[^:\n]{0,60})?\s?:)")
"""The parameters of a function that is listed. The name before them is searched for then: a prompt has many names."""
_NAME = re.compile(r"(?<![\w.])(?<!def )[A-Za-z_]\w{0,60}\Z")
MAX_FUNCTIONS = 100
MAX_CODE_CHARS = 200_000
"""Beyond this a message is not taken apart."""
MAX_INTEGER = 2**53
"""Numbers beyond this are kept as texts."""


def offered_functions(prompts: Iterable[str]) -> Functions:
    """The functions that a prompt lists as tools, `name(parameter: type, …): what it does`."""
    functions: dict[str, tuple[str, ...]] = {}
    for prompt in prompts:
        for listed in _OFFERED.finditer(prompt):
            name = _NAME.search(prompt, max(listed.start() - 61, 0), listed.start())
            if name and len(functions) < MAX_FUNCTIONS and (parameters := _parameters_of(listed[1])) is not None:
                functions.setdefault(name[0], parameters)
    return functions


def _parameters_of(text: str) -> tuple[str, ...] | None:
    tree = _parsed(f"def f({text}): 0")
    if tree is None or len(tree.body) != 1 or not isinstance(defined := tree.body[0], ast.FunctionDef):
        return None
    return tuple(
        [argument.arg for argument in (*defined.args.posonlyargs, *defined.args.args, *defined.args.kwonlyargs)]
    )


def python_calls(message: str, functions: Functions) -> MessageWithCalls | None:
    """A message that is a Python program, as a whole, and calls functions that the prompt offers (mini-swe-agent with
    code as messages). What it says is the text before the first thing that it does."""
    if len(message) > MAX_CODE_CHARS or not any(f"{name}(" in message for name in functions):
        return None
    tree = _parsed(message)
    calls = [] if tree is None else _calls_in(tree, functions)
    if tree is None or not calls:
        return None
    body = _body(tree)
    is_plain = all(isinstance(statement, ast.Expr | ast.Assign | ast.Return) for statement in body)
    return MessageWithCalls(
        "\n".join(message.split("\n")[: body[0].lineno - 1]).strip() if is_plain else message, calls
    )


def broken_code(message: str) -> MessageWithCalls:
    """The same for a program that does not even parse, and was run all the same: one call of an interpreter."""
    lines = message.split("\n")
    start = next((n for n, line in enumerate(lines) if line.strip() and not line.startswith("#")), 0)
    return MessageWithCalls("\n".join(lines[:start]).strip(), [ToolCall("python", {"code": "\n".join(lines[start:])})])


def _parsed(code: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a wrong escape in a trace is no concern of whoever runs us
        try:
            return ast.parse(code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def _body(tree: ast.Module) -> list[ast.stmt]:
    """What a program does: the body of the one function that it defines, which its harness calls."""
    if len(tree.body) == 1 and isinstance(tree.body[0], ast.FunctionDef):
        return tree.body[0].body
    return tree.body


def _calls_in(tree: ast.Module, functions: Functions) -> list[ToolCall]:
    """The calls in the order of the text, with the values of arguments that are written down; of others their text."""
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Call | ast.Assign)]
    nodes.sort(key=lambda node: (node.lineno, node.col_offset))
    values: dict[str, Any] = {}
    calls: list[ToolCall] = []
    for node in nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    values[target.id] = _value(node.value, values)
        elif isinstance(node.func, ast.Name) and node.func.id in functions:
            names = functions[node.func.id]
            names += tuple([f"argument_{n}" for n in range(len(names) + 1, len(node.args) + 1)])
            arguments = dict(zip(names, [_value(argument, values) for argument in node.args], strict=False))
            arguments |= {argument.arg: _value(argument.value, values) for argument in node.keywords if argument.arg}
            calls.append(ToolCall(node.func.id, arguments))
    return calls


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, str):
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        if value is None or isinstance(value, bool) or (isinstance(value, int) and abs(value) <= MAX_INTEGER):
            return value
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return ""
