"""The report on an accepted tree: the most useful thing first, each fact once, within so many bytes.

    state                 what the attempt came to, how it ended
    next-step             what to do differently, in order
    open-issue, evidence  with the line that shows it; then what the task demands and nobody checked
    summary, proven       what was done, and values with the check that proved them
    shortcut, dead-end    what failed with the way that worked, or without one; a line each
    task                  the subtasks in order, one line each, with what a rerun needs and what must come first
    key-action            original bytes: final products, what shows an open issue, the last verification

What does not fit goes by `IMPORTANCE`, whatever its place; open issues and their evidence go last. The paper's budget
has a report of its own: `paper_report`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec.structs import replace

from dense.analysis.actions.action import Actions
from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.wording.facets import and_more, describe_value, facet_text, mechanism_names
from dense.message.ending import ending_sentence, hands_over
from dense.message.key_actions import KeyAction, quote_action, rank_key_actions
from dense.message.lines import Line
from dense.message.page import ALWAYS, Fit, Item, ReportPage, one_line, shortened
from dense.message.quotes import QuoteBlock, quote_block
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
    "dead-end",
    "unchecked",
    "order",
    "needs",
    "proven",
    "summary",
    "not-met",
    "next-step",
    "open-issue",
    "evidence",
)
"""Kinds of lines: what goes first if there is too little room, and what last. Final products are quoted once lines from
`summary` on have room, what shows an open issue after lines from `dead-end` on, other key actions at last."""
VALUES = {kind: value for value, kind in enumerate(IMPORTANCE)}
ESSENTIAL, USEFUL = VALUES["summary"], VALUES["dead-end"]
QUOTE_SHARE = 0.6
"""Of the room, what final products may take before other lines are chosen."""
NOTE_SHARE, MAX_NOTE_BYTES = 6, 900
"""The line on what is left out may take one in so many parts of the room, and at most so many bytes."""
MAX_NOTE_TRIES = 3
"""So often room that the line did not need is given to the rest."""
OWN_LABELS = frozenset({"state", "proven", "summary", "unchecked", "met", "not met"}) | {
    f"{name}{plural}" for name in ("next step", "open issue", "dead end") for plural in ("", "s")
}
"""Names that the report's own lines begin with: what a program printed under one is no value to pass on."""
NO_LETTERS = re.compile(r"[\W\d_]+")
MAX_EVIDENCE_CHARS = 240
BROKEN_OFF = "ended_without_handover"
"""The code of the issue that says how the attempt ended."""
SEARCHING = frozenset({"part", "complete-part"})
"""Lines that the report on a run that looks done does without; a complete one has no dead ends either."""
PLACES = {"needs": 0, "order": 1}
"""What a rerun needs comes before the subtasks."""


def tree_report(tree: ReconciledTree, actions: Actions | None = None) -> Fit:
    """Makes the report on a tree in so many bytes. In a session the products of the last request come first."""
    actions = actions or Actions([leaf.step for leaf in leaves(tree.root)])
    requests = session_requests(tree.task, actions)
    lines = list(_lines(tree, actions.transcript, requests))
    keys = rank_key_actions(tree, actions)
    if _looks_done(tree, actions.transcript):
        hidden = SEARCHING | {"dead-end"} if state_of(tree.root) == "complete" else SEARCHING
        lines = [item for item in lines if item.kind not in hidden]
        keys = [key for key in keys if key.role != "needed" or key.product]
    lines = without_repetition(lines, ESSENTIAL)
    keys.sort(key=lambda key: bool(requests) and key.action < requests[-1].first)
    quote = cache(quote_block)  # to fit a report is to try several rooms, and most blocks get the same in each
    return lambda room: _fit_by_value(lines, keys, room, quote)


def _looks_done(tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> bool:
    """Whether a product was handed over and nothing speaks against it: then the report says how it was made, how it was
    checked and what was not, and nothing of the search for it."""
    is_open = bool(open_issues(tree)) or any(requirement.met == "no" for requirement in tree.requirements)
    is_ended = bool(actions) and (hands_over(actions[-1]) or (actions[-1].is_message and bool(actions[-1].says)))
    return bool(tree.products) and is_ended and not is_open and state_of(tree.root) in {"complete", "unknown"}


def _fit_by_value(lines: Sequence[Line], keys: Sequence[KeyAction], room: int, quote: QuoteBlock) -> ReportPage:
    """Everything, or the most useful of it and a line on what is left out."""
    chosen = _Choice(lines, room, quote)
    chosen.fill(keys)
    if chosen.is_all(keys):
        return ReportPage(labelled_once((*chosen.lines, *chosen.quotes)))
    items: tuple[Item, ...] = ()
    dropped: tuple[str, ...] = ()
    reserve = most = min(room // NOTE_SHARE, MAX_NOTE_BYTES)
    for _ in range(MAX_NOTE_TRIES):
        chosen = _Choice(lines, room - reserve, quote)
        chosen.fill(keys)
        note = _left_out_note(chosen.missing_lines, chosen.missing_keys(keys), most)
        needed = note.size if note else 0
        if needed > reserve:
            break
        items, dropped = (*chosen.lines, *([note] if note else []), *chosen.quotes), chosen.dropped(keys)
        if needed == reserve:
            break
        reserve = needed
    return ReportPage(labelled_once(items), dropped)


class _Choice:
    """What of a report is shown, while room is handed out."""

    def __init__(self, lines: Sequence[Line], room: int, quote: QuoteBlock) -> None:
        self._lines, self.left, self._room, self._quote_block = lines, room, room, quote
        ranks = [VALUES["open-issue"] if item.kind == "evidence" else item.value for item in lines]
        self._order = sorted(range(len(lines)), key=lambda place: (-ranks[place], place))
        self._shown: dict[int, Line] = {}
        self._quoted: dict[int, Item] = {}

    def fill(self, keys: Sequence[KeyAction]) -> None:
        for place in self._order:
            if self._lines[place].value >= ESSENTIAL:
                self._show(place, may_shorten=True)
        floor = max(self.left - int(self._room * QUOTE_SHARE), 0)
        for key in keys:
            if key.role == "final":
                self._quote(key, self.left - floor, may_clip=False)
        for place in self._order:
            if self._lines[place].value >= USEFUL:
                self._show(place)
        for key in keys:
            if key.role in {"final", "shows"}:
                self._quote(key, self.left, may_clip=key.role != "final")
        for place in self._order:
            self._show(place)
        for key in keys:
            self._quote(key, self.left, may_clip=key.role != "needed" or not key.product)

    def _show(self, place: int, *, may_shorten: bool = False) -> None:
        if place in self._shown:
            return
        whole = self._lines[place]
        item = whole if whole.size <= self.left else shortened(whole, self.left) if may_shorten else None
        if item is not None:
            self._shown[place] = item
            self.left -= item.size

    def _quote(self, key: KeyAction, room: int, *, may_clip: bool = True) -> None:
        if key.action in self._quoted or (not may_clip and key.size > room):
            return
        if key.issue and not any(line.issue == key.issue for line in self._shown.values()):
            return
        item = quote_action(key, room, self._quote_block, may_clip=may_clip)
        if item is not None and item.size <= room:
            self._quoted[key.action] = item
            self.left -= item.size

    @property
    def lines(self) -> list[Line]:
        return [self._shown[place] for place in sorted(self._shown)]

    @property
    def quotes(self) -> list[Item]:
        return [self._quoted[number] for number in sorted(self._quoted)]

    @property
    def missing_lines(self) -> list[Line]:
        return [item for place, item in enumerate(self._lines) if self._shown.get(place) is not item]

    def missing_keys(self, keys: Sequence[KeyAction]) -> list[KeyAction]:
        return [key for key in keys if key.action not in self._quoted]

    def is_all(self, keys: Sequence[KeyAction]) -> bool:
        return not self.missing_lines and not self.missing_keys(keys)

    def dropped(self, keys: Sequence[KeyAction]) -> tuple[str, ...]:
        return _names(self.missing_lines, self.missing_keys(keys))


def _names(lines: Sequence[Item], keys: Sequence[KeyAction]) -> tuple[str, ...]:
    return (
        *(f"{item.kind} ({item.size} bytes)" for item in lines),
        *(f"key-action a{key.action} ({key.size} bytes)" for key in keys),
    )


def _left_out_note(lines: Sequence[Line], keys: Sequence[KeyAction], room: int) -> Item | None:
    """One line on what is left out, with its size: products first."""
    by_reason: dict[str, list[KeyAction]] = {}
    for key in sorted(keys, key=lambda key: not key.product):
        by_reason.setdefault(key.product or key.reason or f"a{key.action}", []).append(key)
    parts = [_named(group) for group in by_reason.values()]
    if lines:
        size = sum(item.size for item in lines)
        parts.append(f"{', '.join(dict.fromkeys(map(_line_name, lines)))} ({size:,} bytes)")
    total = len(parts)
    note = Item("left-out", ALWAYS, "left out: ", "; ".join(parts))
    while len(parts) > 1 and note.size > room:
        parts.pop()
        rest = total - len(parts)
        note = Item("left-out", ALWAYS, note.label, f"{'; '.join(parts)}; {rest} more")
    return note if note.size <= room else shortened(note, room)


def _line_name(line: Line) -> str:
    """What a line is about: its label, and its actions."""
    return f"{line.label.strip(' :')} {line.span}".rstrip()


def _named(keys: Sequence[KeyAction]) -> str:
    """Key actions of one reason that are left out, with their size."""
    size = sum(key.size for key in keys)
    if len(keys) == 1:
        return f"{f'a{keys[0].action} {keys[0].reason}'.rstrip()} ({size:,} bytes)"
    last = max(keys, key=lambda key: key.action)
    return f"{last.reason}: {len(keys)} actions up to a{last.action} ({size:,} bytes)"


def _line(kind: str, label: str, text: str, *, span: str = "", about: str = "") -> Line:
    """A line that begins with its actions and what is said `about` them."""
    head = f"{span}{about}: " if span else ""
    return Line(kind=kind, value=VALUES.get(kind, ALWAYS), label=label, text=head + text, head=head, span=span)


def _request(kind: str, label: str, request: Request) -> Line:
    return _line(kind, label, f'"{request.words}"', span=request.span)


def _lines(tree: ReconciledTree, actions: Sequence[TranscriptAction], requests: Sequence[Request]) -> Iterator[Line]:
    yield from _head(tree, actions)
    yield from [_request("summary", "last-request ", request) for request in requests[-1:]]
    yield from _next_steps(tree)
    yield from _open_issues(tree, actions)
    yield from _requirements(tree)
    if summary := one_line(tree.root.summary):
        yield _line("summary", "summary: ", summary)
    yield from _proven(tree)
    yield from sorted(_dead_ends(tree), key=lambda item: item.kind != "dead-end")
    yield from [_request("task", "earlier-request ", request) for request in requests[:-1]]
    current = requests[-1].first if requests else 0
    subtasks = [item for child in tree.root.children for item in _subtask(child, _first_closing(actions), current, 0)]
    yield from sorted(subtasks, key=lambda item: PLACES.get(item.kind, len(PLACES)))


def state_of(node: Subtask) -> State:
    """The state of a subtask; `unknown` if nobody judged it."""
    return node.verdict.state if node.verdict is not None else "unknown"


def _head(tree: ReconciledTree, actions: Sequence[TranscriptAction]) -> Iterator[Line]:
    unchecked = sum(requirement.met == "unchecked" for requirement in tree.requirements)
    limits = f", {unchecked} of {len(tree.requirements)} requirements unchecked" if unchecked else ""
    count = actions[-1].last if actions else 0
    text = f"{state_of(tree.root)}{limits}, judged from a1-a{count} alone (trajectory_local). {_ending(tree, actions)}"
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
    for issue in open_issues(tree):
        fatal = " (fatal)" if issue.severity == "fatal" else ""
        cited = action_ids(issue.evidence, tree)
        text = one_line(issue.text)
        line = _line("open-issue", "open-", f"{issue.id}: {text}{fatal}{describe_refs(cited)}")
        yield replace(line, issue=issue.id)
        for action, shown in evidence_lines(issue, cited, actions):
            if shown not in text:
                yield _line("evidence", " evidence ", shown, span=f"a{action}")


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
