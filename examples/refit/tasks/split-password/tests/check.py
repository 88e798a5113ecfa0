"""Finds both halves anew in the evidence, and compares what was written with the two together."""

import base64
import hashlib
import re
import sys
from pathlib import Path

APP = Path("/app")
SEED = "ad599ab745676e3388bcb392d1ff7ef55d5eb2bda054b82ace8f270043bf7180"


def password() -> str | None:
    """None where the evidence is not what it was."""
    image, mails = APP / "disk.img", sorted((APP / "mail").glob("*.eml"))
    whole = b"".join(path.read_bytes() for path in [image, *mails] if path.is_file())
    if hashlib.sha256(whole).hexdigest() != SEED:
        return None
    front = re.search(r"\r\nfront (\w+)\r\n", image.read_bytes().decode("utf-16-le", errors="replace"))
    packed = [line for path in mails for line in path.read_text().splitlines() if re.fullmatch(r"[\w+/]{24,}=*", line)]
    back = re.search(rb"\n(\w+)\n", base64.b64decode(packed[0]))
    return front[1] + back[1].decode() if front and back else None


def main() -> int:
    wanted = password()
    path = APP / "password.txt"
    if wanted is None:
        print("FAIL the image or the mails were changed")
        return 1
    if not path.is_file():
        print("FAIL there is no password.txt")
        return 1
    told = path.read_text(errors="replace")
    if len(told.splitlines()) != 1 or told.strip() != told.rstrip("\n"):
        print("FAIL password.txt is not one line with the password alone")
        return 1
    if told.strip() != wanted:
        halves = {"first": told[:10] == wanted[:10], "second": told.strip()[-10:] == wanted[-10:]}
        right = " and ".join(half for half, is_right in halves.items() if is_right) or "neither"
        print(f"FAIL password.txt does not hold the password; right half: {right}")
        return 1
    print("ok   password")
    return 0


if __name__ == "__main__":
    sys.exit(main())
