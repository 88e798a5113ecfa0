"""Dockerfiles carried out in real sandboxes."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from dense.errors import DenseError
from refit.harness.sandbox import Sandbox
from refit.harness.sandbox.build import build
from refit.harness.sandbox.dockerfile import read
from refit.harness.sandbox.namespaces import PATH

type InSandbox = Callable[[Callable[[Sandbox], Awaitable[None]]], None]

TEXT = """\
FROM python:3.12-slim
ARG NAME=world
ARG UNSET
ENV GREETING="hello $NAME" PLACE=/srv/app
ENV OLD form of it
ENV PATH=/srv/tools:$PATH
WORKDIR $PLACE
WORKDIR sub
COPY seed.txt .
COPY seed.txt /srv/copy.txt
COPY seed.txt /srv
COPY *.csv seed.txt /data/
COPY alias.txt /links/
COPY --chmod=700 tree /tree
COPY . /context
ADD archive.tar.gz /unpacked
RUN echo "$GREETING|$NAME|$UNSET|$PWD" > built.txt && (sleep 600 &) \\
    && echo more >> built.txt
RUN ["sh", "-c", "echo \\"$0\\" > exec.txt", "a b"]
SHELL ["/bin/bash", "-c"]
RUN [[ -n $BASH_VERSION ]] && echo bash > shell.txt
RUN <<EOF
echo "in a document $NAME"  > document.txt
EOF
RUN python3 - <<PY
open("python.txt", "w").write("from python\\n")
PY
RUN <<EOF
#!/usr/bin/env python3
open("shebang.txt", "w").write("from a script\\n")
EOF
COPY <<EOF config.ini
name = "$NAME" \\$kept
EOF
EXPOSE 80
CMD ["nothing"]
"""


@pytest.fixture
def context(tmp_path: Path) -> Path:
    folder = tmp_path / "environment"
    (folder / "tree" / "sub").mkdir(parents=True)
    (folder / "tree" / "sub" / "leaf").write_text("leaf\n")
    (folder / "seed.txt").write_text("seed\n")
    (folder / "alias.txt").symlink_to("seed.txt")
    (folder / "a.csv").write_text("a\n")
    (folder / "b.csv").write_text("b\n")
    (folder / "secret.key").write_text("hidden\n")
    (folder / ".dockerignore").write_text("# not these\n**/*.key\nDockerfile\nb.*\n!b.csv\n")
    with tarfile.open(folder / "archive.tar.gz", "w:gz") as tar:
        info = tarfile.TarInfo("packed.txt")
        info.size = 7
        tar.addfile(info, io.BytesIO(b"packed\n"))
    return folder


def test_builds(in_sandbox: InSandbox, context: Path, tmp_path: Path) -> None:
    (context / "Dockerfile").write_text(TEXT)

    async def check(sandbox: Sandbox) -> None:
        image = await build(read(context / "Dockerfile"), sandbox, tmp_path)
        assert (image.workdir, image.user) == ("/srv/app/sub", "")
        assert image.env == {
            "GREETING": "hello world",
            "PLACE": "/srv/app",
            "OLD": "form of it",
            "PATH": f"/srv/tools:{PATH}",
        }
        shown = {
            "/srv/app/sub/seed.txt": "seed\n",
            "/srv/copy.txt": "seed\n",
            "/srv/seed.txt": "seed\n",
            "/data/a.csv": "a\n",
            "/data/b.csv": "b\n",
            "/data/seed.txt": "seed\n",
            "/links/alias.txt": "seed\n",
            "/tree/sub/leaf": "leaf\n",
            "/unpacked/packed.txt": "packed\n",
            "/srv/app/sub/built.txt": "hello world|world||/srv/app/sub\nmore\n",
            "/srv/app/sub/exec.txt": "a b\n",
            "/srv/app/sub/shell.txt": "bash\n",
            "/srv/app/sub/document.txt": "in a document world\n",
            "/srv/app/sub/python.txt": "from python\n",
            "/srv/app/sub/shebang.txt": "from a script\n",
            "/srv/app/sub/config.ini": 'name = "world" $kept\n',
        }
        done = await sandbox.run(["cat", *shown])
        assert (done.code, done.out) == (0, "".join(shown.values())), done.err
        listed = (await sandbox.run(["bash", "-c", "cd /context && find . -type f | sort"])).out.split()
        assert listed == ["./.dockerignore", "./a.csv", "./archive.tar.gz", "./b.csv", "./seed.txt", "./tree/sub/leaf"]
        assert (await sandbox.run(["stat", "-c", "%a %F", "/tree/sub/leaf"])).out == "700 regular file\n"
        assert (await sandbox.run(["stat", "-c", "%F", "/links/alias.txt"])).out == "regular file\n", "as with Docker"
        assert (await sandbox.run(["ls", "-A", "/tmp"])).out == ""
        assert "sleep" not in (await sandbox.run(["ps", "-eo", "args"])).out, "a build leaves no process"

    in_sandbox(check)


def test_users_of_a_dockerfile(in_sandbox: InSandbox, is_rootless: bool, context: Path, tmp_path: Path) -> None:
    lines = ["FROM x", "RUN useradd -m agent", "COPY --chown=agent:agent seed.txt /home/agent/", "USER agent"]
    (context / "Dockerfile").write_text("\n".join([*lines, "RUN echo mine > ~/file\n"]))

    async def check(sandbox: Sandbox) -> None:
        if is_rootless:
            with pytest.raises(DenseError, match=r"Dockerfile, line 2: RUN: useradd"):
                await build(read(context / "Dockerfile"), sandbox, tmp_path)
            return
        image = await build(read(context / "Dockerfile"), sandbox, tmp_path)
        assert image.user == "agent"
        found = await sandbox.run(["stat", "-c", "%U:%G", "/home/agent/file", "/home/agent/seed.txt"])
        assert found.out == "agent:agent\nagent:agent\n"

    in_sandbox(check)


WRONG = {
    "COPY ../outside /x": r"line 2: COPY: \.\./outside is outside of",
    "COPY leads-out /x": r"line 2: COPY: leads-out leads out of",
    "COPY not-there /x": r"line 2: COPY: not-there is not in",
    "COPY secret.key /x": r"line 2: COPY: secret.key is not in",
    "COPY seed.txt": r"line 2: COPY: wants a source and a target",
    "COPY --chmod=u+x seed.txt /x": r"line 2: COPY: --chmod=u\+x is no octal mode",
    "RUN echo out; echo err >&2; exit 7": r"(?s)line 2: RUN: .*ended with 7: out\nerr",
}


def test_what_goes_wrong_names_its_line(in_one: InSandbox, context: Path) -> None:
    (context / "leads-out").symlink_to("/etc/passwd")

    async def check(sandbox: Sandbox) -> None:
        for line, problem in WRONG.items():
            (context / "Dockerfile").write_text(f"FROM x\n{line}\n")
            with pytest.raises(DenseError, match=problem):
                await build(read(context / "Dockerfile"), sandbox, context.parent)

    in_one(check)
