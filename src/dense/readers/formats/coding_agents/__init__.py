"""The sessions of coding agents that keep one format each: opencode, Copilot CLI, Qwen Code, Cursor, Droid, and others.

In: JSON records, or databases by `databases`. Out: streams of steps. A module here never imports another format."""
