"""What a trace shows, without English: facts of actions, requirements, checks, deliverables, links, ending.

In: a trajectory, and what its actions did and showed (`analysis/actions`). Out: `TraceEvidence` (`trace`), whose parts
are computed when they are asked for. Evidence is not judged here: `analysis/detectors` does that. Never imports
`detectors`, `wording` or an analyst."""
