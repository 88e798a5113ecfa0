"""Looks at the form of merged.csv: header, encoding, ids, dates. What stands in it is not looked at."""

import csv
import re
import sys
from pathlib import Path


def faults(path):
    if not path.is_file():
        return [f"{path} does not exist"]
    try:
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    except UnicodeDecodeError as error:
        return [f"not UTF-8: {error}"]
    if not rows or rows[0] != ["id", "name", "city", "updated"]:
        return ["the header is not id,name,city,updated"]
    if any(len(row) != 4 for row in rows):
        return ["a row does not have four columns"]
    ids = [row[0] for row in rows[1:]]
    found = [f"id {one!r} is not in capitals without blanks" for one in ids if one != one.strip().upper()]
    found += [f"id {one!r} stands more than once" for one in sorted(set(ids)) if ids.count(one) > 1]
    found += [
        f"{row[3]!r} is not a date YYYY-MM-DD" for row in rows[1:] if not re.fullmatch(r"\d{4}-\d\d-\d\d", row[3])
    ]
    if ids != sorted(ids):
        found.append("the rows are not sorted by id")
    return found


if __name__ == "__main__":
    problems = faults(Path("/app/merged.csv"))
    print(f"FAILED: {problems[0]} ({len(problems)} faults)" if problems else "form ok")
    sys.exit(1 if problems else 0)
