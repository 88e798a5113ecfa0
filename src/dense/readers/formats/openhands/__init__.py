"""Conversations of OpenHands.

`reader` is the format's reader, `events` recognises events, `steps` makes steps of them, `tokens` reads usage. In: JSON
records. Out: streams of steps. Never imports another format."""
