"""Carries out a Dockerfile in a sandbox, as far as it can be, and says what every command starts with afterwards."""

from __future__ import annotations

import os
import re
import tarfile
from pathlib import Path, PurePosixPath

from msgspec import Struct
from msgspec.structs import replace

from dense.errors import DenseError
from refit.harness.sandbox.dockerfile import (
    Dockerfile,
    DockerfileHeredoc,
    DockerfileInstruction,
    expand,
    fill_variables,
    pairs,
    split,
)
from refit.harness.sandbox.namespaces import PATH, Sandbox
from refit.harness.sandbox.transfer import Member, members_of

_ARCHIVE = "/tmp/dense-add"  # noqa: S108  (the sandbox's own)
_RUN_SCRIPT = """
script=$(mktemp)
printf %s "$1" >"$script"
chmod +x "$script"
"$script"
code=$?
rm -f "$script"
exit $code
"""
_TAIL = 2000
"""Characters of a failed command's output that its error shows."""


class BuiltImage(Struct, frozen=True):
    """What commands start with once a Dockerfile was carried out."""

    workdir: str = "/"
    """Where."""
    user: str = ""
    """As whom; empty for root."""
    env: dict[str, str] = {}
    """With which variables."""


async def build(dockerfile: Dockerfile, sandbox: Sandbox, scratch: Path) -> BuiltImage:
    """Carries it out. The context is the folder in which it lies; `scratch` is a folder here, for documents."""
    building = _Building(dockerfile, sandbox, scratch)
    for item in dockerfile.instructions:
        await building.carry_out(item)
    # A build leaves files behind, no processes.
    await sandbox.run(["bash", "-c", "kill -KILL -1"])
    return building.image()


class _Building:
    def __init__(self, dockerfile: Dockerfile, sandbox: Sandbox, scratch: Path) -> None:
        self._workdir = "/"
        self._user = ""
        self._env: dict[str, str] = {}
        self._dockerfile = dockerfile
        self._sandbox = sandbox
        self._scratch = scratch
        self._context = dockerfile.path.parent
        self._ignored = _ignored(self._context / ".dockerignore")
        self._arguments: dict[str, str] = {}
        self._shell = ["/bin/sh", "-c"]

    def image(self) -> BuiltImage:
        return BuiltImage(self._workdir, self._user, dict(self._env))

    @property
    def _variables(self) -> dict[str, str]:
        return {"PATH": PATH, **self._arguments, **self._env}

    async def carry_out(self, item: DockerfileInstruction) -> None:
        match item.word:
            case "ENV":
                before = self._variables
                self._env |= {name: expand(value or "", before) for name, value in pairs(item)}
            case "ARG":
                before = self._variables
                self._arguments |= {name: expand(value, before) for name, value in pairs(item) if value is not None}
            case "WORKDIR":
                self._workdir = self._absolute(expand(item.text, self._variables))
                await self._checked(item, ["mkdir", "-p", "--", self._workdir], cwd="/", user="")
            case "USER":
                self._user = expand(item.text, self._variables)
            case "SHELL":
                self._shell = item.items or self._shell
            case "RUN":
                await self._run(item)
            case "COPY" | "ADD":
                await self._copy(item)
            case _:
                pass

    async def _run(self, item: DockerfileInstruction) -> None:
        if item.items is not None:
            return await self._checked(item, item.items)
        if not item.heredocs:
            return await self._checked(item, [*self._shell, item.text])
        first = item.heredocs[0]
        if not re.fullmatch(rf"<<-?[\"']?{re.escape(first.name)}[\"']?", item.text):
            # The shell reads its documents itself.
            documents = "".join(f"{document.text}{document.name}\n" for document in item.heredocs)
            text = item.text.replace("<<-", "<<")
            return await self._checked(item, [*self._shell, f"{text}\n{documents}"])
        if not first.text.startswith("#!"):
            return await self._checked(item, [*self._shell, first.text])
        return await self._checked(item, ["/bin/sh", "-c", _RUN_SCRIPT, "sh", first.text])

    async def _checked(
        self, item: DockerfileInstruction, command: list[str], *, cwd: str | None = None, user: str | None = None
    ) -> None:
        done = await self._sandbox.run(
            command,
            env=self._variables,
            cwd=self._workdir if cwd is None else cwd,
            user=self._user if user is None else user,
            is_build=True,
        )
        if done.code:
            said = "\n".join(part.strip() for part in (done.out, done.err) if part.strip())
            raise self._dockerfile.wrong(item, f"{item.text}\nended with {done.code}: {said[-_TAIL:] or 'no output'}")

    async def _copy(self, item: DockerfileInstruction) -> None:
        variables = self._variables
        words = item.items if item.items is not None else split(item.text)
        *sources, target = [expand(word, variables) for word in words]
        if not sources:
            raise self._dockerfile.wrong(item, "wants a source and a target")
        documents = {document.name: document for document in item.heredocs}
        members: list[Member] = []
        mode, owner = self._mode(item), expand(dict(item.flags).get("chown", ""), variables)
        for source in sources:
            document = documents.get(re.sub(r"^<<-?[\"']?|[\"']$", "", source)) if source.startswith("<<") else None
            if document:
                members.append(Member(self._written(document), document.name, mode, owner))
            else:
                for path in self._matching(item, source):
                    members.append(Member(path.resolve() if path.is_file() else path, path.name, mode, owner))
        path = self._absolute(target)
        is_folder = target.endswith("/") or target in {".", ""} or len(members) > 1
        for member in members:
            if member.source.is_dir():
                content = [inner for inner in members_of(member.source) if self._is_kept(inner.source)]
                await self._sandbox.put([replace(inner, mode=mode, owner=owner) for inner in content], path)
            elif item.word == "ADD" and member.source.is_file() and tarfile.is_tarfile(member.source):
                await self._unpack(item, member.source, path)
            else:
                await self._sandbox.put_file(member, f"{path}/" if is_folder else path)

    async def _unpack(self, item: DockerfileInstruction, archive: Path, folder: str) -> None:
        await self._sandbox.put_file(Member(archive, "dense-add"), _ARCHIVE)
        script = 'mkdir -p -- "$1" && tar -xf "$2" -C "$1" --no-same-owner; code=$?; rm -f -- "$2"; exit $code'
        await self._checked(item, ["sh", "-c", script, "sh", folder, _ARCHIVE], user="")

    def _matching(self, item: DockerfileInstruction, source: str) -> list[Path]:
        """What a source means in the context: files and folders, by name or pattern, never outside."""
        relative = os.path.normpath(source.lstrip("/") or ".")
        if relative.startswith(".."):
            raise self._dockerfile.wrong(item, f"{source} is outside of {self._context}")
        paths = [self._context] if relative == "." else sorted(filter(self._is_kept, self._context.glob(relative)))
        if any(not path.resolve().is_relative_to(self._context.resolve()) for path in paths):
            raise self._dockerfile.wrong(item, f"{source} leads out of {self._context}")
        if not paths:
            raise self._dockerfile.wrong(item, f"{source} is not in {self._context}")
        return paths

    def _is_kept(self, path: Path) -> bool:
        name = path.relative_to(self._context)
        names = [folder.as_posix() for folder in (name, *name.parents)]
        is_kept = True
        for pattern, brings_back in self._ignored:
            if any(pattern.fullmatch(name) for name in names):
                is_kept = brings_back
        return is_kept

    def _mode(self, item: DockerfileInstruction) -> int | None:
        given = expand(dict(item.flags).get("chmod", ""), self._variables)
        if not given:
            return None
        if not re.fullmatch(r"[0-7]{3,4}", given):
            raise self._dockerfile.wrong(item, f"--chmod={given} is no octal mode")
        return int(given, 8)

    def _written(self, document: DockerfileHeredoc) -> Path:
        path = self._scratch / document.name
        text = document.text if document.is_literal else fill_variables(document.text, self._variables)
        path.write_text(text, encoding="utf-8")
        return path

    def _absolute(self, path: str) -> str:
        return os.path.normpath(PurePosixPath(self._workdir) / path)


def _ignored(path: Path) -> list[tuple[re.Pattern[str], bool]]:
    """The patterns of a .dockerignore, each with whether it brings back what it matches."""
    if not path.is_file():
        return []
    patterns: list[tuple[re.Pattern[str], bool]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        text = line.strip()
        if text and not text.startswith("#"):
            pattern = os.path.normpath(text.lstrip("!").strip().lstrip("/"))
            try:
                patterns.append((re.compile(_glob(pattern)), text.startswith("!")))
            except re.error:
                raise DenseError(f"{path}: {text} is no pattern") from None
    return patterns


def _glob(pattern: str) -> str:
    pieces = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts: list[str] = re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern)
    return "".join(pieces.get(part, re.escape(part)) for part in parts)
