"""Where partitions are processed: processes of this machine, or the workers of a Ray cluster.

In: partitions of work items. Out: a `PartSummary` for each part that was written. An engine never makes a row
itself and never imports `cli`."""
