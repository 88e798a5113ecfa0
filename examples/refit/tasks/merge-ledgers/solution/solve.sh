#!/bin/bash
python3 - <<'PY'
import csv
from datetime import datetime

members = {}
for path, encoding, comma, form in (
    ("/app/north.csv", "utf-8", ",", "%Y-%m-%d"),
    ("/app/south.csv", "latin-1", ";", "%d.%m.%Y"),
):
    with open(path, encoding=encoding, newline="") as file:
        for row in csv.DictReader(file, delimiter=comma):
            row["id"] = row["id"].strip().upper()
            row["updated"] = datetime.strptime(row["updated"], form).date().isoformat()
            if row["id"] not in members or members[row["id"]]["updated"] < row["updated"]:
                members[row["id"]] = row
with open("/app/merged.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.DictWriter(file, ["id", "name", "city", "updated"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(members[key] for key in sorted(members))
PY
