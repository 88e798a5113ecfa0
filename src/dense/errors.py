"""What can go wrong, for people.

    DenseError              anything that `dense` reports by itself; the command line prints it without a traceback
    ├── NoTrajectory        a path holds no trajectory that can be read: missing, empty, unknown, or no step in it
    │   └── NotATrace       a file whose content no reader claims
    ├── SkippedRecords      `strict` was asked for and a record was skipped
    └── UnknownFormat       a format was named that does not exist

A damaged record is no exception: it becomes a `Notice` on the trajectory, and reading goes on.
"""

from __future__ import annotations


class DenseError(Exception):
    """Base of all errors that `dense` raises on purpose. Its text says what is wrong, where, and what to do."""


class NoTrajectory(DenseError):
    """A path in which no trajectory was found."""


class NotATrace(NoTrajectory):
    """A file whose content no reader claims."""


class SkippedRecords(DenseError):
    """A record was skipped although the reader was told to be strict."""


class UnknownFormat(DenseError):
    """A format name that no reader has."""
