"""The commands about one's own sessions: list, distill the last one, look at an attempt, hooks and settings."""
