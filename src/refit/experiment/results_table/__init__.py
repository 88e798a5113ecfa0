"""Results as tables, and results from elsewhere.

`columns` lists the columns and parses single values, `rows` turns rows into results and back, `files` reads and writes
CSV, TSV, JSON lines and Parquet, `imports` collects tables, Harbor jobs and experiments into one table. In: files and
folders. Out: a `ResultTable`. Never imports the executor or the run loop."""
