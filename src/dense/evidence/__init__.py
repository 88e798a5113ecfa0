"""What a trace shows, without English: facts of actions, requirements, checks, deliverables, links, ending.

In: a trajectory, and what its actions did and showed (`dense.actions`). Out: `TraceEvidence` (`trace`), whose parts are
computed when they are asked for. Evidence is not judged here: `dense.detectors` does that. Never imports `detectors`,
`narrate` or `analyst`."""
