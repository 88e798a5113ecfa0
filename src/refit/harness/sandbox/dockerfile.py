"""The part of a Dockerfile that can be carried out on this machine's own system.

`FROM` is recorded and not obeyed: the base is this machine. What speaks of running the image (`CMD`, `EXPOSE`, …) has
no effect, as it has none when Harbor runs a task. What cannot be done without Docker is an error, naming the line."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

from dense.errors import DenseError

IGNORED = frozenset("CMD ENTRYPOINT EXPOSE HEALTHCHECK LABEL MAINTAINER ONBUILD STOPSIGNAL VOLUME".split())
"""Of no consequence to how Harbor runs a task."""
CARRIED_OUT = frozenset("ADD ARG COPY ENV RUN SHELL USER WORKDIR".split())
_FLAG = re.compile(r"--([\w-]+)(?:=(\"[^\"]*\"|\S*))?\s*")
_HEREDOC = re.compile(r"(?<!<)<<(?!<)(-?)([\"']?)([A-Za-z_][\w.]*)\2")
_VARIABLE = re.compile(
    r"\\(?P<escaped>.)|\$(?:(?P<plain>\w+)|\{(?P<name>\w+)(?:(?P<operator>:?[-+])(?P<word>[^}]*))?\})|(?P<other>.)",
    re.S,
)


class DockerfileHeredoc(Struct, frozen=True):
    """A document inside the Dockerfile itself."""

    name: str
    """The word that ends it."""
    text: str
    """Its lines."""
    is_literal: bool
    """Whether the word was quoted: then variables stay as they are."""


class DockerfileInstruction(Struct, frozen=True):
    """One instruction."""

    line: int
    """Where it begins, from 1."""
    word: str
    """What is to be done, in capitals."""
    text: str
    """Its arguments, flags taken off, continued lines joined."""
    flags: tuple[tuple[str, str], ...] = ()
    """Flags before the arguments, without dashes."""
    heredocs: tuple[DockerfileHeredoc, ...] = ()
    """Documents that follow, in their order."""

    @property
    def items(self) -> list[str] | None:
        """The arguments, where they are given as a JSON list of texts."""
        try:
            return msgspec.json.decode(self.text, type=list[str]) if self.text.startswith("[") else None
        except msgspec.DecodeError:
            return None


class Dockerfile(Struct, frozen=True):
    """What is to be carried out, in order."""

    path: Path
    """The file."""
    base: str
    """The image that it was written for, for the record."""
    instructions: tuple[DockerfileInstruction, ...]
    """Those of the last stage, and of the stages that it builds upon."""

    def wrong(self, instruction: DockerfileInstruction, problem: str) -> DenseError:
        """An error that names the line."""
        return _wrong(self.path, instruction.line, f"{instruction.word}: {problem}")


def definition(folder: Path, image: str | None = None) -> Dockerfile | None:
    """What a sandbox makes of a task's `environment/`; None for loose files. A `DenseError` says what it cannot."""
    for name in ("docker-compose.yaml", "docker-compose.yml"):
        if (folder / name).exists():
            raise DenseError(
                f"{folder / name}: several containers need Docker; use `environment: docker` for this task"
            )
    if (folder / "Dockerfile").exists():
        return read(folder / "Dockerfile")
    if image and not (folder.is_dir() and any(folder.iterdir())):
        raise DenseError(
            f"{folder}: the image {image} is prebuilt, which needs Docker; use `environment: docker` for this task"
        )
    return None


def read(path: Path) -> Dockerfile:
    """Reads and checks a Dockerfile. A `DenseError` names the first line that cannot be carried out."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DenseError(f"{path}: cannot be read: {error}") from None
    every = list(instructions(text, path))
    stages = [index for index, item in enumerate(every) if item.word == "FROM"]
    if not stages:
        raise DenseError(f"{path}: no FROM, so this is no Dockerfile")
    before = [item for item in every[: stages[0]] if item.word == "ARG"]
    arguments = {name: value for item in before for name, value in pairs(item) if value is not None}
    base, chosen = _last_stage(every, stages, arguments)
    dockerfile = Dockerfile(path, base, tuple(chosen))
    for item in dockerfile.instructions:
        _check(dockerfile, item)
    return dockerfile


def instructions(text: str, path: Path) -> Iterator[DockerfileInstruction]:
    """The instructions of a text, in order."""
    lines = text.lstrip("\ufeff").splitlines()
    index = 0
    while index < len(lines):
        start = index
        joined, index = _joined(lines, index)
        if not joined:
            continue
        word, _, rest = joined.partition(" ")
        word = word.upper()
        flags, rest = _flags(rest.strip()) if word not in {"ENV", "LABEL", "FROM", "ARG"} else ((), rest.strip())
        heredocs: list[DockerfileHeredoc] = []
        for dash, quote, name in _HEREDOC.findall(rest) if word in {"RUN", "COPY", "ADD"} else []:
            document, index = _document(lines, index, name, dash, path, start)
            heredocs.append(DockerfileHeredoc(name, document, bool(quote)))
        yield DockerfileInstruction(start + 1, word, rest, flags, tuple(heredocs))


def pairs(instruction: DockerfileInstruction) -> list[tuple[str, str | None]]:
    """Names and values of ENV and ARG, unexpanded; None for an ARG without a value."""
    text = instruction.text
    if instruction.word == "ENV" and not re.match(r"[^\s=]+=", text):
        name, _, value = text.partition(" ")
        return [(name, value.strip())]
    parted = [word.partition("=") for word in split(text)]
    return [(name, value if is_given else None) for name, is_given, value in parted]


def split(text: str) -> list[str]:
    """Words as the shell parts them, quotes and backslashes still in them."""
    return re.findall(r"(?:\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|[^\s\\'\"])+", text, re.S)


def expand(text: str, variables: Mapping[str, str]) -> str:
    """A word with its variables put in and its quotes taken off."""
    parts = re.findall(r"'[^']*'|\"(?:\\.|[^\"\\])*\"|(?:\\.|[^'\"\\])+|.", text, re.S)
    return "".join(
        part[1:-1]
        if part.startswith("'") and part.endswith("'") and len(part) > 1
        else fill_variables(part.strip('"') if part.startswith('"') else part, variables, keeps_escapes=False)
        for part in parts
    )


def fill_variables(text: str, variables: Mapping[str, str], *, keeps_escapes: bool = True) -> str:
    """A document with its variables put in; quotes are its own."""

    def value(match: re.Match[str]) -> str:
        if (escaped := match["escaped"]) is not None:
            return f"\\{escaped}" if keeps_escapes and escaped not in "$\\" else escaped
        if match["other"] is not None:
            return match["other"]
        variable = variables.get(match["plain"] or match["name"])
        operator, word = match["operator"] or "", match["word"] or ""
        is_set = bool(variable) if operator.startswith(":") else variable is not None
        if operator and is_set == operator.endswith("+"):
            return fill_variables(word, variables, keeps_escapes=False)
        return variable or ""

    return _VARIABLE.sub(value, text)


def _joined(lines: list[str], index: int) -> tuple[str, int]:
    """One instruction with the lines that continue it, and where the next begins. Comments within are skipped."""
    parts: list[str] = []
    is_continued = True
    while is_continued and index < len(lines):
        line = lines[index]
        index += 1
        if line.lstrip().startswith("#") or (parts and not line.strip()):
            is_continued = bool(parts)
            continue
        is_continued = line.rstrip().endswith("\\")
        parts.append(line.rstrip()[:-1] if is_continued else line)
    return " ".join("".join(parts).strip().split(None, 1)), index


def _flags(text: str) -> tuple[tuple[tuple[str, str], ...], str]:
    flags: list[tuple[str, str]] = []
    while (match := _FLAG.match(text)) is not None:
        flags.append((match[1], (match[2] or "").strip('"')))
        text = text[match.end() :]
    return tuple(flags), text


def _document(lines: list[str], index: int, name: str, dash: str, path: Path, start: int) -> tuple[str, int]:
    document = [line.lstrip("\t") if dash else line for line in lines[index:]]
    if name not in document:
        raise _wrong(path, start + 1, f"the document <<{name} has no end")
    length = document.index(name)
    return "".join(f"{line}\n" for line in document[:length]), index + length + 1


def _last_stage(
    every: list[DockerfileInstruction], stages: list[int], arguments: Mapping[str, str]
) -> tuple[str, list[DockerfileInstruction]]:
    """The last stage with those that it builds upon, the outermost image first."""
    named: dict[str, list[DockerfileInstruction]] = {}
    bases: dict[str, str] = {}
    base, body = "", list[DockerfileInstruction]()
    for begin, end in zip(stages, [*stages[1:], len(every)], strict=True):
        parts = [part for part in split(every[begin].text) if not part.startswith("--")]
        image = expand(parts[0], arguments) if parts else ""
        body = [*named.get(image.lower(), []), *every[begin + 1 : end]]
        base = bases.get(image.lower(), image)
        if len(parts) == 3 and parts[1].upper() == "AS":
            named[parts[2].lower()], bases[parts[2].lower()] = body, base
    return base, body


def _check(dockerfile: Dockerfile, item: DockerfileInstruction) -> None:
    if item.word in IGNORED:
        return
    if item.word not in CARRIED_OUT:
        raise dockerfile.wrong(item, "no instruction that the sandbox knows; use `environment: docker` for this task")
    if not item.text:
        raise dockerfile.wrong(item, "nothing follows it")
    for name, value in item.flags:
        if name == "from":
            raise dockerfile.wrong(
                item, f"--from={value} takes files of another image, which needs Docker: use `environment: docker`"
            )
        if name == "mount" and not re.search(r"\btype=(cache|tmpfs)\b", value):
            raise dockerfile.wrong(item, "--mount of this kind needs Docker: use `environment: docker`")
    if item.word == "ADD" and re.search(r"(^|[\s\"'\[])(https?|git|ftp)(://|@)", item.text):
        raise dockerfile.wrong(
            item, "takes from the network, which only Docker does: use RUN curl, or `environment: docker`"
        )
    if item.word == "SHELL" and not item.items:
        raise dockerfile.wrong(item, 'wants a list, as in ["/bin/bash", "-c"]')
    if item.word in {"ENV", "ARG"} and any(not re.fullmatch(r"\w+", name) for name, _ in pairs(item)):
        raise dockerfile.wrong(item, f"no name and value: {item.text}")
    if item.word in {"COPY", "ADD"} and item.items is None:
        try:
            shlex.split(item.text)
        except ValueError as error:
            raise dockerfile.wrong(item, f"{error} in {item.text}") from None


def _wrong(path: Path, line: int, problem: str) -> DenseError:
    return DenseError(f"{path}, line {line}: {problem}")
