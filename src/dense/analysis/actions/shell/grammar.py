"""From shell text to its simple commands, by the grammar of bash.

Heredocs are taken out before the grammar sees the text, and put back as the standard input of their command: bodies
of any size cost nothing, a body that never ends is still a body, and the grammar's own weak spot (a pipe behind a
heredoc's start) is out of the way. What the grammar cannot parse is in error nodes; their words are taken as commands.

The parser's recovery takes quadratic time on some nonsense. Its progress callback, which could stop it, crashed the
interpreter when it was tried (tree-sitter 0.26.0), so long texts are cut into pieces first (`pieces`)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from dense.analysis.actions.shell.command import FOLDER_CHANGERS, Command, Redirect, folder_after
from dense.analysis.actions.shell.heredocs import HEREDOC_PLACE, NO_HEREDOCS, Heredoc, take_heredocs

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

MAX_DEPTH = 60
"""Deeper nesting is not followed: Python's own stack is finite."""
MAX_PARSED_CHARS = 8 << 10
PIECE_CHARS = 2 << 10
MAX_STRANGE_PIECES = 8
"""After so many pieces of a long text that the grammar does not understand, the rest of it is no shell text."""

LITERAL_END = re.compile(r"'[^']*'|\"[^\"\\$`]*\"|\\.|\n|\s|[^\s'\"\\]{256}", re.DOTALL)
"""Where a text may be cut: behind a literal or a blank, and within a word that is longer than any word."""
BEYOND_LATIN_1 = re.compile(rb"[\xc4-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf7][\x80-\xbf]{3}")
REPLACEMENTS = {2: b"\xc3\xa9", 3: b"\xc3\xa9x", 4: b"\xc3\xa9\xc3\xa9"}
"""Characters beyond Latin-1, and what the grammar gets in their place, of the same length. Its scanner asks C's tables
for any character, which end there: `{` before one of the upper planes ends the process (tree-sitter-bash issue 337)."""
ESCAPE = re.compile(r"\\(\n|[^0-9A-Za-z])")
STRING_ESCAPE = re.compile(r"\\([$`\"\\\n])")
VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")

WORDS = frozenset(
    """word string raw_string ansi_c_string translated_string concatenation number simple_expansion expansion
    command_substitution process_substitution arithmetic_expansion brace_expression string_content""".split()
)
SUBSTITUTIONS = frozenset(["command_substitution", "process_substitution"])
SCOPES = frozenset(["subshell", "command_substitution", "process_substitution"])
BLOCKS = frozenset(
    """program compound_statement do_group if_statement elif_clause else_clause while_statement for_statement
    c_style_for_statement case_statement case_item negated_command ERROR""".split()
)


class Connection(Struct, frozen=True, gc=False):
    """What a statement passes to the command at its end: redirections, input, the command before it in a pipe."""

    redirects: tuple[Redirect, ...] = ()
    stdin: str | None = None
    heredoc_token: str = ""
    is_background: bool = False
    previous: Command | None = None


UNCONNECTED = Connection()


@cache
def parser() -> Parser:
    import tree_sitter_bash
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_bash.language()))


def parse(text: str, cwd: str = "") -> list[Command]:
    """The simple commands of a shell text, in the order in which they are written. Never raises."""
    if "\r" in text or "\0" in text:
        text = text.replace("\r\n", "\n").replace("\0", "")
    plain, heredocs = take_heredocs(text, take_open=False) if "<<" in text else (text, NO_HEREDOCS)
    collector = CommandCollector(cwd, heredocs)
    if not collector.go_on(pieces(plain), may_be_open=len(heredocs) == 0):
        plain, heredocs = take_heredocs(text, take_open=True)
        collector = CommandCollector(cwd, heredocs)
        collector.go_on(pieces(plain), may_be_open=False)
    return collector.commands


def pieces(text: str) -> Iterator[str]:
    """The text itself, or, if it is long, pieces of it that end at a line's end or at a blank, outside quotes."""
    if len(text) <= MAX_PARSED_CHARS:
        yield text
        return
    start = line_end = size = position = 0
    for match in LITERAL_END.finditer(text):
        part = match[0]
        # A literal is one token, however long; what is no literal counts in full.
        size += match.start() - position + (1 if part[0] in "'\"\\" else len(part))
        position = match.end()
        if part == "\n" and size >= PIECE_CHARS // 2:
            line_end = position
        if size >= PIECE_CHARS and (part.isspace() or line_end or size >= 2 * PIECE_CHARS):
            cut = line_end or position
            yield text[start:cut]
            size, start, line_end = position - cut, cut, 0
    yield text[start:]


class CommandCollector:
    """Collects the commands of a tree, with what the shell would know: its folder and its variables."""

    def __init__(self, cwd: str, heredocs: Mapping[str, Heredoc]) -> None:
        self.commands: list[Command] = []
        self.cwd = cwd
        self.last_cwd = cwd
        self.names: dict[str, str] = {}
        self.heredocs = heredocs
        self.source: str | bytes = b""

    def go_on(self, texts: Iterable[str], *, may_be_open: bool) -> bool:
        """Adds the commands of pieces of a text; false where one may be wrong for a heredoc without an end."""
        strange = 0
        for piece in texts:
            if self.go(piece):
                continue
            strange += 1
            if may_be_open and "<<" in piece:
                return False
            if strange == MAX_STRANGE_PIECES:
                break
        return True

    def go(self, text: str) -> bool:
        """Adds the commands of a text; whether the grammar understood all of it."""
        outer = self.source
        root = self.parsed(text)
        self.block(root, UNCONNECTED, 0)
        is_clean = not root.has_error
        self.source = outer
        return is_clean

    def parsed(self, text: str) -> Node:
        """The tree of a text. Its places count bytes, so only ASCII text can be cut as it is."""
        source = text.encode("utf-8", "replace")
        if text.isascii():
            self.source = text
        else:
            self.source, source = source, BEYOND_LATIN_1.sub(lambda match: REPLACEMENTS[len(match[0])], source)
        return parser().parse(source).root_node

    def text(self, node: Node) -> str:
        part = self.source[node.start_byte : node.end_byte]
        return part if isinstance(part, str) else str(part, "utf-8", "replace")

    # Statements

    def statement(self, node: Node, connection: Connection, depth: int) -> Command | None:
        """Adds a statement's commands; returns the last one, which a pipe would read from."""
        if depth > MAX_DEPTH:
            return None
        kind = node.type
        if kind == "command":
            return self.command(node, connection, depth)
        if kind == "redirected_statement":
            return self.redirected(node, connection, depth)
        if kind == "pipeline":
            return self.pipeline(node, connection, depth)
        if kind == "list":
            return self.block_of(flat_list(node), connection, depth)
        if kind in SCOPES:
            return self.scope(node, connection, depth)
        if kind in BLOCKS:
            return self.block(node, connection, depth)
        if kind == "function_definition":
            body = node.child_by_field_name("body")
            return self.statement(body, connection, depth + 1) if body is not None else None
        if kind == "variable_assignment":
            self.assignment(node, depth)
        elif kind in ("variable_assignments", "declaration_command"):
            for child in node.named_children:
                if child.type == "variable_assignment":
                    self.assignment(child, depth)
        return None

    def block(self, node: Node, connection: Connection, depth: int) -> Command | None:
        kind = node.type
        if kind == "ERROR":
            return self.error_node(node, connection, depth)
        if kind in ("for_statement", "case_statement", "case_item", "c_style_for_statement"):
            for child in node.children_by_field_name("value"):
                self.nested(child, depth)
        return self.block_of(node.children, connection, depth)

    def block_of(self, children: Sequence[Node], connection: Connection, depth: int) -> Command | None:
        """Statements in a row. What is connected to the row is connected to its last one."""
        if len(children) == 1 and connection is UNCONNECTED:
            return self.statement(children[0], UNCONNECTED, depth + 1) if children[0].is_named else None
        last: Command | None = None
        final = -1
        if connection is not UNCONNECTED:
            final = max(
                (n for n, child in enumerate(children) if child.is_named and child.type != "comment"), default=-1
            )
        for number, child in enumerate(children):
            if not child.is_named:
                continue
            own = connection if number == final else UNCONNECTED
            if number + 1 < len(children) and children[number + 1].type == "&":
                own = Connection(own.redirects, own.stdin, own.heredoc_token, True, own.previous)
            last = self.statement(child, own, depth + 1) or last
        return last

    def scope(self, node: Node, connection: Connection, depth: int) -> Command | None:
        """A shell of its own: its folder is forgotten afterwards."""
        cwd, last_cwd = self.cwd, self.last_cwd
        last = self.block_of(node.children, connection, depth)
        self.cwd, self.last_cwd = cwd, last_cwd
        return last

    def pipeline(self, node: Node, connection: Connection, depth: int) -> Command | None:
        stages = [child for child in node.children if child.is_named and child.type != "comment"]
        cwd, previous = self.cwd, connection.previous
        for number, stage in enumerate(stages):
            is_last = number == len(stages) - 1
            own = Connection(previous=previous)
            if is_last:
                own = Connection(
                    connection.redirects, connection.stdin, connection.heredoc_token, connection.is_background, previous
                )
            previous = self.statement(stage, own, depth + 1)
        self.cwd = cwd
        return previous

    def redirected(self, node: Node, connection: Connection, depth: int) -> Command | None:
        redirects, stdin, heredoc_token = connection.redirects, connection.stdin, connection.heredoc_token
        extra: list[str] = []
        body: Node | None = None
        for child in node.children:
            if child.type in ("file_redirect", "herestring_redirect", "heredoc_redirect"):
                more = self.redirect(child, depth)
                redirects += more.redirects
                stdin = more.stdin if more.stdin is not None else stdin
                heredoc_token = more.heredoc_token or heredoc_token
                extra += self.words_after_target(child)
            elif child.is_named and body is None:
                body = child
        whole = Connection(redirects, stdin, heredoc_token, connection.is_background, connection.previous)
        if body is None:
            return self.add(
                Command(words=(), text=self.text(node), cwd=self.cwd, redirects=whole.redirects, stdin=stdin)
            )
        if body.type == "command":
            return self.command(body, whole, depth, extra)
        return self.statement(body, whole, depth + 1)

    # Simple commands

    def command(self, node: Node, connection: Connection, depth: int, extra: Sequence[str] = ()) -> Command | None:
        words: list[str] = []
        redirects, stdin, heredoc_token = connection.redirects, connection.stdin, connection.heredoc_token
        for child in node.children:
            kind = child.type
            if kind == "word":
                text = self.text(child)
                words.append(unescaped(text) if "\\" in text else text)
            elif kind in WORDS:
                words.append(self.word(child, depth))
            elif kind == "command_name":
                text = self.text(child)
                is_plain = text.isalnum()
                inner = child.children[0] if not is_plain and child.child_count == 1 else child
                words.append(text if is_plain else self.word(inner, depth))
            elif kind == "variable_assignment":
                self.nested(child, depth)
            elif kind.endswith("_redirect"):
                more = self.redirect(child, depth)
                redirects += more.redirects
                stdin = more.stdin if more.stdin is not None else stdin
                heredoc_token = more.heredoc_token or heredoc_token
                words += self.words_after_target(child)
            elif kind not in ("comment", "ERROR") and (child.is_named or kind in ("=", "==", "=~")):
                words.append(self.word(child, depth))
        words += extra
        if not words:
            return None
        text = f"{self.text(node)} {heredoc_token}" if heredoc_token else self.text(node)
        made = Command(
            words=tuple(words),
            text=text,
            cwd=self.cwd,
            redirects=redirects,
            stdin=stdin,
            is_background=connection.is_background,
            previous=connection.previous,
        )
        if words[0] in FOLDER_CHANGERS:
            self.cwd, self.last_cwd = folder_after(words, self.cwd, self.last_cwd), self.cwd
        return self.add(made)

    def add(self, command: Command) -> Command:
        self.commands.append(command)
        return command

    def error_node(self, node: Node, connection: Connection, depth: int) -> Command | None:
        """An error node: statements as such, loose words of a line as a command."""
        last: Command | None = None
        words: list[str] = []
        row = -1

        def flush() -> None:
            nonlocal last
            if words and re.match(r"[\w./~$\\-]+$", words[0]) and not words[0].isdigit():
                last = self.add(
                    Command(words=tuple(words), text=" ".join(words), cwd=self.cwd, previous=connection.previous)
                )
            words.clear()

        for child in node.children:
            if child.type in WORDS or child.type == "command_name":
                if child.start_point[0] != row:
                    flush()
                row = child.end_point[0]
                words.append(self.word(child, depth))
            elif child.type.endswith("_redirect"):
                self.add(
                    Command(
                        words=(), text=self.text(child), cwd=self.cwd, redirects=self.redirect(child, depth).redirects
                    )
                )
            elif child.is_named:
                flush()
                last = self.statement(child, UNCONNECTED, depth + 1) or last
        flush()
        return last

    # Redirections

    def redirect(self, node: Node, depth: int) -> Connection:
        kind = node.type
        if kind == "herestring_redirect":
            inner = node.named_children
            return Connection(stdin=self.word(inner[-1], depth) if inner else None)
        if kind == "heredoc_redirect":
            return self.inline_heredoc(node)
        operator, target = "", ""
        for child in node.children:
            if child.type in WORDS:
                target = self.word(child, depth)
                break
            if not child.is_named:
                operator = child.type
        if operator == "<" and target.startswith(HEREDOC_PLACE):
            heredoc = self.heredocs.get(target)
            return Connection(stdin=heredoc.body, heredoc_token=heredoc.token) if heredoc else UNCONNECTED
        is_descriptor = operator in ("<&", ">&") and (target.isdigit() or target in ("", "-"))
        return UNCONNECTED if is_descriptor or not target else Connection((Redirect(operator, target),))

    def words_after_target(self, node: Node) -> list[str]:
        """`echo a > f b`: the grammar counts `b` to the redirection, the shell to the command."""
        if node.type != "file_redirect":
            return []
        words = [child for child in node.children if child.type in WORDS]
        return [self.word(child, MAX_DEPTH) for child in words[1:]]

    def inline_heredoc(self, node: Node) -> Connection:
        """A heredoc that was not taken out because no line ends it."""
        body = next((child for child in node.children if child.type == "heredoc_body"), None)
        return Connection(stdin=self.text(body) if body is not None else None)

    # Words

    def word(self, node: Node, depth: int) -> str:
        """A word as the command gets it."""
        text = self.text(node)
        kind = node.type
        if kind == "word":
            return unescaped(text) if "\\" in text else text
        if kind == "raw_string":
            return text[1:-1]
        if ("$(" in text or "`" in text or "<(" in text or ">(" in text) and depth < MAX_DEPTH:
            self.nested(node, depth)
        if kind == "string":
            inner = text[1:-1] if len(text) > 1 else ""
            return self.filled(STRING_ESCAPE.sub(r"\1", inner).replace("\\\n", "") if "\\" in inner else inner)
        if kind == "concatenation":
            return "".join(self.word(child, MAX_DEPTH) for child in node.children)
        return self.filled(text)

    def filled(self, text: str) -> str:
        """With the variables that the text itself has set."""
        if "$" not in text or not self.names:
            return text
        return VARIABLE.sub(lambda match: self.names.get(match[1] or match[2], match[0]), text)

    def assignment(self, node: Node, depth: int) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is None or name.type != "variable_name":
            self.nested(node, depth)
            return
        text = self.word(value, depth) if value is not None else ""
        if len(text) > 200 or "$(" in text or "`" in text:
            self.names.pop(self.text(name), None)
        else:
            self.names[self.text(name)] = text

    def nested(self, node: Node, depth: int) -> None:
        """The commands of the substitutions within a word. Without recursion: words nest as deep as they like."""
        left = [node]
        while left:
            child = left.pop()
            if child.type not in SUBSTITUTIONS:
                left += reversed(child.children)
            elif depth < MAX_DEPTH:
                self.scope(child, UNCONNECTED, depth + 1)


def flat_list(node: Node) -> list[Node]:
    """`a && b && c` nests to the left, as deep as the list is long."""
    parts: list[Node] = []
    while node.type == "list":
        children = node.children
        if not children:
            break
        parts += reversed(children[1:])
        node = children[0]
    parts.append(node)
    parts.reverse()
    return parts


def unescaped(text: str) -> str:
    # A backslash before a letter stays: in what agents write it is part of a Windows path or a pattern.
    return ESCAPE.sub(lambda match: "" if match[1] == "\n" else match[1], text)
