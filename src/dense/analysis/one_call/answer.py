"""From a reply to checked pieces: what is valid is kept, what is not is named with its place.

Reading is lenient where nothing is lost (`"7"` or `"a7"` for 7, one text where a list belongs, a field that nobody
uses) and strict where it matters: references, coverage, later evidence, quoted lines. One wrong piece never
costs another."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, get_args

from msgspec import Struct
from msgspec.structs import replace

from dense.tree import Coherence, Completion, Label, Met, Severity, ShortcutOutcome

FORGOTTEN_ACTIONS = 2
"""So many actions that the last subtask leaves out are added to it in silence: a closing message is easily
forgotten."""
MAX_NEXT_STEPS = 7
MAX_LISTED_PROBLEMS = 40


class RequirementPiece(Struct, frozen=True):
    """Something that the task demands."""

    text: str
    met: Met
    by: tuple[int, ...] = ()
    """The actions that show it."""


class ValuePiece(Struct, frozen=True):
    """A value that a rerun can use; `check` is None if no action verified it."""

    text: str
    check: int | None = None


class NodePiece(Struct, frozen=True):
    """A subtask, or a group of subtasks (`parts`)."""

    first: int
    last: int
    title: str
    summary: str = ""
    mechanisms: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    values: tuple[ValuePiece, ...] = ()
    why: str = ""
    coherence: Coherence = "insufficient_evidence"
    completion: Completion = "unknown"
    parts: tuple[NodePiece, ...] = ()


class ShortcutPiece(Struct, frozen=True):
    """A stretch of tries, or a single dead end."""

    first: int
    last: int
    dead_end: str
    working_path: str
    outcome: ShortcutOutcome


class IssuePiece(Struct, frozen=True):
    """Something wrong, missing or unproven."""

    text: str
    evidence: tuple[int, ...]
    quote: str = ""
    """A line of one of these actions, looked up."""
    fixed_by: tuple[int, ...] = ()
    severity: Severity = "serious"


class ProductPiece(Struct, frozen=True):
    """Something that the task wants delivered."""

    path: str
    action: int
    check: int | None = None


class NextStepPiece(Struct, frozen=True):
    """Something that the next attempt should do."""

    text: str
    because: tuple[int, ...] = ()
    is_untested: bool = False


class LabelPiece(Struct, frozen=True):
    """A label other than 0."""

    action: int
    label: Label
    why: str = ""


class Pieces(Struct, frozen=True):
    """Everything that an answer says and that holds."""

    root: NodePiece
    requirements: tuple[RequirementPiece, ...] = ()
    shortcuts: tuple[ShortcutPiece, ...] = ()
    issues: tuple[IssuePiece, ...] = ()
    products: tuple[ProductPiece, ...] = ()
    next_steps: tuple[NextStepPiece, ...] = ()
    key_actions: tuple[int, ...] = ()
    labels: tuple[LabelPiece, ...] = ()


class AnswerReader:
    """Reads the pieces of one answer about actions `first` to `last`, and collects what is wrong with them."""

    def __init__(self, first: int, last: int, text_of: Callable[[int], str]) -> None:
        self._first, self._last = first, last
        self._text_of = text_of
        """The text of an action, for looking up quotes."""
        self.problems: list[str] = []

    def problem(self, path: str, what: str) -> None:
        """Note what is wrong with a piece."""
        if len(self.problems) < MAX_LISTED_PROBLEMS:
            self.problems.append(f"{path}: {what}")

    def pieces(self, answer: Mapping[str, Any], *, is_whole: bool = True) -> Pieces:
        """All pieces. A window (`is_whole` false) has no requirements, next steps and verdict on the whole."""
        parts = self.nodes(answer.get("subtasks"), "subtasks")
        return Pieces(
            root=self._root(answer, parts, is_whole),
            requirements=self.requirements(answer) if is_whole else (),
            shortcuts=self.shortcuts(answer),
            issues=self.issues(answer),
            products=self.products(answer),
            next_steps=self.next_steps(answer) if is_whole else (),
            key_actions=self.references(answer.get("key_actions"), "key_actions"),
            labels=self.labels(answer),
        )

    def _root(self, answer: Mapping[str, Any], parts: tuple[NodePiece, ...], is_whole: bool) -> NodePiece:
        head = as_object(answer.get("root"))
        if is_whole and not head:
            self.problem("root", "is missing; it has summary, why, coherence and completion")
        coherence, completion = self.verdict(head, "root") if head else ("insufficient_evidence", "unknown")
        summary, why = as_text(head.get("summary")), as_text(head.get("why"))
        return NodePiece(
            first=self._first,
            last=self._last,
            title="",
            summary=summary,
            why=why,
            coherence=coherence,
            completion=completion,
            parts=parts,
        )

    def nodes(self, given: object, path: str) -> tuple[NodePiece, ...]:
        """The subtasks. Each begins where the one before it ended, so gaps and overlaps cannot be written."""
        nodes = self._siblings(as_list(given), self._first, path)
        at = nodes[-1].last + 1 if nodes else self._first
        if at > self._last:
            return tuple(nodes)
        if nodes and self._last - at < FORGOTTEN_ACTIONS:
            nodes[-1] = _stretched(nodes[-1], self._last)
        else:
            self.problem(path, f"a{at} to a{self._last} are in no subtask")
            nodes.append(NodePiece(first=at, last=self._last, title=f"a{at} to a{self._last}, not analysed"))
        return tuple(nodes)

    def _siblings(self, given: Sequence[object], first: int, path: str) -> list[NodePiece]:
        nodes: list[NodePiece] = []
        at = first
        for number, item in enumerate(given):
            here = f"{path}[{number}]"
            fields = _without_lone_part(as_object(item))
            parts = self._siblings(as_list(fields.get("parts")), at, f"{here}.parts")
            end = parts[-1].last if parts else as_integer(fields.get("to"))
            if end is None:
                self.problem(f"{here}.to", "is missing or not a number")
                continue
            end = min(end, self._last)
            if end < at:
                self.problem(f"{here}.to", f"is {end}, but the subtask before it ends at {at - 1}")
                continue
            nodes.append(self.node(fields, at, end, tuple(parts), here))
            at = end + 1
        return nodes

    def node(
        self, fields: Mapping[str, Any], first: int, last: int, parts: tuple[NodePiece, ...], here: str
    ) -> NodePiece:
        coherence, completion = self.verdict(fields, here)
        return NodePiece(
            first=first,
            last=last,
            title=as_text(fields.get("title")) or f"a{first} to a{last}",
            summary=as_text(fields.get("summary")),
            mechanisms=as_texts(fields.get("mechanisms")),
            order=as_texts(fields.get("order")),
            values=self._values(fields, first, here),
            why=as_text(fields.get("why")),
            coherence=coherence,
            completion=completion,
            parts=parts,
        )

    def _values(self, fields: Mapping[str, Any], first: int, here: str) -> tuple[ValuePiece, ...]:
        values: list[ValuePiece] = []
        for number, item in enumerate(as_list(fields.get("values"))):
            inner = as_object(item)
            text = as_text(inner.get("value")) if inner else as_text(item)
            check = as_integer(inner.get("check"))
            if check is None or not first <= check <= self._last:
                self.problem(
                    f"{here}.values[{number}].check", f"must be the action, {first} to {self._last}, that verified it"
                )
                check = None
            if text:
                values.append(ValuePiece(text, check))
        return tuple(values)

    def verdict(self, fields: Mapping[str, Any], path: str) -> tuple[Coherence, Completion]:
        """Coherence and completion. Coherence may be left out where nothing contradicts; completion may not."""
        completion: Completion = self._choice(fields.get("completion"), Completion, "unknown", f"{path}.completion")
        if as_text(fields.get("coherence")):
            fallback: Coherence = "insufficient_evidence"
            return self._choice(fields["coherence"], Coherence, fallback, f"{path}.coherence"), completion
        return "coherent" if completion in {"complete", "incomplete"} else "insufficient_evidence", completion

    def _choice(self, value: object, allowed: Any, fallback: Any, path: str) -> Any:
        words = get_args(allowed)
        given = as_text(value).lower().replace(" ", "_").replace("-", "_")
        if given in words:
            return given
        self.problem(path, f"is {given or 'missing'}; it must be one of {', '.join(words)}")
        return fallback

    def requirements(self, answer: Mapping[str, Any]) -> tuple[RequirementPiece, ...]:
        """What the task demands. A `yes` or `no` without an action that shows it is `unchecked`."""
        requirements: list[RequirementPiece] = []
        for number, item in enumerate(as_list(answer.get("requirements"))):
            fields = as_object(item)
            text = as_text(fields.get("text")) if fields else as_text(item)
            if not text:
                continue
            path = f"requirements[{number}]"
            met = {"true": "yes", "false": "no"}.get(
                as_text(fields.get("met")).lower(), as_text(fields.get("met")).lower()
            )
            by = self.references(fields.get("by"), f"{path}.by")
            if met == "yes" and not by:
                self.problem(f"{path}.by", "`yes` needs the action that shows it; without one it counts as `unchecked`")
                met = "unchecked"
            requirements.append(RequirementPiece(text, cast("Met", met if met in get_args(Met) else "unchecked"), by))
        return tuple(requirements)

    def issues(self, answer: Mapping[str, Any]) -> tuple[IssuePiece, ...]:
        """Issues with evidence. Only later evidence closes one; a quote that is in no action is dropped."""
        issues: list[IssuePiece] = []
        for number, item in enumerate(as_list(answer.get("issues"))):
            path = f"issues[{number}]"
            fields = as_object(item)
            text = as_text(fields.get("text"))
            if not text:
                self.problem(f"{path}.text", "is missing")
                continue
            evidence = self.references(fields.get("evidence"), f"{path}.evidence")
            if not evidence:
                self.problem(f"{path}.evidence", "must name an action that shows it; the last one is taken")
                evidence = (self._last,)
            quote, evidence = self._quote(as_text(fields.get("quote")), evidence, path)
            fixed = self.later(fields.get("fixed_by"), evidence, f"{path}.fixed_by")
            severity: Severity = "fatal" if fields.get("fatal") in (True, "true", "yes") else "serious"
            issues.append(IssuePiece(text, evidence, quote, fixed, severity))
        return tuple(issues)

    def later(self, given: object, evidence: Sequence[int], path: str) -> tuple[int, ...]:
        """The actions that close an issue: only those later than all that shows it."""
        fixed = self.references(given, path)
        early = [number for number in fixed if number <= max(evidence)]
        if early:
            rule = "only later evidence closes an issue"
            self.problem(path, f"{_listed(early)} is not later than the evidence {_listed(evidence)}; {rule}")
        return tuple(number for number in fixed if number not in early)

    def _quote(self, quote: str, evidence: tuple[int, ...], path: str) -> tuple[str, tuple[int, ...]]:
        """The quote, if the cited actions hold it; if only another action does, that one is evidence too."""
        wanted = _squeezed(quote)
        if not wanted:
            return "", evidence
        if any(wanted in _squeezed(self._text_of(number)) for number in evidence):
            return quote, evidence
        for number in range(self._first, self._last + 1):
            if wanted in _squeezed(self._text_of(number)):
                return quote, tuple(sorted({*evidence, number}))
        self.problem(f"{path}.quote", f"“{quote[:80]}” is in none of the actions; copy a line exactly, or leave it out")
        return "", evidence

    def shortcuts(self, answer: Mapping[str, Any]) -> tuple[ShortcutPiece, ...]:
        """Stretches of tries by their first and last actions."""
        shortcuts: list[ShortcutPiece] = []
        for number, item in enumerate(as_list(answer.get("shortcuts"))):
            path = f"shortcuts[{number}]"
            fields = as_object(item)
            first, last = as_integer(fields.get("from")), as_integer(fields.get("to"))
            first, last = (last if first is None else first), (first if last is None else last)
            if first is None or last is None or not self._first <= first <= last <= self._last:
                self.problem(path, f"`from` and `to` must be actions, {self._first} to {self._last}")
                continue
            dead_end = as_text(fields.get("dead_end"))
            working_path = as_text(fields.get("working_path"))
            if not dead_end and not working_path:
                self.problem(f"{path}.dead_end", "is missing")
                continue
            outcome = self._choice(fields.get("outcome"), ShortcutOutcome, "unknown", f"{path}.outcome")
            shortcuts.append(ShortcutPiece(first, last, dead_end, working_path, outcome))
        return tuple(shortcuts)

    def products(self, answer: Mapping[str, Any]) -> tuple[ProductPiece, ...]:
        """What is delivered, with the action that wrote its final version."""
        products: list[ProductPiece] = []
        for number, item in enumerate(as_list(answer.get("products"))):
            fields = as_object(item)
            action, check = as_integer(fields.get("action")), as_integer(fields.get("check"))
            if action is None or not self._first <= action <= self._last:
                self.problem(f"products[{number}].action", f"must be an action, {self._first} to {self._last}")
                continue
            is_later = check is not None and action <= check <= self._last
            products.append(ProductPiece(as_text(fields.get("path")), action, check if is_later else None))
        return tuple(products)

    def next_steps(self, answer: Mapping[str, Any]) -> tuple[NextStepPiece, ...]:
        """What to do next. A step that rests on no action is untested."""
        steps: list[NextStepPiece] = []
        for number, item in enumerate(as_list(answer.get("next_steps"))[:MAX_NEXT_STEPS]):
            fields = as_object(item)
            text = as_text(fields.get("do")) if fields else as_text(item)
            because = self.references(fields.get("because"), f"next_steps[{number}].because")
            if text:
                steps.append(NextStepPiece(text, because, fields.get("untested") in (True, "true") or not because))
        return tuple(steps)

    def labels(self, answer: Mapping[str, Any]) -> tuple[LabelPiece, ...]:
        """Labels other than 0. They are hints, so a wrong one is passed over without a word."""
        labels: list[LabelPiece] = []
        for item in as_list(answer.get("labels")):
            fields = as_object(item)
            action, label = as_integer(fields.get("action")), as_integer(fields.get("label"))
            if action is not None and self._first <= action <= self._last and label in (-1, -2):
                labels.append(LabelPiece(action, cast("Label", label), as_text(fields.get("why"))))
        return tuple(labels)

    def references(self, given: object, path: str) -> tuple[int, ...]:
        """The actions that a field names, in order, each once; unknown ones are named as a problem."""
        items = as_list(given) if not isinstance(given, int | float) or isinstance(given, bool) else [given]
        numbers = [as_integer(item) for item in items]
        wrong = [
            str(item)[:20]
            for item, number in zip(items, numbers, strict=True)
            if number is None or not self._first <= number <= self._last
        ]
        if wrong:
            self.problem(path, f"{', '.join(wrong)}: no such action; there are {self._first} to {self._last}")
        return tuple(
            sorted({number for number in numbers if number is not None and self._first <= number <= self._last})
        )


def as_object(value: object) -> dict[str, Any]:
    """The value if it is a JSON object, else an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A list; a single text or object where a list belongs is a list of one."""
    if isinstance(value, list):
        return cast("list[Any]", value)
    return [value] if isinstance(value, str | dict) and value else []


def as_text(value: object) -> str:
    """A text on one line; models put numbers and lists where a text belongs."""
    if value is None or isinstance(value, dict):
        return ""
    if isinstance(value, list):
        return "; ".join(filter(None, map(as_text, cast("list[object]", value))))
    return _squeezed(str(value)).encode("utf-8", "replace").decode()


def as_texts(value: object) -> tuple[str, ...]:
    """The texts of a list, without empty ones and without `none`."""
    return tuple(text for item in as_list(value) if (text := as_text(item)) and text.lower() != "none")


def as_integer(value: object) -> int | None:
    """7 for 7, 7.0, "7", "a7" and "[a7]"; None for anything else."""
    if value is None or isinstance(value, bool):
        return None
    match = re.fullmatch(r"\[?a?(-?\d{1,9})\]?(?:\.0+)?", str(value).strip())
    return int(match[1]) if match else None


def _squeezed(text: str) -> str:
    return " ".join(text.split())


def _without_lone_part(fields: dict[str, Any]) -> dict[str, Any]:
    """A group of one part is that part, under the group's own words."""
    while len(parts := as_list(fields.get("parts"))) == 1:
        own = {key: value for key, value in fields.items() if key not in {"parts", "to"} and value}
        fields = {**as_object(parts[0]), **own}
    return fields


def _stretched(node: NodePiece, last: int) -> NodePiece:
    """The node with its end, and that of its last part, moved."""
    parts = (*node.parts[:-1], _stretched(node.parts[-1], last)) if node.parts else ()
    return replace(node, last=last, parts=parts)


def _listed(numbers: Sequence[int]) -> str:
    return ", ".join(f"a{number}" for number in numbers)
