"""An action in a few words: what it did, and what came back.

    did(facts, step)    "ran `python3 -m pytest -q`", "wrote `solve.py` (24 lines)", "read `sales.csv`"
    saw(facts, step)    "3 of 12 tests fail: `test_a`, `test_b`", "`total: 30`", "nothing"

Both are clauses without an agent, to be put into sentences. Whatever comes from the trace stands in backticks or quotes
and on one line: it is data, and cannot pass for a sentence of ours. Texts are looked at from their ends only, so that
an output of any length costs the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from dense.actions.files import UNNAMED
from dense.analyst.rules.commands_told import shell_deed
from dense.analyst.rules.facts import Facts, Phase, command_family
from dense.analyst.rules.messages import delivered, said
from dense.analyst.rules.no_runs import could_not_run
from dense.analyst.rules.outputs import OPEN_EDITS, edits_open_file, open_file, output
from dense.analyst.rules.outputs_told import (
    ABSENT,
    absent_told,
    failure_told,
    main_failure,
    no_run_told,
    shown,
    tests_told,
)
from dense.analyst.rules.quoting import capital, listed, one_line, paths_told, quoted, ticked
from dense.analyst.rules.subagents import agents_told
from dense.analyst.rules.teams import instructed, without_query
from dense.analyst.rules.tools_told import tool_deeds
from dense.trajectory import Step

__all__ = ["LONGEST_DEED", "LONGEST_SIGHT", "Deed", "capital", "did", "one_line", "saw"]

LONGEST_DEED = 120
LONGEST_SIGHT = 160


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
        self.has_passed = self.is_check and facts.seen.is_fine
        self.could_not_run = self.is_check and self.has_failed and is_no_check(facts)
        """Whether it is a check, and tells nothing about what it checks."""

    @cached_property
    def did(self) -> str:
        return did(self.facts, self.step)

    @cached_property
    def saw(self) -> str:
        return sight(self.facts, self.step, lambda: self.output)

    @cached_property
    def output(self) -> str:
        return output(self.facts, self.step)


def did(facts: Facts, step: Step, limit: int = LONGEST_DEED) -> str:
    """What an action did: a clause that begins with a verb in the past tense."""
    if facts.phase == "deliver":
        return delivered(step)
    if not step.calls:
        return said(step)
    if facts.hands_to:
        return instructed(step)
    deeds: list[str] = []
    if facts.family in OPEN_EDITS and edits_open_file(facts, step):
        where = paths_told([*facts.effects.writes[:1], *filter(UNNAMED.__ne__, [open_file(step)])][-1:])
        told = ["edited the open file"] if facts.commands else tool_deeds(step, is_mixed=False)
        told = [one.replace("the open file", where) for one in told]
        return joined([tried(one) for one in told] if facts.has_failed else told, limit)
    if facts.commands:
        deeds.append(shell_deed(facts, limit))
    if not facts.commands or len(step.calls) > 1:
        deeds += tool_deeds(step, is_mixed=bool(facts.commands))
    deeds = list(dict.fromkeys(filter(None, deeds)))
    if facts.has_failed and not facts.commands:
        deeds = list(map(tried, deeds))
    if not deeds:
        return said(step) if step.message.strip() else "pressed keys"
    told = joined(deeds, limit)
    return f"{told} ({agents_told(step)})" if step.subagents else told


def tried(deed: str) -> str:
    """What was done, where it failed."""
    return FAILED_VERB.sub(lambda found: f"tried to {PRESENT[found[0]]}", deed)


PRESENT = {"edited": "edit", "wrote": "write", "deleted": "delete", "moved": "move", "opened": "open"}
FAILED_VERB = re.compile(r"^(?:edited|wrote|deleted|moved|opened)\b")


def joined(deeds: Sequence[str], limit: int) -> str:
    """Deeds of one action; those of one verb under that verb, and no more than fit."""
    if len(deeds) == 1:
        return deeds[0].strip()
    by_verb: dict[str, list[str]] = {}
    for deed in deeds:
        verb, _, rest = deed.partition(" `")
        by_verb.setdefault(verb if rest else deed, []).append(f"`{rest}" if rest else "")
    told = [f"{verb} {listed([one for one in rest if one])}".strip() for verb, rest in by_verb.items()]
    while len(told) > 1 and sum(map(len, told)) > limit:
        told.pop()
    return listed(told, 4)


def saw(facts: Facts, step: Step, limit: int = LONGEST_SIGHT) -> str:
    """What came back: a clause that may stand behind a colon."""
    return sight(facts, step, lambda: output(facts, step), limit)


def is_no_check(facts: Facts) -> bool:
    tests = facts.effects.tests
    return could_not_run(facts.seen, command_family(tests[-1]) if tests else facts.family)


def no_check_told(facts: Facts, came_back: Callable[[], str]) -> str:
    """A check that could not run, and why."""
    seen = facts.seen
    if failed := next((run for run in seen.tests if run.failed), None):
        return no_run_told(failed, seen.failures, came_back())
    failure = main_failure(seen.failures)
    if failure.family in ABSENT and failure.subject:
        return f"{absent_told(failure)}: no test ran"
    return failure_told(failure, seen.exit_code, came_back)


def sight(facts: Facts, step: Step, came_back: Callable[[], str], limit: int = LONGEST_SIGHT) -> str:
    """The same, where somebody may have the output at hand."""
    told: list[str] = []
    if facts.has_failed and facts.is_check and is_no_check(facts):
        told.append(no_check_told(facts, came_back))
    else:
        if facts.seen.tests:
            told.append(tests_told(facts.seen.tests))
        if facts.seen.failures and not any(run.failed for run in facts.seen.tests):
            told.append(failure_told(main_failure(facts.seen.failures), facts.seen.exit_code, came_back))
    if told:
        return "; ".join(told)[: 2 * limit]
    if facts.seen.doubt:
        return ticked(facts.seen.doubt, 130)
    if facts.seen.is_empty or not step.observations or facts.hands_to:
        return "nothing"
    if not step.calls and facts.targets:
        return ticked(without_query(facts.targets[0]), limit)  # a page that somebody was shown
    last = step.observations[-1]
    if last.origin == "user":
        return f"the user said {quoted(last.text, limit - 30)}"
    return shown(came_back(), limit, has_run=facts.phase not in ("explore", "talk"))
