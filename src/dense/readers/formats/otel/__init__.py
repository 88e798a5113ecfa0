"""OpenTelemetry spans.

`reader` is the format's reader, `spans` normalises spans, `tree` orders them, `steps` makes steps. In: JSON records.
Out: streams of steps. Never imports another format."""
