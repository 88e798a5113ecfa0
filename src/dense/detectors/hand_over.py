"""How it ends: answers that were not taken, a hand-over of nothing, giving up, breaking off."""

from __future__ import annotations

from dense.detectors.finding import Finding
from dense.evidence.ending.done import is_shown_done
from dense.evidence.ending.ending import Ending
from dense.evidence.ending.handovers import prints_work
from dense.evidence.ending.refusals import handed_in, refused_told
from dense.evidence.facts.outputs import program_output
from dense.evidence.trace import Case
from dense.text.quoting import one_line, ticked


def refused(case: Case) -> list[Finding]:
    """Answers that were not taken: whoever took them says so. Another answer closes it, the same again does not."""
    refused = case.refused
    if not refused:
        return []
    last = refused[-1]
    text = f"What was handed in was not taken: {refused_told(refused, case.origins)}: {ticked(last.line, 200)}"
    evidence = [one.action for one in refused]
    later = [fact for fact in case.facts[last.action :] if fact.phase == "deliver"]
    if not later:
        return [Finding("refused", text, tuple(evidence))]
    known = {one.answer for one in refused if one.answer}
    again = handed_in(later[-1], case.step(later[-1].action))
    if again not in known:
        return [Finding("refused", text, tuple(evidence), later[-1].action)]
    text += f". At a{later[-1].action} {ticked(again, 200)} was handed in again."
    return [Finding("refused", text, (*evidence, later[-1].action))]


def empty_handed(case: Case) -> list[Finding]:
    """A hand-over that was to print the work, and printed nothing: nothing was handed in."""
    last = case.facts[-1]
    if last.phase != "deliver" or not prints_work(last) or last.has_failed or not case.step(last.action).observations:
        return []
    if program_output(last, case.step(last.action)).strip():
        return []
    text = f"What was handed in at a{last.action} is empty: `{one_line(last.commands[-1], 100)}` printed nothing."
    committed = [fact.action for fact in case.facts if fact.family == "git commit" and not fact.has_failed]
    evidence = [last.action]
    if committed:
        text += f" The changes were committed at a{committed[-1]}, and such a diff shows only what is not."
        evidence.insert(0, committed[-1])
    elif not case.products:
        text += " No change is left that it could show."
    return [Finding("empty", text, tuple(evidence))]


def end(case: Case) -> list[Finding]:
    end = case.ending
    if end.kind == "given_up":
        return [
            Finding("admitted", f"The agent itself says that it is not done: {ticked(end.words, 200)}", (end.action,))
        ]
    if end.is_partial:
        words = f": {ticked(end.words, 200)}" if end.words else "."
        text = f"The agent itself marks what it hands in at a{end.action} as done only in part{words}"
        return [Finding("doubted", text, (end.action,), is_serious=False)]
    if end.kind != "broken_off" or _ends_well(case, end):
        return []
    why = f" It ended with {ticked(end.words, 200)}." if end.words else ""
    if end.answer:
        why += f" The answer {ticked(end.answer, 200)} was drawn from what there was by then; nothing had confirmed it."
    if end.ledger is not None:
        text = f"The run ended at a{end.action}, and its lead did not hold the request to be satisfied"
        text += f" (a{end.ledger.action}): {ticked(end.ledger.reason, 200)}.{why}"
        return [Finding("admitted", text, (end.action,))]
    text = f"The attempt breaks off at a{end.action} without a hand-over. "
    came = f": {case.saw(end.action)}" if case.of(end.action).has_failed else ""
    text += f"The last action {case.did(end.action)}{came}.{why}"
    return [Finding("broken_off", text, (end.action,))]


def _ends_well(case: Case, end: Ending) -> bool:
    """Whether nothing speaks against an end without a last word, which not everybody records: what was asked for
    is there, or the last action is one that work ends with."""
    if end.ledger is not None:
        return False
    if is_shown_done(case):
        return True
    last = case.facts[-1]
    if end.words or last.has_failed:
        return False
    if last.family in {"git commit", "git push", "gh pr"}:
        return True
    if not last.commands and not case.step(last.action).calls:  # code that somebody ran for an agent that talks
        came = case.step(last.action).observations
        return any(seen.exit_code == 0 or seen.text.startswith("exitcode: 0") for seen in came)
    return last.has_passed and last.action > case.last_change
