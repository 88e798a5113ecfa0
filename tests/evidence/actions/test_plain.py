"""Texts that need no grammar: read by themselves they give what the grammar gives, and most commands are such."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense.evidence.actions.shell.command import Command, Redirect
from dense.evidence.actions.shell.grammar import Walk, parse
from dense.evidence.actions.shell.heredocs import may_run, take_heredocs
from dense.evidence.actions.shell.plain import plain_commands

PLAIN = [
    "ls",
    "cd /app && python x.py 2>&1 | tail -5",
    'grep -rn "def a" shop | head -40',
    "sed -i 's/return a/return not a/' shop/a.py && git diff",
    "cat > t.py <<'EOF'\nassert 1\nEOF",
    "python3 - <<'EOF'\nprint(1)\nEOF\n",
    "make FOO=bar -j4; ./run --name=\"a b\"'c' > out.txt 2>/dev/null || true\necho done\n",
]
OTHERS = [
    "echo $HOME",
    'echo "$(date)"',
    "echo `date`",
    "sleep 1 &",
    "for f in a b; do cat $f; done",
    "if true; then ls; fi",
    "A=1 make",
    "export A=1",
    "(cd a; ls)",
    "echo a\\ b",
    "echo 'open",
    "ls &&",
    "ls ||| cat",
    "a | b && c",
    "cd a 2>&1 | b; c",
    "python3 - 2>&1",
    "[ a = b ]",
    "test a = b",
    "# why\nls",
    "grep -é a",
]
WORDS = """a b ls cd pushd popd /app src .. - x.py -n -rn -5 12 3.5 A=1 FOO=bar =x == = =~ *.py ** a*b ? ~/x ^a a:b a@b
    %x +y + , . / 's/a/b/' "x;y" 'a'b a"b"c --x="y|z" '' "" if then do done in for test export time [ ] ! { } true --
    -m a,b 2 1 0 _ # \\ $x`""".split()
JOINTS = [" && ", " || ", " | ", "; ", "\n", " ; ", "&&", "|", ";", "\n\n", " |\n", " && \n", " & ", ";;", "\t"]
REDIRECTS = ["", "", " > f", " >> f", " 2>&1", " 2>/dev/null", " < in", " >f", " 1> f", " <<E", " > 5", ">f", "  2>  f"]

words = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
commands = st.builds("".join, st.tuples(words, st.sampled_from(REDIRECTS), st.sampled_from(REDIRECTS)))
texts = st.builds(
    "".join,
    st.tuples(st.lists(st.tuples(commands, st.sampled_from(JOINTS)).map("".join), max_size=3).map("".join), words),
)


def by_grammar(text: str) -> list[Command]:
    plain, heredocs = take_heredocs(text, take_open=False)
    walk = Walk("", heredocs)
    walk.go(plain)
    return walk.commands


def is_plain(text: str) -> bool:
    plain, heredocs = take_heredocs(text, take_open=False)
    return not any(map(may_run, heredocs.values())) and plain_commands(plain, "", heredocs) is not None


@pytest.mark.parametrize("text", PLAIN)
def test_plain_commands_are_read_without_a_grammar(text: str) -> None:
    assert is_plain(text)
    assert parse(text) == by_grammar(text)


@pytest.mark.parametrize("text", OTHERS)
def test_what_is_not_sure_is_left_to_the_grammar(text: str) -> None:
    assert not is_plain(text)


@settings(max_examples=600, deadline=None)
@given(texts, st.booleans())
def test_both_ways_give_the_same(text: str, has_body: bool) -> None:
    text += "\nbody\nE\nls b" if has_body else ""
    if is_plain(text):
        assert parse(text) == by_grammar(text)


def test_words_redirections_and_pipes() -> None:
    first, second = parse("cd /app && cat 'a b' < in 2>&1 | tee -a \"x\"y >> log")[1:]
    assert first.words == ("cat", "a b")
    assert (first.text, first.cwd, first.redirects) == ("cat 'a b'", "/app", (Redirect("<", "in"),))
    assert second.words == ("tee", "-a", "xy")
    assert (second.previous, second.redirects) == (first, (Redirect(">>", "log"),))
