"""REFIT: paired reruns that measure whether feedback helps.

`run` is the loop and reads as the paper's protocol; `executor` performs its single steps and records them; `config`
reads the experiment's file, `plan` lists its cells, `store` keeps what happened, `results_table` reads and writes
tables of results, `experiment` turns a store into what a report is made of. In: an experiment file and
task folders. Out: an `Experiment`. Never imports the command line."""
