"""One observation: what its frame, its lines and its test summaries say together."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from dense.observations import complaints, runners
from dense.observations.answers import answered
from dense.observations.complaints import candidates, complaint, own_complaints
from dense.observations.exits import any_prints_exit, by_exit, is_quiet, shown_exits
from dense.observations.families import LONGEST_LINE, failure
from dense.observations.frames import REPORTED, Frame, first_line, frame
from dense.observations.pieces import pieces
from dense.observations.runners import runs
from dense.observations.screen import first_words, new_part, plain, prompts, typed_before
from dense.observations.seen import Failure, Family, TestRun
from dense.observations.setting import SHOWERS, Setting, answers_by_code, decides, provides_for_failure
from dense.observations.speakers import Complaint
from dense.observations.tracebacks import tracebacks
from dense.redact.words import matching
from dense.trajectory import Observation

TELLING = rf"\n(?:{complaints.ROUGHLY}|{runners.ROUGHLY})"
"""How lines begin that may complain or sum up a test run, for `pieces`."""
MOST_FAILURES = 6
TOLD_BY_TESTS: frozenset[Family] = frozenset(("other", "assertion"))
"""What a runner's own lines say, and its summary says better."""
PROVOKED: frozenset[Family] = frozenset(("exception", "build", *TOLD_BY_TESTS))
"""What a test run that passed may well have provoked itself."""


class Reading(Struct, frozen=True, gc=False):
    """What one observation shows."""

    exit_code: int | None = None
    failures: tuple[Failure, ...] = ()
    tests: tuple[TestRun, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether it shows nothing of interest."""
        return not self.failures and not self.tests


def read(observation: Observation, setting: Setting) -> Reading:
    """What one observation shows, given what kind of text it is."""
    around = frame(observation.text, observation.exit_code)
    if setting.kind == "answered":
        return Reading(around.code, tuple(answered(observation, around, is_called=setting.is_called)))
    return ran(observation, setting, around)


def ran(observation: Observation, setting: Setting, around: Frame) -> Reading:
    """What came back from a shell or an interpreter."""
    code = around.code
    text = plain(observation.text.removesuffix(REPORTED))
    if "@" in text and ("# " in text or "$ " in text):
        text = new_part(text, setting.commands)
    is_spoken = setting.kind == "ran" or setting.shows_logs
    spans = list(pieces(text, matching(TELLING))) if is_spoken else []
    tests = tuple(runs(text, spans)) if is_spoken else ()
    has_failed_tests = bool(tests) and any(run.failed for run in tests)
    found = believed(complaints_in(text, setting, spans), observation, setting, code)
    if tests and found:
        ignored = TOLD_BY_TESTS if has_failed_tests else PROVOKED
        found = [item for item in found if item.failure.family not in ignored or not is_of_tests(item, tests, text)]
    told = [item.failure for item in found]
    if around.cut_off and (setting.kind == "ran" or observation.text.lstrip().startswith(around.cut_off)):
        told.insert(0, failure(around.cut_off, "time_out"))
    if any_prints_exit(setting.commands):
        told.extend(shown_exits(text))
    if not told and not has_failed_tests:
        told.extend(unexplained(observation, setting, around))
    return Reading(code, each_once(told), tests)


def is_of_tests(item: Complaint, tests: Sequence[TestRun], text: str) -> bool:
    """Whether a complaint may be a test run's own. On a terminal, what another command said is not."""
    typed = [place for place, _ in prompts(text)] if "@" in text else []
    return bisect(typed, item.place) in {bisect(typed, text.find(run.line)) for run in tests}


def believed(found: list[Complaint], observation: Observation, setting: Setting, code: int | None) -> list[Complaint]:
    """Without what an exit code of 0 speaks against, where that code is the whole command's."""
    went_well = code == 0 or (code is None and observation.is_error is False)
    if found and went_well and any(item.is_weak for item in found) and decides(setting.commands):
        return [item for item in found if not item.is_weak]
    return found


def complaints_in(text: str, setting: Setting, spans: Sequence[tuple[int, int]]) -> list[Complaint]:
    """The complaints of a text, in order, without what was typed and what was only shown. `spans`: where lines stand
    that may complain."""
    if setting.kind == "ran":
        return few(said(text, setting, spans))
    if provides_for_failure(setting.commands):
        return []
    return sorted(own_complaints(text, setting.programs), key=lambda item: item.place)


def said(text: str, setting: Setting, spans: Sequence[tuple[int, int]]) -> list[Callable[[], Complaint | None]]:
    """What may be complaints, each line once. They are looked at one by one, since most will not be needed."""
    raised = dict(tracebacks(text))
    found = [(place, line, True) for place, line in raised.items()]
    found += [(place, line, False) for place, line in candidates(text, setting.programs, spans) if place not in raised]
    if not found:
        return []
    found.sort()
    typed = prompts(text) if "@" in text else []

    def look(place: int, line: str, *, is_raised: bool) -> Complaint | None:
        if is_raised:
            item = Complaint(place, failure(line, otherwise="exception"))
        else:
            item = complaint(place, line, setting.programs)
        if item is None or (item.is_weak and setting.echoes(item.failure.line)):
            return None
        return None if typed and is_shown_on_screen(typed, item) else item

    unique = {line: (place, is_raised) for place, line, is_raised in reversed(found)}
    return [
        partial(look, place, line, is_raised=is_raised) for line, (place, is_raised) in reversed(list(unique.items()))
    ]


def few(looks: list[Callable[[], Complaint | None]]) -> list[Complaint]:
    """The first complaints, and the last one, which often is what it comes down to."""
    kept: list[Complaint] = []
    for number, look in enumerate(looks):
        if (item := look()) is not None:
            kept.append(item)
        if len(kept) == MOST_FAILURES - 1:
            last = next((item for look in reversed(looks[number + 1 :]) if (item := look()) is not None), None)
            return kept if last is None else [*kept, last]
    return kept


def is_shown_on_screen(prompts_above: Sequence[tuple[int, str]], item: Complaint) -> bool:
    """Whether a terminal shows the line as the contents of something, not as what a program said."""
    typed = typed_before(prompts_above, item.place)
    names = first_words(typed) if typed is not None else []
    if not names or not all(name in SHOWERS for name in names):
        return False
    return not item.failure.line.startswith(("bash:", "-bash:", *(name + ":" for name in names)))


def unexplained(observation: Observation, setting: Setting, around: Frame) -> Iterator[Failure]:
    """A failure that only the exit code or the harness tells of."""
    code, is_error = around.code, bool(observation.is_error) or around.is_error
    if around.refusal:
        yield failure(around.refusal, "tool")
    elif (code == 1 or (code is None and is_error)) and answers_by_code(setting, observation.text):
        return
    elif code is not None and not is_quiet(code):
        yield by_exit(code)
    elif is_error and code is None:
        yield failure(first_line(observation.text[: 2 * LONGEST_LINE]) or "error")


def each_once(found: list[Failure]) -> tuple[Failure, ...]:
    """A few, in order: the first ones, and the last one, which often is what it comes down to."""
    if not found:
        return ()
    unique = list(dict.fromkeys(found))
    return tuple(unique[: MOST_FAILURES - 1] + unique[MOST_FAILURES - 1 :][-1:])
