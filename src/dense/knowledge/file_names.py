"""How files and folders are named: extensions, well-known names, and what looks like a file name and is none."""

from __future__ import annotations

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
TEMPORARY_FOLDERS = frozenset({"tmp", ".git", "__pycache__", "node_modules", ".venv", "venv", ".cache"})
TEMPORARY_ENDINGS = (".log", ".pyc", ".tmp", ".bak", ".orig")
LOG_ENDINGS = (".log", ".out", ".err", ".pid", ".lock")
PROGRAM_ENDINGS = tuple(".py .js .ts .c .cpp .go .rs .java .rb .sh .php .cs .pl .r .jl".split())
TRIAL_PREFIXES = ("repro", "debug", "demo", "try_", "tmp", "temp", "scratch")
LOG_FILES = (".log", ".out", ".err", ".output", "out.txt", "output.txt", "result.txt", "results.txt", "log.txt")
"""How names of files end that hold what programs printed."""
BUILD_FOLDERS = frozenset({"build", "dist", "__pycache__", "node_modules", "target", ".pytest_cache"})
SHELL_STARTUP_FILES = tuple("activate .bashrc .profile .bash_profile .zshrc .env env.sh setup.bash nvm.sh".split())
"""Files that a shell sources to prepare itself: no program of the task's own."""
