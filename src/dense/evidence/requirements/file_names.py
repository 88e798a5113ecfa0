"""Whether a word names a file or folder, by its form."""

from __future__ import annotations

import re

EXTENSIONS = frozenset(
    """
    1 3gp 7z a aac abi ada adb adoc ads ai aif apk app arff asc asm asp aspx astro au avi avif avro awk backup bak
    bam bas bash bat bed bib bin blend bmp bundle bz2 c cc cer cfg cgi cjs ckpt class clj cljs cmake cmd cnf cob
    comp conf config cpio cpp cr crt cs csh csproj css csv cu cue cxx d dart dat data db db3 dbf deb der dex diff
    dll dng doc docx dot dump dylib ear edn eex el elf elm eml enc env eps epub erb erl err ex exe exs f f03 f77 f90
    f95 fa fas fasta fastq feather fish fits flac flag flv fna fq frag fs fsx ftl gb gdb geojson ggb gguf gif glb
    gltf gml go gpg gpx gql gradle graphml graphql groovy gz h h5 handlebars har hbs hcl hcl2 hdf hdf5 heic hpp hs
    htm html http hxx ico ics idx img inc ini ino ipynb iso jar java jinja jinja2 jl jpeg jpg js json json5 jsonc
    jsonl jsp jsx key keystore kml ko kt kts less lhs lib lisp list ll lock log lua m m4 m4a map mat md mdx mf mid
    midi mjs mk mkv ml mli mo mod mol mov mp3 mp4 mpeg mpg msg msi mts mustache mzml nasm nb nc ndjson nfo nim nix
    npy npz nt o obj odp ods odt ogg onnx opus orc org otf out p12 p7b parquet pas patch pb pcap pcapng pcd pdb pdf
    pem pfx pgm php phtml pickle pickle5 pid pkl pl plist ply pm png po pod pony ppm ppt pptx prisma pro properties
    proto ps ps1 psd psv pt pth pub pug purs py pyc pyd pyi pyx q qcow2 qml r rake rar raw rb rda rdata rdb rdf rds
    re red res rkt rmd rng rpm rs rst rtf ru s sage sam sas sass sav sbt sc scala scm scss sdf sed ser service sh
    shp sig sln smi so socket sol sparql sql sqlite sqlite3 srt ss stan stl styl sum svelte svg swift swp tab tar
    tbz2 tcl tex text tf tfrecord tfvars tga tgz thrift tif tiff tmpl toml torrent tpl ts tsv tsx ttf ttl twig txt
    typ ui v vb vbs vcf vhd vhdl vmdk vo vsix vtt vue war wasm wat wav wcnf webm webmanifest webp wma wmv woff woff2
    wsdl x xcf xhtml xls xlsb xlsm xlsx xml xpi xsd xsl xslt xz y yaml yang yara yml yy zig zip zsh zst
""".split()
)

ATTRIBUTES = frozenset(
    """
    1 a ai app au c class config d data db diff dot dump el env err ex f flag go h http idx inc io js json key lib list
    lock log m map mat mo mod mol msg nt o obj org out pid po pro properties q r raw re res s sam sc service sig so
    socket ss sum tab text ts ui v x y zip html xml css sql sh
""".split()
)
"""Extensions that are as often the attribute of an object."""

OBJECTS = frozenset(
    """
    args cls console ctx datetime df document e event f functools i itertools j json jwt k kwargs logger logging math
    matplotlib module np numpy obj object os pandas params pd plt process props r random re req request requests res
    resp response s scipy self sess sklearn socket str string subprocess sys t tensor this threading torch util w win
    window x y z
""".split()
)
"""Names that come before a dot in code more often than in a file name."""
CODE_OBJECTS = frozenset("df math np numpy os pd plt re self str sys this torch".split())
"""The same for names in quotes."""

PRODUCTS = frozenset(
    """
    node.js next.js vue.js three.js d3.js express.js react.js chart.js nuxt.js backbone.js ember.js angular.js moment.js
    p5.js require.js discord.js discord.py socket.io asp.net vb.net nest.js electron.js knockout.js underscore.js
    babylon.js pixi.js plotly.js alpine.js solid.js matter.js tensorflow.js brain.js deno.js bun.js handlebars.js ml.net
    web.py nunjucks.js fabric.js paper.js leaflet.js prism.js highlight.js polymer.js llama.cpp whisper.cpp ggml.ai
""".split()
)

DOMAINS = frozenset(
    """
    com org net io ai dev gov edu co uk de fr eu us info biz app cloud jp cn ru br in it es nl ch at se no fi pl cz
    tv me cc xyz site online store tech us ca au nz kr tw hk sg local localhost
""".split()
)

WHOLE_NAMES = frozenset(
    """
    Makefile Dockerfile Gemfile Procfile Rakefile Vagrantfile Jenkinsfile Containerfile Justfile Brewfile Pipfile
    makefile GNUmakefile README LICENSE CHANGELOG NOTICE CODEOWNERS BUILD WORKSPACE
""".split()
)
DOT_FILES = frozenset(
    """
    .gitignore .env .dockerignore .bashrc .bash_profile .profile .zshrc .vimrc .npmrc .nvmrc .eslintrc .prettierrc
    .babelrc .editorconfig .gitattributes .gitmodules .htaccess .htpasswd .cursorrules .flake8 .pylintrc .coveragerc
    .gitconfig .netrc .pypirc .curlrc .wgetrc .inputrc .tmux.conf .mailmap .clang-format .clang-tidy .terraformrc
""".split()
)

ROOTS = frozenset(
    """
    app tmp home etc usr var opt root workspace workdir mnt srv testbed work repo code src output outputs dev bin lib
    proc sys git www repos project projects solution tests data logs results input inputs sandbox media run boot sbin
    users volumes applications library private submission build dist root_dir nix storage content kaggle agent
""".split()
)
"""Folders at the root of a machine. Any other absolute path without an extension is the route of a service."""

TOP_FOLDERS = re.compile(r"(?:/[\w.-]*/?|\.{0,2}/?|~/?|/home/[\w.-]+/?|/var/?\w*/?|/usr/\w+/?|/Users/[\w.-]+/?)")
PLACEHOLDER = re.compile(r"path/to|[<>{}$…]|\.\.\.|[Xx]{3}|your[-_]|\[")
BODY = re.compile(r"(?:[A-Za-z]:)?[\w.+~%*?@!=,#&()\[\]{}<>$:/\\…-]+")
SLASHED = re.compile(r"[\w.~*{}<>$-]+(?:/[\w.~*@{}<>$+-]+)+/?$")
ROUTED = re.compile(r"/[\w.~*@{}<>$+/:%-]*$")
TITLE = re.compile(r"[A-Z][a-z]+$")


def is_placeholder(path: str) -> bool:
    """Whether a path is a placeholder for one that the text does not name."""
    return PLACEHOLDER.search(path) is not None


def is_top_folder(path: str) -> bool:
    """Whether a path is a place to work in rather than a thing: `/app`, `~`, `.`, `/home/user`."""
    return TOP_FOLDERS.fullmatch(path) is not None and not has_extension(path)


def has_extension(path: str) -> bool:
    """Whether the last part of a path has a known extension, or is a known name without one."""
    name = path.rpartition("/")[2]
    if name in DOT_FILES or name in WHOLE_NAMES:
        return True
    stem, dot, ending = name.rpartition(".")
    return bool(dot and stem) and ending.lower() in EXTENSIONS


def is_file(word: str, is_quoted: bool) -> bool:
    """Whether a word without punctuation around it names a file or folder. In quotes it is more likely to."""
    if not 2 <= len(word) <= 260 or "://" in word or "@" in word[1:]:
        return False
    if word in WHOLE_NAMES or word in DOT_FILES:
        return is_quoted or word not in ("BUILD", "WORKSPACE", "NOTICE", "LICENSE", "README", "CHANGELOG")
    return _is_path(word, is_quoted) if "/" in word else _is_bare_name(word, is_quoted)


def _is_bare_name(word: str, is_quoted: bool) -> bool:
    stem, dot, ending = word.rpartition(".")
    kind = ending.lower()
    if not dot or not stem or kind not in EXTENSIONS or word.lower() in PRODUCTS:
        return False
    if kind in DOMAINS and kind in ATTRIBUTES and not is_quoted:
        return False
    if "(" in stem or "=" in stem or stem[-1] in ".-" or stem[0] == "-" or not BODY.fullmatch(word):
        return False
    if "." in stem and stem[0] != "." and kind in ATTRIBUTES and not is_quoted:
        return False
    if kind in ATTRIBUTES:
        head = stem.partition(".")[0]
        if (
            head.lower() in (CODE_OBJECTS if is_quoted else OBJECTS)
            or head.isdigit()
            or (len(kind) == 1 and len(stem) < 2 and not is_quoted)
        ):
            return False
        if stem.count(".") >= 2 or (ending != kind and not stem.isupper()):
            return False
    # "Node.js", but a capitalised name in quotes may be a component's file.
    return not (kind == "js" and not is_quoted and TITLE.match(stem))


def _is_path(word: str, is_quoted: bool) -> bool:
    first = word.partition("/")[0]
    if first in ("http:", "https:", "..."):
        return False
    if word[0] == "/":
        if not ROUTED.match(word) or "//" in word:
            return False
        top = word[1:].partition("/")[0]
        return has_extension(word) or top.lower() in ROOTS or top in DOT_FILES
    if not SLASHED.match(word) and not (word[-1] == "/" and len(word) > 2):
        return False
    if "." in first and first.rpartition(".")[2].lower() in DOMAINS:
        return False
    if has_extension(word) or word.rpartition("/")[2] in WHOLE_NAMES:
        return not first.isdigit() or len(first) > 2
    if first in (".", "..", "~"):
        return True
    if word[-1] == "/":
        return word[:-1].replace("/", "").replace("-", "").replace("_", "").replace(".", "").isalnum()
    return is_quoted and "*" in word
