"""Two halves in two forms. What they look like stands in the task; where they are must be seen."""

from __future__ import annotations

import re

from scripted.facts import Facts
from scripted.moves import IDLE, Goal, Make, Move, Repertoire, says

WIDE = (
    "python3 -c \"import re; text = open('/app/disk.img', 'rb').read().decode('utf-16-le', 'replace'); "
    "print(re.findall('[ -~]{8,}', text))\""
)
PACKED = r"^([A-Za-z0-9+/]{24,}={0,2})$"


def _described(facts: Facts) -> tuple[str, str, int]:
    """The beginning, the end and the length, as the task tells them."""
    begin = re.search(r"begins\s+with\s+`(\w+)`", facts.task)
    end = re.search(r"ends\s+with\s+`(\w+)`", facts.task)
    length = re.search(r"(\d+)\s+characters", facts.task)
    return (begin[1], end[1], int(length[1])) if begin and end and length else ("pass", "word", 8)


def _halves(facts: Facts) -> tuple[str, str] | None:
    """Two words that were seen, of which one begins and the other ends as it should, with the right length together."""
    begin, end, length = _described(facts)
    fronts, backs = facts.all(rf"\b{begin}[A-Z0-9]{{3,}}\b"), facts.all(rf"\b[A-Z0-9]{{3,}}{end}\b")
    return next(((front, back) for front in fronts for back in backs if len(front + back) == length), None)


def _described_so(form: str) -> Make:
    """A command with the beginning and the end of the password in it."""

    def make(facts: Facts) -> str:
        begin, end, _ = _described(facts)
        return form.format(begin=begin, end=end)

    return make


def _write(facts: Facts) -> str | None:
    halves = _halves(facts)
    if halves is None or not facts.thinks("writing it down", 0.55, "password.txt"):
        return None
    return "printf '%s\\n' '{}{}' > /app/password.txt".format(*halves)


def _write_late(facts: Facts) -> str | None:
    """Who wants to be sure first comes to it only after everything else."""
    halves = _halves(facts)
    return None if halves is None else "printf '%s\\n' '{}{}' > /app/password.txt".format(*halves)


def _unpack(facts: Facts) -> str | None:
    lines = facts.all(PACKED)
    return f"echo {lines[0]} | base64 -d" if lines else None


def _wide(facts: Facts) -> str | None:
    """The idea of letters of two bytes comes from what somebody wrote of a wide editor."""
    return WIDE if facts.shows("wide editor") else None


REPERTOIRE = Repertoire(
    name="split-password",
    words=("disk.img", "password.txt"),
    goals=(Goal("password.txt", lambda facts: facts.made("/app/password.txt")),),
    moves=(
        Move("list", "See what is here.", says("ls -la /app /app/mail"), 3),
        Move("notes", "Read the notes.", says("cat /app/notes.txt"), 1.8),
        Move("kind", "See what the image is.", says("file /app/disk.img"), 0.8),
        Move("grep", "Search everything for the beginning.", _described_so("grep -rao '{begin}[A-Z0-9]*' /app"), 1.8),
        Move("strings", "Look at the readable texts of the image.", says("strings -n 12 /app/disk.img"), 1.8),
        Move("mount", "Mount the image and look into it.", says("mount -o loop,ro /app/disk.img /mnt"), 1.2),
        Move("photorec", "Recover deleted files.", says("photorec /app/disk.img"), 0.5),
        Move("dump", "Look at the bytes themselves.", _described_so("xxd /app/disk.img | grep -i {begin}"), 0.9),
        Move("octal", "Look at the first bytes.", says("od -c /app/disk.img | head -4"), 0.4),
        Move("wide", "A wide editor saves letters as two bytes: decode the image so.", _wide, 4),
        Move("mail words", "Search the mails for the word.", says("grep -ri password /app/mail"), 1.6),
        Move("mail end", "Search the mails for the end.", _described_so("grep -rio '[A-Z0-9]*{end}' /app/mail"), 1.2),
        Move("mails", "Read the mails.", says("tail -n +4 /app/mail/*"), 1.8),
        Move("unpack", "That block in a mail looks like base64: unpack it.", _unpack, 4),
        Move("write", "Both halves are there: write them down.", _write, 40, goal="password.txt"),
        Move("write late", "Nothing else fits: write it down.", _write_late, 0.05, goal="password.txt"),
        Move("look", "Look at what was written.", says("wc -c /app/password.txt"), goal="/app/password", is_check=True),
        *IDLE,
    ),
)
