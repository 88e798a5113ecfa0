"""A catalog that answers questions, a line each, on a Unix socket."""

import argparse
import configparser
import csv
import socketserver
import sys
from pathlib import Path

HERE = Path("/app/service")


class Fault(Exception):
    """What is wrong with the configuration."""


def settings():
    """config.ini first, then the files of conf.d by name: what is read last counts."""
    parser = configparser.ConfigParser()
    parser.read([HERE / "config.ini", *sorted((HERE / "conf.d").glob("*.ini"))])
    if not parser.has_section("service"):
        raise Fault("no section [service]")
    return parser["service"]


def number(values, name, least):
    text = values.get(name, "")
    if not text.isdigit():
        raise Fault(f"{name} must be a number, not {text!r}")
    if int(text) < least:
        raise Fault(f"{name} must be at least {least}, and is {text}")
    return int(text)


def catalog(path):
    if not path.is_file():
        raise Fault(f"data file {path} does not exist")
    with path.open(newline="") as file:
        rows = {row["key"]: row for row in csv.DictReader(file, delimiter="\t")}
    if not rows:
        raise Fault(f"data file {path} is empty")
    return rows


def configured():
    values = settings()
    workers, timeout = number(values, "workers", 1), number(values, "timeout", 1)
    rows = catalog(Path(values.get("data", "")))
    socket = Path(values.get("socket", ""))
    if not socket.parent.is_dir():
        raise Fault(f"folder {socket.parent} of the socket does not exist")
    return workers, timeout, rows, socket


def answer(question, workers, rows):
    match question.split():
        case ["ping"]:
            return "pong"
        case ["workers"]:
            return str(workers)
        case ["count"]:
            return str(len(rows))
        case ["stock", key] if key in rows:
            return rows[key]["stock"]
    return "?"


def serve(workers, timeout, rows, socket):
    class Session(socketserver.StreamRequestHandler):
        def handle(self):
            self.connection.settimeout(timeout)
            for line in self.rfile:
                self.wfile.write((answer(line.decode(), workers, rows) + "\n").encode())

    socket.unlink(missing_ok=True)
    with socketserver.ThreadingUnixStreamServer(str(socket), Session) as server:
        server.daemon_threads = True
        print(f"listening on {socket}", flush=True)
        server.serve_forever()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    try:
        found = configured()
    except (Fault, configparser.Error) as error:
        sys.exit(f"serve: {error}")
    if arguments.check:
        print("configuration ok")
    else:
        serve(*found)


if __name__ == "__main__":
    main()
