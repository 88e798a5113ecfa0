"""REFIT measures whether feedback helps: the same agent on the same task again, in a fresh environment and context.

    experiment    configuration, plan, event store, run loop
    harness       Harbor, and the local environment of the demo
    report        statistics, tables, figures, page
    cli           `dense refit`, which `dense` finds by its entry point

In: an experiment in YAML. Out: a store of trials, results and a report. Imports `dense`; `dense` never imports it."""
