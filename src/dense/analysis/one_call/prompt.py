"""From a question of the fast profile to a request: instructions first, then the record, the question last."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import count

from dense.analysis.actions.requests import with_context
from dense.analysis.actions.show import escape_headers, show
from dense.analysis.actions.transcript import TranscriptAction
from dense.analysis.actions.wrappers import visible
from dense.analysis.asking.prompt import environment
from dense.analysis.asking.questions import Correction
from dense.analysis.one_call.answer import IssuePiece, NodePiece
from dense.analysis.one_call.questions import Closing, OneCallQuestion, Whole, Window, WindowDigest
from dense.analysis.one_call.schema import SCHEMAS
from dense.model.chat import ChatRequest, Message
from dense.text.clip import clip_lines, clip_middle
from dense.trajectory import Task

BYTES_PER_TOKEN = 4
"""How tokens are counted where nobody can be asked."""
MAX_TASK_CHARS = 16_000
MAX_REPLY_CHARS = 24_000
"""Of the first answer in a correction; with a small window a quarter of it."""
MAX_DIGEST_CHARS = 420
"""Of a summary in the closing call."""
FRAME_BYTES = 800
"""Marker lines and the closing question."""
NO_TASK = (
    "(The record does not say what was asked. Infer it from what the agent says and does, and demand only what that"
    " shows.)"
)

CORRECTION = """\
These pieces of your answer cannot be used:
{problems}

Answer with one JSON object that holds only corrected pieces: \
{{"fixes": [{{"at": "issues[2].fixed_by", "value": [12]}}]}}. \
`at` is the place as it is named above. A piece that should not be there gets the value null. Everything else stays as \
you wrote it."""


def instructions(kind: str) -> str:
    """The part of a prompt that is the same for every trace, so that providers can keep it."""
    return _instructions(kind)


@cache
def _instructions(kind: str) -> str:
    return environment().get_template(f"fast/{kind}.md.j2").render()


def record_room(task: Task | None, look_tokens: int) -> int:
    """How many characters of actions one call can show within so many tokens."""
    fixed = len(instructions("whole").encode()) + min(len(_task_text(task).encode()), MAX_TASK_CHARS) + FRAME_BYTES
    return max(look_tokens * BYTES_PER_TOKEN - fixed, 4_000)


def render_one_call(
    question: OneCallQuestion,
    correction: Correction | None = None,
    *,
    look_tokens: int | None = None,
    max_output_tokens: int = 8_192,
    temperature: float | None = None,
) -> ChatRequest:
    """What a model is asked. Pure: the same question gives the same request. `look_tokens` in the place of the
    question's own shows less."""
    kind = question.kind
    look = look_tokens or question.look_tokens
    room = record_room(question.task, look)
    body = _closing_text(question, room) if isinstance(question, Closing) else _fitted(question.actions, room)
    task = clip_lines(_task_text(question.task), MAX_TASK_CHARS, is_listing=True)
    marker = _marker(task, body)
    record = "\n".join(
        [
            f"The marker of this request is {marker}.",
            f"<task {marker}>",
            task,
            f"</task {marker}>",
            f"<record {marker}>",
            body,
            f"</record {marker}>",
            _question(question),
        ]
    )
    messages: list[Message] = [Message("user", record, is_stable=True)]
    if correction is not None:
        messages += [
            Message(
                "assistant", visible(clip_middle(correction.reply.strip(), min(MAX_REPLY_CHARS, look))) or "(no answer)"
            ),
            Message("user", CORRECTION.format(problems=visible(correction.error))),
        ]
    return ChatRequest(
        system=instructions(kind),
        messages=tuple(messages),
        schema=SCHEMAS[kind] if correction is None else None,
        max_output_tokens=max_output_tokens,
        temperature=temperature,
        label=question.key,
    )


def _task_text(task: Task | None) -> str:
    return visible(with_context(task).strip()) if task is not None and task.instruction.strip() else NO_TASK


def _fitted(actions: Sequence[TranscriptAction], room: int) -> str:
    """The actions within so many bytes: characters are counted first, and if they take more bytes, fewer are shown."""
    text = show(actions, room)
    while (size := len(text.encode("utf-8", "replace"))) > room and len(text) > 1_000:
        text = show(actions, int(len(text) * room / size) - 200)
    return text.encode("utf-8", "replace").decode()


def _marker(*texts: str) -> str:
    """A word that occurs in nothing that is shown; the same for the same texts."""
    joined = "\n".join(texts)
    for number in count():
        marker = hashlib.sha256(f"{number}{joined}".encode("utf-8", "replace")).hexdigest()[:6]
        if marker not in joined:
            return marker
    raise AssertionError("unreachable")


def _question(question: OneCallQuestion) -> str:
    if isinstance(question, Whole):
        last = question.actions[-1].last
        return f"There are {last} actions, a1 to a{last}; the last subtask ends at {last}. Answer with the JSON object."
    if isinstance(question, Window):
        first, last = question.actions[0].first, question.actions[-1].last
        where = f"This is window {question.number} of {question.count}: a{first} to a{last} of {question.total} actions"
        return f"{where}; the last subtask ends at {last}. Answer with the JSON object."
    count_ = sum(len(digest.pieces.root.parts) for digest in question.digests)
    whole = (
        f"The attempt has {question.total} actions"
        if question.is_final
        else (
            f"You see a{question.digests[0].first} to a{question.digests[-1].last} of {question.total} actions; "
            "another request puts this together with the rest, so leave out requirements and next steps"
        )
    )
    return f"{whole}. The last phase ends at s{count_}. Answer with the JSON object."


# --- the closing call ----------------------------------------------------------------------------------------------


def _closing_text(question: Closing, room: int) -> str:
    """The digests of all windows, the quoted lines, and the last actions with what room is left for them."""
    lines = [*_digest_lines(question.digests)]
    if question.evidence:
        lines.append("Lines that the issues quote:")
        lines += [f"a{action}| {clip_middle(line, 240)}" for action, line in question.evidence]
    digest = escape_headers("\n".join(lines))
    ending = _fitted(question.ending, max(room - len(digest), room // 3)) if question.ending else ""
    return digest if not ending else f"{digest}\nThe last actions as they were recorded:\n{ending}"


def _digest_lines(digests: Sequence[WindowDigest]) -> Iterator[str]:
    subtasks = shortcuts = issues = 0
    for digest in digests:
        yield f"a{digest.first} to a{digest.last}:"
        for node in digest.pieces.root.parts:
            subtasks += 1
            yield f"s{subtasks} {_node_line(node)}"
        for shortcut in digest.pieces.shortcuts:
            shortcuts += 1
            way = f"; worked: {shortcut.working_path}" if shortcut.working_path else ""
            yield f"d{shortcuts} a{shortcut.first}-a{shortcut.last} {shortcut.outcome}: {shortcut.dead_end}{way}"
        for issue in digest.pieces.issues:
            issues += 1
            yield f"i{issues} {_issue_line(issue)}"
        for product in digest.pieces.products:
            check = f", checked at a{product.check}" if product.check else ""
            yield f"product {product.path} (a{product.action}{check})"


def _node_line(node: NodePiece) -> str:
    text = clip_middle(node.summary, MAX_DIGEST_CHARS)
    needs = f" Needs: {'; '.join(node.mechanisms)}." if node.mechanisms else ""
    order = f" Order: {'; '.join(node.order)}." if node.order else ""
    values = "; ".join(f"{one.text} (a{one.check})" for one in node.values if one.check)
    return f"a{node.first}-a{node.last} {node.completion}: {node.title}. {text}{needs}{order}" + (
        f" Values: {values}." if values else ""
    )


def _issue_line(issue: IssuePiece) -> str:
    fatal = " fatal" if issue.severity == "fatal" else ""
    fixed = f", fixed by {', '.join(f'a{n}' for n in issue.fixed_by)}" if issue.fixed_by else ", open"
    return f"[{', '.join(f'a{n}' for n in issue.evidence)}]{fatal}{fixed}: {issue.text}"
