"""DENSE's own trees: nested subtasks, shortcuts, reconciled issues. `pipeline` reads as the paper's algorithm."""

from dense.distillation.pipeline import Profile

__all__ = ["Profile"]
