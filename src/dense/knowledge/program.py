"""What can be known of a program: the shape of the rows in `programs`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

from msgspec import Struct

TRAITS = {
    "looks": "prints what is there and changes nothing",
    "shows": "looks: prints the contents of the files that it is given",
    "lists": "looks: prints names and properties of files, and says so if there is no such file",
    "searches": "looks: prints what matches a pattern; exit code 1 means that nothing does",
    "finds": "prints nothing if it finds nothing",
    "filters": "works on its input in the middle of a pipe",
    "walks": "goes through folders: that it may not enter some of them is no failure",
    "probes": "asks whether another machine or name is there",
    "fetches": "prints or saves what is at an address",
    "answers": "says no by exit code 1",
    "quiet": "prints nothing but its own complaints",
    "complains": "begins a line with its own name only to complain",
    "builtin": "word of the shell, not counted among the programs that ran",
    "idle": "does nothing to speak of",
    "decorates": "prepares or decorates what the rest of a command line is about",
    "sets_up": "only prepares the machine if nothing else runs beside it",
    "archives": "packs and unpacks archives, lists what is in them",
    "subcommands": "its first operand says what it does",
    "lints": "checks: looks at the text of programs and not at what they do",
    "compares": "checks: compares files",
    "formats": "rewrites the text of programs",
    "module_check": "checks if it is run as a module of Python",
    "module": "module of Python that is a tool, not a program of the task's own",
    "builds": "its operands are targets with names of the project's own",
    "node_packager": "runs the scripts of package.json and installs packages",
    "local_install": "installs what the project asks for if no package is named",
    "interpreter": "runs a program file that it is given",
    "shell": "interprets shell text",
    "serves": "keeps running",
    "detaches": "leaves what it runs in the background",
    "never_serves": "is over soon, also if it is put into the background",
    "contains": "runs containers",
    "word": "its name is an ordinary word, or too short to be sure of",
}
IMPLIED = {
    "shows": ("looks",),
    "lists": ("looks",),
    "searches": ("looks", "answers", "finds"),
    "lints": ("checks",),
    "compares": ("checks", "answers"),
}

Operands = Literal[
    "",  # not files, or for a function of its own
    "read",  # files that are read
    "listed",  # files and folders that are read, the current folder if there is none
    "searched",  # a pattern or a program, then files that are read
    "written",  # files that are made or changed
    "changed",  # a mode or an owner, then files that get it
    "deleted",  # files that are removed
    "copied",  # files that are read, and where they go
    "moved",  # files that are removed, and where they go
    "linked",  # what a link is to, and the link
    "archived",  # an archive that is written, and files that are read
    "converted",  # the first is read, the last is written
    "fetched",  # addresses
    "asked",  # another machine, and a port
]


class Wrapper(Struct, frozen=True):
    """How a program runs the program behind it."""

    valued: frozenset[str] = frozenset()
    """Its options that take a value."""
    leading: int = 0
    """Its own operands before the other program: the seconds of `timeout`."""
    verbs: tuple[str, ...] = ()
    """Words that must follow for it to be a wrapper at all: `run` of `uv run`."""
    takes_text: bool = False
    """Whether the rest is shell text in itself, as with `eval` and `ssh`."""


class Program(Struct, frozen=True):
    """What is known of a program. Options and subcommands are sets of words."""

    names: tuple[str, ...] = ()
    traits: frozenset[str] = frozenset()
    """Some of `TRAITS`, and what they imply."""
    operands: Operands = ""
    wrappers: tuple[Wrapper, ...] = ()
    """How it runs another program, in one or several ways."""
    valued: frozenset[str] = frozenset()
    """Options whose value is the next word."""
    script_options: frozenset[str] = frozenset()
    """Options that give the pattern or the program, so that all operands are files."""
    output_options: frozenset[str] = frozenset()
    """Options that name a file that is written."""
    input_options: frozenset[str] = frozenset()
    """Options that name a file that is read."""
    host_options: frozenset[str] = frozenset()
    """Options that name another machine."""
    write_options: frozenset[str] = frozenset()
    """If there are any: without one of these it only reads its operands."""
    dry_options: frozenset[str] = frozenset()
    """With one of these it changes nothing."""
    check_verbs: frozenset[str] = frozenset()
    """Subcommands that test or check."""
    check_options: frozenset[str] = frozenset()
    """Options with which it only checks."""
    install_verbs: frozenset[str] = frozenset()
    """Subcommands, of one word or two, that install the packages behind them; `*`: it does nothing else."""
    build_verbs: frozenset[str] = frozenset()
    """Subcommands, of one word or two, and options that build what the project consists of."""
    serve_verbs: frozenset[str] = frozenset()
    """Subcommands that keep running, or start something that does."""
    setup_verbs: frozenset[str] = frozenset()
    """Subcommands that only prepare."""
    store_verbs: frozenset[str] = frozenset()
    """Subcommands that record a state of the work."""
    lasting_verbs: frozenset[str] = frozenset()
    """Subcommands that cannot be taken back."""
    code_options: frozenset[str] = frozenset()
    """Options of an interpreter that are followed by code."""
    extensions: frozenset[str] = frozenset()
    """How the names of program files end that it runs."""
    followed: frozenset[str] = frozenset()
    """All options that are followed by a word of their own."""


MAX_VERB_WORDS = {
    **dict.fromkeys(("check_verbs", "serve_verbs", "setup_verbs", "store_verbs", "lasting_verbs"), 1),
    **dict.fromkeys(("install_verbs", "build_verbs"), 2),
}
"""Words of a subcommand that are looked at."""
MODULES = frozenset({"module", "module_check", "serves"})
"""Traits of what may be a module of Python: its name is looked up as it is written."""


def words(text: str) -> frozenset[str]:
    """The words of a text, or the parts between its commas. A repeated one is refused: it has no effect."""
    listed = [part.strip() for part in text.split(",")] if "," in text else text.split()
    if "" in listed:
        raise ValueError(f"an empty word between the commas of {' '.join(text.split())[:80]!r}")
    if repeated := sorted(word for word, count in Counter(listed).items() if count > 1):
        raise ValueError(f"{', '.join(repeated)}: listed twice in {' '.join(text.split())[:80]!r}")
    return frozenset(listed)


def by_key[K, V](rows: Iterable[tuple[K, V]]) -> dict[K, V]:
    """Rows by a name or code. One that has two rows is refused: only the last would count."""
    table: dict[K, V] = {}
    for key, value in rows:
        if key in table:
            raise ValueError(f"{key} has two rows: only the last would count")
        table[key] = value
    return table


def row(
    names: str,
    traits: str = "",
    operands: Operands = "",
    *wrappers: Wrapper,
    **sets: str,
) -> Program:
    """A row of the table; everything in words."""
    given = words(traits)
    if unknown := given.difference(TRAITS):
        raise ValueError(f"{names}: no such trait: {', '.join(sorted(unknown))}")
    implied = frozenset(more for trait in given for more in IMPLIED.get(trait, ()))
    if doubled := sorted(given & implied):
        raise ValueError(f"{names}: {', '.join(doubled)} follows from another trait")
    parsed = {name: words(text) for name, text in sets.items()}
    if problem := _unreachable(names.split(), given) or _lacks(given, operands, parsed):
        raise ValueError(f"{names or 'a program'}: {problem}")
    followed = [
        parsed[name] for name in ("valued", "script_options", "output_options", "input_options") if name in parsed
    ]
    return Program(
        names=tuple(names.split()),
        traits=given | implied,
        operands=operands,
        wrappers=wrappers,
        followed=frozenset[str]().union(*followed),
        **parsed,
    )


def _unreachable(names: Sequence[str], traits: frozenset[str]) -> str:
    """Why a name is never looked up; empty if each is."""
    if not names:
        return "it has no name"
    for name in names:
        if name.endswith((".exe", ".cmd")) or "/" in name or "\\" in name:
            return f"{name} is never looked up: a program's name has no folder and no .exe"
        if name.lower() not in names and traits.isdisjoint(MODULES):
            return f"{name} is never looked up: programs are known by their names in small letters"
    return ""


def _lacks(traits: frozenset[str], operands: Operands, sets: Mapping[str, frozenset[str]]) -> str:
    """Why a part of a row can never have an effect; empty if all of it can."""
    if operands not in get_args(Operands):
        return f"no such operands: {operands}"
    if empty := [name for name, listed in sets.items() if not listed]:
        return f"{', '.join(empty)}: no word in it"
    if "script_options" in sets and operands != "searched":
        return "script_options are about a pattern among the operands: make these `searched`"
    if "write_options" in sets and operands != "read":
        return "write_options say when operands that are read otherwise are written: make these `read`"
    if "dry_options" in sets and not (operands or sets.keys() & {"output_options", "input_options"}):
        return "dry_options say when no file is written, and the row writes none"
    if "code_options" in sets and "interpreter" not in traits:
        return "code_options are those of an interpreter: give that trait"
    if "local_install" in traits and "install_verbs" not in sets:
        return "local_install is about install_verbs, and it has none"
    if sets.keys() & {"setup_verbs", "store_verbs", "lasting_verbs"} and "subcommands" not in traits:
        return "setup_verbs, store_verbs and lasting_verbs need the trait subcommands"
    for name, limit in MAX_VERB_WORDS.items():
        if long := sorted(verb for verb in sets.get(name, ()) if verb.count(" ") >= limit):
            return f"{name} have at most {limit} words, not {', '.join(long)}"
    return ""


def behind(valued: str = "", leading: int = 0, verbs: str = "", *, takes_text: bool = False) -> Wrapper:
    """How a program runs the one behind it."""
    return Wrapper(words(valued), leading, tuple(verbs.split()), takes_text)
