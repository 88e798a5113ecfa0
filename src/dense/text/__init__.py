"""Text tools that know nothing of traces: search, quoting, sentences, clipping, differences.

In: plain strings. Out: plain strings, positions and counts. Every package above may import it; it never imports
anything of dense."""
