"""Test runs and checks: which ran, over what, how they ended."""
