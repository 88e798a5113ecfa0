"""Text tools without knowledge of traces."""
