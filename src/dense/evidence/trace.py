"""The whole trace, looked at once: facts, requirements, checks, products, how it ends. Issues and answers come from
it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property

from dense.evidence.actions import EffectsOf, commands
from dense.evidence.checks.checks import Check, checks
from dense.evidence.checks.expectations import Expectation, expectations
from dense.evidence.checks.reverted_runs import taken_back
from dense.evidence.checks.touched_tests import Touched, touched_tests
from dense.evidence.deliverables.submission import Submission, submission
from dense.evidence.deliverables.tracking import Tracked, track
from dense.evidence.ending.ending import Ending, ending
from dense.evidence.ending.refusals import Refusal, refusals
from dense.evidence.facts.agents import with_subagents
from dense.evidence.facts.facts import ActionFacts, collect_facts
from dense.evidence.facts.paths import base_name, is_temporary, is_trial_file, same_file
from dense.evidence.facts.remarks import find_complaint
from dense.evidence.links.action_links import ActionLinks
from dense.evidence.links.origins import Origins
from dense.evidence.observations import observe
from dense.evidence.requirements import requirements
from dense.knowledge.programs import LOOKERS, programs_that
from dense.narrate.actions import LONGEST_DEED, describe_action, describe_output
from dense.trajectory import Step, Trajectory

MOST_CHECKS = 50
"""How many checks from before the first change are kept in mind."""
LOOKS = (LOOKERS | programs_that("fetches", "contains", "node_packager") | {"git", "nc", "pip", "ssh"}) - programs_that(
    "compares"
)
"""Commands that a task names for other reasons than to check by them."""


class Case:
    """What the rules see in one trajectory, each look taken once and when it is asked for."""

    def __init__(self, trajectory: Trajectory, effects: EffectsOf) -> None:
        self.task = trajectory.task
        self.steps = trajectory.steps
        self.requirements = requirements(trajectory.task)
        steps = trajectory.steps
        done = [with_subagents(step, effects(step)) if step.subagents else effects(step) for step in steps]
        texts = [commands(step) for step in steps]
        came = [observe(*one) for one in zip(steps, done, texts, strict=True)]
        self.facts = collect_facts(steps, done, came, texts)
        self.history = ActionLinks(self.facts)

    def of(self, action: int) -> ActionFacts:
        """What is known of an action, by its number."""
        return self.facts[action - 1]

    def step(self, action: int) -> Step:
        return self.steps[action - 1]

    def did(self, action: int, limit: int = LONGEST_DEED) -> str:
        """What an action did, in a few words."""
        return describe_action(self.of(action), self.step(action), limit)

    def saw(self, action: int) -> str:
        """What came back, in a few words."""
        return describe_output(self.of(action), self.step(action))

    def wrong(self, action: int) -> str:
        """What the agent said right after an action of what came back, if that is wrong; empty for nothing."""
        if action >= len(self.steps):
            return ""
        before, after = self.step(action), self.steps[action]
        return find_complaint(after.message) if before.agent == after.agent else ""

    @cached_property
    def checks(self) -> list[Check]:
        """All tests and checks."""
        return checks(self.facts, self.steps, self.named_checks)

    def checks_in(self, first: int, last: int) -> list[Check]:
        """The checks that ran in a stretch of actions."""
        return self.checks[bisect_left(self._checked, first) : bisect_right(self._checked, last)]

    @cached_property
    def named_checks(self) -> list[str]:
        """Commands that the task names: their result is the task's own word."""
        named = [one.subject for one in self.requirements if one.kind == "command" and one.role != "forbidden"]
        return [command for command in named if _is_check(command)]

    @cached_property
    def expected(self) -> dict[str, Expectation]:
        """What the task says of a command that it names, where that is more than that it must work."""
        return expectations(self.requirements) if self.named_checks else {}

    @cached_property
    def wanted(self) -> list[str]:
        """The files that the task asks for, by path."""
        return [one.subject for one in self.requirements if one.kind == "file" and one.role == "deliverable"]

    @cached_property
    def tracked(self) -> list[Tracked]:
        """The files that the task asks for."""
        return track(self.requirements, self.facts, self.steps)

    @cached_property
    def ending(self) -> Ending:
        """How it ends."""
        return ending(self.facts, self.steps)

    @cached_property
    def refused(self) -> list[Refusal]:
        """Answers that were handed in and not taken."""
        return refusals(self.facts, self.steps)

    @cached_property
    def submission(self) -> Submission | None:
        """What is handed in at the end, where the trace shows it."""
        named = [one.subject for one in self.requirements if one.kind == "file" and one.role != "forbidden"]
        return submission(self.facts, self.steps, named)

    @cached_property
    def origins(self) -> Origins:
        """Where values come from."""
        return Origins(self.steps, self.task)

    @cached_property
    def products(self) -> dict[str, int]:
        """Files that were made or changed and are still there, with the action that last did so."""
        by_name: dict[str, dict[str, int]] = {}
        for fact in self.changing:
            effects = fact.effects
            for gone in effects.deletes + effects.undoes if effects.undoes else effects.deletes:
                known = by_name.get(base_name(gone), {})
                for path in [path for path in known if same_file(path, gone)]:
                    del known[path]
            if not fact.has_failed:
                for path in effects.writes:
                    if not is_temporary(path) and path not in effects.undoes:
                        by_name.setdefault(base_name(path), {})[path] = fact.action
        return {path: action for known in by_name.values() for path, action in known.items()}

    @cached_property
    def product_names(self) -> frozenset[str]:
        return frozenset(map(base_name, self.products))

    @cached_property
    def written(self) -> frozenset[str]:
        """The base names of all that was ever written, as checks name them."""
        return frozenset(base_name(path).removesuffix(".py") for fact in self.changing for path in fact.effects.writes)

    @cached_property
    def touched_tests(self) -> list[Touched]:
        """What was done to tests that were there before, and to what says which tests run."""
        return touched_tests(self.facts, self.steps)

    @cached_property
    def changes(self) -> list[tuple[int, str]]:
        """The files that were written, by base name, each with the first action that did, in order. Without what does
        not stay, and without tests and the like of the agent's own that it removed again."""
        first: dict[str, int] = {}
        for fact in self.changing:
            for path in fact.effects.writes:
                if not is_temporary(path):
                    first.setdefault(base_name(path), fact.action)
        stays = self.product_names
        return [(action, name) for name, action in first.items() if name in stays or not is_trial_file(name)]

    @cached_property
    def first_change(self) -> int:
        """The first action that wrote anything that counts; one beyond the end for none."""
        return next((action for action, _ in self.changes), len(self.facts) + 1)

    @cached_property
    def last_change(self) -> int:
        """The last action that changed something that is still there; 0 for none."""
        return max(self.products.values(), default=0)

    def stays(self, path: str) -> bool:
        """Whether a file that was changed is, with its change, among what is there at the end."""
        if self.submission is not None and self.submission.is_whole:
            return self.submission.holds(path)
        return not self.history.is_gone(path)

    @cached_property
    def taken_back(self) -> dict[tuple[int, str], bool]:
        """The checks that ran while the changes were taken back, and whether the changes came back after it."""
        if all(check.has_passed is not False for check in self.checks):
            return {}
        return taken_back(self.facts, self.checks)

    @cached_property
    def baseline(self) -> list[Check]:
        """Checks that ran before anything was changed, the first ones; and those that ran while changes were taken
        back."""
        first = [check for check in self.checks[:MOST_CHECKS] if check.action < self.first_change]
        return first + [check for check in self.checks if (check.action, check.command) in self.taken_back]

    @cached_property
    def _checked(self) -> list[int]:
        """The actions of the checks."""
        return [one.action for one in self.checks]

    @cached_property
    def changing(self) -> list[ActionFacts]:
        """The actions that write or remove something, or were to."""
        return [fact for fact in self.facts if _changes(fact)]

    @cached_property
    def named_tests(self) -> list[str]:
        """The base names of the tests that the task names."""
        names = [base_name(one.subject) for one in self.requirements if one.kind == "file"]
        return list(filter(_is_test, names))


def _changes(fact: ActionFacts) -> bool:
    return bool(fact.effects.writes or fact.effects.deletes)


def _is_check(command: str) -> bool:
    """Whether a command that the task names can be what it is checked by: it runs something of its own."""
    words = command.split()
    return len(words) > 1 and base_name(words[0]) not in LOOKS and words[1] not in {"-", "-c", "-e"}


def _is_test(name: str) -> bool:
    return any(word in name.lower() for word in ("test", "check", "spec"))
