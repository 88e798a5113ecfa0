"""Logs of several days, some of them packed, some in another time zone, with requests that come more than once."""

from __future__ import annotations

from scripted.facts import Facts
from scripted.moves import IDLE, Goal, Move, Repertoire, says

ANSWER = """\
python3 - <<'EOF'
import collections, datetime, glob, gzip, json, re
times, met = [], []
for path in sorted(glob.glob("/app/logs/{files}")):
    with {opened} as file:
        for line in file:
            found = re.match(r"{line}", line)
            if found:
                times.append({time})
                met.append((found[2], found[3]))
met = {met}
users = collections.Counter(user for _, user in met)
answer = {{"first": {first}, "requests": len(met), "user": users.most_common(1)[0][0]}}
json.dump(answer, open("/app/incident.json", "w"))
print(answer)
EOF"""
LINE = r"(\S+) ERROR req=(\w+) user=(\w+) code=E42"
GUESSED = r"(\S+ \S+) \[ERROR\] request (\w+) of (\w+): E42"


def _answer(facts: Facts) -> str:
    """The program, as far as the form of the logs was seen and the traps came to mind."""
    packed = facts.shows("can't decode byte 0x8b") or (
        facts.shows(r"\.gz\b") and facts.thinks("the packed log", 0.8, "packed")
    )
    zone = facts.shows(r"\d\+02:00") and facts.thinks("time zones", 0.8, "zone", "utc")
    once = facts.thinks("different requests", 0.8, "different requests", "counts once")
    utc = "datetime.datetime.fromisoformat(found[1]).astimezone(datetime.timezone.utc)"
    return ANSWER.format(
        files="*" if facts.shows(r"shop\.log") else "*.log",
        opened='(gzip.open if path.endswith(".gz") else open)(path, "rt")' if packed else "open(path)",
        line=LINE if facts.shows(r"ERROR req=\w+ user=") else GUESSED,
        time=utc if zone else "found[1]",
        first='min(times).strftime("%Y-%m-%dT%H:%M:%SZ")' if zone else 'min(times)[:19] + "Z"',
        met="set(met)" if once else "met",
    )


def _packed(facts: Facts) -> str | None:
    return "zcat /app/logs/*.gz | grep E42 | head -3" if facts.shows(r"\.gz\b") else None


REPERTOIRE = Repertoire(
    name="log-incident",
    words=("/app/logs", "incident.json"),
    goals=(Goal("incident.json", lambda facts: facts.made("/app/incident.json")),),
    moves=(
        Move("list", "See which logs there are.", says("ls -la /app/logs"), 2.5),
        Move(
            "grep",
            "See some of the failures.",
            says("grep -h E42 /app/logs/shop.log | head -3"),
            1.2,
            after="empty sequence",
        ),
        Move("all", "Look for it in all logs.", says("grep -c E42 /app/logs/*"), 1.2),
        Move("tail", "Look at the end of the last log.", says("tail -2 /app/logs/shop.log"), 1.0),
        Move("old", "Look at the log of the day before.", says("grep -h E42 /app/logs/shop.log.1 | head -2"), 0.9),
        Move("packed", "Look into the packed log.", _packed, 1.0),
        Move("jq", "jq picks fields out of logs.", says("jq -r .code /app/logs/shop.log | sort | uniq -c"), 1.0),
        Move("journal", "The journal may have it.", says("journalctl --since yesterday | grep E42"), 0.9),
        Move("lnav", "A log viewer merges and sorts.", says("lnav -n /app/logs"), 0.7),
        Move("old python", "Count with a short program.", says("python -c 'print(open(\"/app/logs/shop.log\"))'"), 0.6),
        Move(
            "awk",
            "Count by user with awk.",
            says("awk '/E42/ {n[$4]++} END {for (u in n) print n[u], u}' /app/logs/shop.log"),
            0.9,
        ),
        Move("answer", "Go through the logs in Python and write the answer.", _answer, 2.5, goal="incident.json"),
        Move("look", "Look at the answer.", says("cat /app/incident.json"), goal="/app/incident.json", is_check=True),
        *IDLE,
    ),
)
