"""What a piece of Python would do: files that it opens, saves, removes; addresses that it asks; commands it starts."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Callable, Iterator
from typing import cast

from dense.evidence.actions.ledger import Ledger
from dense.text.search import contains_any

LONGEST = 256 << 10
OPEN = re.compile(r"""\bopen\(\s*[rbf]*["']([^"'\n]+)["'](?:\s*,\s*(?:mode\s*=\s*)?["']([rwaxbt+]+)["'])?""")

READ_CALLS = frozenset(
    """read_csv read_json read_excel read_parquet read_table read_pickle read_sql read_html read_fwf read_text
    read_bytes loadtxt genfromtxt imread listdir scandir iterdir walk glob rglob load_workbook load_dataset
    read_feather read_hdf read_file from_file parse_file""".split()
)
SAVE_CALLS = frozenset(
    """write_text write_bytes savefig to_csv to_json to_excel to_parquet to_pickle to_html to_markdown to_feather to_hdf
    to_latex to_xml to_file to_stata savetxt savez savez_compressed imwrite imsave save_pretrained save_model
    save_weights
    write_image write_html write_graphml write_gexf write_gml write_gpickle write_csv write_parquet write_json
    write_excel sink_parquet save_file write_png save_as saveas export_text write_video plot_model""".split()
)
"""Methods and functions that write a file; where it is named differs, so the first argument that is a path counts."""
FILE_CLASSES = frozenset("open File ZipFile TarFile fdopen NamedTemporaryFile VideoWriter ExcelWriter H5File".split())
REMOVERS = frozenset("remove unlink rmtree rmdir removedirs".split())
MAKERS = frozenset("mkdir makedirs touch mknod symlink link hardlink_to symlink_to truncate chmod chown".split())
ASKERS = frozenset(
    "get post put patch delete head request urlopen urlretrieve options Request stream create_connection".split()
)
CLIENTS = frozenset("requests httpx urllib request session client s urllib3 http aiohttp".split())
STARTERS = frozenset(
    "run Popen call check_call check_output system popen getoutput getstatusoutput create_subprocess_shell".split()
)

IDLE_FIELDS = frozenset(
    "ctx op ops id attr arg name names asname module kind type_comment type_ignores conversion level".split()
)
"""Fields of nodes below which nothing is called, assigned or asserted."""
INNER: dict[type, tuple[str, ...]] = {
    kind: tuple([name for name in reversed(kind._fields) if name not in IDLE_FIELDS])
    for kind in vars(ast).values()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and kind is not ast.Constant
}
"""The other fields of each kind of node, the last first. A constant has none, nor have texts and numbers."""
TELLING = (ast.Call, ast.Assign, ast.Assert)
"""Nodes that may do something themselves."""

WORTH_A_LOOK = (
    *(READ_CALLS | SAVE_CALLS | MAKERS),
    *(
        "open",
        "File(",
        "VideoWriter",
        "ExcelWriter",
        ".save",
        ".export",
        "extractall",
        "wavfile",
        "soundfile",
        "sf.write",
    ),
    *("imageio", "joblib", "np.load", "numpy.load", "torch.load", "sqlite3", "duckdb"),
    *("shutil", "os.re", ".remove()", "unlink", "rmtree", "rmdir", "subprocess", "system", "popen", "://"),
    *("assert", "unittest.main", "pytest.main", "testmod"),
)
"""Code without one of these does nothing that is noted: the names of calls or, where those are as common as `get` and
`replace`, what stands beside them."""

NO_PATHS = (ast.Call, ast.Constant, ast.Lambda, ast.Dict, ast.List)

Shell = Callable[[str], None]


def scan_python(code: str, ledger: Ledger, cwd: str, shell: Shell) -> bool:
    """Notes what the code does; `shell` gets the commands that it starts. Whether it asserts or tests something."""
    if not contains_any(code, WORTH_A_LOOK):
        return False
    tree = parsed(code)
    if tree is None:
        for path, mode in OPEN.findall(code):
            (ledger.write if set(mode) & set("wax+") else ledger.read)(path, cwd=cwd)
        return bool(re.search(r"^\s*assert\b", code, re.MULTILINE))
    scan = Scan(ledger, cwd, shell)
    for node in in_order(tree):
        scan.look(node)
    return scan.is_check


def parsed(code: str) -> ast.Module | None:
    if len(code) > LONGEST:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a wrong escape in a trace is no concern of whoever runs us
        try:
            return ast.parse(without_magic(code) if "%" in code or "!" in code else code)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


def without_magic(code: str) -> str:
    """Without the lines that are commands to a notebook."""
    return "\n".join(line for line in code.split("\n") if not line.lstrip().startswith(("%", "!")))


def in_order(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that may do something, in the order of the text, without recursion (`ast.walk` goes by levels). Names,
    constants and operators, which are most of a tree, are passed over."""
    left: list[object] = [tree]
    while left:
        node = left.pop()
        if isinstance(node, TELLING):
            yield node
        for name in INNER.get(type(node), ()):
            child = getattr(node, name, None)
            if isinstance(child, list):
                left += cast("list[object]", child)[::-1]
            elif child is not None:
                left.append(child)


class Scan:
    """Goes through the code with the texts that its variables hold."""

    def __init__(self, ledger: Ledger, cwd: str, shell: Shell) -> None:
        self.ledger = ledger
        self.cwd = cwd
        self.shell = shell
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
        if name in FILE_CLASSES:
            self.opens(node, name, owner)
        elif name in STARTERS and module in ("subprocess", "os", "asyncio", "sp", "commands", ""):
            self.starts(node, name, module)
        elif name in ASKERS and (module in CLIENTS or module == "" or name in ("urlopen", "urlretrieve")):
            self.asks(node, name)
        elif module == "shutil" or (module == "os" and name in ("rename", "replace", "link", "symlink")):
            self.moves(node, name)
        elif name in REMOVERS:
            self.removes(node, module, owner)
        elif name in MAKERS and (module == "os" or owner is not None):
            self.makes(node, module, owner)
        elif name in ("main", "testmod") and module in ("unittest", "pytest", "doctest"):
            self.is_check = True
        else:
            self.saves_or_loads(node, name, module, owner)

    def opens(self, node: ast.Call, name: str, owner: ast.expr | None) -> None:
        arguments = list(node.args)
        path = self.path(arguments[0]) if arguments else self.keyword(node, "file", "filename", "name")
        is_module = isinstance(owner, ast.Name) and owner.id in (
            "io",
            "gzip",
            "bz2",
            "lzma",
            "codecs",
            "tarfile",
            "zipfile",
            "h5py",
            "Image",
            "os",
            "builtins",
            "pd",
            "tempfile",
            "wave",
            "rasterio",
            "fitz",
            "pdfplumber",
            "aiofiles",
            "zstandard",
            "netCDF4",
            "np",
            "cv2",
        )
        position = 1
        if name == "open" and owner is not None and not is_module:  # a path's own method
            if arguments and isinstance(arguments[0], ast.Constant) and not isinstance(arguments[0].value, str):
                return  # something else that can be opened
            path, position = self.path(owner), 0
        mode = self.text(arguments[position]) if len(arguments) > position else self.keyword(node, "mode")
        if path is None:
            return
        if name in ("VideoWriter", "ExcelWriter") or (mode and set(mode) & set("wax+") and len(mode) <= 5):
            self.ledger.write(path, cwd=self.cwd)
        elif name != "fdopen":
            self.ledger.read(path, cwd=self.cwd)

    def starts(self, node: ast.Call, name: str, module: str) -> None:
        if not node.args or (not module and name in ("run", "call", "system", "popen")):
            return
        first = node.args[0]
        if isinstance(first, ast.List | ast.Tuple):
            words = [self.text(part) or "…" for part in first.elts]
            self.shell(" ".join(f"'{word}'" if re.search(r"[^\w./=:@%+,-]", word) else word for word in words))
        elif text := self.text(first):
            self.shell(text)

    def asks(self, node: ast.Call, name: str) -> None:
        texts = [text for argument in node.args[:2] if (text := self.text(argument)) is not None]
        address = next((text for text in texts if "://" in text), None)
        if address is not None:
            self.ledger.network[address[:300]] = None
            if name == "urlretrieve" and len(texts) > 1:
                self.ledger.write(texts[1], cwd=self.cwd)

    def moves(self, node: ast.Call, name: str) -> None:
        paths = [self.path(argument) for argument in node.args[:2]]
        if name in ("move", "rename", "replace") and len(paths) == 2:
            self.ledger.delete(*filter(None, paths[:1]), cwd=self.cwd)
            self.ledger.write(*filter(None, paths[1:]), cwd=self.cwd)
        elif name.startswith(("copy", "link", "symlink")) and len(paths) == 2:
            self.ledger.read(*filter(None, paths[:1]), cwd=self.cwd)
            self.ledger.write(*filter(None, paths[1:]), cwd=self.cwd)
        elif name == "rmtree":
            self.ledger.delete(*filter(None, paths[:1]), cwd=self.cwd)
        elif name in ("unpack_archive", "make_archive"):
            self.ledger.write(*filter(None, paths[-1:] if name == "unpack_archive" else paths[:1]), cwd=self.cwd)

    def removes(self, node: ast.Call, module: str, owner: ast.expr | None) -> None:
        if module == "os" and node.args:
            path = self.path(node.args[0])
        elif not node.args and owner is not None:  # `list.remove` has an argument, a path's `unlink` has none
            path = self.path(owner)
        else:
            return
        if path is not None:
            self.ledger.delete(path, cwd=self.cwd)

    def makes(self, node: ast.Call, module: str, owner: ast.expr | None) -> None:
        source = (node.args[0] if node.args else None) if module == "os" else owner
        path = self.path(source) if source is not None else None
        if path is not None:
            self.ledger.write(path, cwd=self.cwd)

    def saves_or_loads(self, node: ast.Call, name: str, module: str, owner: ast.expr | None) -> None:
        if name in ("write_text", "write_bytes", "read_text", "read_bytes", "iterdir", "rglob") and owner is not None:
            path = self.path(owner)
            if path is not None:
                (self.ledger.write if name.startswith("write") else self.ledger.read)(path, cwd=self.cwd)
        elif name in SAVE_CALLS or (name in ("save", "export") and owner is not None) or self.is_dump(name, module):
            path = self.first_path(node)
            if path is not None:
                self.ledger.write(path, cwd=self.cwd)
        elif name == "extractall":
            path = self.first_path(node) or "."
            self.ledger.write(path, cwd=self.cwd)
        elif name == "write" and module in ("wavfile", "sf", "soundfile", "imageio") and node.args:
            self.ledger.write(*filter(None, [self.path(node.args[0])]), cwd=self.cwd)
        elif name in READ_CALLS or (name == "load" and module in ("np", "numpy", "torch", "joblib")):
            path = self.text(node.args[0]) if node.args else None
            if path and not path.startswith("{") and "://" not in path:
                self.ledger.read(path, cwd=self.cwd)
        elif name == "connect" and module in ("sqlite3", "duckdb") and node.args:
            self.ledger.read(*filter(None, [self.path(node.args[0])]), cwd=self.cwd)

    def is_dump(self, name: str, module: str) -> bool:
        return name == "dump" and module == "joblib"

    # Values

    def keyword(self, node: ast.Call, *names: str) -> str | None:
        return next((self.text(keyword.value) for keyword in node.keywords if keyword.arg in names), None)

    def first_path(self, node: ast.Call) -> str | None:
        """The first argument that is a text and looks like a path; else what the first one is called."""
        values = [*node.args[:2], *(keyword.value for keyword in node.keywords if keyword.arg in PATH_KEYWORDS)]
        texts = [text for value in values if (text := self.text(value)) is not None and "\n" not in text]
        looks = [text for text in texts if re.search(r"[./\\]", text)]
        named = [self.path(value) for value in values if isinstance(value, ast.Name | ast.BinOp | ast.JoinedStr)]
        return next(iter([*looks, *texts, *filter(None, named)]), None)

    def path(self, node: ast.expr) -> str | None:
        """A path, as far as it can be known: parts that only a run would tell stand in braces."""
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
        if name not in (
            "Path",
            "PurePath",
            "PosixPath",
            "join",
            "str",
            "abspath",
            "expanduser",
            "fspath",
            "resolve",
            "joinpath",
        ):
            return None
        values = [self.text(argument, depth + 1) for argument in node.args]
        if (
            isinstance(function, ast.Attribute)
            and name in ("resolve", "expanduser", "joinpath")
            and (not values or name == "joinpath")
        ):
            values.insert(0, self.text(function.value, depth + 1))
        if not values or None in values or (name == "join" and len(values) < 2):
            return None
        return "/".join(
            value.rstrip("/") if number + 1 < len(values) else value
            for number, value in enumerate(filter(None, values))
        )


PATH_KEYWORDS = frozenset("path fname filename file path_or_buf fp path_or_buffer save_path output_path uri".split())


def described(node: ast.expr) -> str:
    """An expression in a few characters."""
    try:
        text = node.id if isinstance(node, ast.Name) else ast.unparse(node)
    except (RecursionError, ValueError):
        return "…"
    return text if len(text) <= 60 and "\n" not in text else "…"
