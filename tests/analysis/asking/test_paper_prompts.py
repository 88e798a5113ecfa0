"""Each rule of the paper's prompts P2 to P10 is in ours, in our own words."""

from __future__ import annotations

import pytest

from dense.analysis.asking.prompt import environment
from dense.methods.no_hierarchy import Overview
from dense.methods.questions import TemplateQuestion
from refit.baselines.all_at_once import Assessment
from refit.baselines.step_by_step import Decision
from refit.baselines.task_only import Advice

QUESTIONS: tuple[type[TemplateQuestion], ...] = (Advice, Assessment, Decision, Overview)
FOLDERS = {question.__name__.lower(): question.prompts for question in QUESTIONS}
"""Where the prompts of other methods' questions are."""
RULES: dict[str, list[tuple[str, ...]]] = {
    "advice": [  # P2
        ("no attempt has been made", "no file, command, output, test or grade"),
        ("general knowledge",),
        ("Write of no error, result, file or failure as if it had been met",),
        ("`strategy`", "`risks`", "`checklist`"),
    ],
    "assessment": [  # P3
        ("needless", "undone", "shown to be wrong"),
        ("labels must fit together",),
        ("Exactly one entry for each action", "`reasoning` comes before `label`"),
        (" 0: it helped", "-1: it was idle or failed", "-2: a grave mistake"),
    ],
    "decision": [  # P4
        ("kept from you",),
        ("Judge the choice, not its luck", "a guess is a guess even if it came out right"),
        ("assumption that nobody checked", "a detour or a repetition", "well formed", "cannot be undone"),
        ("`known_basis`", "the number of the action that showed it", "what should have been found out first"),
        ("Do not guess what happened next",),
    ],
    "boundary": [  # P5
        (
            "Cut where the purpose changes, and only there",
            "ask for more rather than drawing different purposes together",
        ),
        ("overwriting or deleting files", "database", "installing packages", "starting a process that stays"),
        (
            "finding out how turns into doing it",
            "A stretch of trials and the final change that follows are two subtasks",
        ),
        ("round 1 a subtask is one small objective", "broader phase"),
        ("0: the head alone", "-1: there is no complete subtask in view yet"),
    ],
    "score": [  # P6
        ("Infer the subtask's own goal from its actions",),
        ("Exploring, debugging and correcting that the work needed are help",),
        ("hold it against the task",),
        ("Rely on what came back right after the action",),
        ("set up what the work needs", "reached a milestone", "A failure that was made good later is -1"),
        ("a good result overwritten", "wrongly believed right"),
    ],
    "summary": [  # P7
        ("the shortest way that worked", "if A, B and C failed and D worked, write what D did"),
        ("Every test, check or reading back that supports the result stays in", "hands over a wrong result"),
        ("that a later action of this subtask confirmed", "`unverified result: …`"),
        ("what must come before a step that changes state for good", "An order of steps that the result hangs on"),
        ("outputs and the actions with negative labels", "command not found", "traceback", "permission denied", "404"),
        ("versions that do not fit", "no slips that were corrected at once"),
        ("concurrently, asynchronously or as a service", "calls, parameters and mappings", "lasting changes"),
        ("the later verified one stands and the others are dead ends",),
        ("cleaned up, restored, left over", "An empty field holds `none`"),
    ],
    "toplevel": [  # P8
        ("every node is one major phase of the task", "a handful that covers the whole run"),
        ("neighbours could naturally be drawn together",),
        ("could all hang under the task is no reason to stop",),
        ("mix unfinished search with the final way", "values that contradict each other"),
        ("node by node", "Be strict"),
    ],
    "compression": [  # P9
        ("Every child is in exactly one group, in the given order",),
        (
            "the dead end worth knowing, the shortest path that worked, the result observed",
            "not the story of the search",
        ),
        ("If every try failed", "`open_issue` names what is left"),
        ("labels only hint where to look", "Success needs evidence"),
        ("Cite only identifiers given here", "never say that they exist now"),
        ("Decisive actions, right or wrong",),
        ("no reward and no verifier's output is at hand",),
    ],
    "reconciliation": [  # P10
        ("Judge only this subtree and the evidence that it cites",),
        ("Coherence", "completion", "are two questions"),
        ("A state such as broken is not yours to judge",),
        ("only if a node later than its own evidence shows concretely", "`resolution_evidence`"),
        ("Choose decisive actions by identifier; never reword them",),
        ("A confident statement or a label is none",),
        ("`complete` says only that the evidence of this record fits together",),
        ("An inherited issue that you do not resolve is open here too: list it again",),
    ],
}


@pytest.mark.parametrize("kind", sorted(RULES))
def test_paper_prompt_rules(kind: str) -> None:
    templates = environment()
    name = f"{kind}.md.j2"
    template = templates.from_string((FOLDERS[kind] / name).read_text()) if kind in FOLDERS else None
    source = (template or templates.get_template(name)).render(DEFAULTS)
    missing = [phrase for rule in RULES[kind] for phrase in rule if phrase not in source]
    assert missing == []


DEFAULTS: dict[str, object] = dict.fromkeys(
    "marker level queue head tail is_last parent title summary facets children issues issue_ids ids tree observation "
    "target subtask members count before candidates record numbers number".split(),
    "",
)
