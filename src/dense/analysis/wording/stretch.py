"""Consecutive actions, sorted for narration: what worked, what failed, what was made, what is left."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from dense.analysis.evidence.deliverables.products import Products, products
from dense.analysis.evidence.links.action_links import ActionLinks
from dense.analysis.evidence.links.origins import Origins
from dense.analysis.wording.actions import NarratedAction
from dense.analysis.wording.facets import describe_dead_end
from dense.analysis.wording.outputs import main_failure
from dense.facets import DeadEnd
from dense.knowledge.errors import NO_SUCH_COMMAND
from dense.text.quoting import code_span


class NarratedStretch:
    """Consecutive actions, and what is known of them together."""

    def __init__(self, actions: Sequence[NarratedAction], links: ActionLinks, origins: Origins) -> None:
        self.actions = actions
        self.links = links
        self.origins = origins
        self.first = actions[0].action if actions else 0
        self.agents = {action.step.agent for action in actions}
        self.worked = [action for action in actions if not action.has_failed]
        self.failed = [action for action in actions if action.has_failed]
        self.changes = [action for action in self.worked if action.is_change]
        self.passed = next((action for action in reversed(self.worked) if action.has_passed), None)
        """The last check that passed."""
        self.last_pass = self.passed.action if self.passed is not None else 0
        self.last_change = self.changes[-1].action if self.changes else 0
        self.last_success = max([action.action for action in self.worked if _is_success(action)], default=0)
        self.left = [action for action in self.failed if self._is_left(action)]
        """The failures that are still failures at the end."""

    @cached_property
    def products(self) -> Products:
        """What became of the files that it wrote."""
        return products(self.actions)

    @cached_property
    def kept_files(self) -> list[str]:
        """The files that it made or changed and that are there at the end of the attempt."""
        return [path for path in self.products.made if not self.links.is_gone(path)]

    def recovery(self, failed: NarratedAction) -> NarratedAction | None:
        """What did the same later, within the stretch, and worked."""
        place = (self.links.recovered_by(failed.action) or 0) - self.first
        return self.actions[place] if 0 <= place < len(self.actions) else None

    def after(self, action: NarratedAction) -> Sequence[NarratedAction]:
        """The actions behind one of them."""
        return self.actions[action.action - self.first + 1 :]

    def _is_left(self, action: NarratedAction) -> bool:
        """Whether nothing did the same later and worked, or, if something was missing or a call was wrong, nothing else
        worked instead. Of several checks in one action the results are not known apart."""
        if action.only_looks:
            return False
        if len(action.facts.effects.tests) > 1:
            return True
        if self.recovery(action) is not None:
            return False
        return (self.last_pass if action.is_check else self.last_success) < action.action

    def is_guess(self, look: NarratedAction) -> bool:
        """Whether what a look shows was typed into the file, and nothing had shown it before."""
        made = self.links.reads_back(look.action)
        return made is not None and self.origins.is_guess(look.output, made)

    def action_text(self, action: NarratedAction) -> str:
        """What was done, and by whom if there are several agents."""
        agent = action.step.agent if len(self.agents) > 1 else None
        return f"{code_span(agent, 30)} {action.action_text}" if agent else action.action_text

    def full_text(self, action: NarratedAction) -> str:
        """What was done, and what came back if that says something."""
        text = self.action_text(action)
        is_described = action.is_silent or action.is_bare or action.is_echo
        return text if is_described else f"{text}: {action.output_text}"

    def failure_text(self, action: NarratedAction) -> str:
        """What failed, in words."""
        return describe_dead_end(self.failure(action))

    def failure(self, action: NarratedAction) -> DeadEnd:
        """What failed: what was missing, or the command and the line that shows it."""
        number, failures = action.action, action.facts.result.failures
        failure = main_failure(failures) if failures else None
        if failure is not None and failure.family.is_missing_dependency and failure.subject:
            kind = "no command" if failure.family is NO_SUCH_COMMAND else "no module"
            kind = "no package" if action.facts.effects.installs else kind
            return DeadEnd(kind=kind, tried=failure.subject, first=number, last=number)
        is_one_of_several = len(self.agents) > 1 and action.step.agent
        text = self.action_text(action) if is_one_of_several else action.command_text
        return DeadEnd(kind="failed", tried=text, saw=action.output_text, first=number, last=number)


def _is_success(action: NarratedAction) -> bool:
    """Whether an action that did not fail got something done, as opposed to looking."""
    return action.has_passed if action.phase == "verify" else action.phase in ("run", "produce", "setup")


def check_name(command: str) -> str:
    """A check without its options: `python3 -m unittest -v` and `python3 -m unittest` are one."""
    return " ".join([word for word in command.split()[:6] if word[0] != "-"])
