"""How the actions of one trace relate: repairs, retries, repeats, recoveries, failed tries, origins of values.

In: `ActionFacts`. Out: numbers of actions. Never imports `detectors`, `wording` or an analyst."""
