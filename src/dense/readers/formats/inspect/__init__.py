"""Logs of Inspect AI.

`reader` is the format's reader, `archive` unpacks `.eval` files, `sample` and `events` make steps. In: JSON records or
an archive. Out: streams of steps. Never imports another format."""
