"""Starts the service as it was left, and asks it questions whose answers come from the catalog itself."""

import csv
import hashlib
import socket
import subprocess
import sys
from pathlib import Path

SERVICE = Path("/app/service")
SOCKET = SERVICE / "run" / "service.sock"
SEED = {
    "serve.py": "7dd8ce9a2e907d29af20c7185886f1ceaca0fbdea3d0add1a5b65e7a30cc8762",
    "data/catalog.tsv": "451aad3a1f095e41ba21da3b861dce9b00a7fe1718dd8aaae096508e73b9b3ce",
}


class Wrong(Exception):
    """What is not as the task wants it."""


def untouched() -> None:
    for name, digest in SEED.items():
        path = SERVICE / name
        if not path.is_file() or hashlib.sha256(path.read_bytes()).hexdigest() != digest:
            raise Wrong(f"{name} was changed")


def asked(questions: list[str]) -> list[str]:
    with socket.socket(socket.AF_UNIX) as line:
        line.settimeout(5)
        line.connect(str(SOCKET))
        line.sendall("".join(f"{question}\n" for question in questions).encode())
        line.shutdown(socket.SHUT_WR)
        raw = b"".join(iter(lambda: line.recv(4096), b""))
    return raw.decode().splitlines()


def listening(server: "subprocess.Popen[str]") -> None:
    """Waits for the line that the service prints when it is up; it says why where it ends instead."""
    if not server.stdout or not server.stderr or not server.stdout.readline():
        raise Wrong(f"the service does not start: {server.stderr.read().strip() if server.stderr else ''}")
    if not SOCKET.is_socket():
        raise Wrong("nothing answers on run/service.sock")


def served() -> None:
    with (SERVICE / "data" / "catalog.tsv").open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    ping, workers, count, *stock = asked(["ping", "workers", "count", *(f"stock {row['key']}" for row in rows)])
    if ping != "pong" or count != str(len(rows)) or stock != [row["stock"] for row in rows]:
        raise Wrong("the service does not serve its own catalog")
    if int(workers) < 2:
        raise Wrong("the service has fewer than 2 workers")


def main() -> int:
    SOCKET.unlink(missing_ok=True)
    try:
        untouched()
        server = subprocess.Popen(
            [sys.executable, "-I", str(SERVICE / "serve.py")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        try:
            listening(server)
            served()
        finally:
            server.kill()
            server.wait()
    except (Wrong, OSError, ValueError) as error:
        print(f"FAIL {error}")
        return 1
    print("ok   service")
    return 0


if __name__ == "__main__":
    sys.exit(main())
