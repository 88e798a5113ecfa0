"""Sessions of Codex: `reader` reads rollouts, `event_stream` what `codex exec --json` prints."""
