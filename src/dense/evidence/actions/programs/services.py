"""Which commands leave something running."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dense.evidence.actions.shell.arguments import has_flag, operands, values
from dense.evidence.actions.tests import is_python

SERVERS = values("""
    uvicorn gunicorn hypercorn daphne waitress-serve nginx httpd apache2 lighttpd caddy redis-server mongod mysqld
    mysqld_safe mariadbd postgres memcached vsftpd sshd dockerd containerd http-server json-server live-server serve
    nodemon webpack-dev-server tensorboard supervisord rabbitmq-server etcd consul haproxy squid dnsmasq named slapd
    smbd crond cron rsyslogd xvfb x11vnc mosquitto minio kafka-server-start.sh zookeeper-server-start.sh
    elasticsearch
""")
VERBS: dict[str, frozenset[str]] = {
    "flask": values("run"),
    "streamlit": values("run"),
    "ollama": values("serve"),
    "vllm": values("serve"),
    "rails": values("server s"),
    "jupyter": values("notebook lab server"),
    "hugo": values("server serve"),
    "fastapi": values("run dev"),
    "bokeh": values("serve"),
    "airflow": values("webserver scheduler standalone"),
    "mkdocs": values("serve"),
    "next": values("dev start"),
    "ng": values("serve"),
    "vite": values("dev preview"),
    "jekyll": values("serve"),
    "pg_ctl": values("start restart"),
    "apachectl": values("start restart"),
    "apache2ctl": values("start restart"),
    "systemctl": values("start restart reload-or-restart"),
    "wrangler": values("dev"),
    "pm2": values("start restart"),
    "brew": values("services"),
    "minikube": values("start"),
    "vagrant": values("up"),
}
MODULES = values("""
    http.server SimpleHTTPServer uvicorn gunicorn flask streamlit jupyter aiosmtpd smtpd pyftpdlib waitress
    vllm.entrypoints.openai.api_server
""")
NOT_SERVING = frozenset(["--version", "-v", "-V", "--help", "-h", "-t", "-T"])
SCRIPTS = values("start dev serve server preview watch")
NEVER = values("""
    sleep kill wait echo printf cd true false : exit rm cat cp mv mkdir touch ls tail head disown jobs export read
    pkill killall
""")


SERVING = SERVERS.union(
    VERBS, values("service rc-service invoke-rc.d npm yarn pnpm bun docker podman docker-compose tmux screen php")
)
"""All programs that may keep running in one way or another, but for Python and emulators."""


def may_serve(name: str, word: str) -> bool:
    """Whether there are commands of this program that keep running; `word` is how it was called."""
    return name in SERVING or is_python(name) or name.startswith("qemu-system-") or word.startswith("/etc/init.d/")


def is_service(name: str, words: Sequence[str]) -> bool:
    """Whether a command of a program that may serve is known to keep running, or to start something that does."""
    if not NOT_SERVING.isdisjoint(words[1:]):
        return False
    if name in SERVERS:
        return not has_flag(words, "", "-s", "ping")
    if (verbs := VERBS.get(name)) is not None:
        rest = operands(words, values("-D -l -m -n"))
        return any(word in verbs for word in rest) or (name == "systemctl" and "--now" in words)
    if name in ("service", "rc-service", "invoke-rc.d") or words[0].startswith("/etc/init.d/"):
        return words[-1] in ("start", "restart")
    if name in ("npm", "yarn", "pnpm", "bun"):
        rest = [word for word in operands(words, values("--prefix -C --cwd")) if word not in ("run", "run-script")]
        return bool(rest) and rest[0].split(":")[0] in SCRIPTS
    if name in ("docker", "podman", "docker-compose"):
        return docker_serves(words)
    if is_python(name):
        return python_serves(words)
    if name in ("tmux", "screen"):
        return has_flag(words, "", "-d", "-dm", "-dmS") and not has_flag(words, "", "send-keys")
    return name.startswith("qemu-system-") or (name == "php" and has_flag(words, "S"))


def docker_serves(words: Sequence[str]) -> bool:
    rest = operands(words, values("-f --file -p --project-name"))
    rest = rest[1:] if rest[:1] == ["compose"] else rest
    if rest[:1] == ["run"]:
        return has_flag(words, "", "-d", "--detach", "-itd", "-dit", "-td", "-id")
    return rest[:1] in (["up"], ["start"], ["restart"])


def python_serves(words: Sequence[str]) -> bool:
    if "-m" in words[1:-1]:
        return words[list(words).index("-m") + 1] in MODULES
    return "runserver" in words and any(re.search(r"(?:^|/)manage\.py$", word) for word in words[1:3])


def may_stay(name: str) -> bool:
    """Whether a command that was put into the background is worth calling a service."""
    return name not in NEVER
