"""The language of Dockerfiles, read without a sandbox."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dense.errors import DenseError
from refit.harness.sandbox.dockerfile import (
    DockerfileHeredoc,
    definition,
    expand,
    fill_variables,
    instructions,
    pairs,
    read,
)


def written(folder: Path, text: str) -> Path:
    path = folder / "Dockerfile"
    path.write_text(text)
    return path


TEXT = """\
# syntax=docker/dockerfile:1
ARG VERSION=12
FROM debian:${VERSION}-slim
# a comment
RUN apt-get update && \\
    # within
    \\
    apt-get install -y curl
env A=1 B="two words" C=it\\ is
COPY --chown=me --chmod=755 a.txt b/ /app/
RUN <<EOF
echo one
echo two
EOF
RUN ["echo", "a b"]
CMD ["sh"]
COPY <<-'END' /app/file
\tkeep $THIS
\tEND
WORKDIR app
"""


def test_reads(tmp_path: Path) -> None:
    dockerfile = read(written(tmp_path, TEXT))
    assert dockerfile.base == "debian:12-slim"
    run, env, copy, script, listed, _, document, workdir = dockerfile.instructions
    assert (run.line, run.word, run.text.split()) == (5, "RUN", "apt-get update && apt-get install -y curl".split())
    assert pairs(env) == [("A", "1"), ("B", '"two words"'), ("C", "it\\ is")]
    assert copy.flags == (("chown", "me"), ("chmod", "755"))
    assert copy.text == "a.txt b/ /app/"
    assert script.heredocs == (DockerfileHeredoc("EOF", "echo one\necho two\n", is_literal=False),)
    assert listed.items == ["echo", "a b"]
    assert document.heredocs == (DockerfileHeredoc("END", "keep $THIS\n", is_literal=True),)
    assert (workdir.line, workdir.text) == (20, "app")


def test_stages(tmp_path: Path) -> None:
    text = "FROM a AS one\nRUN one\nFROM b AS two\nRUN two\nCOPY --from=one x y\nFROM one\nRUN three\n"
    dockerfile = read(written(tmp_path, text))
    assert dockerfile.base == "a"
    assert [item.text for item in dockerfile.instructions] == ["one", "three"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("FROM a\nRUN x\n\nCOPY --from=build /a /b\n", r"line 4: COPY: --from=build .*needs Docker"),
        ("FROM a\nRUN --mount=type=secret,id=x cat\n", r"line 2: RUN: --mount"),
        ("FROM a\nADD https://example.org/x /x\n", r"line 2: ADD: .*network"),
        ("FROM a\nFETCH x\n", r"line 2: FETCH: no instruction"),
        ("FROM a\nRUN <<EOF\necho\n", r"line 2: the document <<EOF has no end"),
        ("FROM a\nSHELL /bin/bash\n", r"line 2: SHELL: wants a list"),
        ("FROM a\nCOPY 'a b\n", r"line 2: COPY: No closing quotation"),
        ("FROM a\nENV =x\n", r"line 2: ENV: no name"),
        ("FROM a\nWORKDIR\n", r"line 2: WORKDIR: nothing follows"),
        ("RUN x\n", r"no FROM"),
        ("", r"no FROM"),
    ],
)
def test_what_cannot_be_names_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(DenseError, match=problem):
        read(written(tmp_path, text))


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("$A", "1"),
        ("${A}b", "1b"),
        ("'$A'", "$A"),
        ('"$A x"', "1 x"),
        (r"\$A", "$A"),
        ("${B:-d$A}", "d1"),
        ("${E:-d}", "d"),
        ("${E-d}", ""),
        ("${A:+y}${B:+n}", "y"),
        ("${A:+}${A:-}${B:-}${E:+n}${E+y}", "1y"),
        ("$MISSING.", "."),
        ("it's", "it's"),
    ],
)
def test_variables(word: str, value: str) -> None:
    assert expand(word, {"A": "1", "E": ""}) == value


def test_documents_keep_their_quotes() -> None:
    assert fill_variables("'$A' \"${A}\" \\$A \\n", {"A": "1"}) == "'1' \"1\" $A \\n"


@given(st.text(alphabet="FROMRUNCOPY \\\n\"'<>$#{}=-[]aE\t", max_size=120))
def test_any_text_is_read_or_refused_in_words(text: str) -> None:
    try:
        for item in instructions(text, Path("Dockerfile")):
            assert item.line >= 1
            expand(item.text, {})
            _ = item.items
    except DenseError as error:
        assert "Dockerfile, line" in str(error)


def test_definitions(tmp_path: Path) -> None:
    assert definition(tmp_path / "nothing") is None
    with pytest.raises(DenseError, match=r"org/image:1 is prebuilt, which needs Docker"):
        definition(tmp_path, "org/image:1")
    (tmp_path / "data.csv").write_text("1")
    assert definition(tmp_path, "org/image:1") is None
    written(tmp_path, "FROM x\n")
    assert definition(tmp_path, "org/image:1") is not None
    (tmp_path / "docker-compose.yaml").write_text("")
    with pytest.raises(DenseError, match="several containers need Docker"):
        definition(tmp_path)
