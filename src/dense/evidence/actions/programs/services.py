"""Which commands leave something running."""

from __future__ import annotations

from collections.abc import Sequence

from dense.evidence.actions.shell.arguments import has_flag, operands
from dense.knowledge.program import words as words_of
from dense.knowledge.programs import is_python, known_program

NOT_SERVING = words_of("--version -v -V --help -h -t -T")
SERVE_SCRIPTS = words_of("start dev serve server preview watch")
"""Scripts of package.json that keep running."""
SERVICE_OPTIONS = words_of("-D -l -m -n")
PACKAGER_OPTIONS = words_of("--prefix -C --cwd")


def is_service(name: str, words: Sequence[str]) -> bool:
    """Whether a command keeps running, or starts something that does."""
    row = known_program(name)
    if not NOT_SERVING.isdisjoint(words[1:]):
        return False
    if "serves" in row.traits:
        return not has_flag(words, "", "-s", "ping")
    if not row.serve_verbs.isdisjoint(operands(words, SERVICE_OPTIONS)):
        return True
    if name in ("service", "rc-service", "invoke-rc.d") or words[0].startswith("/etc/init.d/"):
        return words[-1] in ("start", "restart")
    if "node_packager" in row.traits:
        rest = [word for word in operands(words, PACKAGER_OPTIONS) if word not in ("run", "run-script")]
        return bool(rest) and rest[0].split(":")[0] in SERVE_SCRIPTS
    if is_python(name):
        return _python_serves(words)
    return name in ("tmux", "screen") and has_flag(words, "", "-d", "-dm", "-dmS") and "send-keys" not in words


def _python_serves(words: Sequence[str]) -> bool:
    if "-m" in words[1:-1]:
        row = known_program(words[list(words).index("-m") + 1])
        return "serves" in row.traits or bool(row.serve_verbs)
    return "runserver" in words and any(word.rpartition("/")[2] == "manage.py" for word in words[1:3])
