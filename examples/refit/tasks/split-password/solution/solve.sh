#!/bin/bash
python3 - <<'PY'
import base64
import pathlib
import re

wide = pathlib.Path("/app/disk.img").read_bytes().decode("utf-16-le", errors="replace")
front = re.search(r"front (7QK[A-Z0-9]+)", wide)[1]
for mail in pathlib.Path("/app/mail").iterdir():
    for line in mail.read_text().splitlines():
        if re.fullmatch(r"[A-Za-z0-9+/]{24,}={0,2}", line):
            back = re.search(r"[A-Z0-9]+M2Z", base64.b64decode(line).decode())[0]
pathlib.Path("/app/password.txt").write_text(front + back + "\n")
PY
