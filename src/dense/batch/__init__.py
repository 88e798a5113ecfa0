"""Many traces at once: from a bucket or a folder to a table in Parquet, incrementally, and queries of that table.

    sources (which inputs) → partition (one row for each trace) → store (parts in Parquet) → queries, lessons

In: URIs of traces (`fsspec`) and a `BatchSpec`. Out: `part-*.parquet`, `_spec.json` and `_errors.jsonl` in the target.
`process_partition` is the only function that makes rows; the engines only decide where it runs. Prints nothing, and
never imports `cli`."""
