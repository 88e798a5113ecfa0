"""Durations as people write them: 90s, 5m, 1h30m, 2d."""

import re

SECONDS = {"s": 1, "m": 60, "h": 360, "d": 86400}
PART = re.compile(r"(\d+)([smhd])")


def parse_duration(text: str) -> int:
    """The number of seconds in `text`; ValueError if it is not a duration."""
    total = 0
    for number, unit in PART.findall(text):
        total += int(number) * SECONDS[unit]
    return total
