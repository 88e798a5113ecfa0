"""Words for what an attempt hands over: its last message, rejected answers, the diff that it submits."""

from __future__ import annotations

from collections.abc import Sequence

from dense.analysis.evidence.deliverables.products import FileChange, SubmittedDiff
from dense.analysis.evidence.ending.ending import Rejection, is_value, lacking_sentence, longest_text
from dense.analysis.evidence.links.origins import Origins
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.messages import submitted_text, telling_sentence
from dense.analysis.wording.phrases import listed, more
from dense.text.quoting import code_span, in_quotes, one_line, path_span

MAX_SENTENCE_CHARS = 160
MAX_ANSWER_CHARS = 120
MAX_SUBMITTED_CHARS = 90
"""How much of a submission the words for its action quote."""
MAX_ANSWERS = 6
"""How many rejected answers are listed, the last ones."""
MAX_HANDOVERS = 3
MAX_FILES = 3


def last_handover(actions: Sequence[NarratedAction]) -> NarratedAction | None:
    """The hand-over that ends a range of actions; the first of several in a row, because the others only confirm it."""
    last: NarratedAction | None = None
    for action in reversed(actions[-MAX_HANDOVERS:]):
        if action.phase != "deliver":
            break
        last = action
    return last


def describe_handover(action: NarratedAction, *, with_lacking: bool = True) -> str:
    """A hand-over by the sentence that says what is missing, else by the one that says most; empty if none does."""
    text, message = action.action_text, action.step.message
    is_end = action.facts.phase == "deliver"
    if is_end and (answer := submitted_text(action.step)):
        lacking = lacking_sentence(longest_text(action.step)) if with_lacking else ""
        is_quoted = lacking[:40] in one_line(answer, MAX_SUBMITTED_CHARS)
        return text if is_quoted else f"{text} and said {in_quotes(lacking, MAX_SENTENCE_CHARS)}"
    if not is_end and (action.step.calls or action.facts.is_followed_by_user):
        return text
    if lacking := lacking_sentence(message) if with_lacking else "":
        return f"{'ended the attempt and said' if is_end else 'said'} {in_quotes(lacking, MAX_SENTENCE_CHARS)}"
    if is_end:
        return text
    words = telling_sentence(message)
    return f"said {in_quotes(words, 100)}" if words else ""


def describe_rejections(rejections: Sequence[Rejection], origins: Origins) -> str:
    """The rejected answers, each once, with the actions that submitted them, and whether they were guesses."""
    actions: dict[str, list[int]] = {}
    for one in rejections:
        actions.setdefault(one.answer, []).append(one.action)
    texts: list[str] = []
    for answer, numbers in list(actions.items())[-MAX_ANSWERS:]:
        notes = [f"a{number}" for number in numbers]
        if is_value(answer) and origins.is_guess(answer, numbers[0]):
            notes.append("no output had shown it")
        texts.append(f"{code_span(answer, MAX_ANSWER_CHARS)} ({', '.join(notes)})" if answer else ", ".join(notes))
    return listed(texts, MAX_ANSWERS)


def describe_diff(diff: SubmittedDiff) -> str:
    """One to three sentences: what is changed, and what is new that nobody asked for."""
    sentences: list[str] = []
    if diff.changes:
        # Changed files before new ones, and what is tested before its tests.
        ordered = sorted(diff.changes, key=lambda one: (one.is_new, "test" in one.path.lower()))
        sentences.append(
            f"Handed in a change of {listed(list(map(_describe_change, ordered)), MAX_FILES + 1, 'file')}."
        )
    if diff.unrequested:
        start = "New in it, and not named by the task" if diff.changes else "Handed in only what the task does not name"
        sentences.append(f"{start}: {_places(diff.unrequested)}.")
    if diff.is_whole and all(one.is_new for one in (*diff.changes, *diff.unrequested)):
        sentences.append("No file that was there before is changed.")
    return " ".join(sentences)


def _describe_change(one: FileChange) -> str:
    if one.is_new:
        return f"{path_span(one.path)} (new, {one.added} line{'' if one.added == 1 else 's'})"
    return f"{path_span(one.path)} (+{one.added} −{one.removed})"


def _places(files: Sequence[FileChange]) -> str:
    """Files at the top by their names, others by their folders."""
    places = list(dict.fromkeys(f"{one.path.split('/')[0]}/" if "/" in one.path else one.path for one in files))
    names = listed([path_span(place) for place in places[:MAX_FILES]], MAX_FILES)
    return names + (f" and {more(len(places) - MAX_FILES)}" if len(places) > MAX_FILES else "")
