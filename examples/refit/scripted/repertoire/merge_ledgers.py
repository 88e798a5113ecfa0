"""Two lists whose encodings, separators, ids and dates differ; what was noticed goes into the program."""

from __future__ import annotations

from scripted.facts import Facts
from scripted.moves import IDLE, Goal, Move, Repertoire, says

VALIDATE = "python3 /app/validate.py"
READ_AS_UTF_8 = "python3 -c \"open('/app/south.csv', encoding='utf-8').read()\""
MERGE = """\
python3 - <<'EOF'
import csv
members = {{}}
for path in ("/app/north.csv", "/app/south.csv"):
    is_south = "south" in path
    with open(path{encoding}) as file:
        for row in csv.DictReader(file{delimiter}):
            key = row["id"]{key}
            date = row["updated"]
{date}            if key not in members{newer}:
                members[key] = [key, row["name"], row["city"], date]
with open("/app/merged.csv", "w", encoding="utf-8") as file:
    file.write("id,name,city,updated\\n")
    for key in sorted(members):
        file.write(",".join(members[key]) + "\\n")
print(len(members), "members")
EOF"""
ISO = """\
            if is_south:
                date = "-".join(reversed(date.split(".")))
"""


def _merge(facts: Facts) -> str:
    """The program, as far as the traps were seen."""
    old = facts.shows("can't decode|before Unicode|ISO-8859")
    keeps = facts.thinks("keeping letters", 0.8, "letters", "encoding")
    encoding = ', encoding="latin-1" if is_south else "utf-8"' if keeps else ', errors="ignore"'
    days_first = facts.shows(r"\d\d\.\d\d\.\d{4}")
    newest = days_first and facts.thinks("dates as dates", 0.75, "updated last", "dates")
    return MERGE.format(
        encoding=encoding if old else "",
        delimiter=', delimiter=";" if is_south else ","' if facts.shows("id;name;city") else "",
        key=".strip().upper()" if facts.shows(r"^ ?k-\d+|is not in capitals|k-\d+ '") else "",
        date=ISO if days_first else "",
        newer=" or members[key][3] < date" if newest else " or is_south",
    )


def _is_merged(facts: Facts) -> bool:
    checked = facts.since(VALIDATE, "/app/merged.csv")
    return facts.made("/app/merged.csv") and (checked is None or checked.worked)


def _validate(facts: Facts) -> str | None:
    return VALIDATE if facts.made("/app/merged.csv") else None


REPERTOIRE = Repertoire(
    name="merge-ledgers",
    words=("north.csv", "south.csv", "merged.csv"),
    goals=(Goal("merged.csv", _is_merged),),
    moves=(
        Move("list", "See what is here.", says("ls -la /app"), 2.5),
        Move("head", "Look at both lists.", says("head -3 /app/north.csv /app/south.csv"), 1.2),
        Move("north", "Look at one list.", says("head -4 /app/north.csv"), 1.2),
        Move("readme", "Read where they come from.", says("cat /app/README"), 1.0),
        Move("kind", "See whether it is UTF-8.", says(READ_AS_UTF_8), 1.0),
        Move("pandas", "pandas merges tables.", says('python3 -c "import pandas; print(pandas.__version__)"'), 1.3),
        Move("csvkit", "csvkit joins tables.", says("csvjoin -c id /app/north.csv /app/south.csv"), 0.9),
        Move("join", "Join them in the shell.", says("join -t, /app/north.csv /app/south.csv"), 0.9),
        Move("iconv", "See whether both are UTF-8.", says("iconv -f utf-8 /app/south.csv | tail -2"), 0.7),
        Move(
            "sort",
            "Put both together, sorted, each line once.",
            says(("sort -u /app/north.csv /app/south.csv > /app/merged.csv", VALIDATE)),
            1.2,
            goal="merged.csv",
        ),
        Move("merge", "Merge them by id in Python.", lambda facts: (_merge(facts), VALIDATE), 2, goal="merged.csv"),
        Move("look", "See whether the form is right.", _validate, goal="/app/merged.csv", is_check=True),
        *IDLE,
    ),
)
