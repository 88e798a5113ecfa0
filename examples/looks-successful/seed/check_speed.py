"""Time pairs.py on 12,000 readings; the limit is 2 seconds."""

import random
import subprocess
import sys
import tempfile
import time

LIMIT = 2.0

with tempfile.NamedTemporaryFile("w", suffix=".txt") as f:
    numbers = random.Random(7)
    f.writelines(f"{numbers.randrange(1_000_000)}\n" for _ in range(12_000))
    f.flush()
    start = time.perf_counter()
    subprocess.run([sys.executable, "pairs.py", f.name], check=True, stdout=subprocess.DEVNULL)
    seconds = time.perf_counter() - start
print(f"12000 readings: {seconds:.1f} s, limit {LIMIT} s: {'within the limit' if seconds <= LIMIT else 'TOO SLOW'}")
sys.exit(seconds > LIMIT)
