"""An action in a few words: what it did, and what came back.

    describe_action(facts, step)    "ran `python3 -m pytest -q`", "wrote `solve.py` (24 lines)", "read `sales.csv`"
    describe_output(facts, step)    "3 of 12 tests fail: `test_a`, `test_b`", "`total: 30`", "nothing"

Both are clauses without a subject, to be put into sentences. Text of the trace is quoted and on one line: it is data,
and cannot pass for a sentence of ours. Only the ends of a text are read, so the cost does not depend on its length."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from msgspec import structs

from dense.analysis.actions.calls import is_shell, parse_call, shell_text
from dense.analysis.actions.effects import UNNAMED
from dense.analysis.actions.observations.harness import failed_calls
from dense.analysis.actions.observations.result import ObservedFailure
from dense.analysis.actions.step_effects import commands
from dense.analysis.evidence.checks.checks import could_not_run
from dense.analysis.evidence.facts.facts import ActionFacts
from dense.analysis.evidence.facts.outputs import (
    OPEN_EDITS,
    edits_open_file,
    found_nothing,
    open_file,
    outputs_by_call,
    program_output,
)
from dense.analysis.evidence.facts.paths import base_name, is_temporary
from dense.analysis.evidence.facts.phases import Phase
from dense.analysis.evidence.facts.traits import command_family
from dense.analysis.wording.commands import describe_shell, short_command
from dense.analysis.wording.messages import (
    describe_delegation,
    describe_message,
    describe_subagents,
    describe_submission,
)
from dense.analysis.wording.outputs import (
    MAX_LINE_CHARS,
    NOTHING,
    OutputText,
    describe_exit,
    describe_missing,
    describe_tests,
    describe_unstarted_run,
    main_failure,
    quote_failure,
    quote_output,
)
from dense.analysis.wording.phrases import Clause, join_clauses, paths_text
from dense.analysis.wording.tools import describe_tools
from dense.knowledge.errors import EXIT, SYNTAX
from dense.text.quoting import code_span, collapse_spaces, in_quotes
from dense.trajectory import Step, ToolCall

MAX_ACTION_CHARS = 120
MAX_OUTPUT_CHARS = 160
MAX_ADDRESS_CHARS = 200
MAX_COMMAND_CHARS = 60
MIN_ECHO_CHARS = 24
"""So much of a command in its output shows that only the command came back."""
FAILING_VERBS = frozenset({"edit", "write", "delete", "move", "open"})
"""What a tool did not do if it failed."""
TEXT_ENDINGS = tuple(".py .js .ts .tsx .c .h .cpp .go .rs .java .rb .sh .php .cs .md".split())
"""How names of programs and documents end."""
CUT_PIPE = re.compile(r"\|\s*(head|tail)\b[^|;&\n]*\Z")
"""The end of a command whose exit code is not that of the program before the pipe."""
SHELL_STOP = re.compile(r"\S*(?:sh|ash|zsh): (?:\S{1,40}: )?line [1-9]\d*: |\S{0,40}sh: [1-9]\d*: ")
"""How a shell says at which line it could not go on. It runs what is before that line."""


class NarratedAction:
    """An action with everything that its words are made of. The words are made when they are asked for, and once."""

    def __init__(self, facts: ActionFacts, step: Step, phase: Phase) -> None:
        self.facts = facts
        self.step = step
        self.phase: Phase = phase
        """What it was for, in its sequence."""
        self.action = facts.action
        self.has_failed = facts.has_failed
        self.is_check = facts.is_check
        self.has_passed = facts.has_passed

    @cached_property
    def could_not_run(self) -> bool:
        """Whether it is a check that says nothing about what it checks: it could not run, or ran nothing."""
        facts = self.facts
        if not self.is_check or self.has_passed or not (facts.result.tests or self.has_failed):
            return False
        tests = facts.effects.tests
        is_named = bool(tests) and not facts.result.tests
        return could_not_run(facts.result, command_family(tests[-1]) if is_named else facts.family)

    @cached_property
    def clauses(self) -> list[Clause]:
        return _clauses(self.facts, self.step, MAX_ACTION_CHARS)

    @cached_property
    def action_text(self) -> str:
        """What it did: a clause that begins with a verb in the past tense."""
        return _joined(self.clauses, self.facts, self.step, MAX_ACTION_CHARS)

    @cached_property
    def command_text(self) -> str:
        """What was tried: without the verb if it only ran something."""
        only = self.clauses[0] if len(self.clauses) == 1 else None
        return only.rest if only is not None and only.verb == "run" else self.action_text

    @cached_property
    def has_detail(self) -> bool:
        """Whether its text has a detail in parentheses."""
        return any(clause.detail for clause in self.clauses) or bool(self.step.subagents)

    @cached_property
    def output(self) -> str:
        """What its programs printed."""
        return program_output(self.facts, self.step)

    @cached_property
    def described_output(self) -> OutputText:
        return _output_text(self)

    @property
    def output_text(self) -> str:
        """What came back: a clause for use behind a colon."""
        return self.described_output.text[: 2 * MAX_OUTPUT_CHARS]

    @property
    def is_bare(self) -> bool:
        """Whether its output is described by its size only."""
        return self.described_output.is_bare

    @property
    def is_quotable(self) -> bool:
        """Whether its output is short enough to be quoted as it is."""
        return not self.facts.result.is_empty and self.described_output.kind == "quote"

    @cached_property
    def is_echo(self) -> bool:
        """Whether only its command came back."""
        shown = collapse_spaces(self.output[:MAX_OUTPUT_CHARS])
        ran = collapse_spaces("\n".join(self.facts.commands)[:MAX_OUTPUT_CHARS])
        length = min(len(shown), len(ran), MAX_ACTION_CHARS)
        return length > MIN_ECHO_CHARS and shown[:length] == ran[:length]

    @property
    def is_silent(self) -> bool:
        """Whether its output is only the harness's word that a file was written."""
        effects = self.facts.effects
        is_plain = not (effects.scripts or effects.tests or self.facts.commands)
        return bool(effects.writes) and not self.has_failed and (is_plain or edits_open_file(self.facts, self.step))

    @cached_property
    def is_change(self) -> bool:
        """Whether it made something that stays: a file, or a change through a tool of the task's own."""
        effects = self.facts.effects
        if not effects.writes:
            return self.phase == "produce" and not effects.deletes
        kept = [path for path in effects.writes if not is_temporary(path)]
        if self.phase == "run":  # the files that a program writes are its results, unless they are programs
            return any(path.endswith(TEXT_ENDINGS) for path in kept)
        return any(path not in effects.undoes and base_name(path) != ".git" for path in kept)

    @property
    def only_looks(self) -> bool:
        """Whether it gets nothing done by itself, also if it looks for what was made."""
        return self.facts.phase in ("explore", "talk")

    @property
    def is_plain_look(self) -> bool:
        """Whether it only read or listed files: its command does not say what was searched for."""
        return self.facts.family == "ls" or all(clause.verb in ("read", "list") for clause in self.clauses[:1])

    @property
    def is_finding(self) -> bool:
        """Whether it looked at something and its output can be quoted."""
        return self.phase == "explore" and self.is_quotable

    @cached_property
    def found_nothing(self) -> bool:
        return found_nothing(self.facts, self.output)

    @property
    def shows_data(self) -> bool:
        """Whether what it shows are values, and not a program that has values in it."""
        return not self.has_failed and not any(path.endswith(TEXT_ENDINGS) for path in self.facts.effects.reads)


def describe_action(facts: ActionFacts, step: Step, limit: int = MAX_ACTION_CHARS) -> str:
    """What an action did: a clause that begins with a verb in the past tense."""
    return _joined(_clauses(facts, step, limit), facts, step, limit)


def describe_output(facts: ActionFacts, step: Step) -> str:
    """What came back: a clause for use behind a colon."""
    return NarratedAction(facts, step, facts.phase).output_text


def _clauses(facts: ActionFacts, step: Step, limit: int) -> list[Clause]:
    """The clauses of an action; of calls side by side of which some failed, only of those."""
    failed = _described_calls(facts, step)
    if len(failed) < len(step.calls):
        step = structs.replace(step, calls=failed)
        facts = structs.replace(facts, commands=commands(step))
    if facts.phase == "deliver":
        return [describe_submission(step)]
    if not step.calls:
        return [describe_message(step)]
    if facts.delegates_to:
        return [describe_delegation(step)]
    if edits_open_file(facts, step):
        names = [*facts.effects.writes[:1], *filter(UNNAMED.__ne__, [open_file(step)])]
        details = [clause.detail for clause in describe_tools(step, skip_shell=False)] if not facts.commands else [""]
        return [Clause("edit", paths_text(names[-1:]), detail, facts.has_failed) for detail in details]
    clauses = describe_shell(facts, limit, step.message) if facts.commands else []
    if not facts.commands or len(step.calls) > 1:
        others = [
            Clause(
                one.verb, one.object, one.detail, facts.has_failed and not facts.commands and one.verb in FAILING_VERBS
            )
            for one in describe_tools(step, skip_shell=bool(facts.commands))
        ]
        clauses = clauses + others if is_shell(parse_call(step.calls[0])) else others + clauses
    if not clauses:
        clauses = [describe_message(step) if step.message.strip() else Clause("press", "keys")]
    return clauses


def _described_calls(facts: ActionFacts, step: Step) -> tuple[ToolCall, ...]:
    return failed_calls(step, facts.result.failures) if facts.has_failed else step.calls


def _joined(clauses: Iterable[Clause], facts: ActionFacts, step: Step, limit: int) -> str:
    """Clauses with what agents did, unless only the calls are described that failed beside those that started them."""
    text = join_clauses(clauses, limit)
    has_agents = bool(step.subagents) and len(_described_calls(facts, step)) == len(step.calls)
    return f"{text} ({describe_subagents(step)})" if has_agents else text


def _output_text(action: NarratedAction) -> OutputText:
    facts, step, result = action.facts, action.step, action.facts.result
    if action.could_not_run:
        return OutputText(_describe_no_run(action))
    tests = describe_tests(result.tests) if result.tests else None
    if result.failures and not any(run.failed for run in result.tests):
        failure = _describe_failure(main_failure(result.failures), action)
        return OutputText(f"{tests.text}; {failure}" if tests else failure)
    if tests is not None:
        return tests
    if result.reported_problem:
        return OutputText(code_span(result.reported_problem, MAX_LINE_CHARS), "quote")
    if result.is_empty or not step.observations or facts.delegates_to:
        return NOTHING
    if not step.calls and facts.targets:
        return OutputText(code_span(facts.targets[0], MAX_ADDRESS_CHARS), "quote")  # a page
    last = step.observations[-1]
    if last.origin == "user":
        return OutputText(f"the user said {in_quotes(last.text, MAX_OUTPUT_CHARS - 30)}")
    effects = facts.effects
    shows_edit = (not facts.commands or facts.family in OPEN_EDITS) and bool(effects.writes) and not effects.scripts
    has_run = facts.phase not in ("explore", "talk") and not shows_edit
    found = _own_output(action, has_run=has_run) or quote_output(action.output, MAX_OUTPUT_CHARS, has_run=has_run)
    cut = CUT_PIPE.search(facts.commands[-1]) if facts.commands and (effects.tests or effects.scripts) else None
    if cut is not None and "pipefail" not in facts.commands[-1]:
        return OutputText(f"{found.text} (`| {cut[1]}` hides the exit code)", found.kind)
    return found


def _own_output(action: NarratedAction, *, has_run: bool) -> OutputText | None:
    """What the command that the text of the action shows last printed, if several commands ran and their outputs are
    known apart; if it printed nothing, what the last one printed, by its name."""
    calls = [(parse_call(call), text) for call, text in outputs_by_call(action.facts, action.step)]
    printed = [
        (short_command(shell_text(call) or "", MAX_COMMAND_CHARS), text) for call, text in calls if is_shell(call)
    ]
    if not printed:
        return None
    own = [text for command, text in printed if command.strip("`…")[:MIN_ECHO_CHARS] in action.action_text]
    if own:
        return quote_output(own[-1], MAX_OUTPUT_CHARS, has_run=has_run)
    command, output = printed[-1]
    shown = quote_output(output, MAX_OUTPUT_CHARS - MAX_COMMAND_CHARS, has_run=has_run)
    return OutputText(f"{command} printed {shown.text}", shown.kind)


def _describe_no_run(action: NarratedAction) -> str:
    """A check that could not run, and why."""
    result = action.facts.result
    if failed := next((run for run in result.tests if run.failed), None):
        return describe_unstarted_run(failed, result.failures, action.output)
    if not result.failures:
        return describe_tests(result.tests).text
    failure = main_failure(result.failures)
    if failure.family.is_missing_dependency and failure.subject:
        return f"{describe_missing(failure)}: no test ran"
    return _describe_failure(failure, action)


def _describe_failure(failure: ObservedFailure, action: NarratedAction) -> str:
    """A failure by the line that shows it; if it is only an exit code, by that and the last line of the output."""
    line = quote_failure(failure, action.output)
    if failure.family is SYNTAX and action.facts.commands and SHELL_STOP.match(failure.line):
        before, found, _ = action.output.partition(failure.line)
        if found and before.strip():
            shown = quote_output(before.strip(), MAX_OUTPUT_CHARS, has_run=True).text
            return f"{shown}, then the shell stopped: {line}"
    return describe_exit(action.facts.result.exit_code, action.output) if failure.family is EXIT else line
