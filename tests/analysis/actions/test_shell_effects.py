"""Commands as agents write them, and what they do: one line each, by part."""

from __future__ import annotations

from typing import Any

import pytest

from dense.analysis.actions.effects import Effects
from dense.analysis.actions.step_effects import commands, effects
from dense.trajectory import Source, Step, ToolCall, Trajectory

Expected = dict[str, str | tuple[str, ...]]
FIELDS = ("reads", "writes", "deletes", "tests", "installs", "services", "network")


def step(*calls: tuple[str, dict[str, Any]]) -> Step:
    return Step(Source("x"), calls=tuple(ToolCall(name, arguments) for name, arguments in calls))


def did(command: str) -> Effects:
    return effects(step(("bash", {"command": command})))


def check(found: Effects, expected: Expected) -> None:
    """Fields that are not given must be empty; `runs` and `scripts` are compared only if given."""
    whole = dict.fromkeys(FIELDS, ()) | {
        field: (value,) if isinstance(value, str) else value for field, value in expected.items()
    }
    assert {field: getattr(found, field) for field in whole} == whole


REDIRECTIONS: list[tuple[str, Expected]] = [
    ("echo hi > out.txt", {"writes": "out.txt", "runs": ()}),
    ("echo hi >> log/out.txt", {"writes": "log/out.txt"}),
    ("make 2> errors.log", {"writes": "errors.log", "runs": "make"}),
    ("make &> all.log", {"writes": "all.log"}),
    ("make > out.log 2>&1", {"writes": "out.log"}),
    ("make >| forced", {"writes": "forced"}),
    ("ls /x 2>/dev/null", {"reads": "/x"}),
    ("echo a > f b", {"writes": "f"}),
    ("wc -l < in.txt", {"reads": "in.txt"}),
    ("sort < in.txt > out.txt", {"reads": "in.txt", "writes": "out.txt"}),
    ("> empty.txt", {"writes": "empty.txt"}),
    ("{ echo a; echo b; } > both.txt", {"writes": "both.txt"}),
    ("while read l; do echo $l; done < in.txt > out.txt", {"reads": "in.txt", "writes": "out.txt"}),
    ("echo 'a > b'", {}),
    ('echo "x" > "my file.txt"', {"writes": "my file.txt"}),
    ("echo x > a\\ b.txt", {"writes": "a b.txt"}),
    ("echo 1 | tee a.txt b.txt", {"writes": ("a.txt", "b.txt")}),
    ("echo 1 | sudo tee -a /etc/hosts > /dev/null", {"writes": "/etc/hosts"}),
]

HEREDOCS: list[tuple[str, Expected]] = [
    ("cat > a.py <<'EOF'\nx = 1\nrm -rf /\nEOF", {"writes": "a.py", "runs": "cat"}),
    ("cat <<EOF > a.txt && rm b\nhello $X\nEOF\n", {"writes": "a.txt", "deletes": "b"}),
    ("cat <<-EOF > a.txt\n\thello\n\tEOF\ntouch b", {"writes": ("a.txt", "b")}),
    ("cat > a.txt << 'EOF'\nnever closed > b\nrm c", {"writes": "a.txt"}),
    ("python3 - <<'PY'\nopen('out.txt', 'w').write('x')\nPY", {"writes": "out.txt"}),
    ("python3 <<'PY' 2>&1 | tail -5\nopen('o', 'w')\nPY\nrm z", {"writes": "o", "deletes": "z"}),
    ("cat <<'PY' | python3 -\nopen('o', 'w')\nPY", {"writes": "o"}),
    ("cat <<A > a; cat <<B > b\n1\nA\n2\nB\ntouch c", {"writes": ("a", "b", "c")}),
    ("cat > run.sh <<'OUT'\ncat <<IN\nx\nIN\nOUT\nls", {"reads": ".", "writes": "run.sh"}),
    ("bash <<'EOF'\nrm a\nEOF", {"deletes": "a"}),
    ("cat <<'EOF' > x\n$(cat secret.txt)\nEOF", {"writes": "x"}),
    ("echo $((1<<3)) > a", {"writes": "a"}),
    ('python3 -c "print(1<<X)" > a', {"writes": "a"}),
    ('cat <<< "text" > a', {"writes": "a"}),
    ("git commit -m \"$(cat <<'EOF'\nA message\nEOF\n)\"", {"writes": ".git"}),
    ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\n@@\n*** End Patch\nEOF", {"writes": "a.py"}),
    ("patch -p1 <<'EOF'\n--- a/x.c\n+++ b/x.c\n@@ -1 +1 @@\nEOF", {"writes": "x.c"}),
    ("patch --dry-run -p1 < x.diff", {"reads": "x.diff"}),
    ("cat > s.py <<'E'\nopen('r.json','w')\nE\npython3 s.py", {"writes": ("s.py", "r.json"), "scripts": "s.py"}),
]

STRUCTURE: list[tuple[str, Expected]] = [
    ("cd /app && touch a", {"writes": "/app/a"}),
    ("cd src; cd lib; touch a", {"writes": "src/lib/a"}),
    ("cd /app/src && cd .. && touch a", {"writes": "/app/a"}),
    ("cd /a && cd /b && cd - && touch x", {"writes": "/a/x"}),
    ("(cd sub && touch a); touch b", {"writes": ("sub/a", "b")}),
    ("cd $DIR && touch a", {"writes": "$DIR/a"}),
    ("cd /app && touch /tmp/x ~/y $Z/w", {"writes": ("/tmp/x", "~/y", "$Z/w")}),
    ('OUT=/app/r; touch $OUT "${OUT}.bak" $OTHER', {"writes": ("/app/r", "/app/r.bak", "$OTHER")}),
    ("x=$(cat in.txt) && echo $x", {"reads": "in.txt"}),
    ("echo `cat in.txt`", {"reads": "in.txt"}),
    ("if [ -f a ]; then rm a; else touch a; fi", {"deletes": "a", "writes": "a"}),
    ("for f in *.py; do cp $f bak/; done", {"reads": "$f", "writes": "bak/$f"}),
    ("case $x in a) rm b;; esac", {"deletes": "b"}),
    ("f() { rm a; }; f", {"deletes": "a"}),
    ("! grep -q x f || rm f", {"reads": "f", "deletes": "f"}),
    ("[[ -f y ]] && rm y", {"deletes": "y"}),
    ("touch a && \\\n  touch b", {"writes": ("a", "b")}),
    ("echo 'unclosed && rm x", {}),
    ("rm a; echo (((; rm b", {"deletes": ("a", "b")}),
    ("touch a # rm b", {"writes": "a"}),
    ("diff <(sort a) <(sort b)", {"reads": ("a", "b", "<(sort a)", "<(sort b)"), "tests": "diff <(sort a) <(sort b)"}),
]

WRAPPERS: list[tuple[str, Expected]] = [
    ("sudo -u bob rm a", {"deletes": "a", "runs": "rm"}),
    ("FOO=1 BAR=2 env -u X BAZ=3 timeout -k 5 60 rm a", {"deletes": "a"}),
    ('bash -c "cd sub && rm x"', {"deletes": "sub/x"}),
    ("bash -lc 'touch a > b'", {"writes": ("b", "a")}),
    ("sh -c 'sh -c \"rm a\"'", {"deletes": "a"}),
    ("eval 'rm a'", {"deletes": "a"}),
    ("ssh -p 22 bob@host 'rm /srv/a'", {"deletes": "/srv/a"}),
    ("docker exec -it web rm a", {"deletes": "a"}),
    ("docker run --rm -v $PWD:/w image:1 touch a", {"writes": "a"}),
    ("find . -name '*.pyc' -delete", {"reads": ".", "deletes": "./*.pyc"}),
    ("grep -rl foo src | xargs sed -i 's/foo/bar/'", {"reads": "src", "writes": "src"}),
    ("find t -name '*.o' | xargs -I{} rm {}", {"reads": "t", "deletes": "t/*.o"}),
    ("xargs rm < list.txt", {"reads": "list.txt", "deletes": "{}"}),
    ("nice -n 5 stdbuf -oL touch a", {"writes": "a"}),
    ("uv run --with numpy python -c \"open('a','w')\"", {"writes": "a"}),
    ("echo 'rm a' | bash", {"deletes": "a"}),
    ("time make", {"runs": "make"}),
]

FILES: list[tuple[str, Expected]] = [
    ("cat a.txt b.txt", {"reads": ("a.txt", "b.txt")}),
    ("head -n 5 a.txt | tail -2", {"reads": "a.txt"}),
    ("ls", {"reads": "."}),
    ("cd /app && ls", {"reads": "/app"}),
    ("grep -rn 'def x' src --include '*.py'", {"reads": "src"}),
    ("grep -e a -e b f.txt", {"reads": "f.txt"}),
    ("sed -n '1,5p' a.py", {"reads": "a.py"}),
    ("sed -i 's/a/b/' a.py b.py", {"writes": ("a.py", "b.py")}),
    ("sed -i.bak -e 's/a/b/' a.py", {"writes": "a.py"}),
    ("sed -i '' 's/a b/c/' a.ts", {"writes": "a.ts"}),
    ("sed 's/a/new word/' a.py", {"reads": "a.py"}),
    ("perl -pi -e 's/a/b/' a.py", {"writes": "a.py"}),
    ("awk -F, '{print $1}' a.csv > b", {"reads": "a.csv", "writes": "b"}),
    ("jq '.a' x.json", {"reads": "x.json"}),
    ("dd if=a.img of=b.img bs=1", {"reads": "a.img", "writes": "b.img"}),
    ("cp a b", {"reads": "a", "writes": "b"}),
    ("cp a b dir/", {"reads": ("a", "b"), "writes": ("dir/a", "dir/b")}),
    ("mv a b", {"deletes": "a", "writes": "b"}),
    ("ln -s target link", {"writes": "link"}),
    ("install -m 755 tool /usr/local/bin/tool", {"reads": "tool", "writes": "/usr/local/bin/tool"}),
    ("mkdir -p a/b", {"writes": "a/b"}),
    ("chmod +x run.sh", {"modes": "run.sh"}),
    ("rm -rf a b/*.o", {"deletes": ("a", "b/*.o")}),
    ("sort -k2 -o out.txt in.txt", {"reads": "in.txt", "writes": "out.txt"}),
    ("tar xzf a.tgz -C /opt", {"reads": "a.tgz", "writes": "/opt"}),
    ("tar -czf a.tgz d e", {"writes": "a.tgz"}),
    ("tar tf a.tar", {"reads": "a.tar"}),
    ("unzip -o a.zip -d out", {"reads": "a.zip", "writes": "out"}),
    ("unzip -l a.zip", {"reads": "a.zip"}),
    ("gzip a.txt", {"writes": "a.txt.gz", "deletes": "a.txt"}),
    ("gcc -O2 -o prog main.c -lm", {"reads": "main.c", "writes": "prog"}),
    ("convert in.png -resize 50% out.jpg", {"reads": "in.png", "writes": "out.jpg"}),
    ("gnuplot -e \"set output 'c.png'; plot 'd.dat'\"", {"writes": "c.png"}),
    ("sqlite3 a.db 'INSERT INTO t VALUES (1)'", {"writes": "a.db"}),
    ("sqlite3 a.db 'SELECT 1'", {"reads": "a.db"}),
    ("black src", {"writes": "src"}),
    ("node -e \"fs.writeFileSync('a.json', '1')\"", {"writes": "a.json"}),
    ("Remove-Item a.txt; Get-Content b.txt", {"deletes": "a.txt", "reads": "b.txt"}),
]

GIT: list[tuple[str, Expected]] = [
    ("git status && git log --oneline", {"runs": "git"}),
    ("cd /repo && git apply fix.patch", {"reads": "/repo/fix.patch", "writes": "/repo"}),
    ("git apply --check fix.patch", {"reads": "fix.patch"}),
    ("git checkout -- a.py", {"writes": "a.py"}),
    ("git checkout main", {"writes": "."}),
    ("git checkout -b topic", {}),
    ("git -C /repo commit -m 'x > y'", {"writes": "/repo/.git"}),
    ("git stash list", {}),
    ("git rm a.py", {"deletes": "a.py"}),
    ("git clone https://x.org/a/b.git", {"writes": "b", "network": "https://x.org/a/b.git"}),
    ("git show HEAD:src/a.py", {"reads": "src/a.py"}),
    ("git push origin main", {"network": "origin"}),
]

NETWORK_AND_PACKAGES: list[tuple[str, Expected]] = [
    ("curl -sSL https://x.org/a -o a.sh", {"network": "https://x.org/a", "writes": "a.sh"}),
    ("curl -X POST -H 'A: b' -d '{}' localhost:8080/x", {"network": "localhost:8080/x"}),
    ("wget -O a.tgz https://x.org/d/a.tgz", {"network": "https://x.org/d/a.tgz", "writes": "a.tgz"}),
    ("wget -qO- http://x.org/b", {"network": "http://x.org/b"}),
    ("nc -z localhost 80", {"network": "localhost:80"}),
    ("scp a.txt bob@host:/srv/", {"network": "bob@host", "reads": "a.txt"}),
    ("pip install -q numpy 'pandas>=2'", {"installs": ("numpy", "pandas>=2")}),
    ("python3 -m pip install -r req.txt", {"installs": "req.txt"}),
    ("apt-get update && apt-get install -y gcc make", {"installs": ("gcc", "make")}),
    ("DEBIAN_FRONTEND=noninteractive sudo apt install -y jq", {"installs": "jq"}),
    ("cd web && npm install", {"installs": "web"}),
    ("npm i -D jest", {"installs": "jest"}),
    ("uv pip install ruff", {"installs": "ruff"}),
    ("cargo add serde", {"installs": "serde"}),
    ("pip list", {}),
    ("pip show install", {}),
]

SERVICES: list[tuple[str, Expected]] = [
    ("python app.py &", {"services": "python app.py"}),
    ("nohup ./server > s.log 2>&1 &", {"services": "nohup ./server", "writes": "s.log"}),
    ("python -m http.server 8000", {"services": "python -m http.server 8000"}),
    ("systemctl restart nginx", {"services": "systemctl restart nginx"}),
    ("service ssh start", {"services": "service ssh start"}),
    ("docker compose up -d", {"services": "docker compose up -d"}),
    ("npm run dev", {"services": "npm run dev"}),
    ("nginx -t", {"tests": "nginx -t"}),
    ("a & b & wait", {"runs": ("a", "b")}),
    ("sleep 5 &", {}),
    ("systemctl status nginx", {}),
    ("redis-server --version", {}),
]


@pytest.mark.parametrize(
    ("command", "expected"),
    REDIRECTIONS + HEREDOCS + STRUCTURE + WRAPPERS + FILES + GIT + NETWORK_AND_PACKAGES + SERVICES,
)
def test_what_a_command_does(command: str, expected: Expected) -> None:
    check(did(command), expected)


TYPED: list[tuple[list[str], tuple[str, ...]]] = [
    (["ls -la\n"], ("ls -la",)),
    (["C-c", "", "q", "C-d"], ()),
    (["C-c\n", "ls\n"], ("ls",)),
]


@pytest.mark.parametrize(("keys", "expected"), TYPED)
def test_what_is_typed(keys: list[str], expected: tuple[str, ...]) -> None:
    assert commands(step(*(("bash_command", {"keystrokes": key, "duration": 1.0}) for key in keys))) == expected


def test_effects_keep_the_order_of_calls() -> None:
    both = step(
        ("bash", {"command": "touch a"}), ("Write", {"file_path": "b", "content": ""}), ("bash", {"cmd": "touch c"})
    )
    assert effects(both).writes == ("a", "b", "c")


def test_a_program_that_a_tool_wrote_is_known_when_it_runs() -> None:
    done = effects(
        step(("Write", {"file_path": "s.py", "content": "open('o','w')"}), ("Bash", {"command": "python s.py"}))
    )
    assert done.writes == ("s.py", "o")


def test_sub_agents_count_as_their_own() -> None:
    inner = Trajectory("x", "x", Source("x"), steps=(step(("bash", {"command": "rm a"})),))
    outer = Step(Source("x"), calls=(ToolCall("Task", {"prompt": "rm a"}),), subagents=(inner,))
    assert effects(outer) == Effects()


@pytest.mark.parametrize(
    ("command", "is_key"),
    [
        *(("cat a", False), ("ls -la", False), ("pip list", False), ("make -n all", False), ("npm run lint", True)),
        *(("rm a", True), ("touch a", True), ("pytest", True), ("pip install --dry-run x", False)),
        *(("make", True), ("make -j4 all", True), ("npm run build", True), ("yarn build", True)),
        *(("docker build -t x .", True), ("docker compose build", True), ("docker images", False)),
        *(("pip install x", True), ("apt-get install -y gcc", True), ("npm ci", True), ("cargo build --release", True)),
        *(("go build ./...", True), ("cmake --build build", True), ("cmake --version", False), ("npm run", False)),
        *(("cd src && python setup.py build_ext --inplace", True), ("python setup.py --version", False)),
        *(("make help", False), ("npm run dev", False), ("docker ps", False), ("sudo make install", True)),
    ],
)
def test_paper_key_actions(command: str, is_key: bool) -> None:
    """Writes, edits, tests, and builds and installs, which change state too."""
    assert did(command).is_key is is_key
