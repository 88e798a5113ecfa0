"""Codex's `exec` tool: its argument is a JavaScript program, and the calls inside are the actions.

The program is parsed with the grammar of JavaScript and evaluated as far as its values are written down: literals,
templates, constants, loops and `map` over literal lists, functions that it defines itself. What cannot be known stays
as the text of its expression. Nothing is executed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from dense.readers.json_value import is_obj, is_seq, obj
from dense.trajectory import ToolCall

if TYPE_CHECKING:
    from tree_sitter import Node

MAX_CODE_CHARS = 400_000
MAX_CALLS = 200
MAX_WORK = 20_000
"""So many expressions are looked at: a loop over a long list of calls is cut there."""
MAX_NESTING = 60

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}


@dataclass
class CodeProgram:
    """A program's calls in the order in which it makes them, and which call each of its printed texts shows."""

    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    prints: list[int | None] = field(default_factory=list["int | None"])
    computed: set[int] = field(default_factory=set[int])
    """Calls of which an argument could not be known."""


_NO_CALLS: frozenset[int] = frozenset()


@dataclass(frozen=True)
class _Unknown:
    """A value that is known only when the program runs. `calls` are the calls whose results it is made of."""

    text: str
    calls: frozenset[int] = _NO_CALLS


@dataclass(frozen=True)
class _Function:
    node: Node
    names: dict[str, Any]


@cache
def _parser() -> Any:
    import tree_sitter_javascript
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_javascript.language()))


def program(code: str, call_id: str | None) -> CodeProgram | None:
    """The calls that a program makes; None if it makes none that can be seen."""
    if "tools" not in code or len(code) > MAX_CODE_CHARS:
        return None
    parsed, data = CodeProgram(), code.encode("utf-8", errors="replace")
    with suppress(_OutOfWork, RecursionError):  # what was found until then counts
        _Evaluation(data, parsed).run(_parser().parse(data).root_node)
    if not parsed.calls:
        return None
    if len(parsed.calls) == 1:
        parsed.calls = [ToolCall(parsed.calls[0].name, parsed.calls[0].arguments, call_id)]
    else:
        parsed.calls = [
            ToolCall(call.name, call.arguments, f"{call_id or 'exec'}.{number}")
            for number, call in enumerate(parsed.calls, 1)
        ]
    return parsed


class _OutOfWork(Exception):
    """The program does more than is looked at."""


class _Evaluation:
    """Goes through a program in the order in which it would run."""

    def __init__(self, code: bytes, result: CodeProgram) -> None:
        self.code, self.result = code, result
        self.names: dict[str, Any] = {}
        self.work = self.depth = 0

    def text(self, node: Node) -> str:
        return self.code[node.start_byte : node.end_byte].decode("utf-8", errors="replace")

    def unknown(self, node: Node, *values: Any) -> _Unknown:
        return _Unknown(self.text(node), _NO_CALLS.union(*map(_calls_in, values)))

    def run(self, node: Node | None) -> Any:
        """The value of an expression, or what a statement returns; calls are noted on the way."""
        if node is None:
            return None
        self.work += 1
        self.depth += 1
        try:
            if self.work > MAX_WORK or self.depth > MAX_NESTING:
                raise _OutOfWork
            handle = cast("Callable[[Node], Any] | None", getattr(self, f"on_{node.type}", None))
            return self.inner(node) if handle is None else handle(node)
        finally:
            self.depth -= 1

    def inner(self, node: Node) -> Any:
        """A node of no known kind: whatever is in it is looked at."""
        return self.unknown(node, *[self.run(child) for child in node.named_children])

    # Literals.

    def on_string(self, node: Node) -> str:
        return "".join(
            _unescape(self.text(part)) if part.type == "escape_sequence" else self.text(part)
            for part in node.named_children
        )

    def on_template_string(self, node: Node, is_raw: bool = False) -> Any:
        parts: list[str] = []
        values: list[Any] = []
        offset = node.start_byte + 1
        for part in node.named_children:
            parts.append(self.code[offset : part.start_byte].decode("utf-8", errors="replace"))
            if part.type == "template_substitution":
                value = self.run(part.named_children[0]) if part.named_children else ""
                values.append(value)
                parts.append(str(value) if isinstance(value, str | int | float) else self.text(part))
            else:
                text = self.text(part)
                parts.append(_unescape(text) if part.type == "escape_sequence" and not is_raw else text)
            offset = part.end_byte
        parts.append(self.code[offset : node.end_byte - 1].decode("utf-8", errors="replace"))
        text = "".join(parts)
        return _Unknown(text, _calls_in(values)) if _is_computed(values) else text

    def on_number(self, node: Node) -> Any:
        text = self.text(node).replace("_", "")
        try:
            return int(text) if text.isdigit() and len(text) < 16 else float(text)
        except ValueError:
            return text

    def on_true(self, node: Node) -> bool:
        del node
        return True

    def on_false(self, node: Node) -> bool:
        del node
        return False

    def on_null(self, node: Node) -> None:
        del node

    def on_undefined(self, node: Node) -> None:
        del node

    def on_comment(self, node: Node) -> None:
        del node

    def on_array(self, node: Node) -> list[Any]:
        return [self.run(item) for item in node.named_children if item.type != "comment"]

    def on_object(self, node: Node) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for part in node.named_children:
            if part.type == "pair":
                key = part.child_by_field_name("key")
                name = "" if key is None else self.text(key).strip("\"'")
                values[name] = self.run(part.child_by_field_name("value"))
            elif part.type == "shorthand_property_identifier":
                values[self.text(part)] = self.names.get(self.text(part), self.unknown(part))
            elif part.type == "spread_element" and is_obj(value := self.run(part.named_children[0])):
                values |= value
        return values

    def on_identifier(self, node: Node) -> Any:
        name = self.text(node)
        return self.names[name] if name in self.names else _Unknown(name)

    # Expressions.

    def on_await_expression(self, node: Node) -> Any:
        return self.run(node.named_children[0])

    on_parenthesized_expression = on_await_expression

    def on_expression_statement(self, node: Node) -> None:
        self.run(node.named_children[0])

    def on_binary_expression(self, node: Node) -> Any:
        left, right = (self.run(node.child_by_field_name(side)) for side in ("left", "right"))
        sign = node.child_by_field_name("operator")
        if sign is not None and self.text(sign) == "+" and isinstance(left, str) and isinstance(right, str):
            return left + right
        if sign is not None and self.text(sign) == "+":
            return _Unknown(_text_of(left) + _text_of(right), _calls_in([left, right]))
        return self.unknown(node, left, right)

    def on_member_expression(self, node: Node) -> Any:
        value = self.run(node.child_by_field_name("object"))
        name = node.child_by_field_name("property")
        if is_obj(value) and name is not None and self.text(name) in value:
            return value[self.text(name)]
        return self.unknown(node, value)

    def on_subscript_expression(self, node: Node) -> Any:
        value, index = (self.run(node.child_by_field_name(name)) for name in ("object", "index"))
        if is_seq(value) and isinstance(index, int) and 0 <= index < len(value):
            return value[index]
        return self.unknown(node, value)

    def on_arrow_function(self, node: Node) -> _Function:
        return _Function(node, self.names)

    on_function_expression = on_arrow_function

    def on_call_expression(self, node: Node) -> Any:
        function, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if function is None or given is None:
            return self.inner(node)
        name = self.text(function)
        if given.type == "template_string":
            return self.on_template_string(given, is_raw=name == "String.raw")
        target = function.child_by_field_name("object")
        if target is not None and self.text(target) == "tools":
            return self.call(function, [self.run(argument) for argument in _arguments(given)])
        if name.startswith("Promise.") or name == "JSON.stringify":
            values = [self.run(argument) for argument in _arguments(given)]
            return values[0] if values else None
        if name in ("text", "console.log", "print", "image"):
            shown = _NO_CALLS.union(*[_calls_in(self.run(argument)) for argument in _arguments(given)])
            self.result.prints.append(next(iter(shown)) if len(shown) == 1 else None)
            return None
        if target is not None and is_seq(items := self.run(target)):
            return self.method(node, items, name.rpartition(".")[2], _arguments(given))
        values = [self.run(argument) for argument in _arguments(given)]
        callee = self.run(function)
        return self.apply(callee, values) if isinstance(callee, _Function) else self.unknown(node, callee, *values)

    def method(self, node: Node, items: list[Any], name: str, given: Sequence[Node]) -> Any:
        """A method of a list: those that go through it are followed."""
        values = [self.run(argument) for argument in given]
        function = values[0] if values else None
        if name in ("map", "forEach", "flatMap") and isinstance(function, _Function):
            return [self.apply(function, [item, index]) for index, item in enumerate(items)]
        if name == "join" and all(isinstance(item, str) for item in items):
            return str(function if isinstance(function, str) else ",").join(items)
        return self.unknown(node, items, *values)

    def apply(self, function: _Function, values: Sequence[Any]) -> Any:
        """A call of a function that the program defines."""
        outer, self.names = self.names, dict(function.names) | self.names
        try:
            parameter = function.node.child_by_field_name("parameter")
            parameters = function.node.child_by_field_name("parameters")
            for index, name in enumerate(
                [parameter] if parameter is not None else parameters.named_children if parameters else []
            ):
                self.bind(name, values[index] if index < len(values) else None)
            return self.run(function.node.child_by_field_name("body"))
        finally:
            self.names = outer

    def call(self, function: Node, values: list[Any]) -> _Unknown:
        name = function.child_by_field_name("property") or function.child_by_field_name("index")
        number = len(self.result.calls)
        if number >= MAX_CALLS:
            raise _OutOfWork
        given: Any = values[0] if values else None
        self.result.calls.append(
            ToolCall(
                self.text(name).strip("\"'") if name is not None else "?",
                {key: _plain(value) for key, value in given.items()}
                if is_obj(given)
                else {"input": _plain(given)}
                if values
                else {},
            )
        )
        if _is_computed(given):
            self.result.computed.add(number)
        return _Unknown(f"<result of call {number + 1}>", frozenset({number}))

    # Statements.

    def on_statement_block(self, node: Node) -> Any:
        returned = None
        for child in node.named_children:
            value = self.run(child)
            returned = value if child.type == "return_statement" else returned
        return returned

    def on_return_statement(self, node: Node) -> Any:
        return self.run(node.named_children[0]) if node.named_children else None

    def on_variable_declarator(self, node: Node) -> None:
        self.bind(node.child_by_field_name("name"), self.run(node.child_by_field_name("value")))

    def on_assignment_expression(self, node: Node) -> Any:
        value = self.run(node.child_by_field_name("right"))
        self.bind(node.child_by_field_name("left"), value)
        return value

    def on_function_declaration(self, node: Node) -> None:
        if (name := node.child_by_field_name("name")) is not None:
            self.names[self.text(name)] = _Function(node, self.names)

    def on_for_in_statement(self, node: Node) -> None:
        items, left = self.run(node.child_by_field_name("right")), node.child_by_field_name("left")
        body = node.child_by_field_name("body")
        if not is_seq(items):
            items = [_Unknown(self.text(left) if left is not None else "", _calls_in(items))]
        for item in items:
            self.bind(left, item)
            self.run(body)

    def bind(self, target: Node | None, value: Any) -> None:
        """Give a name its value; of a pattern, each name its part."""
        if target is None:
            return
        if target.type == "identifier":
            self.names[self.text(target)] = value
        elif target.type == "array_pattern":
            for index, name in enumerate(target.named_children):
                known = is_seq(value) and index < len(value)
                self.bind(name, value[index] if known else _Unknown(self.text(name), _calls_in(value)))
        elif target.type == "object_pattern":
            for name in target.named_children:
                key = self.text(name)
                self.names[key] = obj(value).get(key, _Unknown(key, _calls_in(value)))


def _arguments(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type != "comment"]


def _calls_in(value: Any) -> frozenset[int]:
    if isinstance(value, _Unknown):
        return value.calls
    if is_seq(value):
        return _NO_CALLS.union(*map(_calls_in, value))
    return _NO_CALLS.union(*map(_calls_in, value.values())) if is_obj(value) else _NO_CALLS


def _is_computed(value: Any) -> bool:
    if is_seq(value):
        return any(map(_is_computed, value))
    return any(map(_is_computed, value.values())) if is_obj(value) else isinstance(value, _Unknown | _Function)


def _plain(value: Any) -> Any:
    if isinstance(value, _Unknown):
        return value.text
    if is_seq(value):
        return [_plain(item) for item in value]
    if is_obj(value):
        return {key: _plain(item) for key, item in value.items()}
    return "" if isinstance(value, _Function) else value


def _text_of(value: Any) -> str:
    return value.text if isinstance(value, _Unknown) else str(value)


def _unescape(text: str) -> str:
    inner = text[1:]
    if inner[:1] in _ESCAPES:
        return _ESCAPES[inner[0]]
    code = inner[1:].strip("{}") if inner[:1] in ("u", "x") else ""
    try:
        return chr(int(code, 16)) if code else inner
    except (ValueError, OverflowError):
        return inner
