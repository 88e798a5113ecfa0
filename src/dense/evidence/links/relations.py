"""What holds between two actions: one retries, repairs or changes what the other is about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.facts.facts import ActionFacts
from dense.evidence.facts.paths import NO_TARGETS, base_name, same_file

MAX_PATHS = 12
"""How many paths of one action are looked up."""
MAX_LOOSE_DISTANCE = 3
"""How far apart two actions may be if nothing but their order relates them."""
NAMED_IN_ERROR = re.compile(r"'([A-Za-z_]\w{2,})'")
"""What an error names: `name 'decode' is not defined`."""
MIN_CODE_LINE_CHARS = 12
"""Shorter lines of code are in any program."""


def worked_on(fact: ActionFacts) -> tuple[str, ...]:
    """Base names of what an action works on, or looks at if it works on nothing."""
    return tuple([base_name(path) for path in (fact.products or fact.targets)[:8] if path not in NO_TARGETS])


def attempted_things(fact: ActionFacts) -> tuple[str, ...]:
    """Base names of what an attempt is about: code that names nothing by itself, a check by nothing."""
    paths = fact.products or fact.targets
    if not paths:
        return () if fact.is_check else (fact.signature,)
    return tuple([base_name(path) for path in paths[:4]])


def is_meant_to_change(fact: ActionFacts) -> bool:
    """Whether an action was to change files by itself, and not by a program that it runs."""
    effects = fact.effects
    return bool(effects.writes or effects.deletes) and not (effects.scripts or effects.tests)


def only_shows(fact: ActionFacts) -> bool:
    """Whether an action runs nothing of the project's own and changes nothing."""
    effects = fact.effects
    return not (effects.writes or effects.deletes or effects.scripts or effects.tests or effects.installs)


def is_change(fact: ActionFacts) -> bool:
    """Whether the same command may give something else afterwards."""
    return fact.phase in ("produce", "setup", "run") or bool(fact.effects.writes or fact.effects.deletes)


def changes_product(fact: ActionFacts, check: ActionFacts) -> bool:
    """Whether a change is to what a check tests, and not to the test."""
    written = fact.effects.writes
    are_tests = all("test" in base_name(path).lower() for path in written)
    return bool(written) and not are_tests and not share_file(written, check.targets)


def is_retry(failed: ActionFacts, fact: ActionFacts) -> bool:
    """Whether the same is tried again: the same family on something that both name."""
    if not failed.family or (failed.family != fact.family and failed.family not in fact.effects.runs):
        return False
    if not failed.targets or not fact.targets:
        is_near = fact.action - failed.action < MAX_LOOSE_DISTANCE
        return fact.is_check or (is_near and not fact.targets and not failed.targets)
    return share_file(fact.targets, failed.targets)


def is_repair(failed: ActionFacts, fact: ActionFacts) -> bool:
    """Whether a change is for a failure: it changes what failed or what the failing line names, or installs what was
    missing; or a check has just failed and this changes a product."""
    if fact.effects.installs:
        return any(failure.family.is_missing_dependency for failure in failed.result.failures)
    if failed.is_check and fact.phase == "produce" and fact.action - failed.action <= MAX_LOOSE_DISTANCE:
        return True
    changed = fact.effects.writes + fact.effects.deletes
    if share_file(changed, failed.products) or share_file(changed, failed.targets):
        return True
    names = [name for path in changed[:MAX_PATHS] if (name := base_name(path))]
    texts = [text for failure in failed.result.failures for text in (failure.subject, failure.line)]
    return any(name in text for name in names for text in texts)


def is_corrected_code(failed: ActionFacts, fact: ActionFacts) -> bool:
    """Whether code on a command line does what other code failed to: it has what the error names, or most lines."""
    if fact.result.is_empty or failed.targets:
        return False
    named = [found[1] for failure in failed.result.failures if (found := NAMED_IN_ERROR.search(failure.line))]
    if any(name in fact.signature for name in named):
        return True
    lines = {line for line in failed.signature.split("\n", MAX_PATHS) if len(line) >= MIN_CODE_LINE_CHARS}
    return len(lines) > 1 and 2 * len(lines.intersection(fact.signature.split("\n"))) >= len(lines)


def share_file(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether two lists of paths may name the same file."""
    return any(same_file(path, other) for path in some[:MAX_PATHS] for other in others[:MAX_PATHS])
