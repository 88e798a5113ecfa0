"""The numbers of a report: means with intervals, comparisons with tests, and cumulative passes.

`metrics` makes a method's row of the `measures`, `comparisons` and `cumulative` compare methods, `bootstrap` and
`significance` have the intervals and tests, `libraries` imports numpy and scipy when they are first needed. In: a
`ResultGrid`; out: the structures of `refit.report.model`. Never imports tables, figures or the page."""
