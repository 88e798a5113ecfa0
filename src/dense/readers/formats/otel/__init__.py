"""OpenTelemetry spans.

`reader` is the format's reader, `spans` normalises spans, `tree` orders them, `steps` makes steps."""
