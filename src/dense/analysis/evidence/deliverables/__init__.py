"""What a trace made: the files that the task asks for, the diff that it submits, values that fit the task's answer.

In: requirements, facts and steps of a trace. Out: `TrackedFile`s, `SubmittedDiff`, `Products` of a range of actions,
`Candidate`. Never imports `detectors` or `wording`."""
