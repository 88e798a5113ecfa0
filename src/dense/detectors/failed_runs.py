"""The last program that ran, if it failed or the agent itself calls what it gave wrong."""

from __future__ import annotations

from dense.detectors.finding import Finding
from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import base_name, same_file
from dense.evidence.facts.remarks import says_expected
from dense.evidence.observations.context import last_program
from dense.evidence.trace import Case
from dense.knowledge.programs import LOOKERS
from dense.text.quoting import ticked

STOPPING = ("timeout ", "kill ", "pkill ", "kill -")
"""How the agent itself does so."""
FRAMES = 4_000
"""Characters at the end of an output in which the files of a traceback are looked for."""


def failed_run(case: Case) -> list[Finding]:
    """The last program that ran, if it failed: nothing after it shows that its fault is gone."""
    ran = [
        f
        for f in case.facts
        if f.effects.scripts or (f.phase in {"run", "verify"} and f.effects.runs)  # what is made may be run at once
    ]
    if not ran or not ran[-1].has_failed or any(c.action == ran[-1].action for c in case.checks):
        return []
    last = ran[-1]
    families = [failure.family for failure in last.result.failures]
    is_missing = any(family.is_missing_dependency for family in families)
    if not families or is_missing or not families[-1].is_program_fault:
        return []
    if last.action < case.first_change or may_be_meant(case, last):
        return []
    text = f"At a{last.action} the last program that ran failed ({case.did(last.action)}): {case.saw(last.action)}"
    text += ". Nothing ran since that shows the fault gone."
    return [Finding("failed_run", text, (last.action,), is_serious=last.phase in {"run", "verify"})]


def doubted(case: Case) -> list[Finding]:
    """What the last program gave, where the agent itself calls it wrong and ran nothing since."""
    last = next((f for f in reversed(case.facts) if f.effects.scripts or f.effects.tests), None)
    if last is None or last.has_failed or last.action < case.first_change:
        return []
    if not (words := case.wrong(last.action)):
        return _printed(case, last) if last.result.reported_problem else []
    text = f"What ran last, at a{last.action} ({case.did(last.action)}), gave {case.saw(last.action)}."
    text += f" The agent says of it: {ticked(words, 200)}"
    text += " Files changed since, and nothing ran." if case.last_change > last.action else ""
    return [Finding("doubted", text, (last.action,), is_serious=False)]


def _printed(case: Case, last: ActionFacts) -> list[Finding]:
    """What the last check printed, where that says that something is wrong though it ended well."""
    around = case.steps[last.action - 1 : last.action + 1]
    if any(says_expected(step.message) or says_expected(step.reasoning) for step in around):
        return []
    text = f"The last check that ran, at a{last.action} ({case.did(last.action)}), printed "
    text += f"{ticked(last.result.reported_problem, 160)}, and nothing ran since."
    gone = next((f.action for f in case.facts[last.action :] if _removes(f, last)), None)
    text += f" It was removed at a{gone}." if gone is not None else ""
    return [Finding("doubted", text, (last.action,), is_serious=False)]


def _removes(fact: ActionFacts, run: ActionFacts) -> bool:
    return any(same_file(path, script) for path in fact.effects.deletes for script in run.effects.scripts)


def may_be_meant(case: Case, run: ActionFacts) -> bool:
    """Whether a program's failure may be what was wanted, or no failure of the program's: the agent itself stopped
    it, it ended well all the same, the agent or the task says that it is to fail, or what failed was changed since
    and the agent went on without it."""
    text = "\n".join(run.commands)
    failure = run.result.failures[-1]
    if failure.family.is_stop and any(word in text for word in STOPPING):
        return True
    step = case.step(run.action)
    is_its_own = len(step.observations) >= len(step.calls)  # else the code is that of the calls together
    if run.result.exit_code == 0 and is_its_own and last_program(text) not in LOOKERS:
        return True
    around = case.steps[run.action - 1 : run.action + 1]
    if any(says_expected(step.message) or says_expected(step.reasoning) for step in around):
        return True
    told = "\n".join(seen.text[-FRAMES:] for seen in case.step(run.action).observations)
    since = (path for path, action in case.products.items() if action > run.action)
    return any(path in run.effects.scripts or f'{base_name(path)}"' in told for path in since)
