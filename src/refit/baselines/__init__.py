"""The methods that DENSE is compared with, behind the same contract. They hang in by entry point, as users' methods do.

In: a task or a trajectory, for privileged methods an outcome, and a `MethodContext`. Out: a `FeedbackDraft`. Never
imports `refit.experiment` or another baseline's module, except for shared parts."""

from __future__ import annotations

from dense.methods.catalogue import MethodEntry

NONE = MethodEntry("refit.baselines.task_only:NoFeedback", "task", "0")
ADVISOR = MethodEntry("refit.baselines.task_only:Advisor", "task", "1")
SELF_REFLECTION = MethodEntry("refit.baselines.replay:SelfReflection", "trajectory", "0")
ALL_AT_ONCE = MethodEntry("refit.baselines.all_at_once:AllAtOnce", "trajectory", "1")
STEP_BY_STEP = MethodEntry("refit.baselines.step_by_step:StepByStep", "trajectory", "one for each action")
VERIFIER_FEEDBACK = MethodEntry("refit.baselines.replay:VerifierFeedback", "outcome", "0")


def prompt_hashes() -> dict[str, str]:
    """The SHA-256 of each prompt of a baseline, for the identity of an experiment."""
    from refit.baselines.all_at_once import Assessment
    from refit.baselines.step_by_step import Decision
    from refit.baselines.task_only import Advice

    return {question.__name__.lower(): question.prompt_hash() for question in (Advice, Assessment, Decision)}
