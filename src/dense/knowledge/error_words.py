"""Words by which a line is an error, or none, whoever prints it."""

from __future__ import annotations

SEVERITIES = frozenset("error fatal failure panic e fail failed critical".split())
EXCEPTION_ENDINGS = ("Error", "Exception", "Interrupt", "Exit", "Failure")
ERROR_WORDS = (
    *(" such ", "enied", "not found", "annot ", "an't ", "nvalid", "nrecognized", "refused", "rror", "already in use"),
    *("ould not ", "not permitted", "ssertion", "not exist", "o space left", "o module named"),
)
"""One of these must follow an unknown name for the line to be an error."""
BENIGN_WORDS = (
    *("warning", "warn:", "deprecat", "binary file", "removing leading", "omitting directory", "up to date"),
    *("nothing to be done", "entering directory", "leaving directory", "no error", "0 error", "zero error"),
    *("0 failures", "no failures", "pip's dependency resolver", "errorhandl", "error handl", "error_handl"),
    *("unable to resolve host", "delaying package configuration", "unable to initialize frontend", "falling back"),
    *("no process found", "no such process", "as expected", "(expected", "expected error"),
    *("cannot set terminal process group", "no job control", "not a tty", "inappropriate ioctl", "skipping"),
)
"""In lower case. Notices, counts of nothing, processes that were gone already, and expected failures."""
BENIGN_ENDINGS = ("is a directory", "broken pipe")
