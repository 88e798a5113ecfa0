"""What comes to mind for each kind of task. A task that is of no known kind is explored a little and handed in."""

from __future__ import annotations

from scripted.moves import Repertoire
from scripted.repertoire import (
    csv_report,
    log_incident,
    merge_ledgers,
    service_config,
    slow_pairs,
    split_password,
    unknown,
)

KNOWN = (
    csv_report.REPERTOIRE,
    log_incident.REPERTOIRE,
    merge_ledgers.REPERTOIRE,
    service_config.REPERTOIRE,
    slow_pairs.REPERTOIRE,
    split_password.REPERTOIRE,
)


def repertoire_for(task: str) -> Repertoire:
    """By the words of the task."""
    return next((one for one in KNOWN if one.fits(task)), unknown.REPERTOIRE)
