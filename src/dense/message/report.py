"""The report on an accepted tree: the most useful thing first, each fact once, within so many bytes.

    state                 what the attempt came to, how it ended
    next-step             what to do differently, in order
    open-issue, evidence  with the line that shows it; then what the task demands and nobody checked
    summary, proven       what was done, and values with the check that proved them
    shortcut, dead-end    what failed with the way that worked, or without one; a line each
    task                  the subtasks in order, one line each, with what a rerun needs and what must come first
    key-action            original bytes of final products
    record                of each action the lines that say most, by what they add to all of this (`record`)

What does not fit goes by `IMPORTANCE`, whatever its place; open issues and their evidence go last. The paper's budget
has a report of its own: `paper_report`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from dense.analysis.actions.action import Actions
from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.flow.flow import Flow
from dense.analysis.wording.facets import and_more, describe_value, facet_text, mechanism_names
from dense.analysis.wording.findings import describe_unmade
from dense.message.ending import ending_sentence, hands_over
from dense.message.key_actions import KeyAction, final_actions, overwritten_actions, quote_action
from dense.message.lines import Line
from dense.message.page import ALWAYS, CALL, Fit, Item, ReportPage, one_line, shortened
from dense.message.record import Record, action_of
from dense.message.repetition import MIN_CLAUSE_WORDS, labelled_once, without_repetition
from dense.message.requests import Request, session_requests
from dense.text.clip import clip_middle
from dense.text.search import line_with_quote
from dense.tree import (
    Issue,
    Node,
    ReconciledTree,
    RequirementStatus,
    Shortcut,
    State,
    Subtask,
    first_action,
    last_action,
    leaves,
    nodes,
    open_issues,
)

IMPORTANCE = (
    "met",  # a requirement that is met: good to know, nothing to do
    "complete-part",  # a subtask below another one
    "complete-task",
    "solved",  # a shortcut that succeeded
    "part",
    "task",  # a subtask that is not complete
    "earlier-request",
    "dead-end",
    "remark",
    "unchecked",
    "order",
    "needs",
    "proven",
    "summary",
    "last-request",
    "not-met",
    "last-check",
    "next-step",
    "open-issue",
    "evidence",
)
"""Kinds of lines: what goes first if there is too little room, and what last. Final products are quoted once lines from
`summary` on have room, what shows an open issue after lines from `dead-end` on, other key actions at last."""
VALUES = {kind: value for value, kind in enumerate(IMPORTANCE)}
ESSENTIAL = VALUES["summary"]
SHORT_TRACE = 1.5
"""Of a trace of at most so many times the room, products may take all of it."""
PRODUCT_SHARE, SMALL_PRODUCT_SHARE, MIN_PRODUCT_ROOM = 0.35, 0.2, 5_000
"""Of the room, what final products may take; others are shown by the record."""
MAX_FAILED_CHECKS, MAX_REMARKS = 3, 4
OUTPUT = ">"
MISSING = "deliverable_missing"
MAX_KEPT = 40
"""An analyst that wants more actions kept than that wants none in particular."""
TOLD_BY_RECORD = frozenset(
    "task part complete-task complete-part solved dead-end proven met needs order summary".split()
)
"""Lines of the rules that say less than the bytes that they are about."""
OWN_LABELS = frozenset({"state", "proven", "summary", "unchecked", "met", "not met"}) | {
    f"{name}{plural}" for name in ("next step", "open issue", "dead end") for plural in ("", "s")
}
"""Names that the report's own lines begin with: what a program printed under one is no value to pass on."""
NO_LETTERS = re.compile(r"[\W\d_]+")
MAX_EVIDENCE_CHARS = 240
BROKEN_OFF = "ended_without_handover"
"""The code of the issue that says how the attempt ended."""
PLACES = {"needs": 0, "order": 1}
"""What a rerun needs comes before the subtasks."""


def tree_report(tree: ReconciledTree, actions: Actions | None = None, *, by_rules: bool = False) -> Fit:
    """Makes the report on a tree in so many bytes. In a session the products of the last request come first.

    What the rules say of subtasks and of tries, the record shows by its bytes; a model's words about them say more."""
    actions = actions or Actions([leaf.step for leaf in leaves(tree.root)])
    requests = session_requests(tree.task, actions)
    lines = list(_lines(tree, actions.transcript, requests))
    keys = final_actions(tree, actions)
    if by_rules:
        lines = [line for line in lines if line.kind not in TOLD_BY_RECORD]
    lines = without_repetition(lines, ESSENTIAL)
    keys.sort(key=lambda key: bool(requests) and key.action < requests[-1].first)
    flow = Flow(actions.transcript, tree.task.instruction if tree.task else "")
    record = Record(flow, _cited(tree), overwritten_actions(tree, actions))
    return lambda room: _Choice(lines, room, record).page(keys)


def _cited(tree: ReconciledTree) -> set[int]:
    """The actions that open issues and next steps rest on, and those that the analyst wants kept."""
    number = {leaf.id: leaf.action for leaf in leaves(tree.root)}
    kept = [
        name for node in nodes(tree.root) if type(node) is Subtask and node.verdict for name in node.verdict.key_actions
    ]
    cited = {number[name] for issue in open_issues(tree) for name in issue.evidence if name in number}
    cited |= {int(name[1:]) for step in tree.next_steps for name in step.evidence if name[1:].isdigit()}
    return cited | {number[name] for name in kept if name in number and len(kept) < MAX_KEPT}


class _Choice:
    """What of a report is shown, while room is handed out."""

    def __init__(self, lines: Sequence[Line], room: int, record: Record) -> None:
        self._lines, self.left, self._room = lines, room, room
        self._record = record
        ranks = [VALUES["open-issue"] if item.kind == "evidence" else item.value for item in lines]
        self._order = sorted(range(len(lines)), key=lambda place: (-ranks[place], place))
        self._shown: dict[int, Line] = {}
        self._quoted: dict[int, Item] = {}

    def page(self, keys: Sequence[KeyAction]) -> ReportPage:
        """The report: lines that matter, final products, and of the record what there is room for."""
        for place in self._order:
            if self._lines[place].value >= ESSENTIAL:
                self._show(place, may_shorten=True)
        share = 1.0 if self._record.size <= SHORT_TRACE * self._room else PRODUCT_SHARE
        if share < 1 and self._room < MIN_PRODUCT_ROOM:
            share = SMALL_PRODUCT_SHARE
        floor = self.left - int(self._room * share)
        for key in keys:
            self._quote(key, self.left - max(floor, 0))
        for place in self._order:
            self._show(place)
        missing = [key for key in keys if key.action not in self._quoted]
        lines, quotes = self.lines, list(self._quoted.values())
        items = self._record.items(self.left, lines, quotes)
        found = [item for item in items if item.kind == "found"]
        by_action = sorted([*quotes, *items[len(found) :]], key=action_of)
        dropped = _names([line for line in self._lines if line not in lines], missing)
        return ReportPage(labelled_once((*lines, *found, *by_action)), dropped)

    def _show(self, place: int, *, may_shorten: bool = False) -> None:
        if place in self._shown:
            return
        whole = self._lines[place]
        may_shorten = may_shorten and not whole.quotes
        item = whole if whole.size <= self.left else shortened(whole, self.left) if may_shorten else None
        if item is not None:
            self._shown[place] = item
            self.left -= item.size

    def _quote(self, key: KeyAction, room: int) -> None:
        if key.action in self._quoted or key.size > room:
            return
        item = quote_action(key, room)
        if item is not None:
            self._quoted[key.action] = item
            self.left -= item.size

    @property
    def lines(self) -> list[Line]:
        return [self._shown[place] for place in sorted(self._shown)]


def _names(lines: Sequence[Item], keys: Sequence[KeyAction]) -> tuple[str, ...]:
    return (
        *(f"{item.kind} ({item.size} bytes)" for item in lines),
        *(f"key-action a{key.action} ({key.size} bytes)" for key in keys),
    )


def _line(kind: str, label: str, text: str, *, span: str = "", about: str = "") -> Line:
    """A line that begins with its actions and what is said `about` them."""
    head = f"{span}{about}: " if span else ""
    return Line(kind=kind, value=VALUES.get(kind, ALWAYS), label=label, text=head + text, head=head, span=span)


def _request(kind: str, label: str, request: Request) -> Line:
    return _line(kind, label, f'"{request.words}"', span=request.span)


def _lines(tree: ReconciledTree, actions: Sequence[TranscriptAction], requests: Sequence[Request]) -> Iterator[Line]:
    yield from _head(tree, actions)
    yield from [_request("last-request", "last-request ", request) for request in requests[-1:]]
    yield from _next_steps(tree)
    yield from _open_issues(tree, actions)
    yield from _last_checks(tree)
    yield from _requirements(tree)
    yield from _remarks(tree)
    if summary := one_line(tree.root.summary):
        yield _line("summary", "summary: ", summary)
    yield from _proven(tree)
    yield from sorted(_dead_ends(tree), key=lambda item: item.kind != "dead-end")
    yield from [_request("earlier-request", "earlier-request ", request) for request in requests[:-1]]
    current = requests[-1].first if requests else 0
    subtasks = [item for child in tree.root.children for item in _subtask(child, _first_closing(actions), current, 0)]
    yield from sorted(subtasks, key=lambda item: PLACES.get(item.kind, len(PLACES)))


def state_of(node: Subtask) -> State:
    """The state of a subtask; `unknown` if nobody judged it."""
    return node.verdict.state if node.verdict is not None else "unknown"


def _head(tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> Iterator[Line]:
    count = actions[-1].last if actions else 0
    text = f"{state_of(tree.root)}, judged from its {count} actions (a1-a{count}). {_ending(tree, actions)}"
    yield _line("state", "state: ", text)
    if tree.redacted:
        yield _line("redacted", "redacted: ", one_line(tree.redacted))


def _ending(tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> str:
    if any(issue.code == BROKEN_OFF and issue.resolved_at is None for issue in tree.issues):
        return "It breaks off there."
    return ending_sentence(actions)


def _next_steps(tree: ReconciledTree) -> Iterator[Line]:
    for number, step in enumerate(tree.next_steps, 1):
        mark = "untested, " if step.is_untested else ""
        text = f"{number}: {mark}{one_line(step.text)}{describe_refs(step.evidence)}"
        yield replace(_line("next-step", "next-step ", text), number=number)


def _open_issues(tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> Iterator[Line]:
    """The open issues, each with the line that shows it; files that nobody made share a line."""
    shown = [issue for issue in open_issues(tree) if issue.code != BROKEN_OFF]  # of that one the state tells
    missing = [issue for issue in shown if issue.code == MISSING and not issue.quote]
    for issue in shown:
        cited = action_ids(issue.evidence, tree)
        if len(missing) > 1 and issue in missing:
            if issue is missing[0]:
                names = describe_unmade(name for other in missing for name in other.names)
                line = _line("open-issue", "open-", f"{issue.id}: {names}{describe_refs(cited)}")
                yield replace(line, issue=issue.id)
            continue
        fatal = " (fatal)" if issue.severity == "fatal" else ""
        text = one_line(issue.text)
        line = _line("open-issue", "open-", f"{issue.id}: {text}{fatal}{describe_refs(cited)}")
        yield replace(line, issue=issue.id)
        for action, quote in evidence_lines(issue, cited, actions):
            if quote not in text:
                yield _quoting("evidence", f"a{action}", (CALL, quote))


def _last_checks(tree: ReconciledTree) -> Iterator[Line]:
    """How each check ended that failed last, and the last that passed."""
    failed = [check for check in tree.last_checks if not (check.has_passed or check.is_required)]
    passed = [check for check in tree.last_checks if check.has_passed][-1:]
    for check in sorted([*failed[-MAX_FAILED_CHECKS:], *passed], key=lambda check: check.action):
        passed_as = "passed" if check.line else "ended without an error"  # a script may check nothing
        ended = passed_as if check.has_passed else f"failed, {check.failed} tests" if check.failed else "failed"
        later = f", not run again after the change at a{check.changed_at}" if check.changed_at else ""
        shown = "\n".join(dict.fromkeys(filter(None, (check.line, *check.names, check.reason))))
        command, *more = check.command.split("\n")
        call = (f"$ {command}", "") if not more else ("$", check.command)
        yield _quoting("last-check", f"a{check.action} {ended}{later}", call, *_short_quote(OUTPUT, shown))


def _remarks(tree: ReconciledTree) -> Iterator[Line]:
    for remark in tree.remarks[:MAX_REMARKS]:
        yield _line("remark", "remark ", one_line(remark.text) + describe_refs(remark.evidence))


def _short_quote(mark: str, text: str) -> list[tuple[str, str]]:
    """A quote, on its marker line if it has one line; none of nothing."""
    if not text:
        return []
    return [(mark, text)] if "\n" in text else [(f"{mark} {text}", "")]


def _quoting(kind: str, text: str, *quotes: tuple[str, str]) -> Line:
    """A line with the words of the trace that it is about."""
    return Line(kind=kind, value=VALUES[kind], label=f"{kind} ", text=text, quotes=quotes)


def evidence_lines(
    issue: Issue, cited: Sequence[str], actions: Sequence[TranscriptAction]
) -> Iterator[tuple[int, str]]:
    """The quoted line with its action. An issue about something that was never done has none."""
    numbers = [int(name[1:]) for name in cited] if issue.quote else []
    named = [action for action in actions if any(action.first <= number <= action.last for number in numbers)]
    for action in [*reversed(named), *actions] if issue.quote else ():
        for text in (*(block.text for block in reversed(action.blocks)), action.says):
            if (line := line_with_quote(text, issue.quote)) is not None:
                yield action.last, one_line(clip_middle(line.strip(), MAX_EVIDENCE_CHARS))
                return


def _requirements(tree: ReconciledTree) -> Iterator[Line]:
    issues = open_issues(tree)
    unmet = [
        requirement
        for requirement in tree.requirements
        if requirement.met == "no" and not _is_covered(requirement, issues)
    ]
    unchecked = [requirement for requirement in tree.requirements if requirement.met == "unchecked"]
    if unmet:
        text = "; ".join(one_line(requirement.text) + describe_refs(requirement.evidence) for requirement in unmet)
        yield _line("not-met", "not met: ", text)
    if unchecked:
        yield _line("unchecked", "unchecked: ", "; ".join(one_line(requirement.text) for requirement in unchecked))


def _is_covered(requirement: RequirementStatus, issues: Sequence[Issue]) -> bool:
    """Whether an open issue is about the same files or commands."""
    return bool(requirement.names) and any(set(requirement.names) <= set(issue.names) for issue in issues)


def _proven(tree: ReconciledTree) -> Iterator[Line]:
    subtasks = [node for node in nodes(tree.root) if type(node) is Subtask]
    values = [value for node in subtasks for value in node.facets.key_values if not value.is_claim]
    by_name = {value.name or value.text: value for value in values if _plain_label(value.name) not in OWN_LABELS}
    left_out = sum(node.facets.left_out.get("key_values", 0) for node in subtasks)
    clauses = [one_line(describe_value(value)) for value in by_name.values()]
    rest = and_more(left_out)
    if clauses or rest:
        yield replace(_line("proven", "proven: ", "; ".join(filter(None, (*clauses, rest)))), more=rest)
    met = [requirement for requirement in tree.requirements if requirement.met == "yes"]
    if met:
        text = "; ".join(one_line(requirement.text) + describe_refs(requirement.evidence) for requirement in met)
        yield _line("met", "met: ", text)


def _plain_label(name: str) -> str:
    return NO_LETTERS.sub(" ", name.casefold()).strip()


def _dead_ends(tree: ReconciledTree) -> Iterator[Line]:
    for node in nodes(tree.root):
        if type(node) is Shortcut:
            yield _shortcut(node)
        elif type(node) is Subtask:
            yield from _facet(node, "dead_ends", "dead-end")


def _facet(node: Subtask, facet: str, kind: str) -> Iterator[Line]:
    """A line on a facet of a subtask, if it has any facts."""
    if text := one_line(facet_text(node.facets, facet)):
        line = _line(kind, f"{kind} ", text, span=_span(node))
        yield replace(line, more=and_more(node.facets.left_out.get(facet, 0)))


def _shortcut(node: Shortcut) -> Line:
    failed, is_solved = one_line(node.dead_end), node.outcome == "succeeded"
    label = "working-path: " if is_solved else "what worked: "
    way = label + one_line(node.working_path) if node.working_path else ""
    text = "; ".join(filter(None, (failed, way))) or one_line(node.title)
    if is_solved:
        line = _line("solved", "shortcut ", text, span=_span(node), about=", dead-end" if failed else "")
        return replace(line, tries_head=f"{line.span}: ")
    outcome = "" if node.outcome == "failed" and failed else f" {node.outcome}"
    return _line("dead-end", "dead-end " if failed else "shortcut ", text, span=_span(node), about=outcome)


def _first_closing(actions: Sequence[TranscriptAction]) -> int:
    """The first of the last actions that only say something or hand over."""
    first = actions[-1].last + 1 if actions else 0
    for action in reversed(actions):
        if not action.is_message and not hands_over(action):
            break
        first = action.first
    return first


def _subtask(node: Node, closing: int, current: int, depth: int) -> Iterator[Line]:
    """A subtask and those below it. A shortcut's dead end is above; what it replaces is not shown again. That the
    attempt was handed over, the state says. What came before the current request needs one line."""
    if type(node) is not Subtask:
        return
    indent = " " * depth
    state = state_of(node)
    kind = ("complete-" if state == "complete" else "") + ("part" if depth else "task")
    summary = one_line(node.summary)
    said = [one_line(node.title), summary]
    if first_action(node) >= closing:
        said = [summary] if len(summary.split()) >= MIN_CLAUSE_WORDS else []
    if said:
        yield _line(kind, f"{indent}task ", ". ".join(filter(None, said)), span=_span(node), about=f" {state}")
    names = tuple([name for one in node.facets.key_mechanisms for name in mechanism_names(one)])
    yield from [replace(line, names=names) for line in _facet(node, "key_mechanisms", "needs")]
    yield from _facet(node, "critical_order", "order")
    for child in node.children if last_action(node) >= current else ():
        yield from _subtask(child, closing, current, depth + 1)


def _span(node: Node) -> str:
    first, last = first_action(node), last_action(node)
    return f"a{first}" if first == last else f"a{first}-a{last}"


def action_ids(references: Sequence[str], tree: ReconciledTree) -> tuple[str, ...]:
    """The actions of nodes: a leaf for itself, another node for its last action."""
    wanted = frozenset(references)
    by_id = {node.id: node for node in nodes(tree.root) if node.id in wanted} if wanted else {}
    return tuple(f"a{last_action(by_id[name])}" for name in references if name in by_id)


def describe_refs(actions: Sequence[str]) -> str:
    """Actions in brackets; of many, the first and the last three."""
    shown = list(dict.fromkeys(actions))
    if len(shown) > 5:
        shown = [shown[0], "…", *shown[-3:]]
    return f" [{' '.join(shown)}]" if shown else ""
