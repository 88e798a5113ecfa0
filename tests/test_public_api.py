"""The public interface: which names there are, what their docstrings say, and that no two classes share a name."""

from __future__ import annotations

import ast
import inspect
import re
from collections import defaultdict
from importlib import import_module
from pathlib import Path

import pytest

from dense import __file__ as package_file

ROOT = Path(__file__).parents[1]
PACKAGE = Path(package_file).parent

PUBLIC = {
    "dense": """
        Budgets DenseError Distillation Feedback NoTrajectory Notice Observation Outcome RecordingAnswerer
        RunRecord ScriptedAnswerer SkippedRecords Source Step Task ToolCall Trajectory Turn UnknownFormat Usage
        __version__ distill distill_sync open_model read
    """,
    "dense.convert": """
        Form atif_document chat_document convert losses
    """,
    "dense.errors": """
        AnalystFailed BadConfig BadScript CallFailed DenseError ExperimentChanged ExperimentLocked
        KeyRefused MissingInput ModelError NoTrajectory NotATrace NotRecorded OutputInUse SkippedRecords SpendingLimit
        UnansweredCalls UnknownFormat UnknownMethod UnknownModel UnknownPrice Unreachable UnusableAnswer WrongUsage
        describe_exception install_hint
    """,
    "dense.methods": """
        AnyMethod FeedbackDraft Item METHODS MessageFrame Method MethodContext PrivilegedMethod ReportPage TaskMethod
        list_report method method_names text_items
    """,
    "dense.model": """
        CallAttempt CallLedger CallTotals ChatModel ChatReply ChatRequest DEFAULT_CONTEXT_WINDOW GivenPrices
        Message ModelCall ModelSpec OpenModel PROVIDERS PriceSource RecordingModel ReplayModel RetryPolicy
        TalliedModel context_window estimate_usage open_model prices_of resolve
    """,
    "dense.readers": """
        READERS Skipped StepDraft StoredSession Stream UnreadFile files_of obj read read_file read_session read_streams
        stored_sessions string
    """,
    "dense.report": """
        DRAWS Report SEED build make
    """,
    "dense.service": """
        AnalystChoice Distillation FailedRun FeedbackOptions FeedbackRun ModelSettings RunRecord TurnChoice distill
        distill_sync make_feedback read_reconciled read_record read_tree select_turn write_failure write_run
    """,
    "dense.trajectory": """
        Notice Observation Origin SCHEMA Source Step Task ToolCall Trajectory Turn Usage
    """,
    "dense.tree": """
        Coherence Completion Facets Issue Label Leaf NONE Node RECONCILED_SCHEMA ReconciledTree
        SOURCE_SCHEMA Shortcut ShortcutOutcome SourceTree State Subtask Verdict first_action last_action
        leaves nodes
    """,
}
"""Every public name, by module. A new one is a promise: add it here and to the documentation."""


@pytest.mark.parametrize("module", PUBLIC)
def test_exported_names(module: str) -> None:
    exported = import_module(module).__all__
    assert sorted(exported) == sorted(set(exported)), "a name is listed twice"
    assert sorted(exported) == sorted(PUBLIC[module].split())


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_explains_itself(module: str) -> None:
    found = import_module(module)
    values = {name: getattr(found, name) for name in PUBLIC[module].split()}
    lines = {
        name: ((value.__doc__ if inspect.isfunction(value) else vars(value).get("__doc__")) or "")
        .strip()
        .split("\n")[0]
        for name, value in values.items()
        if inspect.isclass(value) or inspect.isfunction(value) or inspect.ismodule(value)
    }
    unclear = {
        name: line
        for name, line in lines.items()
        if len(line.split()) < 3 or re.match(r"(The|Of the|Does the) same\b|See |As above", line)
    }
    assert unclear == {}


def test_the_documentation_imports_only_public_names() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for module, names in re.findall(r"^from (dense[\w.]*) import ([^\n#]+)", page.read_text(), re.MULTILINE):
            assert module in PUBLIC, f"{page.name}: {module}"
            for name in names.split(","):
                assert name.strip() in PUBLIC[module].split(), f"{page.name}: {module}.{name}"


def test_no_two_public_classes_share_a_name() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(PACKAGE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
