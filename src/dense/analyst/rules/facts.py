"""What the rules know of each action: what it did, what came back, what it was for. Looked at once, asked for often.

    facts(leaf, effects, seen)   all of it
    same_file(a, b)              whether two paths, as written, may be the same file

Everything here is told by calls and their effects; prose gives one hint (`opens`). A call that no table knows is judged
by the verb in its name."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice
from typing import Any, Literal

from msgspec import Struct

from dense.actions import commands
from dense.actions.arguments import ASSIGNMENT, WRAPPERS, behind, operands, program_name, values
from dense.actions.effects import Effects
from dense.actions.tests import BUILDERS, PACKAGERS, PYTHON, VERBS
from dense.actions.tools import CHAT_TERMINALS, EDITORS, PYTHONS, SHELLS, SILENT
from dense.analyst.rules.files import base_name
from dense.observations.seen import Seen
from dense.trajectory import Step, ToolCall
from dense.tree import Leaf

Phase = Literal[
    "explore",  # looks at what is there: lists, reads, searches, asks
    "setup",  # installs, fetches, configures, starts services
    "produce",  # writes or changes files
    "run",  # runs a program that is no test and writes nothing that is known
    "verify",  # tests, checks, reads back what was made
    "deliver",  # hands over: submits, answers, marks the task as done
    "talk",  # says something and does nothing
]
Opening = Literal[0, 1, 2]


class Facts(Struct, frozen=True):
    """What is known of one action, from its step alone."""

    action: int
    """Its number: 1 for `a1`."""
    effects: Effects
    """What its calls did, or tried to do."""
    seen: Seen
    """What came back."""
    commands: tuple[str, ...]
    """The shell texts that it ran."""
    phase: Phase
    """What it was for."""
    family: str
    """What kind of thing was done: the program or tool with its subcommand (`pytest`, `git diff`, `python solve.py`,
    `str_replace`). Two actions of one family do the same thing to something."""
    targets: tuple[str, ...]
    """What it is about: files that it touches, normalised so that `./a.py`, `/app/a.py` and `a.py` may be compared by
    `same_file`; packages; hosts; queries."""
    gist: str = ""
    """Its calls as text, without what changes nothing: blanks, `2>&1`, a `| head` at the end. Equal for two actions
    that do the same. Empty where nothing was called."""
    opens: Opening = 0
    """Whether its own words turn to something new: 2 by structure (a numbered step, an update of the plan), 1 by a
    word."""
    is_answered: bool = False
    """Whether a user spoke right after it."""
    is_lasting: bool = False
    """Whether it cannot be taken back: a deletion, a commit, a service, something sent or handed over."""

    @property
    def has_failed(self) -> bool:
        return self.seen.has_failed

    @property
    def is_check(self) -> bool:
        """Whether it ran tests or checks, by its command or by what came back."""
        return bool(self.effects.tests or self.seen.tests)

    @property
    def has_passed(self) -> bool:
        """Whether it ran a check and something came back that does not speak against it."""
        return self.is_check and not self.seen.is_empty and not self.seen.has_failed

    @property
    def products(self) -> tuple[str, ...]:
        """What it works on, as against what it looks at: files written or removed, programs run."""
        effects = self.effects
        return effects.writes + effects.deletes + effects.scripts


def facts(leaf: Leaf, effects: Effects, seen: Seen) -> Facts:
    """What is known of an action. `effects` and `seen` are those of the leaf's own step."""
    step = leaf.step
    calls = step.calls
    names = tuple([plain_name(call.name) for call in calls])
    texts = commands(step) if names else ()
    family = family_of(calls, names, texts, effects)
    phase = phase_of(calls, names, texts, effects, family)
    return Facts(
        action=leaf.action,
        effects=effects,
        seen=seen,
        commands=texts,
        phase=phase,
        family=family,
        targets=targets_of(calls, names, effects),
        gist=gist_of(calls, names, texts),
        opens=opening(step, names),
        is_answered=any(observation.origin == "user" for observation in step.observations),
        is_lasting=phase == "deliver" or bool(effects.deletes or effects.services) or family in LASTING,
    )


# Tools by name

HAND_OVERS = values("""
    submit finish finalanswer marktaskcomplete taskcomplete attemptcompletion reporttaskcompletion complete done
    agentfinish agentfinishaction finished completetask finishtask submitanswer submitsolution submitfinalanswer
    finalresponse submitpatch terminate endtask taskdone giveanswer answer stop structuredoutput giveup
    transfertohumanagents transfertohuman provideanswer returnanswer submitresult submittask finishaction
""")
PLANS = values("todowrite updateplan tasktracker taskcreate taskupdate plan managetodolist updatetodos writetodos")
DELEGATES = values("task agent spawnagent delegate newtask")
SHELL_HAND_OVERS = ("COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT", "MINI_SWE_AGENT_FINAL_OUTPUT")
VERB_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
LOOKING_VERBS = values("""
    get list search find lookup look read check show view describe fetch query calculate count count retrieve inspect
    browse scroll screenshot snapshot extract navigate goto visit open scan watch hover help wait status info explain
    compare analyze summarize is has load locate detect identify
""")
CHANGING_VERBS = values("""
    update create add book cancel modify delete set exchange return send post put remove edit write insert replace save
    upload move rename reserve order pay place register assign apply enable disable schedule approve reject change
    refund append patch commit push merge publish deploy transfer toggle mark grant revoke
""")


@lru_cache(1024)
def plain_name(name: str) -> str:
    """A tool's name without server and name space, in small letters and digits."""
    name = own_name(name)
    return "".join([letter for letter in name.lower() if letter.isalnum()])


def own_name(name: str) -> str:
    name = name[-200:]
    if name.startswith("mcp__") and name.count("__") >= 2:
        name = name.split("__", 2)[2]
    return re.split(r"[.:/]", name)[-1] or name


@lru_cache(1024)
def verb_phase(name: str) -> Phase:
    """What a tool that no table knows is for, by the first verb in its name."""
    for part in VERB_PARTS.findall(own_name(name)[:100]):
        word = part.lower()
        if word in LOOKING_VERBS:
            return "explore"
        if word in CHANGING_VERBS:
            return "produce"
    return "run"


# What it was for

LOOKERS = values("""
    ls cat head tail grep egrep fgrep zgrep rg ag ack find fd wc file stat tree which whereis type pwd env printenv
    uname whoami id groups hostname df du ps top htop free lscpu nproc lsblk blkid date uptime strings xxd od hexdump
    nm objdump readelf ldd jq yq awk gawk sed cut sort uniq tr less more man info column paste tac nl rev fold basename
    dirname realpath readlink ss netstat lsof pgrep lsmod dmesg journalctl history locale getent dir findstr zcat bat
    exa identify exiftool ffprobe mediainfo pdftotext pdfinfo debugfs dig nslookup ping host ip ifconfig route crontab
    get-content get-childitem select-string git-grep cd xargs parallel echo printf true false seq sleep test timeout
""")
SUBCOMMANDS = values("""
    git pip pip3 npm yarn pnpm bun cargo go docker podman kubectl apt apt-get brew conda mamba uv poetry systemctl
    service gh aws gcloud terraform helm dotnet mvn gradle make gmake flutter rails mix tmux openssl dnf yum apk pacman
    7z supervisorctl docker-compose rustup cmake hg svn gem composer bundle dpkg launchctl nvm opam stack cabal sbt
""")
LOOKING_SUBCOMMANDS = values("""
    status log diff show branch blame ls-files ls-tree ls-remote remote rev-parse describe shortlog reflog cat-file grep
    list freeze check-ignore rev-list search info view ps images logs inspect get describe ls version outdated tree why
    top stats whoami name-rev metadata cache env config policy help -l --list
""")
SETTERS = values("""
    mkdir chmod chown chgrp export source . ln useradd groupadd usermod passwd ufw sysctl mount umount swapon virtualenv
    update-alternatives ldconfig locale-gen timedatectl wget aria2c touch cp mv tar unzip gunzip ssh-keygen adduser
""")
"""Programs that only prepare, where nothing else is run beside them."""
ARCHIVERS = values("tar unzip zipinfo 7z 7za gunzip bsdtar unrar lsar")
SETTING_FAMILIES = frozenset(
    """git clone,git init,git config,git submodule,git checkout,git switch,git fetch,git worktree,apt update,
    apt-get update,docker pull,docker build,npm init,cargo init,cargo new,go mod,uv venv,uv init,conda create,
    conda activate,systemctl start,systemctl restart,rustup update,systemctl enable,service start,docker-compose up,
    poetry init,cmake,venv""".replace("\n    ", "").split(",")
)
LASTING = frozenset(["git commit", "git push", "git merge", "git tag", "gh pr", "npm publish", "cargo publish", "rm"])
QUESTIONS = (" --version", " --help")
LOGS = (".log", ".out", ".err", ".pid", ".lock")
PLACES = ("/tmp/", "/var/tmp/", "/dev/shm/")  # noqa: S108 - recognised, not used


def phase_of(
    calls: Sequence[ToolCall], names: Sequence[str], texts: Sequence[str], effects: Effects, family: str
) -> Phase:
    if hands_over(calls, names, texts):
        return "deliver"
    if not names or (effects == NOTHING and not texts and all(name in SILENT for name in names)):
        return "run" if any(name in DELEGATES for name in names) else "talk"
    if effects.tests:
        is_product = any(not is_scratch(path) and "test" not in path for path in effects.writes)
        return "produce" if is_product else "verify"
    if effects.installs or effects.services:
        return "setup"
    if effects.changes_files:
        return changing_phase(effects, family)
    return looking_phase(names, texts, effects, family)


NOTHING = Effects()


def hands_over(calls: Sequence[ToolCall], names: Sequence[str], texts: Sequence[str]) -> bool:
    for call, name in zip(calls, names, strict=True):
        if name in HAND_OVERS or (name in PYTHONS and "final_answer(" in first_text(call)):
            return True
    for text in texts:
        if any(mark in text for mark in SHELL_HAND_OVERS) and "echo" in text:
            return True
        if text.split(None, 1)[:1] == ["submit"]:
            return True
    return False


def first_text(call: ToolCall) -> str:
    return next((value for value in call.arguments.values() if isinstance(value, str)), "")


def changing_phase(effects: Effects, family: str) -> Phase:
    if not effects.deletes and all(path.endswith(LOGS) for path in effects.writes):
        return "run"
    is_setting = not own_scripts(effects) and (
        family in SETTING_FAMILIES or all(program_name(word) in SETTERS for word in effects.runs or ("?",))
    )
    return "setup" if is_setting else "produce"


def looking_phase(names: Sequence[str], texts: Sequence[str], effects: Effects, family: str) -> Phase:
    if own_scripts(effects):
        return "run"
    telling = [word for word in effects.runs if program_name(word) not in LOOKERS]
    if not telling:
        is_setting = bool(texts) and not (effects.reads or effects.network or effects.runs)
        return "setup" if is_setting else "explore"
    if not texts and len(telling) == len(effects.runs):
        if any(name in PYTHONS or name in CHAT_TERMINALS for name in names):
            return "explore" if effects.reads else "run"
        return verb_phase(telling[0])
    if all(program_name(word) in ARCHIVERS for word in telling):
        return "explore"  # nothing is written: contents are listed
    if family in SETTING_FAMILIES or all(program_name(word) in SETTERS for word in telling):
        return "setup"
    program, _, verb = family.partition(" ")
    if verb in LOOKING_SUBCOMMANDS and program in SUBCOMMANDS:
        return "explore"
    # Code on the command line that reads files and writes none looks at them; so does what asks an address.
    if len(telling) == 1 and (effects.network or any(mark in text for text in texts for mark in QUESTIONS)):
        return "explore"
    return "explore" if effects.reads and all(PYTHON.match(program_name(word)) for word in telling) else "run"


def is_scratch(path: str) -> bool:
    """Whether a file is a log or lies where nothing is meant to stay."""
    return path.endswith(LOGS) or path.startswith(PLACES)


# What kind of thing was done

INTERPRETERS = {
    "py": "python",
    "sh": "bash",
    "bash": "bash",
    "js": "node",
    "mjs": "node",
    "cjs": "node",
    "ts": "node",
    "rb": "ruby",
    "pl": "perl",
    "php": "php",
    "r": "Rscript",
    "jl": "julia",
    "lua": "lua",
    "java": "java",
    "go": "go",
}
FILTERS = values("head tail grep sort uniq wc cut tr awk sed column less more tee xargs cd nl rev test")
SHELL_WRITERS = {"": "cat >", "cat": "cat >", "sed": "sed -i"}
ENVIRONMENTS = ("activate", ".bashrc", ".profile", ".bash_profile", ".zshrc", ".env", "env.sh", "setup.bash", "nvm.sh")
"""Files that a shell takes in to prepare itself: no program of the task's own."""
LONGEST = 300
"""How much of a command is looked at for its name."""


def family_of(calls: Sequence[ToolCall], names: Sequence[str], texts: Sequence[str], effects: Effects) -> str:
    if effects.tests:
        return command_family(effects.tests[0])
    own = own_scripts(effects)
    if own:
        return script_family(own[-1])
    if texts:
        program = telling_program(effects.runs)
        if effects.installs and program:
            return f"{program_name(program)} install"
        if program and program_name(program) not in LOOKERS:
            return program_family(program, texts)
        if effects.writes:
            return SHELL_WRITERS.get(program, program)
    for call, name in zip(calls, names, strict=True):
        if name not in SHELLS and (name not in SILENT or not texts):
            return tool_family(call, name)
    if texts:
        program = telling_program(effects.runs)
        return program_family(program, texts) if program else command_family(texts[0])
    return own_name(calls[0].name) if calls else ""


def own_scripts(effects: Effects) -> Sequence[str]:
    """The programs that were run, without what only prepares the shell."""
    scripts = effects.scripts
    if scripts and any(path.endswith(ENVIRONMENTS) for path in scripts):
        return [path for path in scripts if not path.endswith(ENVIRONMENTS)]
    return scripts


def telling_program(runs: Sequence[str]) -> str:
    """The program that a chain is about: no filter and nothing that only looks, where there is something else."""
    looking = ""
    for word in runs:
        name = program_name(word)
        if name not in LOOKERS:
            return word
        if not looking or program_name(looking) in FILTERS:
            looking = looking if looking and name in FILTERS else word
    return looking


def tool_family(call: ToolCall, name: str) -> str:
    if name in EDITORS and isinstance(verb := call.arguments.get("command"), str) and len(verb) < 40:
        return verb
    return own_name(call.name)


def program_family(program: str, texts: Sequence[str]) -> str:
    """A program with its subcommand, which the text around it tells."""
    name = program_name(program)
    if PYTHON.match(name):
        return "venv" if any(" -m venv" in text for text in texts) else "python -"
    if name not in SUBCOMMANDS:
        return name
    for text in texts:
        position = text.find(program)
        for _ in range(8):  # its name may stand within other words first
            if position < 0:
                break
            before = text[position - 1] if position else " "
            after = text[position + len(program) : position + len(program) + 1]
            if (before in " \t\n;&|(`\"'/$") and after.isspace():
                return with_subcommand(name, text[position : position + LONGEST].split("\n", 1)[0].split())
            position = text.find(program, position + 1)
    return name


def with_subcommand(name: str, words: Sequence[str]) -> str:
    rest = operands(words, values("-C -c -f -p --prefix --git-dir --file --context --namespace -n"))
    verb = rest[0].strip("'\"`;&|)") if rest else ""
    if verb == "run" and len(rest) > 1 and name in PACKAGERS:
        verb = rest[1].strip("'\"`;&|)")
    if not verb or not verb[0].isalnum() or len(verb) > 40:
        return name
    return f"{name} {verb}"


def script_family(path: str) -> str:
    name = base_name(path)
    program = INTERPRETERS.get(name.rpartition(".")[2].lower()) if "." in name[1:] else None
    return f"{program} {name}" if program else name


def command_family(text: str) -> str:
    """A command's name, out of the programs around it: `sudo timeout 5 python3 -m pytest -q` is `pytest`."""
    words = unwrapped(text[:LONGEST].split())
    if not words:
        return ""
    name = program_name(words[0])
    if PYTHON.match(name):
        for position, word in enumerate(words[1:], 1):
            if word == "-m" and position + 1 < len(words):
                return words[position + 1].partition(".")[0]
            if not word.startswith("-"):
                return script_family(word.strip("'\""))
            if word in ("-c", "-"):
                break
        return "python -"
    if name in VERBS or name in BUILDERS or name in PACKAGERS or name in SUBCOMMANDS:
        return with_subcommand(name, words)
    if name in ("bash", "sh", "zsh", "node", "ruby", "perl") and (rest := operands(words)):
        return script_family(rest[0].strip("'\""))
    return name


def unwrapped(words: list[str]) -> list[str]:
    for _ in range(8):
        while words and ASSIGNMENT.match(words[0]):
            words = words[1:]
        if not words:
            return words
        inner = next(
            (found for wrapper in WRAPPERS.get(program_name(words[0]), ()) if (found := behind(words, wrapper))), None
        )
        if inner is None:
            return words
        words = inner
    return words


# What it is about

MOST_TARGETS = 24
NO_TARGETS = frozenset(["", ".", "..", "/", "~", "*", ".git", "{}", "?"])
HOST = re.compile(r"(?:[a-z][a-z0-9+.-]{0,20}://)?(?:[^/@\s]{1,100}@)?([^/\s?#]{1,200})", re.IGNORECASE)


def targets_of(calls: Sequence[ToolCall], names: Sequence[str], effects: Effects) -> tuple[str, ...]:
    """Files first, what is changed before what is looked at; then packages and addresses; else what a tool is given."""
    found: dict[str, None] = {}
    paths = chain(effects.writes, effects.scripts, effects.deletes, test_paths(effects.tests), effects.reads)
    for path in islice(paths, 4 * MOST_TARGETS):
        if (path := normalised(path)) not in NO_TARGETS:
            found[path] = None
    for package in effects.installs[:MOST_TARGETS]:
        found[package] = None
    for address in effects.network[:MOST_TARGETS]:
        found[host_of(address)] = None
    if not found:
        for call, name in zip(calls, names, strict=True):
            if name not in SHELLS and name not in SILENT and name not in PYTHONS:
                for value in short_values(call.arguments):
                    found[value] = None
    return tuple(islice(found, MOST_TARGETS))


def test_paths(tests: Sequence[str]) -> Iterator[str]:
    for text in tests[:4]:
        for word in text[:LONGEST].split()[1:]:
            path = word.partition("::")[0].strip("'\"`;")
            if path[:1] not in "-" and ("/" in path or "." in path[1:]) and "=" not in path and "://" not in path:
                yield path


def short_values(arguments: dict[str, Any]) -> Iterator[str]:
    for value in islice(arguments.values(), 4):
        if isinstance(value, str) and 0 < len(value) <= 80:
            yield value


def host_of(address: str) -> str:
    """The host of an address; a query stays as it is."""
    if " " in address or len(address) > 2000:
        return address[:200]
    found = HOST.match(address)
    return found[1].lower() if found else address[:200]


@lru_cache(4096)
def normalised(path: str) -> str:
    """A path by its components: no `./`, no doubled or last slash, slashes that lean forward."""
    path = path.strip("'\"").replace("\\", "/")
    if "//" in path or "/./" in path:
        root = "/" if path.startswith("/") else ""
        path = root + "/".join([part for part in path.split("/") if part not in ("", ".")])
    while path.startswith("./"):
        path = path[2:]
    return path.rstrip("/") or path[:1]


@lru_cache(4096)
def floating(path: str) -> str:
    """A path without a beginning that tells nothing about where it lies: `../`, `~/`, `$PWD/`."""
    while True:
        head, slash, rest = path.partition("/")
        if not slash or not (head in ("..", ".", "~") or head.startswith("$")):
            return path
        path = rest


def same_file(a: str, b: str) -> bool:
    """Whether two paths, as they were written, may be the same file: one is the end of the other, component by
    component. Two that begin at the root must be equal."""
    a, b = normalised(a), normalised(b)
    if a == b:
        return a not in NO_TARGETS
    a, b = floating(a), floating(b)
    if len(a) < len(b):
        a, b = b, a
    if b in NO_TARGETS or (a.startswith("/") and b.startswith("/") and a != b):
        return False
    return a == b or a.endswith(f"/{b}")


# The same again

CUT_OUTPUT = re.compile(r" ?(?:head|tail)(?: -n)?(?: -?\d{1,6})?$")
LONGEST_GIST = 1000


def gist_of(calls: Sequence[ToolCall], names: Sequence[str], texts: Sequence[str]) -> str:
    parts = [reduced(text) for text in texts]
    for call, name in zip(calls, names, strict=True):
        if name not in SHELLS:
            parts.append(call.name)
            parts += [value if isinstance(value, str) else shown(value) for value in call.arguments.values()]
    gist = "\x1f".join(parts)
    if len(gist) <= LONGEST_GIST:
        return gist
    check = zlib.crc32(gist.encode("utf-8", "replace"))
    return f"{gist[: LONGEST_GIST // 2]}\x1f{len(gist)}\x1f{check}"


def shown(value: Any) -> str:
    try:
        return repr(value)[:LONGEST]
    except (RecursionError, ValueError):  # nested too deep, a number too long to be written
        return type(value).__name__


def reduced(text: str) -> str:
    """A command without what changes nothing. Long ones are taken as they are."""
    if len(text) > LONGEST_GIST:
        return text
    text = " ".join(text.split()).replace(" 2>&1", "").replace(" 2>/dev/null", "")
    before, bar, last = text.rpartition("|")
    if bar and CUT_OUTPUT.match(last):
        text = before
    return text.rstrip(" ;")


# Turning to something new

VIEW = 240
"""How much of a message is looked at: what is said first is about what is done next."""
NUMBERED = re.compile(
    r"\W{0,12}(?:(?:step|phase|part|stage|task|schritt|teil|étape|etape|partie|paso|fase|parte|passo|etapa|шаг|этап|часть|krok|"
    r"adım|stap|steg|bước|단계|ステップ|步骤|步驟|阶段|階段)\s{0,3}[#№]?\d|第\s?[一二三四五六七八九十\d]{1,3}\s?[步阶階]|"
    r"\d{1,2}[.)]\s)"
)
SENTENCE_END = re.compile(r"[.!?:\n。！？：]+")
MARKUP = " \t*_#>-\"'`(…—"
TURNS = values("""
    now next finally moving jetzt nun weiter schließlich maintenant ensuite passons enfin ahora luego agora adesso ora
    poi теперь далее затем наконец nu şimdi sekarang teraz następnie
""")
TURN_PHRASES = (
    "als nächstes",
    "a continuación",
    "por último",
    *"现在 接下来 下一步 然后 最后 現在 接著 次に では それでは 最後に 이제 다음으로 마지막으로".split(),
)
"""None of them is ASCII: most sentences need not be compared."""
MOST_SENTENCES = 5


def opening(step: Step, names: Sequence[str]) -> Opening:
    if any(name in PLANS for name in names):
        return 2
    text = (step.message or step.reasoning)[:VIEW].lower()
    if not text or text.isspace():
        return 0
    if NUMBERED.match(text):
        return 2
    for sentence in SENTENCE_END.split(text, MOST_SENTENCES):
        sentence = sentence.lstrip(MARKUP)
        if sentence.partition(" ")[0].rstrip(",;") in TURNS:
            return 1
        if not sentence.isascii() and sentence.startswith(TURN_PHRASES):
            return 1
    return 0
