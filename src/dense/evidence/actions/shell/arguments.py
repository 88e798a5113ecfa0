"""Reading a command's words: options, their values, operands; programs around programs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

from msgspec import Struct

NOTHING: frozenset[str] = frozenset()
LONGEST_KEPT, MOST_KEPT = 200, 1024
"""Words of more characters are not remembered, nor more words."""
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


class Remembering[T](dict[str, T]):
    """What a function tells of words, by word. It is kept for short ones: traces run few programs and have few tools,
    and use them often. Asked by `__getitem__`, it costs no more than a table."""

    def __init__(self, tell: Callable[[str], T]) -> None:
        super().__init__()
        self.tell = tell

    def __missing__(self, word: str) -> T:
        told = self.tell(word)
        if len(word) <= LONGEST_KEPT:
            if len(self) >= MOST_KEPT:
                self.clear()
            self[word] = told
        return told


def _program_name(word: str) -> str:
    name = word[-LONGEST_KEPT:].replace("\\", "/").rsplit("/", 1)[-1].lower()
    return name.removesuffix(".exe").removesuffix(".cmd")


program_name = Remembering(_program_name).__getitem__
"""The name by which a program is known: no folder, no `.exe`, small letters."""


def operands(words: Sequence[str], with_value: frozenset[str] = NOTHING) -> list[str]:
    """The arguments that are no options. `with_value` are the options whose value is a word of its own."""
    found: list[str] = []
    position, count = 1, len(words)
    while position < count:
        word = words[position]
        position += 1
        if word == "--":
            found += words[position:]
            break
        if len(word) > 1 and word[0] == "-":
            if word in with_value:
                position += 1
        else:
            found.append(word)
    return found


def option(words: Sequence[str], *names: str) -> str | None:
    """The value of an option: `-o x`, `-ox` for one letter, `--out x`, `--out=x`."""
    for position in range(1, len(words)):
        word = words[position]
        for name in names:
            if word == name:
                return words[position + 1] if position + 1 < len(words) else None
            if word.startswith(f"{name}=") and name.startswith("-"):
                return word[len(name) + 1 :]
            if len(name) == 2 and name[0] == "-" and word.startswith(name):
                return word[2:]
    return None


def has_flag(words: Sequence[str], letters: str, *names: str) -> bool:
    """Whether one of the letters stands in a bundle of short options, or one of the names as a word."""
    for word in words[1:]:
        if word in names:
            return True
        if letters and word[:1] == "-" and word[1:2] not in ("", "-") and any(letter in word for letter in letters):
            return True
    return False


class Wrapper(Struct, frozen=True):
    """A program that runs the program behind it."""

    with_value: frozenset[str] = NOTHING
    """Its options that take a value."""
    leading: int = 0
    """Its own operands before the other program: the seconds of `timeout`."""
    verbs: tuple[str, ...] = ()
    """Words that must follow for it to be a wrapper at all: `run` of `uv run`."""
    takes_text: bool = False
    """Whether the rest is shell text in itself, as with `eval` and `ssh`."""


@cache
def values(text: str) -> frozenset[str]:
    """The words of a text. Tables stand where they are used; each is made once."""
    return frozenset(text.split())


WRAPPERS: dict[str, tuple[Wrapper, ...]] = {
    "sudo": (Wrapper(values("-u -g -h -p -C -D -R -T -U --user --group")),),
    "doas": (Wrapper(values("-u -C")),),
    "env": (Wrapper(values("-u -C -S --unset --chdir")),),
    "timeout": (Wrapper(values("-k -s --signal --kill-after"), leading=1),),
    "gtimeout": (Wrapper(values("-k -s --signal --kill-after"), leading=1),),
    "nohup": (Wrapper(),),
    "setsid": (Wrapper(),),
    "time": (Wrapper(values("-f -o")),),
    "nice": (Wrapper(values("-n")),),
    "ionice": (Wrapper(values("-c -n")),),
    "taskset": (Wrapper(leading=1),),
    "exec": (Wrapper(values("-a")),),
    "command": (Wrapper(),),
    "builtin": (Wrapper(),),
    "coproc": (Wrapper(),),
    "stdbuf": (Wrapper(values("-i -o -e")),),
    "unbuffer": (Wrapper(),),
    "strace": (Wrapper(values("-e -o -p -s -u -E")),),
    "ltrace": (Wrapper(values("-e -o -p -s")),),
    "valgrind": (Wrapper(),),
    "xvfb-run": (Wrapper(values("-n -s -e -f -w")),),
    "watch": (Wrapper(values("-n"), takes_text=True),),
    "chroot": (Wrapper(leading=1),),
    "unshare": (Wrapper(),),
    "flock": (Wrapper(values("-w -E"), leading=1),),
    "catchsegv": (Wrapper(),),
    "npx": (Wrapper(values("-p --package -c")),),
    "bunx": (Wrapper(),),
    "pnpx": (Wrapper(),),
    "uvx": (Wrapper(values("--from --with --python -p")),),
    "pipx": (Wrapper(values("--spec"), verbs=("run",)),),
    "uv": (Wrapper(values("--with --python -p --extra --group --project --directory --env-file"), verbs=("run",)),),
    "poetry": (Wrapper(verbs=("run",)),),
    "pipenv": (Wrapper(verbs=("run",)),),
    "pdm": (Wrapper(verbs=("run",)),),
    "hatch": (Wrapper(verbs=("run",)),),
    "rye": (Wrapper(verbs=("run",)),),
    "pixi": (Wrapper(verbs=("run",)),),
    "conda": (Wrapper(values("-n -p --name --prefix"), verbs=("run",)),),
    "mamba": (Wrapper(values("-n -p --name --prefix"), verbs=("run",)),),
    "micromamba": (Wrapper(values("-n -p --name --prefix"), verbs=("run",)),),
    "pnpm": (Wrapper(verbs=("exec",)), Wrapper(verbs=("dlx",))),
    "npm": (Wrapper(verbs=("exec",)),),
    "yarn": (Wrapper(verbs=("exec",)), Wrapper(verbs=("dlx",))),
    "bundle": (Wrapper(verbs=("exec",)),),
    "coverage": (Wrapper(values("--source --include --omit --rcfile"), verbs=("run",)),),
    "docker": (
        Wrapper(values("-e -u -w --env --user --workdir"), verbs=("exec",), leading=1),
        Wrapper(values("-e -u -w --env --user --workdir"), verbs=("compose", "exec"), leading=1),
    ),
    "podman": (Wrapper(values("-e -u -w --env --user --workdir"), verbs=("exec",), leading=1),),
    "docker-compose": (Wrapper(values("-e -u -w"), verbs=("exec",), leading=1),),
    "kubectl": (Wrapper(values("-n -c --namespace --container"), verbs=("exec",), leading=1),),
    "eval": (Wrapper(takes_text=True),),
    "ssh": (Wrapper(values("-i -p -l -o -F -L -R -D -J -b -c -E -m -S -W -w"), leading=1, takes_text=True),),
    "sshpass": (Wrapper(values("-p -f -d -e")),),
    "wsl": (Wrapper(values("-d -u")),),
    "busybox": (Wrapper(),),
    "start-process": (Wrapper(),),
}


def behind(words: Sequence[str], wrapper: Wrapper) -> list[str] | None:
    """The words of the program behind a wrapper; None where the wrapper does not apply."""
    position, count = 1, len(words)
    for verb in wrapper.verbs:
        while position < count and words[position].startswith("-"):
            position += 2 if words[position] in wrapper.with_value else 1
        if position >= count or words[position] != verb:
            return None
        position += 1
    leading = wrapper.leading
    while position < count:
        word = words[position]
        if word == "--":
            position += 1
            if not leading:
                break
        elif len(word) > 1 and word[0] == "-":
            position += 2 if word in wrapper.with_value else 1
        elif ASSIGNMENT.match(word) and not leading:
            position += 1
        elif leading:
            leading -= 1
            position += 1
        else:
            break
    return list(words[position:])
