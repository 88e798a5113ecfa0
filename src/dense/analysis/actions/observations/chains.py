"""How each link of a chain of commands ended: `A && B && C`, `A; B`, `A | tail`, `A || echo failed`, `A; echo $?`.

`outcomes_of_step` is for an action, `chain_outcome` for one shell text and what came back. What decides, in this order:
a code that the chain itself prints (`echo "rc=$?"`), the texts that it prints on the way (`… && echo done`), the exit
code of the whole, and which link an error line or a test run belongs to. A failure is its own link's alone: links
behind it in `&&` were not run, those before it passed. A pipe hides the code of all but its last program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from msgspec import Struct

from dense.analysis.actions.calls import is_shell, parse_call, shell_text
from dense.analysis.actions.check_commands import is_check
from dense.analysis.actions.observations.context import ANSWERERS
from dense.analysis.actions.observations.harness import clean_output, harness_notice
from dense.analysis.actions.observations.result import ObservedResult
from dense.analysis.actions.shell.command import strip_wrappers
from dense.analysis.actions.shell.heredocs import take_heredocs
from dense.analysis.actions.shell.interpret import without_edit_blocks
from dense.analysis.actions.shell.statements import BLOCK, BLOCK_END
from dense.knowledge.programs import known_program, program_name, programs_that
from dense.trajectory import Observation, Step

LinkState = Literal["passed", "failed", "skipped", "unknown"]
Joint = Literal["", "&&", "||", ";", "&"]

MAX_CHAIN_CHARS = 20_000
MAX_LINKS = 60
MAX_OUTPUT_CHARS = 200_000
TOKEN = re.compile(
    r"""'[^']*+'|"(?:[^"\\]|\\.)*+"|\\.|&&|\|\||\||;;?|\n|&(?<![>&]&)(?![>&])|[()]|(?<!\S)\#[^\n]*""", re.DOTALL
)
"""What ends a link or a program of a pipe, or what is quoted or nested and ends none."""
NESTED = re.compile(r"&&|\|\||[;|\n(){}]|\b(?:do|then|else)\s")
PRINTED = re.compile(r"""(?:echo|printf)\s+(?:-[neE]+\s+)*(.+)\Z""", re.DOTALL)
CODE_NAME = re.compile(r"\$(?:\?|\{\?\}|\{PIPESTATUS\[\d+\]\})")
KEEPS_CODE = re.compile(r"(\w+)=\$(?:\?|\{PIPESTATUS\[\d+\]\})\Z")
STRICT = re.compile(r"set\s+(?:-o\s+errexit|-[a-z]*e)")
PIPEFAIL = re.compile(r"set\s+[^\n;&|]*\bpipefail\b")
CUT_OFF = re.compile(r"truncated|characters? (?:left out|elided|omitted)|output_head|too long")
COMPLAINERS = programs_that("complains") | programs_that("looks")
HARMLESS = (
    COMPLAINERS
    | programs_that("decorates")
    | programs_that("builtin")
    | {"export", "source", "mkdir", "touch", ":", "."}
)
"""Programs that do not fail without a line of theirs: where there is none, the failure is another link's."""
NOT_PARSED = re.compile(
    r"\n(?:/\S*/)?(?:ba|z|da)?sh: (?:eval: |-c: )?(?:line )?\d+: (?:(?:eval: )?line \d+: )?"
    r"(?:syntax error|unexpected EOF|Syntax error)[^\n]*"
)
"""How a shell reports that it ran nothing of the text."""
PYTHON_ERROR = re.compile(r"Traceback|(?:[\w.]+(?:Error|Exception)\b)")
OWN_WORDS = {"git": ("fatal:", "error:"), "npm": ("npm ",), "pip": ("ERROR:",), "pip3": ("ERROR:",), "make": ("make",)}
"""How programs begin their errors that do not begin with their names."""


class LinkOutcome(Struct, frozen=True):
    """One link of a chain, and how it ended."""

    text: str
    """The link as it was written, a pipe whole; heredocs are named, not repeated."""
    joint: Joint
    """What stands before it: `&&` runs it only if the one before passed, `||` only if that failed."""
    state: LinkState
    """`skipped`: it was not run, because of a link before it. A search that found nothing, by itself, has passed."""
    exit_code: int | None = None
    """Its own code, where it is known."""
    line: str = ""
    """The line of the output that shows that it failed."""
    is_certain: bool = True
    """Whether the trace decides it; otherwise it is the likeliest of several."""


@dataclass
class _Link:
    text: str
    joint: Joint
    stages: list[str]
    state: LinkState = "unknown"
    code: int | None = None
    line: str = ""
    is_certain: bool = True

    def settle(self, state: LinkState, code: int | None = None) -> None:
        """The first word counts: what is more certain is looked at first."""
        if self.state == "unknown":
            self.state, self.code = state, code

    @cached_property
    def commands(self) -> list[list[str]]:
        """The words of each program in it, also within parentheses and loops."""
        parts = [
            part
            for stage in self.stages
            for part in (NESTED.split(stage) if stage[:1] in ("(", "{") or BLOCK.match(stage) else (stage,))
        ]
        return [words for part in parts if (words := strip_wrappers(part.split()))]

    @property
    def names(self) -> list[str]:
        return [program_name(words[0]) for words in self.commands]

    @property
    def is_harmless(self) -> bool:
        return HARMLESS.issuperset(self.names)

    @property
    def checks(self) -> bool:
        return any(is_check(name := program_name(words[0]), known_program(name), words) for words in self.commands)


def outcomes_of_step(step: Step, observed: ObservedResult) -> tuple[LinkOutcome, ...]:
    """The links of all shell texts of an action, in order; those of a text whose output is not known apart are
    `unknown`."""
    outcomes: list[LinkOutcome] = []
    answers = {item.call_id: item for item in step.observations if item.call_id is not None}
    said = [item for item in step.observations if item.origin == "tool"]
    for call in step.calls:
        parsed = parse_call(call)
        text = shell_text(parsed) if is_shell(parsed) else None
        if not text or not text.strip():
            continue
        observation = answers.get(call.id) if call.id is not None else None
        if observation is None and len(step.calls) == len(said) == 1:
            observation = said[0]
        outcomes += chain_outcome(
            text, observation or Observation(text=""), observed if observation else ObservedResult()
        )
    return tuple(outcomes)


def failed_link(outcomes: Sequence[LinkOutcome]) -> LinkOutcome | None:
    """The link that failed, the last one if there are several; None if none is known to have failed."""
    return next((outcome for outcome in reversed(outcomes) if outcome.state == "failed"), None)


def chain_outcome(text: str, observation: Observation, observed: ObservedResult) -> tuple[LinkOutcome, ...]:
    """How the links of a shell text ended, given what came back and what `observe` made of it."""
    links = list(_links(text))
    if not links:
        return ()
    code = harness_notice(observation.text, observation.exit_code).code
    output = clean_output(observation.text[:MAX_OUTPUT_CHARS])
    if code != 0 and (refused := NOT_PARSED.search(output)):
        return _not_parsed(links, refused[0].strip(), code)
    _by_what_it_prints(links, output)
    strict = any(STRICT.match(link.text) for link in links)
    chains = list(_chains(links, strict))
    hides = not PIPEFAIL.search(text)
    if code is not None and chains:
        _by_code(chains[-1], code, hides)
    lines = [failure.line for failure in observed.failures if failure.line in output]
    lines += [run.line for run in observed.tests if run.failed]
    for line in lines:
        if (link := _owner(line, links, observed)) is not None and link.state == "unknown":
            link.settle("failed", None)
            link.line = line
    for chain in chains:
        _complete(chain, code if chain is chains[-1] else None)
    if observed.tests and not any(run.failed for run in observed.tests):
        for link in links:
            if link.checks:
                link.settle("passed")
    return tuple(
        LinkOutcome(
            text=link.text,
            joint=link.joint,
            state=link.state,
            exit_code=link.code,
            line=link.line or next((line for line in lines if link.state == "failed" and len(links) == 1), ""),
            is_certain=link.is_certain,
        )
        for link in links
    )


def _not_parsed(links: Sequence[_Link], line: str, code: int | None) -> tuple[LinkOutcome, ...]:
    """A text that the shell did not understand: nothing of a single list is run, else the lines before it were."""
    is_all = "-c: " not in line and all(link.joint in ("", "&&", "||") for link in links)
    failed = links[0] if is_all else links[-1]
    return tuple(
        [
            LinkOutcome(text=link.text, joint=link.joint, state="failed", exit_code=code, line=line)
            if link is failed
            else LinkOutcome(text=link.text, joint=link.joint, state="skipped" if is_all else "unknown")
            for link in links
        ]
    )


# Taking the text apart


def _links(text: str) -> Iterator[_Link]:
    plain, _ = take_heredocs(without_edit_blocks(text[:MAX_CHAIN_CHARS]), take_open=False)
    plain = plain.replace("\\\n", " ")
    joint: Joint = ""
    stages: list[str] = []
    start = first = depth = count = 0
    is_open = False
    for match in (*TOKEN.finditer(plain), None):
        here, end, sign = (*match.span(), match[0]) if match is not None else (len(plain), len(plain), "\n")
        if sign[:1] in "'\"\\#" and sign:
            continue
        if sign in "()":
            depth = max(depth + (1 if sign == "(" else -1), 0)
            continue
        if match is not None and depth:
            continue
        is_open = is_open or BLOCK.match(plain, start, here) is not None
        is_open = (
            is_open and BLOCK_END.match(plain, start, here) is None and BLOCK_END.search(plain, start, here) is None
        )
        if is_open and match is not None:
            continue
        stages.append(plain[start:here].strip())
        start = end
        if sign == "|":
            continue
        written = plain[first:here].strip()
        if written and written[0] != "#" and count < MAX_LINKS:
            count += 1
            yield _Link(text=written, joint=joint, stages=stages)
            joint = sign if sign in ("&&", "||", "&") else ";"
        elif sign in ("&&", "||"):
            joint = sign
        stages, first = [], end


def _chains(links: Sequence[_Link], strict: bool) -> Iterator[list[_Link]]:
    """The links that hang together by `&&` and `||`; all of them if the text stops at the first failure."""
    chain: list[_Link] = []
    for link in links:
        if chain and link.joint in (";", "&", "") and not strict:
            yield chain
            chain = []
        chain.append(link)
    if chain:
        yield chain


# What decides


def _by_what_it_prints(links: Sequence[_Link], output: str) -> None:
    """Codes that the chain prints, and texts that it prints only if it came so far."""
    is_cut = CUT_OFF.search(output) is not None
    names: dict[str, int] = {}
    offset = 0
    for index, link in enumerate(links):
        if kept := KEEPS_CODE.match(link.text):
            names[kept[1]] = index - 1
            link.settle("passed")
            continue
        printed = PRINTED.match(link.text)
        if printed is None or len(link.stages) > 1 or ">" in printed[1]:
            continue
        pattern, coded = _pattern(printed[1], names, index)
        if pattern is None:
            continue
        match = pattern.search(output, offset)
        if match is None:
            if not is_cut and link.joint in ("&&", "||") and coded is None:
                link.settle("skipped")
            continue
        offset = match.end() - 1
        link.settle("passed", 0)
        if coded is not None and coded >= 0:
            code = int(match[1])
            links[coded].settle("failed" if code else "passed", code)


def _pattern(text: str, names: dict[str, int], index: int) -> tuple[re.Pattern[str] | None, int | None]:
    """What the line looks like that an `echo` prints, and the link whose code it tells."""
    text = text.strip()
    if text[:1] == text[-1:] and text[:1] in "'\"" and len(text) > 1:
        text = text[1:-1]
    coded: int | None = None
    parts: list[str] = []
    for part in re.split(r"(\$(?:\?|\w+|\{[^}]*\}))", text.removesuffix("\\n")):
        name = part.strip("${}")
        if CODE_NAME.fullmatch(part) or name in names:
            parts.append(r"(\d{1,3})" if coded is None else r"\d{1,3}")
            coded = names.get(name, index - 1) if coded is None else coded
        elif part.startswith("$"):
            parts.append(r"[^\n]{0,200}?")
        else:
            parts.append(re.escape(part))
    literal = "".join(parts)
    if coded is None and len(re.findall(r"\w", text)) < 2:
        return None, None
    try:
        return re.compile(rf"\n[^\n]{{0,200}}?{literal}[ \t]*(?=\n|\Z)"), coded
    except re.error:
        return None, None


def _by_code(chain: Sequence[_Link], code: int, hides: bool) -> None:
    """The exit code of the whole text is that of its last chain."""
    last = chain[-1]
    if code == 0:
        for link in chain if all(link.joint != "||" for link in chain[1:]) else ():
            if not (hides and len(link.stages) > 1):
                link.settle("passed", 0)
    elif code == 1 and ANSWERERS.intersection(last.names[-1:]) and all(link.is_harmless for link in chain[:-1]):
        last.settle("passed", code)  # nothing was found, or the files differ
    elif len(chain) == 1:
        last.settle("failed", code)


def _owner(line: str, links: Sequence[_Link], observed: ObservedResult) -> _Link | None:
    """The link that an error line or the line of a test run belongs to, if one fits better than the others."""
    ran = [link for link in links if link.state in ("unknown", "failed")]
    if any(line == run.line for run in observed.tests):
        return next((link for link in reversed(ran) if link.checks), None)
    scores = [(_score(line, link), -index) for index, link in enumerate(ran)]
    best = max(scores, default=(0, 0))
    return ran[-best[1]] if best[0] else None


def _score(line: str, link: _Link) -> int:
    """How well a line fits a link: by the name of its program, by a word of the link in the line."""
    score = 0
    for words in link.commands:
        name = program_name(words[0])
        if re.search(rf"(?:^|[\s/]){re.escape(name)}(?:\[\d+\])?: ", line) or line.startswith(
            OWN_WORDS.get(name, "\0")
        ):
            score = max(score, 4)
        if PYTHON_ERROR.search(line) and "py" in known_program(name).extensions:
            score = max(score, 2)
        if any(len(word) > 3 and word.strip("'\"") in line for word in words[1:]):
            score += 1
    return score


def _complete(chain: Sequence[_Link], code: int | None) -> None:
    """What follows for the other links of a chain from what is known, and from the code of the chain."""
    for index in range(len(chain) - 1, 0, -1):
        _before(chain, index)
    if any(link.joint == "||" for link in chain[1:]):
        return
    if (code or any(link.state == "skipped" for link in chain)) and all(link.state != "failed" for link in chain):
        _guess(chain)
    end = next((index for index, link in enumerate(chain) if link.state == "failed"), None)
    if end is None:
        return
    chain[end].code = chain[end].code or code or None
    for link in chain[:end]:
        link.settle("passed")
    for link in chain[end + 1 :]:
        link.settle("skipped")


def _before(chain: Sequence[_Link], index: int) -> None:
    """What a link that was run, or was not, says about the one before it."""
    link, before = chain[index], chain[index - 1]
    was_run = link.state in ("passed", "failed")
    if link.joint == "&&" and was_run and before.code is None:
        before.state, before.line = "passed", ""  # what looked like its error came from within the other one
    elif link.joint == "||" and was_run:
        before.settle("failed")
    elif link.joint == "||" and link.state == "skipped" and all(other.joint != "||" for other in chain[1:index]):
        before.settle("passed")


def _guess(chain: Sequence[_Link]) -> None:
    """The likeliest link of a chain of which one failed: it may have been run, and fails without a word of its own."""
    bound = next((index for index, link in enumerate(chain) if link.state == "skipped"), len(chain))
    candidates = [link for link in chain[:bound] if link.state == "unknown"]
    likely = [link for link in candidates if not link.is_harmless] or candidates
    if chosen := ([link for link in likely if link.checks] or likely)[-1:]:
        chosen[0].settle("failed")
        chosen[0].is_certain = len(likely) == 1
