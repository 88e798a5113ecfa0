"""Test runs and other checks: which ran, over what, how they ended, which later run retests an earlier one.

In: the facts and steps of a trace, commands that the task names. Out: `Check`s, reverted checks, edits of tests.
Never imports `detectors` or `wording`."""
