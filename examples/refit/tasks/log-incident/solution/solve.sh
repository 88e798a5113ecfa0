#!/bin/bash
python3 - <<'PY'
import gzip
import json
import pathlib
import re
from collections import Counter
from datetime import datetime, timezone

met = []
for path in pathlib.Path("/app/logs").iterdir():
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as file:
        met += [re.match(r"(\S+) \w+ req=(\w+) user=(\w+) code=E42", line) for line in file if "code=E42" in line]
first = min(datetime.fromisoformat(found[1]).astimezone(timezone.utc) for found in met)
users = Counter(user for _, user in {(found[2], found[3]) for found in met})
answer = {
    "first": first.strftime("%Y-%m-%dT%H:%M:%SZ"),
    "requests": len({found[2] for found in met}),
    "user": users.most_common(1)[0][0],
}
pathlib.Path("/app/incident.json").write_text(json.dumps(answer))
PY
