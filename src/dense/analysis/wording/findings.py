"""The sentences of findings: one entry for each code. Nothing else makes these words, and nothing reads them back.

`describe_finding(finding, evidence)` says what is wrong, `describe_next_step(finding)` what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from dense.analysis.detectors.registry import Finding
from dense.analysis.evidence.ending.done import DemandEvidence
from dense.analysis.evidence.trace import TraceEvidence
from dense.analysis.wording.actions import describe_action, describe_output
from dense.analysis.wording.handovers import describe_rejections
from dense.analysis.wording.outputs import describe_missing, main_failure, test_name
from dense.analysis.wording.phrases import listed, paths_text
from dense.text.quoting import code_span, in_quotes, one_line

MAX_FILES = 3
MAX_PLAN_ITEMS = 4
NO_ADVICE = ("fails_without_changes", "passed_before", "own_check_removed", "own_check_edited", "own_check_overtaken")
"""What may follow a failed check so that there is nothing left to do about it."""


class Wording(Struct, frozen=True):
    """The words for the findings of one code."""

    describe: Callable[[Finding, TraceEvidence], str]
    """What is wrong or missing, in one to four sentences."""
    advise: Callable[[Finding], str] = lambda _: ""
    """What to do about it, which refers to actions instead of describing them again; empty for nothing."""


def describe_finding(finding: Finding, evidence: TraceEvidence) -> str:
    """What is wrong or missing, in one to four sentences."""
    return WORDINGS[finding.code].describe(finding, evidence)


def describe_next_step(finding: Finding) -> str:
    """What to do about an open finding; empty if there is nothing to advise."""
    return WORDINGS[finding.code].advise(finding)


def _check_failed(finding: Finding, _: TraceEvidence) -> str:
    tests = ", ".join(f"`{one_line(name, 60)}`" for name in finding.texts("tests"))
    text = f"`{one_line(finding.subject, 100)}` failed at a{finding.opened}: {code_span(finding.text('line'), 200)}"
    text += f" ({tests})." if tests else "."
    return f"{text} {_after_failure(finding)}" if finding.is_open else text


def _required_check_failed(finding: Finding, _: TraceEvidence) -> str:
    """Begins with the claim that the run refutes, if there is one."""
    tests = listed([f"`{one_line(name, 60)}`" for name in finding.texts("tests")], MAX_FILES)
    text = f"`{one_line(finding.subject, 100)}`, which the task asks to pass, failed in its last run"
    text += f" (a{finding.number('failed_at')}): {code_span(finding.text('line'), 200)}{f' ({tests})' if tests else ''}"
    if changed := finding.number("changed_at"):
        text += f". It was not run again after the change at a{changed}"
    if claim := finding.text("claim"):
        text = f"Refuted: the agent says at a{finding.number('claimed_at')} {code_span(claim, 200)}. {text}"
    return f"{text}."


def _after_failure(finding: Finding) -> str:
    action, quote = finding.number("after_action"), finding.text("quote")
    match finding.text("after"):
        case "before_changes":
            return "That was before anything was changed; it was not run again."
        case "fails_without_changes":
            return f"It failed in the same way at a{action}, without the changes."
        case "passed_before":
            return f"It had passed at a{action}, and nothing of the work changed in between."
        case "own_check_removed":
            return f"`{one_line(quote, 60)}` is the attempt's own check, and was removed at a{action}."
        case "own_check_edited":
            return f"`{one_line(quote, 60)}` is the attempt's own check, and was edited at a{action}, not run again."
        case "own_check_overtaken":
            return f"`{one_line(quote, 60)}` is the attempt's own check; another one passed at a{action}."
        case "excused":
            return f"The agent says of it: {code_span(quote, 200)}; nothing shows that."
        case "edited_later":
            return "Files changed later, and it was not run again."
        case _:
            return "Nothing was changed later."


def _output_doubted(finding: Finding, evidence: TraceEvidence) -> str:
    action = finding.opened
    if printed := finding.text("printed"):
        text = f"The last check that ran, at a{action} ({_action(evidence, action)}), printed {code_span(printed, 160)}"
        removed = finding.number("removed_at")
        return f"{text}, and nothing ran later." + (f" It was removed at a{removed}." if removed else "")
    text = f"What ran last, at a{action} ({_action(evidence, action)}), gave {_output(evidence, action)}."
    text += f" The agent says of it: {code_span(finding.text('complaint'), 200)}"
    return text + (" Files changed later, and nothing ran." if finding.number("has_changed") else "")


def _message_rejected(finding: Finding, _: TraceEvidence) -> str:
    text = f"The harness rejected the message at a{finding.opened} ({code_span(finding.text('reason'), 120)}):"
    if files := finding.texts("files"):
        return f"{text} its change of {paths_text(files)} was never made, and nothing made it later."
    return f"{text} {code_span(finding.text('code'), 80)} in it never ran, and nothing ran later."


def _deliverable_missing(finding: Finding, evidence: TraceEvidence) -> str:
    if finding.number("is_change"):
        text = f"The task asks for a change of `{finding.subject}`, and none was made."
    else:
        text = f"The task asks for `{finding.subject}`, and no action made it."
    attempts = [int(name[1:]) for name in finding.texts("attempts")]
    if attempts:
        tries = [_attempt(evidence, action, is_only=len(attempts) == 1) for action in attempts]
        text += f" Tried without success: {'; '.join(tries)}."
    if candidate := finding.text("candidate"):
        text += f" What fits the task was already seen at a{finding.number('candidate_action')}:"
        text += f" `{one_line(candidate, 200)}`. What is left is to write it there."
    return text


def _attempt(evidence: TraceEvidence, action: int, *, is_only: bool) -> str:
    """A failed attempt and its output; the missing program or package, if that is why and there are others."""
    failures = evidence.fact(action).result.failures
    if failures and not is_only and (failure := main_failure(failures)).missing_dependency:
        return f"{describe_missing(failure)} (a{action})"
    return f"a{action} {_action(evidence, action, 70)}: {_output(evidence, action)}"


def _tests_weakened(finding: Finding, _: TraceEvidence) -> str:
    failed, passed = finding.evidence
    names = listed([code_span(test_name(name), 60) for name in finding.texts("tests")], MAX_FILES)
    changes = [
        _done_to(finding.texts("edited"), "changed"),
        _done_to(finding.texts("removed"), "removed or moved away"),
    ]
    command = one_line(finding.subject, 100)
    return (
        f"`{command}` failed at a{failed}{f' ({names})' if names else ''} and passed at a{passed}."
        f" Between the two {' and '.join(filter(None, changes))}. Nothing else was changed."
    )


def _done_to(paths: Sequence[str], verb: str) -> str:
    names = listed([f"`{one_line(path, 80)}`" for path in paths], MAX_FILES)
    return f"{names} {'was' if len(paths) == 1 else 'were'} {verb}" if paths else ""


def _answer_rejected(finding: Finding, evidence: TraceEvidence) -> str:
    answers = describe_rejections(evidence.rejections, evidence.origins)
    text = f"The submitted answer was rejected: {answers}: {code_span(finding.text('line'), 200)}"
    if repeated := finding.text("repeated"):
        text += f". At a{finding.opened} {code_span(repeated, 200)} was submitted again."
    elif guessed := finding.text("guessed"):
        text += f". At a{finding.opened} {code_span(guessed, 200)} was submitted, which no output had shown."
    return text


def _submission_partial(finding: Finding, _: TraceEvidence) -> str:
    quote = finding.text("quote")
    text = f"The agent itself marks its submission at a{finding.opened} as only partly done"
    return f"{text}: {code_span(quote, 200)}" if quote else f"{text}."


def _agent_gave_up(finding: Finding, _: TraceEvidence) -> str:
    return f"The agent itself says that the task is not done: {code_span(finding.text('quote'), 200)}"


def _request_unsatisfied(finding: Finding, _: TraceEvidence) -> str:
    text = f"The run ended at a{finding.opened}, and its lead considered the request not satisfied"
    text += f" (a{finding.number('verdict_action')}): {code_span(finding.text('reason'), 200)}."
    if quote := finding.text("quote"):
        text += f" It ended with {code_span(quote, 200)}."
    if answer := finding.text("answer"):
        text += (
            f" The answer {code_span(answer, 200)} was derived from what was known by then; nothing had confirmed it."
        )
    return text


def _ended_without_handover(finding: Finding, evidence: TraceEvidence) -> str:
    action = finding.opened
    text = f"The attempt breaks off at a{action} without a hand-over. The last action {_action(evidence, action)}"
    text += f": {_output(evidence, action)}." if evidence.fact(action).has_failed else "."
    quote = finding.text("quote")
    return f"{text} It ended with {code_span(quote, 200)}." if quote else text


def _input_lost(finding: Finding, evidence: TraceEvidence) -> str:
    seen, cause, missed = finding.evidence
    return (
        f"`{finding.subject}` was there at a{seen} and is gone at a{missed}. No action removed it: a{cause}"
        f" ({_action(evidence, cause)}) worked on `{finding.text('owner')}` in between."
    )


def _advise_check_failed(finding: Finding) -> str:
    command = f"`{one_line(finding.subject, 100)}`"
    after = finding.text("after")
    if finding.is_serious or after not in ("excused", *NO_ADVICE):
        return f"Make {command} pass, and run it after the last change."
    return (
        "" if after in NO_ADVICE else f"Run {command} without the changes too: that it failed before is only a claim."
    )


def _advise_required_check(finding: Finding) -> str:
    command = f"`{one_line(finding.subject, 100)}`"
    if changed := finding.number("changed_at"):
        return f"Run {command} on the work as a{changed} left it, and make it pass."
    return f"Make {command} pass, and run it after the last change."


def _advise_deliverable_missing(finding: Finding) -> str:
    if candidate := finding.text("candidate"):
        seen = finding.number("candidate_action")
        return f"Write `{one_line(candidate, 200)}` (seen at a{seen}) to `{finding.subject}`."
    absent = listed([code_span(name, 60) for name in finding.texts("absent")])
    without = f" without {absent}: not installed here" if absent else ""
    return f"{'Change' if finding.number('is_change') else 'Make'} `{finding.subject}`{without}."


def _advise_unfinished(finding: Finding) -> str:
    quote = finding.text("quote")
    return f"Finish what the agent left undone{f': {code_span(quote, 160)}' if quote else '.'}"


def _pieces(finding: Finding) -> str:
    return listed([one_line(one, 120) for one in finding.texts("pieces")], 3)


def _action(evidence: TraceEvidence, action: int, limit: int = 120) -> str:
    return describe_action(evidence.fact(action), evidence.step(action), limit)


def _output(evidence: TraceEvidence, action: int) -> str:
    return describe_output(evidence.fact(action), evidence.step(action))


WORDINGS: dict[str, Wording] = {
    "check_failed": Wording(_check_failed, _advise_check_failed),
    "required_check_failed": Wording(_required_check_failed, _advise_required_check),
    "program_failed": Wording(
        lambda one, evidence: (
            f"At a{one.opened} the last program that ran failed ({_action(evidence, one.opened)}):"
            f" {_output(evidence, one.opened)}. Nothing that ran later shows that it is fixed."
        ),
        lambda one: f"Fix what made the last program fail at a{one.opened}, and run it again until it works.",
    ),
    "program_never_run": Wording(
        lambda one, _: (
            f"The task asks for `{one_line(one.subject, 80)}`. It was written at a{one.opened} and never run."
        ),
        lambda one: f"Run `{one_line(one.subject, 100)}` as the task uses it, before handing over.",
    ),
    "output_doubted": Wording(
        _output_doubted, lambda one: f"Do not hand over the result of a{one.opened}: correct it, and check it again."
    ),
    "last_action_failed": Wording(
        lambda one, evidence: (
            f"The last action that was to get something done failed, at a{one.opened}"
            f" ({_action(evidence, one.opened)}): {_output(evidence, one.opened)}. Nothing done later replaces it."
        ),
        lambda one: f"Repeat what failed last, at a{one.opened}, or do what takes its place.",
    ),
    "message_rejected": Wording(
        _message_rejected,
        lambda one: f"Do what the message at a{one.opened} was to do, in the form that the harness takes.",
    ),
    "deliverable_missing": Wording(_deliverable_missing, _advise_deliverable_missing),
    "deliverable_attempt_failed": Wording(_deliverable_missing, _advise_deliverable_missing),
    "clue_unused": Wording(
        lambda one, _: (
            "Of the value that the task describes only pieces were seen, which fit its beginning or its end:"
            f" {_pieces(one)}. Nothing was made of them."
        ),
        lambda one: f"Begin with {_pieces(one)}: put the pieces together, or search around them for the rest.",
    ),
    "input_lost": Wording(
        _input_lost,
        lambda one: (
            f"Copy `{one.subject}` before anything opens `{one.text('owner')}`:"
            f" the step of a{one.number('cause')} makes it vanish for good."
        ),
    ),
    "changes_not_submitted": Wording(
        lambda one, _: (
            f"The submission at a{one.opened} does not hold the change of {paths_text(one.texts('files'))}:"
            " the edit matched nothing, or it was lost."
        ),
        lambda one: (
            f"Read {paths_text(one.texts('files'))} back after the edit, and check that the submission holds it."
        ),
    ),
    "expectation_rewritten": Wording(
        lambda one, _: (
            f"The submission at a{one.opened} changes what {paths_text(one.texts('files'))} expects, a test that was"
            f" there before; it removes {code_span(one.text('line'), 160)}. As it was, the test fails with this work."
        ),
        lambda one: f"Leave {paths_text(one.texts('files'))} as it was, and make it pass by the change itself.",
    ),
    "unrequested_files": Wording(
        lambda one, _: (
            f"The submission at a{one.opened} adds {paths_text(one.texts('files'))}, which nobody asked for."
        ),
        lambda one: f"Remove {paths_text(one.texts('files'))} before handing over.",
    ),
    "plan_unfinished": Wording(
        lambda one, _: (
            f"The agent's own plan, last updated at a{one.opened}, still lists as not started:"
            f" {listed([in_quotes(words, 80) for words in one.texts('items')], MAX_PLAN_ITEMS)}."
        ),
        lambda one: (
            "Do what the attempt planned and never began:"
            f" {listed([in_quotes(words, 60) for words in one.texts('items')], 3)}."
        ),
    ),
    "tests_weakened": Wording(
        _tests_weakened,
        lambda one: (
            f"Make `{one_line(one.subject, 100)}` pass with the tests as they were:"
            f" {paths_text([*one.texts('edited'), *one.texts('removed')]) or 'they'} must stay."
        ),
    ),
    "unverified_change": Wording(
        lambda one, _: (
            f"{', '.join(f'`{one_line(path, 80)}`' for path in one.texts('files'))} changed at a{one.opened},"
            f" and nothing ran{' later' if one.number('is_read') else ' it or looked at it later'}."
        ),
        lambda one: (
            f"Run{'' if one.number('is_read') else ' or read back'} {paths_text(one.texts('files'))}"
            " after the last change, before handing over."
        ),
    ),
    "answer_rejected": Wording(
        _answer_rejected,
        lambda one: f"Do not hand in the answer of a{one.opened} again: it was rejected. Find another.",
    ),
    "submission_empty": Wording(
        lambda one, _: f"The submission at a{one.opened} is empty: `{one_line(one.subject, 100)}` printed nothing.",
        lambda _: "Check that what is handed in is not empty.",
    ),
    "submission_partial": Wording(_submission_partial, _advise_unfinished),
    "agent_gave_up": Wording(_agent_gave_up, _advise_unfinished),
    "failure_admitted": Wording(_agent_gave_up, _advise_unfinished),
    "closing_doubt": Wording(
        lambda one, _: f"The closing message at a{one.opened} leaves a doubt: {code_span(one.text('quote'), 200)}",
        lambda one: f"Settle what the attempt left open at the end: {code_span(one.text('quote'), 160)}",
    ),
    "request_unsatisfied": Wording(
        _request_unsatisfied, lambda one: f"Satisfy the request first: {code_span(one.text('reason'), 160)}"
    ),
    "ended_without_handover": Wording(
        _ended_without_handover,
        lambda one: (
            f"Hand over{' before the limit' if one.text('quote') else ''}: this attempt broke off after a{one.opened}."
        ),
    ),
    "action_announced": Wording(
        lambda one, _: (
            f"The last message, a{one.opened}, announces an action that never follows:"
            f" {code_span(one.text('quote'), 200)}"
        ),
        lambda one: f"Do what a{one.opened} only announces: a message without a call ends the run.",
    ),
    "conflict_left": Wording(
        lambda one, _: (
            f"A merge conflict shows at a{one.opened} ({code_span(one.text('line'), 160)}),"
            " and no later action resolves it."
        ),
        lambda one: f"Resolve the merge conflict of a{one.opened}, and commit the result.",
    ),
    "port_silent": Wording(
        lambda one, _: f"Port {one.subject} does not answer at a{one.opened}, nor before.",
        lambda one: f"Start the service on port {one.subject}, and ask it before handing over.",
    ),
    "limit_missed": Wording(
        lambda one, _: (
            f"The task demands {in_quotes(one.text('clause'), 160)}, and a{one.opened} measures {one.text('value')}."
        ),
        lambda one: f"Keep the limit `{one.subject}`: measure it after the last change, as a{one.opened} does.",
    ),
}
"""By code."""


def describe_demand(one: DemandEvidence) -> str:
    """What the task demands, as a short statement that is true if the demand is met."""
    subject = f"`{one_line(one.subject, 120)}`"
    match one.kind:
        case "file":
            made = "changed" if one.is_change else "made"
            return f"{subject} is {made}{' and holds what the task asks for' if one.met == 'unchecked' else ''}"
        case "behaviour":
            return f"a check shows that {subject} does what the task asks for"
        case "command":
            return f"{subject} works"
        case "limit":
            return f"the result is within the task's limit: {subject}"
        case "port":
            return f"port {subject} answers"
        case "answer":
            return f"an output shows an answer of the form {subject}"
