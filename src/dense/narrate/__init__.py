"""The only package with English sentences about a trace."""
