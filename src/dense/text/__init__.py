"""Text tools that know nothing of traces: search, quoting, sentences, clipping, differences.

In and out: plain strings. Everything above may import it; it imports nothing of dense."""
