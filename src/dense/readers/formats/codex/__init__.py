"""Sessions of Codex: `reader` reads rollouts, `event_stream` what `codex exec --json` prints.

In: JSON records. Out: streams of steps. Never imports another format."""
