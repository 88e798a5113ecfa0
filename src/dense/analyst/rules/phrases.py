"""An action in a few words: what it did, and what came back.

    did(facts, step)    "ran `python3 -m pytest -q`", "wrote `solve.py` (24 lines)", "read `sales.csv`"
    saw(facts, step)    "3 of 12 tests fail: `test_a`, `test_b`", "`total: 30`", "nothing"

Both are clauses without an agent, to be put into sentences. Whatever comes from the trace stands in backticks or quotes
and on one line: it is data, and cannot pass for a sentence of ours. Texts are looked at from their ends only, so that
an output of any length costs the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, cast

from dense.actions.files import UNNAMED
from dense.actions.interpret import without_edit_blocks
from dense.actions.shell import HEREDOC, HEREDOC_PLACE
from dense.actions.tools import (
    ADDRESS_KEYS,
    ASKERS,
    CODE_KEYS,
    DELETERS,
    EDITORS,
    LOOKERS,
    MOVERS,
    PATCHES,
    PATH_KEYS,
    PYTHONS,
    QUERY_KEYS,
    SILENT,
    SOURCE_KEYS,
    TARGET_KEYS,
    TEXT_KEYS,
    WRITERS,
    Call,
    is_shell,
    known,
)
from dense.analyst.rules.facts import Facts, Phase
from dense.observations.seen import Failure, TestRun
from dense.trajectory import Observation, Step

LONGEST_DEED = 120
LONGEST_SIGHT = 160
HEAD = 2000
"""How much of a text is looked at, from either end."""


class Deed:
    """An action with all that its words are made of. The words are made when they are asked for, and once."""

    def __init__(self, facts: Facts, step: Step, phase: Phase) -> None:
        self.facts = facts
        self.step = step
        self.phase: Phase = phase
        """What it was for, seen in sequence."""
        self.action = facts.action
        self.has_failed = facts.has_failed
        self.is_check = facts.is_check
        self.has_passed = self.is_check and facts.has_passed

    @cached_property
    def did(self) -> str:
        return did(self.facts, self.step)

    @cached_property
    def saw(self) -> str:
        return saw(self.facts, self.step)

    @cached_property
    def output(self) -> str:
        return output(self.facts, self.step)


CONTROL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*\x07?|\x1b.?"
    r"|[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]"
)
"""Escapes of terminals, and characters that are not seen or that turn the direction of a text."""


def one_line(text: str, limit: int) -> str:
    """A text on one line, without control characters, cut at a word."""
    reach = 4 * limit + 80
    head = text[:reach]
    if not head.isprintable():
        head = CONTROL.sub(" ", head)
    line = " ".join(head.split())
    if len(line) <= limit and len(text) <= reach:
        return line
    if len(line) > limit:
        blank = line.rfind(" ", limit * 2 // 3, limit)
        line = line[: blank if blank > 0 else limit - 1]
    return line.rstrip(" ,;:.…") + "…"


def ticked(text: str, limit: int = 80) -> str:
    """A name, a command or an output in backticks, whatever backticks it has itself."""
    line = one_line(text, limit)
    if "`" not in line:
        return f"`{line}`"
    return f"`` {line} ``" if "``" not in line else f"`{line.replace('`', chr(39))}`"


def capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


def sentence(clause: str) -> str:
    """A clause as a sentence, with one stop at its end."""
    return capital(clause) + ("" if clause.endswith((".", '."', '?"', '!"', '…"')) else ".")


def quoted(text: str, limit: int = 80) -> str:
    """What somebody said, in quotes."""
    return '"' + one_line(text, limit).replace('"', "'") + '"'


def listed(items: Sequence[str], most: int = 3) -> str:
    """`a`, `a and b`, `a, b and c`, `a, b and 4 more`."""
    if len(items) > most:
        return f"{', '.join(items[: most - 1])} and {len(items) - most + 1} more"
    return f"{', '.join(items[:-1])} and {items[-1]}" if len(items) > 1 else "".join(items)


def paths_told(paths: Iterable[str], most: int = 3) -> str:
    """Paths, each once: `/app/a.py` and `a.py` are told as one."""
    kept: dict[str, str] = {}
    for path in paths:
        name = path.rstrip("/").rpartition("/")[2] or path
        kept[name] = max(kept.get(name, ""), path, key=len) if path != UNNAMED else "the open file"
    return listed([name if name == "the open file" else path_told(name) for name in kept.values()], most)


def path_told(path: str, limit: int = 60) -> str:
    """A path in backticks; of a long one the end, since the name stands there."""
    if len(path) <= limit:
        return ticked(path, limit)
    end = path[1 - limit :]
    slash = end.find("/")
    return ticked("…" + (end[slash:] if 0 <= slash < limit // 2 else end), limit)


# Commands ------------------------------------------------------------------------------------------------------------

SEPARATOR = re.compile(r"""'[^']*+'|"(?:[^"\\]|\\.)*+"|\\.|(&&|\|\||;;?|\n)|(?<![>&])&(?![>&])""", re.DOTALL)
PREFIX = re.compile(r"(?:[A-Za-z_]\w*=\S*|sudo|env|nohup|time|exec|command|timeout(?: -\S+)* \S+|stdbuf \S+)\s+")
TAIL = re.compile(
    r" ?(?:[12&]?>&[12]|[12&]?>>? ?/dev/null|< ?/dev/null|;|&"
    r"|\| ?(?:head|tail|cat|less|more)(?: -?-?\w+(?:=\w+)?){0,2})$"
)
BLOCK = re.compile(r"\s*(?:for|while|until|if|case|select)\s")
BLOCK_END = re.compile(r"\s*(?:done|fi|esac)\b")
IDLE = frozenset(
    "cd pushd popd export set unset source . echo printf sleep pwd true : clear date mkdir wait alias shopt ulimit "
    "EOF stty tput whoami".split()
)
"""Programs that prepare or decorate what the rest of the text is about."""
SHOWING = frozenset("cat head tail less more nl bat sed zcat".split())
SEARCHING = frozenset("grep egrep fgrep rg ag ack zgrep".split())
LOOKING = (
    SHOWING | SEARCHING | frozenset("ls tree dir find fd stat file du wc which type xxd hexdump od strings".split())
)
HEREDOC_PLACED = re.compile(rf" ?< ?{HEREDOC_PLACE}(\d{{1,6}}) ?")
WRITTEN = re.compile(r"(?:cat|tee)(?: -a)?[^|;&]{0,20}?(?:>>?\s*|\btee (?:-a )?)(\"[^\"]*\"|'[^']*'|[^\s<>|;&]+)")


def segments(text: str) -> list[str]:
    """The statements of a shell text, pipes and loops whole, without what only prepares or decorates."""
    found = [part.strip() for part in blocks(text)]
    told = [part for part in found if part and part[0] != "#"]
    return [part for part in told if not is_idle(part)] or told[-1:]


def blocks(text: str) -> Iterator[str]:
    """The text cut at its separators, outside quotes; a loop or a condition is one block."""
    start = piece = 0
    is_open = False
    for match in SEPARATOR.finditer(text):
        if match[1] is None and match[0] != "&":
            continue
        is_open = is_open or BLOCK.match(text, piece, match.start()) is not None
        is_open = is_open and BLOCK_END.match(text, piece, match.start()) is None
        piece = match.end()
        if not is_open:
            yield text[start : match.start()]
            start = match.end()
    yield text[start:]


def is_idle(part: str) -> bool:
    name = part.split(None, 1)[0]
    return name in IDLE and not (name in ("echo", "printf") and ">" in part.replace(">&", ""))


def program(part: str) -> str:
    """The name of the program that a statement runs."""
    rest = part
    for _ in range(4):
        found = PREFIX.match(rest)
        if found is None:
            break
        rest = rest[found.end() :]
    words = rest.split(None, 1)
    return words[0].rpartition("/")[2] if words else ""


def trimmed(part: str) -> str:
    """A statement without its ends that only shorten or redirect what is shown."""
    text = " ".join(part[:HEAD].split())
    while (found := TAIL.search(text, max(0, len(text) - 40))) is not None and found.start():
        text = text[: found.start()]
    return text


def short_command(text: str, limit: int = 100) -> str:
    """The telling part of a shell text, in backticks."""
    return ticked(telling_part(statements(text)[0], limit, None), limit)


def statements(text: str) -> tuple[list[str], list[str]]:
    """The telling statements of a shell text, without heredocs; and the heredocs."""
    text = text if len(text) < 50_000 else text[:50_000]
    if "end_of_edit" in text:
        text = without_edit_blocks(text)
    bodies: list[str] = []
    if "<<" in text:
        text, bodies = without_heredocs(text)
    return segments(text[: 2 * HEAD]), bodies


def without_heredocs(text: str) -> tuple[str, list[str]]:
    """The text with a place in the stead of each heredoc that ends, and what they hold. Only for words: what a command
    does is told by the effects, which look closer."""
    kept: list[str] = []
    bodies: list[str] = []
    start = 0
    while (found := HEREDOC.search(text, start)) is not None:
        word = found[2] or found[3] or found[4]
        line_end = text.find("\n", found.end())
        end = text.find(f"\n{word}", line_end) if line_end >= 0 else -1
        if end < 0:
            break
        kept.append(f"{text[start : found.start()]} <{HEREDOC_PLACE}{len(bodies)} {text[found.end() : line_end]}")
        bodies.append(text[line_end + 1 : end])
        start = end + 1 + len(word)
    return "".join(kept) + text[start:], bodies


def telling_part(parts: Sequence[str], limit: int, facts: Facts | None) -> str:
    """All statements where they are short; else the one that weighs most, the last of equals."""
    shown = [trimmed(part) for part in parts]
    if not shown:
        return ""
    if sum(map(len, shown)) + 2 * len(shown) <= limit:
        return "; ".join(shown)
    return max(reversed(shown), key=lambda part: weight(part, facts))


def weight(part: str, facts: Facts | None) -> int:
    """How much a statement tells: what failed most, then a check, then a write, and a look least."""
    name = program(part)
    if facts is not None:
        if any(failure.subject == name for failure in facts.seen.failures):
            return 5
        if any(part.startswith(test[:60]) for test in facts.effects.tests):
            return 4
        if any(path in part for path in facts.effects.writes[:3]):
            return 3
    return 1 if name in LOOKING else 2


# What was done -------------------------------------------------------------------------------------------------------


def did(facts: Facts, step: Step, limit: int = LONGEST_DEED) -> str:
    """What an action did: a clause that begins with a verb in the past tense."""
    if facts.phase == "deliver":
        return delivered(step)
    if not step.calls:
        return said(step)
    deeds: list[str] = []
    if UNNAMED in facts.effects.writes:
        deeds.append(f"edited {paths_told([open_file(step)])}")
    elif facts.commands:
        deeds.append(shell_deed(facts, limit))
    if not facts.commands or len(step.calls) > 1:
        deeds += tool_deeds(step, is_mixed=bool(facts.commands))
    deeds = list(dict.fromkeys(filter(None, deeds)))
    if facts.has_failed and not facts.commands:
        deeds = [FAILED_VERB.sub(lambda found: f"tried to {PRESENT[found[0]]}", deed) for deed in deeds]
    if not deeds:
        return said(step) if step.message.strip() else "pressed keys"
    return joined(deeds, limit)


PRESENT = {"edited": "edit", "wrote": "write", "deleted": "delete", "moved": "move", "opened": "open"}
FAILED_VERB = re.compile(r"^(?:edited|wrote|deleted|moved|opened)\b")
OPEN_FILE = re.compile(r"\[File: ([^\n(]{1,300}) \(")


def open_file(step: Step) -> str:
    """The file that an editor without names says that it shows."""
    for seen in step.observations:
        if (found := OPEN_FILE.search(seen.text[:HEAD])) is not None:
            return found[1]
    return UNNAMED


def joined(deeds: Sequence[str], limit: int) -> str:
    """Deeds of one action; those of one verb under that verb, and no more than fit."""
    by_verb: dict[str, list[str]] = {}
    for deed in deeds:
        verb, _, rest = deed.partition(" `")
        by_verb.setdefault(verb if rest else deed, []).append(f"`{rest}" if rest else "")
    told = [f"{verb} {listed([one for one in rest if one])}".strip() for verb, rest in by_verb.items()]
    while len(told) > 1 and sum(map(len, told)) > limit:
        told.pop()
    return listed(told, 4)


def said(step: Step, limit: int = 100) -> str:
    """The head of a message as a claim, never as a fact."""
    if not any(seen.origin == "user" for seen in step.observations):
        line = first_sentence(step.message, limit)
        return f"said {quoted(line, limit)}" if line else "said nothing"
    line = question(step.message, limit)
    if line:
        return f"asked the user {quoted(line, limit)}"
    return f"told the user {quoted(first_sentence(step.message, limit), limit)}"


LABEL = re.compile(
    r"[#*>\s-]{0,8}(?:(?:thought|analysis|plan|task|answer|response|discussion|reasoning)s?\**:\**\s+)?", re.IGNORECASE
)
SENTENCE_END = re.compile(r"[.!?](?=\s)|[。！？]|(?<![:\n])\n")
MARKS = "*#_> \n\t"
"""Marks of headings and of stress."""
SHORTEST_SENTENCE = 24
"""A greeting or a heading is no sentence: what follows belongs to it."""


def sentences(message: str, limit: int) -> Iterator[str]:
    """The first sentences of a message, without marks of lists and labels before them."""
    head = message[: max(4 * limit, 600)].strip()
    found = LABEL.match(head)
    start = found.end() if found else 0
    for end in SENTENCE_END.finditer(head, start):
        if end.end() - start >= SHORTEST_SENTENCE:
            yield one_line(head[start : end.end()].strip(MARKS), limit)
            start = end.end()
    if start < len(head):
        yield one_line(head[start:].strip(MARKS), limit)


def first_sentence(message: str, limit: int = 100) -> str:
    """What a message begins with."""
    return next((one for one in sentences(message, limit) if one), "")


def intent(message: str, limit: int = 90) -> str:
    """What a message says that its action is for: before a call that stands at its end."""
    found = list(sentences(message, limit)) if len(message) <= 600 else []
    return max(found[-2:], key=len) if found else first_sentence(message, limit)


def question(message: str, limit: int = 100) -> str:
    """The first question of a message, in any language that has a mark for it."""
    return next((one for one in sentences(message, limit) if one.endswith(("?", "？", "؟"))), "")


ANSWER_KEYS = ("answer", "result", "output", "final_answer", "args", "message", "summary", "text", "input", "content")


def delivered(step: Step) -> str:
    """A submission, with what was handed over where the call holds it."""
    for call in step.calls:
        answer = plain_text(next((value for key in ANSWER_KEYS if (value := call.arguments.get(key))), None))
        if answer.strip() and not is_shell(known(call)):
            return f"handed in {quoted(answer, 90)}"
    message = first_sentence(step.message, 90)
    return f"ended the attempt and said {quoted(message, 90)}" if message else "ended the attempt"


def plain_text(value: Any) -> str:
    """An argument as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(plain_text(one) for one in cast("list[Any]", value)[:5])
    if value is None or isinstance(value, (int, float)):
        return "" if value is None else str(value)
    return str(cast("object", value))[:300]


def shell_deed(facts: Facts, limit: int) -> str:
    """What shell texts did: by their effects where those say it shorter than the text, else the text itself."""
    effects = facts.effects
    if effects.services and not effects.tests:
        return f"started {ticked(trimmed(effects.services[0]), 90)}"
    if effects.installs and not effects.tests and not effects.scripts:
        verb = "tried to install" if facts.has_failed else "installed"
        return f"{verb} {listed([ticked(name, 40) for name in effects.installs])}"
    parts: list[str] = []
    told: list[str] = []
    made: list[str] = []
    for text in facts.commands:
        found, bodies = statements(text)
        for part in found:
            placed = HEREDOC_PLACED.search(part) if bodies else None
            if placed is None or int(placed[1]) >= len(bodies):
                parts.append(part)
            elif written := WRITTEN.match(part):
                made.append(
                    f"{ticked(written[1].strip(QUOTES), 60)} ({lines_told(line_count(bodies[int(placed[1])]))})"
                )
            else:
                told.append(fed(HEREDOC_PLACED.sub(" ", part), bodies[int(placed[1])]))
    if made:
        told.insert(0, f"wrote {listed(made)}")
    if parts:
        looks = None if told or facts.effects.is_key else look(parts, facts)
        told.append(looks or f"ran {ticked(telling_part(parts, limit - 20, facts), limit - 10)}")
    return listed(told[:3])


SUBSTITUTED = re.compile(r"\$\(\s*cat\s*\)?")
QUOTES = "'\""


def fed(part: str, body: str) -> str:
    """A program that got a text to run or to read, by the text's last line: what it was run for stands there. What is
    put into an argument is told by its first."""
    if "$(" in part:
        return f"ran {ticked(trimmed(put_in(part, body)), 110)}"
    last = last_line(body)
    told = f"ran {lines_told(line_count(body))} with {ticked(trimmed(part), 40)}"
    return f"{told} ending in {ticked(last, 50)}" if last else told


def put_in(part: str, body: str) -> str:
    first = body.strip().partition("\n")[0]
    return SUBSTITUTED.sub(lambda _: first, part, count=1)


def look(parts: Sequence[str], facts: Facts) -> str | None:
    """A text that only looks, told by what it looks at; None where it does more."""
    names = {program(part) for part in parts}
    if not names <= LOOKING or any(" > " in part for part in parts):
        return None
    reads = facts.effects.reads
    if names <= SEARCHING and (patterns := [ticked(found, 50) for part in parts if (found := searched(part))]):
        return f"searched for {listed(patterns)}" + (f" in {paths_told(reads, 2)}" if reads else "")
    if names <= SHOWING and reads:
        return f"read {paths_told(reads)}"
    if names == {"ls"} and len(reads) == 1:
        return "listed the folder" if reads[0] in (".", "./") else f"listed {paths_told(reads)}"
    return None


OPERAND = re.compile(r"""\s(?:-[-\w]+(?:=\S*)?\s+)*+(?:'([^']+)'|"([^"]+)"|([^\s'"|;-][^\s|;]*))""")


def searched(part: str) -> str:
    """What a grep looks for."""
    found = OPERAND.search(part[:500])
    return (found[1] or found[2] or found[3] or "") if found else ""


def lines_told(count: int) -> str:
    return "1 line" if count == 1 else f"{count} lines"


def line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


# Tools ---------------------------------------------------------------------------------------------------------------

OLD_KEYS = ("old_string", "old_str", "oldtext", "old_text", "search", "find", "old")
NEW_KEYS = ("new_string", "new_str", "newtext", "new_text", "replace", "replacement", "new")
PATTERN_KEYS = ("pattern", "query", "regex", "search_term", "search", "keyword", "search_query")
POINTED_KEYS = (
    "element",
    "text",
    "label",
    "name",
    "selector",
    "bid",
    "ref",
    "index",
    "coordinate",
    "id",
    "uid",
    "target",
)
TYPED_KEYS = ("text", "value", "content", "input", "keys", "key")
TOUCHES = (
    ("click", "clicked"),
    ("hover", "pointed at"),
    ("select", "selected"),
    ("scroll", "scrolled"),
    ("screenshot", "took a screenshot"),
    ("snapshot", "looked at the page"),
    ("goback", "went back"),
)


def tool_deeds(step: Step, *, is_mixed: bool) -> Iterator[str]:
    for call in step.calls[:8]:
        tool = known(call)
        if not (is_mixed and is_shell(tool)):
            yield tool_deed(tool, step)


def tool_deed(tool: Call, step: Step) -> str:
    """What one call of a tool did, by the tables of tools that the effects come from."""
    plain = tool.plain
    paths = paths_told(tool.texts(PATH_KEYS))
    if plain in LOOKERS or (plain in EDITORS and tool.text(("command", "action")) == "view"):
        return looked(tool, paths)
    if plain in WRITERS or plain in EDITORS:
        return wrote(tool, paths)
    if plain in PATCHES:
        return f"edited {paths_told(patched(tool))}"
    if plain in DELETERS:
        return f"deleted {paths}"
    if plain in MOVERS:
        return f"moved {paths_told(tool.texts(SOURCE_KEYS))} to {paths_told(tool.texts(TARGET_KEYS))}"
    if plain in ASKERS or tool.text(ADDRESS_KEYS):
        return asked(tool)
    if plain in PYTHONS:
        return ran_code(tool)
    if plain in SILENT:
        return silent(tool, step)
    return touched(tool) or called(tool)


def looked(tool: Call, paths: str) -> str:
    pattern = tool.text(PATTERN_KEYS)
    if pattern:
        return f"searched for {ticked(pattern, 50)}" + (f" in {paths}" if paths else "")
    if tool.plain in ("ls", "listdir", "listdirectory", "list", "listfiles", "directorytree", "tree"):
        return f"listed {paths or 'the folder'}"
    return f"read {paths}" if paths else called(tool)


def wrote(tool: Call, paths: str) -> str:
    """A write or an edit; a short edit is told in full, since it is what a rerun needs."""
    change = change_told(tool)
    if change:
        return f"edited {paths or 'the open file'} ({change})"
    text = tool.text(TEXT_KEYS)
    is_edit = any(key in tool.arguments for key in OLD_KEYS) or "edit" in tool.plain or "insert" in tool.plain
    if text is not None and not (is_edit and tool.plain not in EDITORS):
        return f"wrote {paths or 'a file'} ({lines_told(line_count(text))})"
    return f"{'edited' if is_edit or text is None else 'wrote'} {paths or 'the open file'}"


def change_told(tool: Call, limit: int = 44) -> str:
    """`old` → `new`, where both are short."""
    old, new = tool.text(OLD_KEYS), tool.text(NEW_KEYS)
    if not old or new is None or len(old) > limit or len(new) > limit or "\n" in old.strip() or "\n" in new.strip():
        return ""
    return f"{ticked(old.strip(), limit)} → {ticked(new.strip(), limit)}" if new.strip() else f"without {ticked(old)}"


PATCHED = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)([^\n\t]{1,300})", re.MULTILINE)


def patched(tool: Call) -> list[str]:
    text = tool.text(("input", "patch", "diff", "patchtext", "patch_text", "content", "command", "cmd")) or ""
    return PATCHED.findall(text[:20_000]) or tool.texts(PATH_KEYS) or [UNNAMED]


def asked(tool: Call) -> str:
    address = tool.text(ADDRESS_KEYS)
    if address:
        return f"opened {ticked(address, 90)}"
    query = tool.text(QUERY_KEYS)
    return f"searched the web for {quoted(query, 80)}" if query else called(tool)


def ran_code(tool: Call) -> str:
    """Code given to an interpreter, by its last statement: what it was run for stands there."""
    code = tool.text(CODE_KEYS) or ""
    lines = [line for line in code[-HEAD:].split("\n") if line.strip() and not line.lstrip().startswith(("#", "```"))]
    count = code.strip().count("\n") + 1
    last = ticked(lines[-1].strip(), 70) if lines else "nothing"
    return f"ran Python {last}" if count == 1 else f"ran {count} lines of Python ending in {last}"


def silent(tool: Call, step: Step) -> str:
    """Tools that touch only the conversation."""
    words = tool.text(
        ("description", "prompt", "task", "instruction", "instructions", "thought", "question", "message")
    )
    if tool.plain in ("task", "agent", "spawnagent", "delegate", "newtask"):
        return f"started an agent for {quoted(words or '', 80)}" if words else "started an agent"
    if "todo" in tool.plain or "plan" in tool.plain or tool.plain.startswith("task"):
        return "updated the plan"
    if words:
        verb = "asked the user" if "ask" in tool.plain else "noted" if tool.plain == "think" else "said"
        return f"{verb} {quoted(words, 80)}"
    return said(step) if step.message.strip() else f"called {ticked(tool.name, 40)}"


def touched(tool: Call) -> str:
    """What was done to a page."""
    if "type" in tool.plain or "fill" in tool.plain:
        text = plain_text(next((value for key in TYPED_KEYS if (value := tool.arguments.get(key))), None))
        return f"typed {quoted(text, 50)}{pointed(tool, ' into ', skip='text')}" if text else ""
    for sign, verb in TOUCHES:
        if sign in tool.plain:
            return verb if verb.startswith(("took", "looked", "went")) else f"{verb}{pointed(tool, ' ')}"
    return ""


def pointed(tool: Call, before: str, skip: str = "") -> str:
    found = next(
        (value for key in POINTED_KEYS if key != skip and (value := tool.arguments.get(key)) is not None), None
    )
    return f"{before}{quoted(plain_text(found), 50)}" if found is not None else ""


def called(tool: Call) -> str:
    """Any other tool, by its name and its short arguments."""
    name = tool.name.split("__")[-1] or tool.name
    arguments = [(key, plain_text(value)) for key, value in list(tool.arguments.items())[:6]]
    if len(arguments) == 1 and len(arguments[0][1]) > 60:
        return f"called {ticked(name, 40)} with {quoted(arguments[0][1], 90)}"
    short = ", ".join(f"{key}={one_line(text, 40)}" for key, text in arguments if text)
    return f"called {ticked(f'{name}({short})' if short else name, 100)}"


# What came back ------------------------------------------------------------------------------------------------------


def saw(facts: Facts, step: Step, limit: int = LONGEST_SIGHT) -> str:
    """What came back: a clause that may stand behind a colon."""
    told: list[str] = []
    if facts.seen.tests:
        told.append(tests_told(facts.seen.tests))
    if facts.seen.failures and not any(run.failed for run in facts.seen.tests):
        told.append(failure_told(main_failure(facts.seen.failures), facts, step))
    if told:
        return "; ".join(told)[: 2 * limit]
    if facts.seen.is_empty or not step.observations:
        return "nothing"
    last = step.observations[-1]
    if last.origin == "user":
        return f"the user said {quoted(last.text, limit - 30)}"
    return shown(output(facts, step), limit, has_run=facts.phase not in ("explore", "talk"))


def tests_told(runs: Sequence[TestRun]) -> str:
    """The last run that failed, else the last one."""
    run = next((one for one in reversed(runs) if one.failed), runs[-1])
    if run.passed is None and not run.failed:
        return ticked(run.line, 80)
    if run.runner == "make":
        return ticked(run.line, 120)
    if not run.failed:
        passed = run.passed or 0
        return "no tests ran" if not passed else "the one test passes" if passed == 1 else f"all {passed} tests pass"
    names = f": {listed([ticked(test_name(name), 50) for name in run.names])}" if run.names else ""
    count = f"{run.failed} of {run.passed + run.failed}" if run.passed is not None else f"{run.failed}"
    if run.passed == 0:
        count = f"all {run.failed}" if run.failed > 1 else "the only"
    return f"{count} {'test fails' if count in ('1', 'the only') else 'tests fail'}{names}"


def test_name(name: str) -> str:
    """Without its file, and without the class that some runners put behind it in brackets."""
    return (name.rpartition("::")[2] or name).partition(" (")[0]


VAGUE = ("exit", "other", "tool")


def main_failure(failures: Sequence[Failure]) -> Failure:
    """The failure that tells most: the first of a known family."""
    return next((failure for failure in failures if failure.family not in VAGUE), failures[0])


def failure_told(failure: Failure, facts: Facts, step: Step) -> str:
    if failure.family != "exit":
        return ticked(failure.line, 130)
    code = facts.seen.exit_code
    last = last_line(output(facts, step))
    told = f"exit code {code}" if code else "it failed"
    return f"{told}: {ticked(last, 110)}" if last else told


def shown(text: str, limit: int, *, has_run: bool) -> str:
    """An output by itself where it is short, else by its size and, for a run, its last line."""
    lines = [line for line in text[: 4 * HEAD].split("\n") if line.strip()]
    if not lines:
        return "nothing"
    if len(lines) == 1:
        return ticked(lines[0], limit - 20)
    if len(text) <= 4 * HEAD and len(lines) <= 4 and sum(map(len, lines)) <= limit - 40:
        return ", ".join([ticked(line, 80) for line in lines])
    size = lines_told(text.count("\n") + 1)
    return f"{size}, last {ticked(last_line(text), 80)}" if has_run else size


def last_line(text: str) -> str:
    return text[-HEAD:].rstrip().rpartition("\n")[2].strip()


FRAME_HEAD = re.compile(
    r"\s*(?:<returncode>-?\d+</returncode>\s*(?:<output>\n?)?"
    r"|(?:Chunk ID|Exit code|Wall time|Command)\b[^\n]*\n(?:[A-Z][^\n]{0,80}\n){0,6}?Output:[ \t]*\n?"
    r"|Exit code:? -?\d+\n|(?:New|Current) Terminal (?:Output|Screen):\n|Current terminal state:\n|Observation:\s)",
    re.IGNORECASE,
)
FRAME_TAIL = re.compile(
    r"\n?(?:</output>|\[(?:The command completed|Current working directory|Python interpreter|Command finished)[^\n]*\]"
    r"|\((?:Open file|Current directory):[^\n]*\)|bash-\$|\[metadata\] [^\n]*|Exit Code: -?\d+"
    r"|(?:Process|Command) exited with code -?\d+)\s*$"
)
FRAME_STARTS = (
    "<returncode",
    "chunk id",
    "exit code",
    "wall time",
    "command",
    "new term",
    "current term",
    "observation:",
)
FRAME_SIGN = re.compile(r"</output>|\[(?:The comm|Curr|Pyth|Comm|meta)|\((?:Open|Curr)|bash-\$|xit Code| exited with")
"""Without one of these there is no frame, and nothing to be searched for."""
NO_OUTPUT = re.compile(r"\W*(?:[\w' ]{0,60}\b(?:no|not produce any) output)\W*$", re.IGNORECASE)
"""How harnesses say that there is nothing."""
PROMPT = re.compile(r"(?:\([\w.-]{1,30}\) )?[\w.-]{1,40}@[\w.-]{1,60}:[^\n#$]{0,120}[#$](?: |$)|bash-[\d.]+[#$](?: |$)")


def output(facts: Facts, step: Step) -> str:
    """What came back, its ends only, without the frames of harnesses, prompts and echoed commands."""
    texts = [observed(seen, facts.commands) for seen in step.observations[:8]]
    return "\n".join(filter(None, texts))


def observed(seen: Observation, commands: Sequence[str]) -> str:
    text = seen.text
    if len(text) > 8 * HEAD:
        text = text[: 4 * HEAD] + "\n" + text[-2 * HEAD :]
    text = without_frame(text)
    if not text or (len(text) < 90 and NO_OUTPUT.match(text)):
        return ""
    if ("@" in text and (":/" in text or ":~" in text)) or text.startswith("bash-"):
        text = without_screen(text, commands)
    return text


def without_frame(text: str) -> str:
    """Without what a harness writes before and behind an output."""
    for _ in range(3):
        if not text[:24].lstrip().lower().startswith(FRAME_STARTS) or (found := FRAME_HEAD.match(text)) is None:
            break
        text = text[found.end() :]
    for _ in range(4):
        tail = text[-300:]
        if FRAME_SIGN.search(tail) is None or (found := FRAME_TAIL.search(tail)) is None:
            break
        text = text[: len(text) - len(tail) + found.start()]
    return text.strip("\n") if text.strip() else ""


def without_screen(text: str, commands: Sequence[str]) -> str:
    """A terminal's screen without prompts and what was typed at them."""
    lines = text.split("\n")
    if not any(PROMPT.match(line) for line in lines):
        return text
    kept: list[str] = []
    is_echo = False
    for line in lines:
        if PROMPT.match(line):
            is_echo = True
            continue
        # What is echoed may run over several lines: of a heredoc, or of a screen that is too narrow.
        if is_echo and (
            line.startswith("> ") or line == ">" or (line.strip() and any(line in one for one in commands))
        ):
            continue
        is_echo = False
        kept.append(line)
    return "\n".join(kept).strip("\n")
