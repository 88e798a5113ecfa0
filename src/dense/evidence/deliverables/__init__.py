"""The files a task asks for, followed through the trace."""
