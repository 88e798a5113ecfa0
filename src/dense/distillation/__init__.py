"""The method itself: nested subtasks, shortcuts, reconciled issues, feedback. `pipeline` reads as the paper's
algorithm."""

from dense.distillation.pipeline import Budgets, Distillation, Profile, distill, distill_sync

__all__ = ["Budgets", "Distillation", "Profile", "distill", "distill_sync"]
