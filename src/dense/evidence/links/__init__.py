"""How actions relate: repairs, repeats, recoveries, attempts."""
