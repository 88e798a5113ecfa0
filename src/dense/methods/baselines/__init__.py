"""The methods that DENSE is compared with. Each drafts its feedback behind the same contract as DENSE.

In: a task or a trajectory, for privileged methods an outcome, and a `MethodContext`. Out: a `FeedbackDraft`. Never
imports `service`, `distillation` or another baseline's module, except for shared parts."""
