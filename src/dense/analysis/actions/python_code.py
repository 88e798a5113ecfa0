"""What a piece of code would do: files that it opens, saves, removes; addresses that it asks; commands it starts.
Python is parsed; of other languages the files and addresses are taken that calls name."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import cast

from dense.analysis.actions.effects import EffectsBuilder
from dense.knowledge import python_calls as known
from dense.text.search import matcher

MAX_CODE_CHARS = 256 << 10
OPEN = re.compile(r"""\bopen\(\s*[rbf]*["']([^"'\n]+)["'](?:\s*,\s*(?:mode\s*=\s*)?["']([rwaxbt+]+)["'])?""")
acts = matcher(re.compile(rf"\b(?:{'|'.join(known.RECORDED)})\s*\(|\bassert\b"))
"""Whether a program calls something that may be recorded, or checks something; most do neither."""
MAY_WARN = re.compile(r"\\|\d[aefion]")
"""Without one of these the parser warns of nothing: a wrong escape, a word right behind a number."""
LEAVES = frozenset([ast.Constant, ast.Name, ast.Load, ast.Store, ast.alias])
"""Nodes that say nothing by themselves, and that most nodes are."""
NO_PATHS = (ast.Call, ast.Constant, ast.Lambda, ast.Dict, ast.List)

RunShell = Callable[[str], None]


def record_python(code: str, builder: EffectsBuilder, cwd: str, run_shell: RunShell) -> bool:
    """Records what the code does; `run_shell` gets the commands that it starts. Whether it asserts or tests."""
    if "://" not in code and not acts(code if code.isascii() else code.encode("ascii", "replace").decode()):
        return False
    tree = parsed(code)
    if tree is None:
        for path, mode in OPEN.findall(code):
            (builder.write if set(mode) & set("wax+") else builder.read)(path, cwd=cwd)
        return bool(re.search(r"^\s*assert\b", code, re.MULTILINE))
    scan = Scan(builder, cwd, run_shell)
    for node in in_order(tree):
        scan.look(node)
    return scan.is_check


def parsed(code: str) -> ast.Module | None:
    """The tree of a program, without the lines that are commands to a notebook; None if it is no Python."""
    if len(code) > MAX_CODE_CHARS:
        return None
    lines = [line for line in code.split("\n") if not line.lstrip().startswith(("%", "!"))]
    # A wrong escape in a trace is no concern of whoever runs us.
    with warnings.catch_warnings(action="ignore") if MAY_WARN.search(code) else nullcontext():
        try:
            return ast.parse("\n".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes in the order of the text, without recursion (`ast.walk` goes by levels)."""
    left = [tree]
    while left:
        node = left.pop()
        yield node
        for field in reversed(node._fields):
            value: object = getattr(node, field, None)
            inner = reversed(cast("list[object]", value)) if isinstance(value, list) else (value,)
            left += [child for child in inner if isinstance(child, ast.AST) and type(child) not in LEAVES]


class Scan:
    """Goes through the nodes of a program with the texts that its variables hold."""

    def __init__(self, builder: EffectsBuilder, cwd: str, run_shell: RunShell) -> None:
        self.builder = builder
        self.cwd = cwd
        self.run_shell = run_shell
        self.names: dict[str, str] = {}
        self.is_check = False

    def look(self, node: ast.AST) -> None:
        if isinstance(node, ast.Call):
            self.call(node)
        elif isinstance(node, ast.Assign) and len(node.targets) == 1:
            self.assign(node.targets[0], node.value)
        elif isinstance(node, ast.Assert):
            self.is_check = True

    def assign(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            text = self.text(value)
            if text is None or len(text) > 200:
                self.names.pop(target.id, None)
            else:
                self.names[target.id] = text

    def call(self, node: ast.Call) -> None:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        owner = function.value if isinstance(function, ast.Attribute) else None
        module = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
        if name in known.FILE_CLASSES:
            self.opens(node, name, owner)
        elif name in known.STARTERS and module in known.STARTING_MODULES:
            self.starts(node, name, module)
        elif name in known.ASKERS and (module in known.CLIENTS or module == "" or name in ("urlopen", "urlretrieve")):
            self.asks(node)
        elif kinds := known.ARGUMENT_EFFECTS.get(f"{module}.{name}"):
            for kind, argument in zip(kinds.split(), node.args, strict=False):
                self.record(kind, self.path(argument))
        elif owner is not None and name in known.METHOD_EFFECTS:
            kind = known.METHOD_EFFECTS[name]
            if kind != "delete" or not node.args:  # `list.remove` has an argument, a path's `unlink` has none
                self.record(kind, self.path(owner))
        elif f"{module}.{name}" in known.TEST_CALLS:
            self.is_check = True
        elif (
            name in known.SAVE_CALLS
            or (name in ("save", "export") and owner is not None)
            or f"{module}.{name}" == "joblib.dump"
        ):
            self.record("write", self.first_path(node))
        elif name in known.READ_CALLS and node.args:
            path = self.text(node.args[0])
            if path and not path.startswith("{") and "://" not in path:
                self.record("read", path)

    def record(self, kind: str, path: str | None) -> None:
        """Records that a path is read, written or deleted."""
        if path is not None:
            getattr(self.builder, kind)(path, cwd=self.cwd)

    def opens(self, node: ast.Call, name: str, owner: ast.expr | None) -> None:
        arguments = list(node.args)
        path = self.path(arguments[0]) if arguments else self.keyword(node, "file", "filename", "name")
        is_module = isinstance(owner, ast.Name) and owner.id in known.FILE_MODULES
        position = 1
        if name == "open" and owner is not None and not is_module:  # a path's own method
            path, position = self.path(owner), 0
        mode = self.text(arguments[position]) if len(arguments) > position else self.keyword(node, "mode")
        is_written = name in ("VideoWriter", "ExcelWriter") or (mode and set(mode) & set("wax+") and len(mode) <= 5)
        if is_written or name != "fdopen":
            self.record("write" if is_written else "read", path)

    def starts(self, node: ast.Call, name: str, module: str) -> None:
        if not node.args or (not module and name in ("run", "call", "system", "popen")):
            return
        first = node.args[0]
        if isinstance(first, ast.List | ast.Tuple):
            words = [self.text(part) or "…" for part in first.elts]
            self.run_shell(" ".join(f"'{word}'" if re.search(r"[^\w./=:@%+,-]", word) else word for word in words))
        elif text := self.text(first):
            self.run_shell(text)

    def asks(self, node: ast.Call) -> None:
        texts = [self.text(argument) or "" for argument in node.args[:2]]
        self.builder.ask(*[text[:300] for text in texts if "://" in text][:1])

    # Values

    def keyword(self, node: ast.Call, *names: str) -> str | None:
        return next((self.text(keyword.value) for keyword in node.keywords if keyword.arg in names), None)

    def first_path(self, node: ast.Call) -> str | None:
        """The first argument that is a text and looks like a path; else what the first one is called."""
        values = [*node.args[:2], *(keyword.value for keyword in node.keywords if keyword.arg in known.PATH_KEYWORDS)]
        texts = [text for value in values if (text := self.text(value)) is not None and "\n" not in text]
        looks = [text for text in texts if re.search(r"[./\\]", text)]
        named = [self.path(value) for value in values if isinstance(value, ast.Name | ast.BinOp | ast.JoinedStr)]
        return next(iter([*looks, *texts, *filter(None, named)]), None)

    def path(self, node: ast.expr) -> str | None:
        """A path, as far as it can be known: parts that only a run would show are in braces."""
        text = self.text(node)
        if text is not None:
            return text
        if isinstance(node, NO_PATHS):
            return None
        return "{" + described(node) + "}"

    def text(self, node: ast.expr, depth: int = 0) -> str | None:
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, str) else None
        if depth > 20:
            return None
        if isinstance(node, ast.Name):
            return self.names.get(node.id)
        if isinstance(node, ast.JoinedStr):
            return "".join(self.part(value, depth) for value in node.values)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.Add):
            left, right = self.text(node.left, depth + 1), self.text(node.right, depth + 1)
            if left is None or right is None:
                return None
            return f"{left.rstrip('/')}/{right}" if isinstance(node.op, ast.Div) else left + right
        if isinstance(node, ast.Call):
            return self.made_path(node, depth)
        return None

    def part(self, node: ast.expr, depth: int) -> str:
        if isinstance(node, ast.FormattedValue):
            return self.text(node.value, depth + 1) or "{" + described(node.value) + "}"
        return self.text(node, depth + 1) or ""

    def made_path(self, node: ast.Call, depth: int) -> str | None:
        """`Path("a", "b")`, `os.path.join("a", "b")`, `str(p)`."""
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name not in known.PATH_MAKERS:
            return None
        values = [self.text(argument, depth + 1) for argument in node.args]
        if not values or None in values or (name == "join" and len(values) < 2):
            return None
        return "/".join(
            value.rstrip("/") if number + 1 < len(values) else value
            for number, value in enumerate(filter(None, values))
        )


def described(node: ast.expr) -> str:
    """An expression in a few characters."""
    try:
        text = node.id if isinstance(node, ast.Name) else ast.unparse(node)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= 60 and "\n" not in text else "…"


# Other languages

WRITES = re.compile(
    r"""(?:writeFile(?:Sync)?|appendFile(?:Sync)?|createWriteStream|File\.write|IO\.write|file_put_contents|Bun\.write|
    Deno\.writeTextFile(?:Sync)?|ggsave|pdf|png|write\.csv|saveRDS|writeLines|write_csv)\(\s*(?:\w+\s*,\s*)?["'`]([^"'`\n]+)["'`]
    |open\(\s*\w+\s*,\s*["'][>]{1,2}\s*([^"'\n]+)["']|File\.open\(\s*["']([^"'\n]+)["']\s*,\s*["'][wa]|set\s+output\s+["']([^"'\n]+)["']""",
    re.VERBOSE,
)
READS = re.compile(
    r"""(?:readFile(?:Sync)?|File\.read|File\.readlines|file_get_contents|read\.csv|readLines|readRDS|require)\(\s*["'`]([^"'`\n]+\.\w+)["'`]"""
)
ADDRESS = re.compile(r"""["'`](https?://[^\s"'`<>]+)["'`]""")


def record_code_texts(code: str, builder: EffectsBuilder, cwd: str) -> None:
    """Records the files that calls in JavaScript, Ruby, Perl, PHP, R or gnuplot name, and the addresses."""
    builder.write(*(next(filter(None, match.groups()), "") for match in WRITES.finditer(code)), cwd=cwd)
    builder.read(*(match[1] for match in READS.finditer(code)), cwd=cwd)
    builder.ask(*(match[1] for match in ADDRESS.finditer(code)))
