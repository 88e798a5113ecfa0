"""What a stretch of actions did that a rerun can use: the way that worked, what showed that it did, what is left.

The same rules serve three actions and a whole attempt: of many changes the files are named, of few the commands.
Failures that were overcome are dead ends and stay out of the summary. Nothing is called done unless an observation
shows it, and what the agent says of itself is quoted as its words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

from msgspec import Struct

from dense.analysis.evidence.ending.ending import final_answer, find_rejections, is_value, submitted_answer
from dense.analysis.evidence.facts.paths import base_name
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.changes import describe_change, remaining_changes
from dense.analysis.wording.commands import short_command
from dense.analysis.wording.handovers import describe_handover, describe_rejections, last_handover
from dense.analysis.wording.messages import is_empty_turn, submitted_text
from dense.analysis.wording.outputs import quote_output
from dense.analysis.wording.phrases import capital, listed, paths_text, sentence
from dense.analysis.wording.stretch import NarratedStretch, check_name
from dense.knowledge.programs import LASTING_COMMANDS
from dense.text.quoting import code_span

MAX_SUMMARY_CHARS = 500
MAX_ROOT_SUMMARY_CHARS = 700
MIN_WAY_CHARS = 160
MAX_PARTS = 3
"""How many parts the summary of a whole describes, the last ones that came to something."""
FEW_CHANGES = 2
"""So many changes are described each by itself; of more the files."""
MANY_CHANGES = 12
"""How many changes are searched for such as a later one replaced."""
RECENT = 8
"""How many of the last actions may have found something worth a clause."""
MAX_LOOKS = 40
MAX_CONTENTS_CHARS = 160

type Remains = Callable[[str], bool]
"""Whether a file that was changed is there, with its change, at the end of the attempt."""


class Proof(Struct, frozen=True):
    """What shows that something works: the last check that passed, or the last look at what was made."""

    text: str = ""
    """A sentence without its full stop; empty if nothing shows it."""
    check: int = 0
    """The action of the check; 0 if it is a look."""
    look: int = 0
    """The action of the look; 0 if it is a check."""

    def sentence(self, last_change: int) -> str:
        """A check from before the last change says so."""
        is_stale = 0 < self.check < last_change
        return f"{self.text}{', before the last change' if is_stale else ''}." if self.text else ""


class PartDigest(Struct, frozen=True):
    """What a part of the attempt came to, for the summary of the whole."""

    clause: str
    """Its last product or result, as a sentence; empty if there is none."""
    proof: Proof
    check: str
    """The check that passed, by its name."""
    is_product: bool
    """Whether something was made or changed that is there at the end."""
    is_scratch: bool
    """Whether all that was made or changed is gone at the end."""


class StretchSummary:
    """The summary of a stretch."""

    def __init__(self, stretch: NarratedStretch, remains: Remains | None = None) -> None:
        self.stretch = stretch
        self._remains = remains
        self._texts: dict[str, str] = {}
        """The texts so far, by what they say is left."""

    def text(self, *, with_failures: bool = True) -> str:
        """One to four sentences: the way, the proof, what is left, the last message."""
        stretch = self.stretch
        if not stretch.actions:
            return "Nothing was done."
        is_described = bool(stretch.changes or stretch.last_success or self._results)
        left = self._left if with_failures or not is_described else ""
        if left not in self._texts:
            self._texts[left] = self._text(left)
        return self._texts[left]

    def _text(self, left: str) -> str:
        stretch = self.stretch
        proof = self.proof.sentence(stretch.last_change)
        room = MAX_SUMMARY_CHARS - len(left) - len(proof) - len(self._last_message) - 3
        way = self._way(max(room, MIN_WAY_CHARS))
        is_answered = bool(self._reply) and self._reply.lower() in way.lower()
        parts = [way, proof, left, self._last_message.replace(self._reply, "") if is_answered else self._last_message]
        return " ".join(filter(None, parts)) or sentence(stretch.action_text(stretch.actions[-1]))

    def digest(self) -> PartDigest:
        """The last product and the check of it, or the last result."""
        stretch, changes = self.stretch, self.stretch.changes
        remaining = self._remaining_changes
        is_scratch = False
        if changes and not self._is_kept(changes[-1]):
            remaining = [action for action in remaining if self._is_kept(action)]
            is_scratch = (
                not remaining and len(changes) <= MANY_CHANGES and any(one.facts.effects.writes for one in changes)
            )
            clauses = [self._change_text(remaining[-1])] if remaining else self._change_clauses
        else:
            clauses = self._change_clauses
        if not changes or is_scratch:
            clauses = ["; ".join([*self._lead(), *self._run_clauses[-1:]])] if self._run_clauses else []
            clauses += self._results
        if not clauses and not self.proof.text:
            found = [one for one in stretch.worked[-RECENT:] if one.is_finding and not one.found_nothing]
            clauses = [stretch.full_text(action) for action in found]
        tests = self._shown_pass.facts.effects.tests if self._shown_pass is not None else ()
        return PartDigest(
            sentence(clauses[-1]) if clauses else "",
            self.proof,
            check_name(tests[-1]) if tests else "",
            bool(changes) and not is_scratch,
            is_scratch,
        )

    def of_parts(self, digests: Sequence[PartDigest], *, with_failures: bool, submission: str = "") -> str:
        """The summary of a whole by its parts: what is submitted, if that is known, what shows that the products work,
        what other parts came to, the last message, what is left. What came before the first product only led to it;
        how products were made is the parts' own to say."""
        kept_changes = (one.action for one in reversed(self.stretch.changes[-MANY_CHANGES:]) if self._is_kept(one))
        last_change = next(kept_changes, 0)
        first = next((n for n, one in enumerate(digests) if one.is_product), 0)
        last_of = {one.check: n for n, one in enumerate(digests) if one.proof.text}
        texts: list[str] = []
        for n, one in enumerate(digests[first:], first):
            proof = one.proof.sentence(last_change) if last_of.get(one.check) == n or not one.check else ""
            texts.append(proof if one.is_product and proof else f"{one.clause} {proof}".strip())
        kept = list(dict.fromkeys(filter(None, texts)))[-MAX_PARTS:]
        has_scratch = any(one.is_scratch for one in digests)
        if len(kept) < 2 - has_scratch or len(self.stretch.agents) > 1:
            return " ".join(filter(None, [submission, self.text(with_failures=with_failures)]))
        left = self._left if with_failures else ""
        room = MAX_ROOT_SUMMARY_CHARS - len(self._last_message) - len(left) - len(submission)
        while len(kept) > 1 and sum(map(len, kept)) > room:
            kept.pop(0)
        return " ".join(filter(None, [submission, *kept, left, self._last_message]))

    def _is_kept(self, action: NarratedAction) -> bool:
        """Whether a change is of something that is there at the end of the attempt."""
        return self._remains is None or any(map(self._remains, action.facts.effects.writes[:8]))

    # The way that worked

    def _way(self, room: int) -> str:
        """What was done that worked, in order, as much as there is room for; if there is too much, the last of it."""
        clauses = self._clauses()
        while len(clauses) > 1 and sum(map(len, clauses)) + 2 * len(clauses) > room:
            clauses.pop(0 if len(clauses) > 2 else 1)
        return sentence("; ".join(clauses)) if clauses else ""

    def _clauses(self) -> list[str]:
        stretch = self.stretch
        clauses = [*self._setups(), *self._change_clauses, *self._run_clauses] or self._removals()
        if self._results:
            return [*clauses, *self._results]
        if not stretch.changes:
            clauses = [*self._lead(), *clauses]
            last = next(
                (one for one in reversed(stretch.worked[-RECENT:]) if one.phase == "run" or one.is_finding), None
            )
            if not clauses:
                clauses = self._looks()
            elif last is not None and last.phase != "run":
                clauses += self._looks()[-1:]
            clauses += self._replies() if len(stretch.agents) > 1 else []
        return clauses

    def _lead(self) -> list[str]:
        """What was found right before the last run, which it may have led to."""
        actions = self.stretch.actions
        runs = [n for n in range(1, len(actions)) if actions[n].phase == "run" and not actions[n].has_failed]
        found = actions[runs[-1] - 1] if runs else None
        if found is None or found.has_failed or not found.is_finding or found.is_plain_look or found.found_nothing:
            return []
        return [self.stretch.full_text(found)]

    @cached_property
    def _results(self) -> list[str]:
        """Files with contents that an action showed before it failed."""
        contents = self.stretch.products.contents if self.stretch.failed else ()
        texts = [(path, quote_output(text, MAX_CONTENTS_CHARS, has_run=False)) for path, text in contents]
        return [f"wrote {paths_text([path])}, which holds {one.text}" for path, one in texts if one.kind == "quote"][
            -2:
        ]

    def _replies(self) -> list[str]:
        """What other agents said in reply to the one that called them last."""
        worked = self.stretch.worked
        caller = next((action.step.agent for action in reversed(worked) if action.step.calls), None)
        replies = [one for one in worked if one.phase == "talk" and one.step.agent not in (caller, None)]
        replies = [one for one in replies if not is_empty_turn(one.step)]
        return [self.stretch.full_text(action) for action in replies[-2:]] if caller is not None else []

    def _setups(self) -> list[str]:
        found = [action for action in self.stretch.worked if action.phase == "setup" and not action.is_change]
        effects = [(action, action.facts.effects) for action in found]
        found = [action for action, done in effects if done.installs or done.services or done.network]
        return list(dict.fromkeys([self.stretch.action_text(action) for action in found[-2:]]))

    def _removals(self) -> list[str]:
        removals = [one for one in self.stretch.worked if one.facts.effects.deletes or one.facts.effects.undoes]
        return [self.stretch.action_text(action) for action in removals[-2:]]

    @cached_property
    def _remaining_changes(self) -> list[NarratedAction]:
        return remaining_changes(self.stretch.changes[-MANY_CHANGES:])

    @cached_property
    def _change_clauses(self) -> list[str]:
        """Few changes each by itself; of many the files, and the last one."""
        changes = self._remaining_changes
        if len(self.stretch.changes) <= MANY_CHANGES and len(changes) <= FEW_CHANGES:
            texts = list(map(self._change_text, changes))
            if len(set(texts)) == len(texts):
                return texts
        last = changes[-1]
        names = {base_name(path) for path in last.facts.effects.writes}
        others = [
            path for path in self.stretch.products.made if "." in base_name(path) and base_name(path) not in names
        ]
        text = self._change_text(last)
        return [f"changed {paths_text(others[-40:], 4)}", text] if others else [text]

    def _change_text(self, action: NarratedAction) -> str:
        """A change with what came back, or with what it is."""
        is_run = action.phase == "run"
        return describe_change(action, self.stretch.action_text(action) if is_run else self.stretch.full_text(action))

    @cached_property
    def _run_clauses(self) -> list[str]:
        """The last runs that showed something, after the last change. That changes were sent says less."""
        after = self.stretch.last_change
        runs = [one for one in self.stretch.worked if one.phase == "run" and one.action > after and not one.is_check]
        if after:
            runs = [action for action in runs if action.facts.family not in LASTING_COMMANDS]
        telling = [action for action in runs[-4:] if not action.is_bare][-2:]
        return [self.stretch.full_text(action) for action in telling or runs[-1:]]

    def _looks(self) -> list[str]:
        """What was looked at, by the files; and what was seen if that is short enough to be quoted."""
        worked = self.stretch.worked
        looks = [action for action in worked if action.phase in ("explore", "verify") and not action.is_check]
        reads = (path for action in looks[-MAX_LOOKS:] for path in action.facts.effects.reads[:8])
        paths = dict.fromkeys(path for path in reads if path not in (".", "./"))
        recent = [action for action in looks[-RECENT:] if not action.found_nothing]
        short = [action for action in recent if action.is_quotable][-2:]
        if len(short) < 2:
            short = [action for action in recent if action in short or not action.is_plain_look][-2:]
        texts = [f"looked at {paths_text(paths, 4)}"] if paths else []
        texts += dict.fromkeys([self.stretch.full_text(action) for action in short])
        if texts:
            return texts
        if looks:
            return [listed([self.stretch.action_text(action) for action in looks[:3]])]
        talks = [action for action in worked if action.phase == "talk" and not is_empty_turn(action.step)]
        return list(dict.fromkeys([self.stretch.full_text(action) for action in talks[-2:]]))

    # What shows that it worked

    @cached_property
    def proof(self) -> Proof:
        last_change, passed = self.stretch.last_change, self._shown_pass
        if passed is not None and passed.action >= last_change:
            undone = (
                one.action for one in self.stretch.worked if one.action > passed.action and one.facts.effects.undoes
            )
            if reverted := next(undone, 0):
                return Proof(f"{self._check_text(passed)}, before the changes were reverted at a{reverted}")
            is_described = passed in self.stretch.changes[-FEW_CHANGES:]
            return Proof("" if is_described else self._check_text(passed), passed.action)
        if last_change and (look := self._look_at_made(last_change)).text:
            return look
        return Proof(self._check_text(passed), passed.action) if passed is not None else Proof()

    @cached_property
    def _shown_pass(self) -> NarratedAction | None:
        """The last check that passed, before others one that counted its tests after the last change."""
        passed, last_change = self.stretch.passed, self.stretch.last_change
        counted = (one for one in reversed(self.stretch.worked) if one.has_passed and one.facts.result.tests)
        found = next(counted, None)
        return found if found is not None and found.action >= last_change else passed

    def _check_text(self, check: NarratedAction) -> str:
        """A check with what it showed."""
        tests = check.facts.effects.tests
        name = short_command(tests[-1], 100) if tests else capital(self.stretch.action_text(check))
        if check.is_bare:
            is_empty = check.described_output.kind == "nothing"
            return f"{name} printed {'nothing' if is_empty else f'{check.output_text} and no error'}"
        return f"{name}: {check.output_text}"

    def _look_at_made(self, last_change: int) -> Proof:
        """The last look after a change at something that was made; before others one that can be quoted."""
        names = {base_name(path) for path in self.stretch.products.made}
        looks = [one for one in self.stretch.worked[-MAX_LOOKS:] if one.phase == "verify" and one.action > last_change]
        looks = [one for one in looks if names & {base_name(path) for path in one.facts.effects.reads}]
        if not looks:
            return Proof()
        look = next((one for one in reversed(looks) if one.is_quotable), looks[-1])
        what = paths_text(look.facts.effects.reads, 2)
        if self.stretch.is_guess(look):
            return Proof(f"{what} holds what was typed there, which no output had shown", look=look.action)
        text = f"Looked at {what} afterwards" if look.is_bare else f"Looking at {what} showed {look.output_text}"
        return Proof(text, look=look.action)

    # How it ended

    @cached_property
    def _last_message(self) -> str:
        """A hand-over at the end, with what is claimed in it."""
        stretch, last = self.stretch, self.stretch.actions[-1]
        is_last = stretch.links.is_last(last.action)
        if len(stretch.actions) < 2 or last in stretch.left[-1:]:
            return ""
        if not is_last and last.phase not in ("deliver", "talk"):
            return ""
        reply = self._reply
        answer = final_answer(last.step) if is_last else ""
        if last.phase == "deliver":
            is_described = not answer or answer in submitted_text(last.step)
            handed = sentence(text) if (text := self._handover_text()) else ""
            parts = [
                handed,
                reply,
                "" if is_described or answer in handed else _answer_text(answer),
                self._rejections(),
            ]
        else:
            parts = [self._rejections(), reply if last.phase == "talk" else _answer_text(answer)]
        return " ".join(filter(None, parts))

    @property
    def _reply(self) -> str:
        """What the user said last."""
        last = self.stretch.actions[-1]
        return sentence(last.output_text) if last.facts.is_followed_by_user else ""

    def _rejections(self) -> str:
        """The answers that were rejected before the last one, for the whole: nobody should submit them again."""
        actions = self.stretch.actions
        if self.stretch.first != 1 or not self.stretch.links.is_last(actions[-1].action):
            return ""
        handed = [action for action in actions[:-1] if action.phase == "deliver"]
        found = find_rejections([action.facts for action in handed], [action.step for action in handed])
        return f"Answers rejected before: {describe_rejections(found, self.stretch.origins)}." if found else ""

    def _handover_text(self) -> str:
        """The hand-over; what it says is missing only if no check shows the contrary."""
        last = last_handover(self.stretch.actions) or self.stretch.actions[-1]
        if len(self.stretch.agents) > 1:
            return self.stretch.action_text(last)
        text = describe_handover(last, with_lacking=self.stretch.last_pass <= self.stretch.last_change)
        answer = submitted_answer(last.facts, last.step)
        is_guess = is_value(answer) and self.stretch.origins.is_guess(answer, last.action)
        return f"{text}, which no output had shown" if text and is_guess else text

    @cached_property
    def _left(self) -> str:
        """What still fails at the end."""
        if not self.stretch.left:
            return ""
        texts = list(dict.fromkeys([self.stretch.failure_text(action) for action in self.stretch.left[-3:]]))
        while len(texts) > 1 and sum(map(len, texts)) > MAX_SUMMARY_CHARS // 2:
            texts.pop(0)
        last = self.stretch.left[-1]
        how = "Could not run" if last.could_not_run else "Still failing" if last.is_check else "Did not work"
        return f"{how}: {'; '.join(texts)}."


def _answer_text(answer: str) -> str:
    return f"The answer given: {code_span(answer, 120)}." if answer else ""
