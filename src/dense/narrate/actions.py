"""An action in a few words: what it did, and what came back.

    did(facts, step)    "ran `python3 -m pytest -q`", "wrote `solve.py` (24 lines)", "read `sales.csv`"
    saw(facts, step)    "3 of 12 tests fail: `test_a`, `test_b`", "`total: 30`", "nothing"

Both are clauses without an agent, to be put into sentences. Whatever comes from the trace stands in backticks or quotes
and on one line: it is data, and cannot pass for a sentence of ours. Texts are looked at from their ends only, so that
an output of any length costs the same."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.effects import UNNAMED
from dense.evidence.actions.tool_calls import is_shell, parse_call
from dense.evidence.checks.aborted_runs import could_not_run, could_not_start
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.families import command_family
from dense.evidence.facts.outputs import OPEN_EDITS, edits_open_file, open_file, program_output
from dense.evidence.facts.phases import Phase
from dense.evidence.observations.result import ObservedFailure
from dense.knowledge.errors import EXIT, SYNTAX
from dense.narrate.commands import shell_deed
from dense.narrate.messages import delivered, describe_delegation, describe_subagents, said, without_query
from dense.narrate.outputs import (
    absent_told,
    exit_told,
    first_marked,
    main_failure,
    no_run_told,
    shown,
    tests_told,
)
from dense.narrate.quoting import capital, listed, paths_told
from dense.narrate.tools import tool_deeds
from dense.text.quoting import one_line, quoted, ticked
from dense.trajectory import Step

__all__ = [
    "LONGEST_DEED",
    "LONGEST_SIGHT",
    "NarratedAction",
    "capital",
    "describe_action",
    "describe_output",
    "one_line",
]

LONGEST_DEED = 120
LONGEST_SIGHT = 160


class NarratedAction:
    """An action with all that its words are made of. The words are made when they are asked for, and once."""

    __slots__ = (
        *("_action_text", "_output", "_output_text"),
        *("action", "could_not_run", "facts", "has_failed", "has_passed", "is_check", "phase", "step"),
    )

    def __init__(self, facts: ActionFacts, step: Step, phase: Phase) -> None:
        self.facts = facts
        self.step = step
        self.phase: Phase = phase
        """What it was for, seen in sequence."""
        self.action = facts.action
        self.has_failed = facts.has_failed
        self.is_check = facts.is_check
        self.has_passed = self.is_check and facts.result.is_fine
        self.could_not_run = self.is_check and not self.has_passed and is_no_check(facts, step)
        """Whether it is a check, and tells nothing about what it checks."""
        self._action_text: str | None = None
        self._output_text: str | None = None
        self._output: str | None = None

    @property
    def action_text(self) -> str:
        if self._action_text is None:
            self._action_text = describe_action(self.facts, self.step)
        return self._action_text

    @property
    def output_text(self) -> str:
        if self._output_text is None:
            self._output_text = sight(self)
        return self._output_text

    @property
    def output(self) -> str:
        if self._output is None:
            self._output = program_output(self.facts, self.step)
        return self._output


def describe_action(facts: ActionFacts, step: Step, limit: int = LONGEST_DEED) -> str:
    """What an action did: a clause that begins with a verb in the past tense."""
    if facts.phase == "deliver":
        return delivered(step)
    if not step.calls:
        return said(step)
    if facts.delegates_to:
        return describe_delegation(step)
    deeds: list[str] = []
    if facts.family in OPEN_EDITS and edits_open_file(facts, step):
        where = paths_told([*facts.effects.writes[:1], *filter(UNNAMED.__ne__, [open_file(step)])][-1:])
        told = ["edited the open file"] if facts.commands else tool_deeds(step, is_mixed=False)
        told = [one.replace("the open file", where) for one in told]
        return joined([tried(one) for one in told] if facts.has_failed else told, limit)
    if facts.commands:
        deeds.append(shell_deed(facts, limit, step.message))
    if not facts.commands or len(step.calls) > 1:
        others = list(tool_deeds(step, is_mixed=bool(facts.commands)))
        is_after = bool(deeds and others) and sum(map(len, (*deeds, *others))) <= limit
        deeds = others + deeds if is_after and not is_shell(parse_call(step.calls[0])) else deeds + others
    deeds = [deed for deed in dict.fromkeys(deeds) if deed]
    if facts.has_failed and not facts.commands:
        deeds = list(map(tried, deeds))
    if not deeds:
        return said(step) if step.message.strip() else "pressed keys"
    told = joined(deeds, limit)
    return f"{told} ({describe_subagents(step)})" if step.subagents else told


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


def describe_output(facts: ActionFacts, step: Step, limit: int = LONGEST_SIGHT) -> str:
    """What came back: a clause that may stand behind a colon."""
    return sight(NarratedAction(facts, step, facts.phase), limit)


def is_no_check(facts: ActionFacts, step: Step) -> bool:
    """Whether a check that did not pass could not run, or ran nothing."""
    tests = facts.effects.tests
    if not facts.result.tests and not facts.has_failed:
        return False
    if facts.family == "pytest" and not facts.result.tests and could_not_start(program_output(facts, step)):
        return True
    if facts.result.tests or not tests:  # where a runner spoke, no name is needed
        return could_not_run(facts.result, facts.family)
    return could_not_run(facts.result, command_family(tests[-1]))


def no_check_told(deed: NarratedAction) -> str:
    """A check that could not run, and why."""
    seen = deed.facts.result
    if failed := next((run for run in seen.tests if run.failed), None):
        return no_run_told(failed, seen.failures, deed.output)
    if not seen.failures:
        return tests_told(seen.tests)
    failure = main_failure(seen.failures)
    if failure.family is EXIT and (why := first_marked(deed.output)):
        return f"the tests could not start: {ticked(why, 110)}"
    if failure.missing_dependency:
        return f"{absent_told(failure)}: no test ran"
    return failure_told(failure, deed)


def failure_told(failure: ObservedFailure, deed: NarratedAction) -> str:
    """A failure by the line that tells it; one that is only an exit code, by that and the last line of the output."""
    if failure.family is SYNTAX and (before := ran_before(failure, deed)):
        return f"{shown(before, LONGEST_SIGHT, has_run=True)}, then the shell stopped: {ticked(failure.line, 130)}"
    if failure.family is not EXIT:
        return ticked(failure.line, 130)
    return exit_told(deed.facts.result.exit_code, deed.output)


STOPPED = re.compile(r"\S*(?:sh|ash|zsh): (?:\S{1,40}: )?line [1-9]\d*: |\S{0,40}sh: [1-9]\d*: ")
"""How a shell says at which line it could not go on. It runs what stands before that line."""


def ran_before(failure: ObservedFailure, deed: NarratedAction) -> str:
    """What came back before the line at which the shell could not go on."""
    if not deed.facts.commands or STOPPED.match(failure.line) is None:
        return ""
    before, found, _ = deed.output.partition(failure.line)
    return before.strip() if found else ""


def sight(deed: NarratedAction, limit: int = LONGEST_SIGHT) -> str:
    """What came back after a deed: the same."""
    facts, step = deed.facts, deed.step
    seen = facts.result
    if deed.could_not_run:
        return no_check_told(deed)[: 2 * limit]
    told = tests_told(seen.tests) if seen.tests else ""
    if seen.failures and not [run for run in seen.tests if run.failed]:
        failure = failure_told(main_failure(seen.failures), deed)
        told = f"{told}; {failure}" if told else failure
    if told:
        return told[: 2 * limit]
    if seen.reported_problem:
        return ticked(seen.reported_problem, 130)
    if seen.is_empty or not step.observations or facts.delegates_to:
        return "nothing"
    if not step.calls and facts.targets:
        return ticked(without_query(facts.targets[0]), limit)  # a page that somebody was shown
    last = step.observations[-1]
    if last.origin == "user":
        return f"the user said {quoted(last.text, limit - 30)}"
    has_run = facts.phase not in ("explore", "talk") and not shows_edit(facts)
    return shown(deed.output, limit, has_run=has_run)


def shows_edit(facts: ActionFacts) -> bool:
    """Whether what comes back is what an editor shows of the file that it changed."""
    effects = facts.effects
    is_editor = not facts.commands or facts.family in OPEN_EDITS
    return is_editor and bool(effects.writes) and not effects.scripts
