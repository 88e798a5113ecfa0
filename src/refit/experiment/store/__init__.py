"""The durable record of an experiment: an append-only event store, the state it adds up to, and the writer's lock.

`events` defines the events and the store, `state` folds events into what is known of each cell, `lock` lets one process
write at a time. In: events. Out: the state of the experiment. Never imports the plan or the executor."""
