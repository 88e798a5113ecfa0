"""What a trace shows, without English: actions, observations, requirements, checks, deliverables, links, ending.

In: a trajectory, and the effects of its steps. Out: `TraceEvidence` (`trace`), whose parts are computed when they are
asked for. Evidence is not judged here: `dense.detectors` does that. Never imports `detectors`, `narrate` or
`analyst`."""
