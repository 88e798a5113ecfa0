"""Rules for step-by-step's question: whether an action was well founded by what was known before it.

Only links to earlier actions are used, and of the action itself only what it set out to do: what came of it, and all
that came later, changes nothing here (`tests/refit/baselines/test_decisions.py` checks that)."""

from __future__ import annotations

from dense.analysis.actions.action import Actions
from dense.analysis.answers import Answer, FreeText, LabelNumber, RequiredText
from dense.analysis.evidence.facts.facts import ActionFacts, collect_facts
from dense.analysis.evidence.links.action_links import ActionLinks
from dense.analysis.wording.actions import describe_action, describe_output
from dense.trajectory import Trajectory


class DecisionAnswer(Answer, frozen=True, kw_only=True):
    action_index: int | None = None
    known_basis: RequiredText
    reasoning: FreeText = ""
    label: LabelNumber


class DecisionRules:
    """Goes over a trajectory once, and answers for each action."""

    def __init__(self, trajectory: Trajectory) -> None:
        self._steps = trajectory.steps
        # Not the evidence of an assessment: that looks at all of a trace, and so at what came after an action.
        actions = Actions(self._steps)
        self._facts = collect_facts(
            self._steps,
            [action.effects for action in actions],
            [action.result for action in actions],
            [action.commands for action in actions],
        )
        self._history = ActionLinks(self._facts)
        self._unchecked = _unchecked(self._facts, self._history)

    def decision(self, action: int) -> DecisionAnswer:
        """The label of the decision, and what it rested on."""
        before = self._history.repeats(action)
        if before is not None:
            basis = f"The same was done at a{before} ({self._saw(before)}), and nothing was changed since."
            return self._bad(action, basis, "It repeats what was known.")
        changed = self._unchecked[action - 1]
        if self._facts[action - 1].phase == "deliver" and changed:
            basis = f"What a{changed} changed had not been run or looked at; that should have come first."
            return self._bad(action, basis, "It hands over what nobody had checked.")
        return self._good(action)

    def _bad(self, action: int, basis: str, reasoning: str) -> DecisionAnswer:
        return DecisionAnswer(action_index=action, known_basis=basis, reasoning=reasoning, label=-1)

    def _good(self, action: int) -> DecisionAnswer:
        """Nothing speaks against it: that is all that rules can say for a decision."""
        basis, reasoning = self._ground(action)
        return DecisionAnswer(action_index=action, known_basis=basis, reasoning=reasoning, label=0)

    def _ground(self, action: int) -> tuple[str, str]:
        history = self._history
        if (failed := history.repairs(action)) is not None:
            return f"a{failed} had failed ({self._saw(failed)}).", "It goes at what had failed."
        if (failed := history.retries(action)) is not None:
            return f"a{failed} had failed ({self._saw(failed)}).", "It tries the same in another way."
        if (written := history.reads_back(action)) is not None:
            has_failed = self._facts[written - 1].has_failed
            basis = f"a{written} was to write it, and failed." if has_failed else f"a{written} had written it."
            return basis, "It looks at what was made before."
        if action == 1:
            return "The task alone: nothing had been looked at.", "A first step."
        return f"What a{action - 1} had shown ({self._saw(action - 1)}).", "Nothing that was known speaks against it."

    def _saw(self, action: int) -> str:
        fact, step = self._facts[action - 1], self._steps[action - 1]
        return f"{describe_action(fact, step)}: {describe_output(fact, step)}"


def _unchecked(facts: list[ActionFacts], history: ActionLinks) -> list[int]:
    """For each action, the last change before it that nothing had run or looked at by then; 0 for none."""
    last, result = 0, list[int]()
    for fact in facts:
        result.append(last)
        if last and (fact.effects.tests or fact.effects.scripts or history.reads_back(fact.action) is not None):
            last = 0
        if fact.effects.writes and not fact.has_failed:
            last = fact.action
    return result
