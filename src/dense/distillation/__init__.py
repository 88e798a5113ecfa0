"""From a trajectory to DENSE's trees: analyse, then accept.

Comes in: a clean trajectory and an analyst. Goes out: the source tree and the reconciled tree, sound whatever the
analyst said. `pipeline` reads as the paper's algorithm. Must never import `methods`, `service` or anything above."""

from dense.distillation.accept import Accepted, accept
from dense.distillation.pipeline import distill_trees
from dense.distillation.unreconciled import unreconciled

__all__ = ["Accepted", "accept", "distill_trees", "unreconciled"]
