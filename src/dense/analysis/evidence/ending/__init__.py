"""How a trace ends: handed over, broken off, given up, rejected; and whether it shows that the work is done.

In: the facts and steps of a trace (`done`: all its evidence). Out: `Ending`, `Rejection`s, answers and what they say is
missing. Never imports `detectors` or `wording`."""
