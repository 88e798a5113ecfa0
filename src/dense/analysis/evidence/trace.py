"""All that one trace shows: facts of each action, requirements, checks, products, how it ends. Each part is read once,
when it is asked for. No English and no judgement: those are made from it in `wording` and `detectors`."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import cached_property

from msgspec import structs

from dense.analysis.actions.action import Actions
from dense.analysis.actions.check_commands import names_a_test
from dense.analysis.actions.effects import Effects
from dense.analysis.actions.observations.harness import awaited_commands, failed_calls
from dense.analysis.actions.observations.observe import observe
from dense.analysis.actions.observations.result import ObservedFailure, ObservedResult
from dense.analysis.actions.step_effects import effects as step_effects
from dense.analysis.evidence.checks.checks import Check, could_not_run, find_checks
from dense.analysis.evidence.checks.test_edits import TestEdit, find_reverted_checks, find_test_edits
from dense.analysis.evidence.deliverables.products import SubmittedDiff, find_submitted_diff
from dense.analysis.evidence.deliverables.tracking import TrackedFile, track_files
from dense.analysis.evidence.ending.ending import Ending, Rejection, find_ending, find_rejections
from dense.analysis.evidence.facts.facts import ActionFacts, collect_facts, find_complaint
from dense.analysis.evidence.facts.outputs import program_output
from dense.analysis.evidence.facts.paths import base_name, is_temporary, is_trial_file, same_file
from dense.analysis.evidence.facts.phases import with_subagents
from dense.analysis.evidence.facts.traits import own_scripts
from dense.analysis.evidence.links.action_links import ActionLinks
from dense.analysis.evidence.links.origins import Origins
from dense.analysis.evidence.requirements import requirements
from dense.knowledge.errors import NOT_ON_PATH
from dense.knowledge.programs import LOOKERS, programs_that
from dense.trajectory import Step, Trajectory

MIN_REJECTED_CHARS = 20
"""A shorter output that the agent calls wrong may be right elsewhere."""
MAX_BASELINE_CHECKS = 50
"""How many checks from before the first change are compared with later ones."""
NOT_CHECKS = (
    LOOKERS | programs_that("fetches", "contains", "node_packager") | {"git", "nc", "pip", "ssh"}
) - programs_that("compares")
"""Programs that a task names for other reasons than to check by them."""


class TraceEvidence:
    """What one trajectory shows. Actions are known by their numbers, from 1 on."""

    def __init__(self, trajectory: Trajectory, actions: Actions) -> None:
        self.task = trajectory.task
        self.steps = tuple([action.separated for action in actions])
        self.requirements = requirements(trajectory.task)
        steps = self.steps
        done = [
            with_subagents(action.step, action.effects) if action.step.subagents else action.effects
            for action in actions
        ]
        texts = [action.commands for action in actions]
        awaited = awaited_commands(steps, texts)

        def result(index: int) -> ObservedResult:
            """What came back, by what the action did, or the one whose output it asks for."""
            origin = awaited.get(index, index)
            if origin == index and not steps[index].subagents:
                return actions[index].result
            return observe(steps[index], done[origin], texts[origin])

        results = _with_own_names(list(map(result, range(len(steps)))), done)
        self.facts = collect_facts(
            steps, done, results, texts, awaited={n: done[at].tests for n, at in awaited.items()}
        )
        self._outputs: dict[int, str] = {}
        self._rejected_outputs: dict[str, str] = {}
        self.history = ActionLinks(self.facts, self.complaint_after)

    def fact(self, action: int) -> ActionFacts:
        return self.facts[action - 1]

    def step(self, action: int) -> Step:
        return self.steps[action - 1]

    def output(self, action: int) -> str:
        """What the programs of an action printed."""
        if action not in self._outputs:
            self._outputs[action] = program_output(self.fact(action), self.step(action))
        return self._outputs[action]

    def complaint_after(self, action: int) -> str:
        """What the agent says right after an action, if it calls the result wrong; what it said of an earlier result
        that is all in this one; empty otherwise."""
        if action >= len(self.steps):
            return ""
        before, after = self.step(action), self.steps[action]
        output = self.output(action).strip()
        said = find_complaint(after.message) if before.agent == after.agent else ""
        said = said or next((words for text, words in self._rejected_outputs.items() if text in output), "")
        if said and len(output) >= MIN_REJECTED_CHARS:
            self._rejected_outputs.setdefault(output, said)
        return said

    @cached_property
    def deliverables(self) -> list[str]:
        """The paths of the files that the task asks for."""
        return [
            requirement.subject
            for requirement in self.requirements
            if requirement.kind == "file" and requirement.role == "deliverable"
        ]

    @cached_property
    def tracked_files(self) -> list[TrackedFile]:
        """What became of each of those files."""
        return track_files(self.requirements, self.facts, self.steps)

    @cached_property
    def submitted_diff(self) -> SubmittedDiff | None:
        """The diff that is submitted at the end, if the trace shows it."""
        named = [
            requirement.subject
            for requirement in self.requirements
            if requirement.kind == "file" and requirement.role != "forbidden"
        ]
        return find_submitted_diff(self.facts, self.steps, named)

    @cached_property
    def ending(self) -> Ending:
        return find_ending(self.facts, self.steps)

    @cached_property
    def rejections(self) -> list[Rejection]:
        """Submitted answers that were rejected."""
        return find_rejections(self.facts, self.steps)

    @cached_property
    def origins(self) -> Origins:
        """Where values come from."""
        return Origins(self.steps, self.task)

    @cached_property
    def checks(self) -> list[Check]:
        """All test runs and other checks, in order."""
        return find_checks(self.facts, self.steps, self.named_checks)

    def checks_in(self, first: int, last: int) -> list[Check]:
        """The checks that ran in a range of actions."""
        start = bisect_left(self.checks, first, key=lambda check: check.action)
        return self.checks[start : bisect_right(self.checks, last, start, key=lambda check: check.action)]

    @cached_property
    def named_checks(self) -> list[str]:
        """Commands that the task names to check the work by."""
        named = [
            requirement.subject
            for requirement in self.requirements
            if requirement.kind == "command" and requirement.role != "forbidden"
        ]
        return [command for command in named if _can_check(command)]

    @cached_property
    def named_tests(self) -> list[str]:
        """The base names of the tests that the task names."""
        names = [base_name(requirement.subject) for requirement in self.requirements if requirement.kind == "file"]
        return [name for name in names if any(word in name.lower() for word in ("test", "check", "spec"))]

    @cached_property
    def given_tests(self) -> list[str]:
        """Those of them that the task does not ask to be written."""
        asked = set(map(base_name, self.deliverables))
        return [name for name in self.named_tests if name not in asked]

    @cached_property
    def reverted_checks(self) -> dict[tuple[int, str], bool]:
        """The checks that ran while the changes were reverted, and whether the changes came back after it."""
        if all(check.has_passed is not False for check in self.checks):
            return {}
        return find_reverted_checks(self.facts, self.checks)

    @cached_property
    def baseline_checks(self) -> list[Check]:
        """Checks that ran before the first change, and those that ran while the changes were reverted."""
        first = [check for check in self.checks[:MAX_BASELINE_CHECKS] if check.action < self.first_change]
        return first + [check for check in self.checks if (check.action, check.command) in self.reverted_checks]

    @cached_property
    def test_edits(self) -> list[TestEdit]:
        """Edits of tests that were there before, and of the settings that say which tests run."""
        return find_test_edits(self.facts, self.steps)

    @cached_property
    def products(self) -> dict[str, int]:
        """Files that were made or changed and are still there, each with the action that did so last."""
        by_name: dict[str, dict[str, int]] = {}
        for fact in self._changing_facts:
            effects = fact.effects
            for removed in (*effects.deletes, *effects.undoes):
                known = by_name.get(base_name(removed), {})
                for path in [path for path in known if same_file(path, removed)]:
                    del known[path]
            for path in effects.writes if not fact.has_failed else self._sound_writes(fact):
                if not is_temporary(path) and path not in effects.undoes:
                    by_name.setdefault(base_name(path), {})[path] = fact.action
        return {path: action for known in by_name.values() for path, action in known.items()}

    def _sound_writes(self, fact: ActionFacts) -> tuple[str, ...]:
        """What the calls of a step wrote that did not fail beside one that did."""
        step = self.step(fact.action)
        failed = failed_calls(step, fact.result.failures)
        sound = tuple([call for call in step.calls if call not in failed])
        return step_effects(structs.replace(step, calls=sound)).writes if sound else ()

    @cached_property
    def product_names(self) -> frozenset[str]:
        return frozenset(map(base_name, self.products))

    @cached_property
    def changes(self) -> list[tuple[int, str]]:
        """The files that were written, by base name, each with the first action that wrote it, in order; without
        temporary files and the agent's own tests that it removed again."""
        first: dict[str, int] = {}
        for fact in self._changing_facts:
            for path in fact.effects.writes:
                if not is_temporary(path):
                    first.setdefault(base_name(path), fact.action)
        return [
            (action, name) for name, action in first.items() if name in self.product_names or not is_trial_file(name)
        ]

    @cached_property
    def first_change(self) -> int:
        """The first action that changed something; one beyond the end if there is none."""
        return next((action for action, _ in self.changes), len(self.facts) + 1)

    def is_baseline(self, action: int) -> bool:
        """Whether an action shows what the task is, and is no try at it: a check that fails, or a reproduction, before
        the first change of anything but the agent's own tests. One that could not run shows nothing."""
        fact = self.fact(action)
        if not fact.has_failed or not action < self._first_source_change <= len(self.facts):
            return False
        scripts = own_scripts(fact.effects)
        is_trial = bool(scripts) and all(is_trial_file(base_name(path)) for path in scripts)
        is_missing = any(failure.family.is_missing_dependency for failure in fact.result.failures)
        return (fact.is_check or is_trial) and not is_missing and not could_not_run(fact.result, fact.family)

    @cached_property
    def _first_source_change(self) -> int:
        """The first change of a file that the task names or that is no test; else the first change."""
        named = {base_name(requirement.subject) for requirement in self.requirements if requirement.kind == "file"}
        changes = (action for action, name in self.changes if name in named or not is_trial_file(name))
        return next(changes, self.first_change)

    @cached_property
    def last_change(self) -> int:
        """The last action that changed something that is still there; 0 if there is none."""
        return max(self.products.values(), default=0)

    @cached_property
    def written_names(self) -> frozenset[str]:
        """The base names of all files that were ever written, as checks name them."""
        paths = [path for fact in self._changing_facts for path in fact.effects.writes]
        return frozenset(base_name(path).removesuffix(".py") for path in paths)

    def survives(self, path: str) -> bool:
        """Whether a changed file is, with its change, among what is there at the end."""
        if self.submitted_diff is not None and self.submitted_diff.is_whole:
            return self.submitted_diff.holds(path)
        return not self.history.is_gone(path)

    @cached_property
    def _changing_facts(self) -> list[ActionFacts]:
        return [fact for fact in self.facts if fact.effects.writes or fact.effects.deletes]


def _with_own_names(results: list[ObservedResult], done: Sequence[Effects]) -> list[ObservedResult]:
    """The results; what is missing by name, but is among the files of the attempt, is only not on the path."""
    if not any(failure.missing_dependency for result in results for failure in result.failures):
        return results
    paths = [
        path for effects in done for path in (*effects.writes[:8], *effects.reads[:8], *effects.scripts) if "/" in path
    ]
    paths += [path for effects in done for path in effects.writes[:8]]
    own = {part.removesuffix(".py") for path in paths if "-packages/" not in path for part in path.split("/")}

    def corrected(failure: ObservedFailure) -> ObservedFailure:
        name = failure.missing_dependency.partition(".")[0]
        is_own = name in own or "cannot import name" in failure.line
        return structs.replace(failure, family=NOT_ON_PATH) if name and is_own else failure

    return [structs.replace(result, failures=tuple(map(corrected, result.failures))) for result in results]


def _can_check(command: str) -> bool:
    """Whether a command that the task names can check the work: it runs something of its own."""
    words = command.split()
    if len(words) < 2 or words[1] in {"-", "-c", "-e"}:
        return False
    return base_name(words[0]) not in NOT_CHECKS or any(map(names_a_test, words[1:3]))
