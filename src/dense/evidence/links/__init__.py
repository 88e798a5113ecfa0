"""How the actions of one trace relate: repairs, retries, repeats, recoveries, attempts, origins of values.

`ActionFacts` come in; numbers of actions go out. Imports nothing of `detectors`, `narrate` or `analyst`."""
