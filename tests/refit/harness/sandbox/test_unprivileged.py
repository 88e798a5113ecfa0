"""The whole of it without any privilege."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def test_nobody_can(able: None) -> None:
    # Folders of pytest are closed to other users.
    with tempfile.TemporaryDirectory(prefix="dense-nobody-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        for sub in ("tests", "states", "scratch", "logs"):
            (folder / sub).mkdir()
            (folder / sub).chmod(0o777)
        (folder / "Dockerfile").write_text(
            "FROM x\nWORKDIR /app\nENV A=b\nCOPY tests /app/\nRUN echo built > built.txt\n"
        )
        (folder / "tests" / "test.sh").write_text(
            'id -un; pwd; echo "$A"; ls; mkdir /logs; echo 1 > /logs/reward.txt\n'
        )
        script = Path(__file__).with_name("unprivileged.py")
        env = {**os.environ, "TMPDIR": str(folder / "states"), "HOME": "/nonexistent"}
        command = [sys.executable, str(script), str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=env, check=False)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == {
            "rootless": True,
            "code": 0,
            "out": "root\n/app\nb\nbuilt.txt\ntest.sh\n",
            "logs": {"reward.txt": "1\n"},
            "system": ["closed", "unread"],
        }
        assert list((folder / "states").iterdir()) == []
