"""One observation: what its frame, its lines and its test summaries say together."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence

from msgspec import Struct

from dense.evidence.observations import complaints, runners
from dense.evidence.observations.answers import answered
from dense.evidence.observations.complaints import candidates, complaint, own_complaints
from dense.evidence.observations.exits import by_exit, is_quiet, shown_exits
from dense.evidence.observations.families import LONGEST_LINE, failure
from dense.evidence.observations.frames import REPORTED, Frame, first_line, frame
from dense.evidence.observations.pieces import pieces
from dense.evidence.observations.result import Family, ObservedFailure, TestRun
from dense.evidence.observations.runners import runs
from dense.evidence.observations.screen import first_words, new_part, plain, prompts, typed_before
from dense.evidence.observations.setting import Setting, answers_by_code, decides
from dense.evidence.observations.speakers import Complaint
from dense.evidence.observations.tracebacks import tracebacks
from dense.knowledge.programs import SHOWERS
from dense.text.search import fast_search
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
    failures: tuple[ObservedFailure, ...] = ()
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
    text = plain(observation.text.removesuffix(REPORTED))
    if "@" in text and ("# " in text or "$ " in text):
        text = new_part(text, setting.commands)
    typed = "\n".join(setting.commands)
    spans = pieces(text, fast_search(TELLING)) if setting.kind == "ran" or setting.shows_logs else []
    tests = runs(text, spans) if setting.kind == "ran" or setting.shows_logs else ()
    has_failed_tests = bool(tests) and sum([run.failed for run in tests]) > 0
    if setting.kind == "ran":
        found = said(text, setting, spans)
    else:  # where a text says what to do when a command fails, that it did is an answer
        found = own_complaints(text, setting.programs) if "||" not in typed else []
    if found:
        found = believed(found, observation, setting, around.code)
    if tests and found:
        found = besides_tests(found, tests, TOLD_BY_TESTS if has_failed_tests else PROVOKED, text)
    told = [item.failure for item in found]
    if around.cut_off and (setting.kind == "ran" or observation.text.lstrip().startswith(around.cut_off)):
        told.insert(0, failure(around.cut_off, "time_out"))
    if "$?" in typed:
        told.extend(shown_exits(text))
    if not told and not has_failed_tests and (unknown := unexplained(observation, setting, around)) is not None:
        told.append(unknown)
    return Reading(around.code, each_once(told) if told else (), tests)


def besides_tests(
    found: list[Complaint], tests: Sequence[TestRun], ignored: frozenset[Family], text: str
) -> list[Complaint]:
    """Without complaints of these families that may be a test run's own. On a terminal, what another command said is
    not."""
    typed = [place for place, _ in prompts(text)] if "@" in text else []
    commands = {bisect(typed, text.find(run.line)) for run in tests}
    return [item for item in found if item.failure.family not in ignored or bisect(typed, item.place) not in commands]


def believed(found: list[Complaint], observation: Observation, setting: Setting, code: int | None) -> list[Complaint]:
    """Without what an exit code of 0 speaks against, where that code is the whole command's."""
    went_well = code == 0 or (code is None and observation.is_error is False)
    if went_well and any(item.is_weak for item in found) and decides(setting.commands):
        return [item for item in found if not item.is_weak]
    return found


def said(text: str, setting: Setting, spans: Sequence[tuple[int, int]]) -> list[Complaint]:
    """What programs complained of, without what was typed and what was only shown: the first complaints, and the last
    one, which often is what it comes down to. Lines are looked at one by one, since most will not be needed. `spans`:
    where lines stand that may complain."""
    raised = tracebacks(text)
    found = candidates(text, setting.programs, spans) if spans else []
    if raised:
        found = sorted([*raised.items(), *[one for one in found if one[0] not in raised]])
    if not found:
        return []
    unique = {line: place for place, line in reversed(found)}
    lines = [(place, line, place in raised) for line, place in reversed(unique.items())]
    typed = prompts(text) if "@" in text else []
    kept: list[Complaint] = []
    for number, line in enumerate(lines):
        if (item := looked_at(*line, setting, typed)) is not None:
            kept.append(item)
        if len(kept) == MOST_FAILURES - 1:
            rest = (looked_at(*line, setting, typed) for line in reversed(lines[number + 1 :]))
            last = next((item for item in rest if item is not None), None)
            return kept if last is None else [*kept, last]
    return kept


def looked_at(
    place: int, line: str, is_raised: bool, setting: Setting, typed: Sequence[tuple[int, str]]
) -> Complaint | None:
    """What a line complains of that may do so, or that a traceback ends with."""
    if is_raised:
        item = Complaint(place, failure(line, otherwise="exception"))
    else:
        item = complaint(place, line, setting.programs)
    if item is None or (item.is_weak and setting.echoes(item.failure.line)):
        return None
    return None if typed and is_shown_on_screen(typed, item) else item


def is_shown_on_screen(prompts_above: Sequence[tuple[int, str]], item: Complaint) -> bool:
    """Whether a terminal shows the line as the contents of something, not as what a program said."""
    typed = typed_before(prompts_above, item.place)
    names = first_words(typed) if typed is not None else []
    if not names or not all(name in SHOWERS for name in names):
        return False
    return not item.failure.line.startswith(("bash:", "-bash:", *(name + ":" for name in names)))


def unexplained(observation: Observation, setting: Setting, around: Frame) -> ObservedFailure | None:
    """A failure that only the exit code or the harness tells of."""
    code = around.code
    if around.refusal:
        return failure(around.refusal, "tool")
    if code is not None:
        answers = is_quiet(code) or (code == 1 and answers_by_code(setting, observation.text))
        return None if answers else by_exit(code)
    if not (observation.is_error or around.is_error) or answers_by_code(setting, observation.text):
        return None
    return failure(first_line(observation.text[: 2 * LONGEST_LINE]) or "error")


def each_once(found: list[ObservedFailure]) -> tuple[ObservedFailure, ...]:
    """A few, in order: the first ones, and the last one, which often is what it comes down to."""
    unique = list(dict.fromkeys(found))
    return tuple(unique[: MOST_FAILURES - 1] + unique[MOST_FAILURES - 1 :][-1:])
