"""Writes the parts of the docs that are made from code: formats, schema, options, finding codes, the picture, the
README's excerpt; then wraps all pages.

    python scripts/docs.py

`tests/test_docs.py` fails if they do not agree with the code.
"""

from __future__ import annotations

import ast
import inspect
import io
import json
import os
import re
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import prose
from rich.console import Console
from rich.text import Text

import dense
from dense.analysis.detectors.registry import codes
from dense.cli.outline import outline
from dense.options import OPTIONS, Entry, describe_default, option_of
from dense.readers import READERS

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
NOUNS = ("Trajectory", "Task", "Step", "ToolCall", "Observation", "Usage", "Source", "Notice")

FORMATS_HEAD = """\
# Formats

What DENSE reads from each format, and what it decides if a format is ambiguous. Each section is the docstring of the
reader's module (`scripts/docs.py` writes this page). A reader recognises its format by content; `--format NAME` forces
one, and `--format module:Class` takes a reader of your own ([how to write one](add-a-reader.md)).

Files may be compressed with gzip or zstd. JSON with a document on each line is read as many documents, and a list of
records in one document as its records. Rows of a Parquet file with a column of messages are read one by one, by the
reader that claims them (needs the extra `parquet`). A folder is walked, links included; a trial and a
conversation of OpenHands are one trace each, and files that belong to another (sub-agents, continuations, kept outputs)
are read with it.

| program | trace | `--format` |
| --- | --- | --- |
| Claude Code | `~/.claude/projects/**/*.jsonl` with sub-agents and kept outputs, stream-json output | `claude-code` |
| Harbor: terminus-2 and every agent that writes ATIF (v1.0 to v1.8) | `jobs/<job>/<trial>/agent/trajectory.json` | `atif` |
| Codex | `~/.codex/sessions/**/rollout-*.jsonl`, `.jsonl.zst`, `codex exec --json` | `codex` |
| Inspect | `logs/*.eval` (ZIP, also with zstd) and `.json` | `inspect` |
| mini-swe-agent, SWE-agent | `*.traj.json`, `*.traj` | `mini-swe-agent`, `swe-agent` |
| OpenHands | event folders of the SDK, V0 lists, evaluation output | `openhands` |
| Gemini CLI | `~/.gemini/tmp/*/chats/session-*`, stream-json output | `gemini-cli` |
| pi, OpenClaw | `session*.jsonl` | `pi`, `openclaw` |
| opencode | `~/.local/share/opencode/opencode.db`, `opencode export` | `opencode` |
| Copilot CLI | `~/.copilot/session-state/*/events.jsonl` | `copilot-cli` |
| Qwen Code | `~/.qwen/projects/*/chats/*.jsonl` | `qwen-code` |
| Cursor | `~/.cursor/projects/*/agent-transcripts/**/*.jsonl`, `globalStorage/state.vscdb` | `cursor` |
| Terminal-Bench 1, Terminus logs | `runs/<run>/<task>/<trial>/`, `episode-N/` folders, asciinema recordings | `terminal-bench-1` |
| Droid | `~/.factory/sessions/**/*.jsonl` | `droid` |
| Cline, Roo Code, Kilo Code | `tasks/*/api_conversation_history.json`, `~/.cline/data/sessions/*/*.messages.json` | `cline` |
| Goose | `~/.local/share/goose/sessions/sessions.db`, older `*.jsonl` | `goose` |
| Kimi CLI | `~/.kimi/sessions/**/wire.jsonl` | `kimi-cli` |
| Pochi | `<trial>/agent/pochi/trajectory.jsonl` | `pochi` |
| AgentRx | histories as JSON lists | `agentrx` |
| anything with OpenTelemetry | OpenInference or GenAI spans: OTLP-JSON, JSONL, nested | `otel` |
| DENSE itself | `dense read --json`, `dense convert --to dense` | `dense` |
| benchmarks | tau-bench results, Who&When | `tau-bench`, `who-and-when` |
| your own | OpenAI or Anthropic messages with tool calls, JSON, JSONL or rows of Parquet | `messages` |
"""


def formats_page() -> str:
    """docs/formats.md."""
    parts = [FORMATS_HEAD]
    seen: set[str] = set()
    for name, path in READERS.items():
        module = path.partition(":")[0]
        if module not in seen:
            seen.add(module)
            names = [f"`{other}`" for other, where in READERS.items() if where.startswith(f"{module}:")]
            text = inspect.cleandoc(import_module(module).__doc__ or "")
            parts.append(f"## {', '.join(names)}\n\n{text}\n")
        del name
    return prose.wrapped("\n".join(parts))


def schema_table() -> str:
    """The fields of all nouns, by their docstrings."""
    tree = ast.parse((ROOT / "src" / "dense" / "trajectory.py").read_text())
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    return "\n\n".join(_noun(classes[name]) for name in NOUNS)


def _noun(node: ast.ClassDef) -> str:
    rows = [f"## {node.name}", "", ast.get_docstring(node) or "", "", "| field | type | |", "| --- | --- | --- |"]
    if node.name == "Trajectory":
        rows.append("| `schema` | `str` | `dense.trajectory/1`, always there. |")
    for field, text in zip(node.body, node.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            kind = ast.unparse(field.annotation).replace("|", "\\|")
            meaning = " ".join(str(text.value.value).split())
            rows.append(f"| `{ast.unparse(field.target)}` | `{kind}` | {meaning} |")
    return "\n".join(rows)


def schema_page(page: str) -> str:
    """docs/schema.md with its fields as they are now."""
    return _filled(page, "fields", schema_table())


def analyst_page(page: str) -> str:
    """docs/built-in-analyst.md with the codes as they are now."""
    rows = ["| code | meaning | severity | raised at |", "| --- | --- | --- | --- |"]
    rows += [f"| `{code.name}` | {code.meaning} | {code.severity} | {code.raised_at} |" for code in codes().values()]
    return _filled(page, "codes", "\n".join(rows))


def options_page(page: str) -> str:
    """docs/options.md with the fields of `FeedbackOptions` as they are now."""
    entries = {"project's file, MCP": Entry.PROJECT | Entry.MCP, "batch": Entry.BATCH, "experiment": Entry.EXPERIMENT}
    rows = [f"| option | what for | values | default | {' | '.join(entries)} |", f"|{' --- |' * (4 + len(entries))}"]
    for name, field in OPTIONS.items():
        option = option_of(field)
        values = (option.kind.metavar.strip("<>") or "true|false").replace("|", "\\|")
        allowed = ["yes" if entry in option.entries else "" for entry in entries.values()]
        cells = (option.help.replace("|", "\\|"), f"`{values}`", describe_default(name), *allowed)
        rows.append(f"| `{name}` | {' | '.join(cells)} |")
    return _filled(page, "options", "\n".join(rows))


def _filled(page: str, name: str, text: str) -> str:
    """The page with a text between the marks `<!-- name -->` and `<!-- /name -->`."""
    between = rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)"
    return re.sub(between, lambda _: prose.wrapped(f"\n{text}\n\n"), page, flags=re.DOTALL)


EXAMPLE = "examples/password-recovery/recovery.traj.json"


def picture() -> str:
    """A terminal with the tree of an example, as an SVG without anything from outside."""
    (trajectory,) = dense.read(ROOT / EXAMPLE)
    tree = dense.distill_sync(trajectory).reconciled
    console = Console(record=True, width=118, file=io.StringIO(), force_terminal=True, highlight=False)
    console.print(Text("$ dense distill examples/password-recovery --out out/demo", style="bold green"))
    console.print(outline(tree, EXAMPLE))
    svg = console.export_svg(title=f"dense {dense.__version__}", unique_id="dense")
    svg = re.sub(r"@font-face\s*\{.*?\}", "", svg, flags=re.DOTALL).replace(
        "Fira Code", "DejaVu Sans Mono, Menlo, Consolas"
    )
    return re.sub(r"[ \t]+$", "", svg, flags=re.MULTILINE)


def message_page(page: str) -> str:
    """docs/message.md with the message of an example as it is now, up to the task."""
    (trajectory,) = dense.read(ROOT / "examples" / "csv-report")
    feedback = dense.distill_sync(trajectory).feedback
    message = feedback.message[: feedback.message.index(f"{feedback.key}| end")]
    return _filled(page, "example", f"```text\n{message}{feedback.key}| end\n```")


SESSION = ROOT / "examples" / "looks-successful" / "rollout.jsonl"
LAST_COMMAND = "dense last | head -n 6"


def last_example() -> str:
    """The first six lines of `dense last` in a project whose newest session is the example of Codex."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder).resolve() / "app"
        sessions = Path(folder) / ".codex" / "sessions" / "2026" / "11" / "15"
        sessions.mkdir(parents=True)
        project.mkdir()
        text = SESSION.read_text(encoding="utf-8").replace('"/app"', json.dumps(str(project)))
        (sessions / "rollout-2026-11-15T22-22-28-01a1e14e-041f-7ed3-804d-8794e5a18cbf.jsonl").write_text(text)
        home = {"HOME": folder, "CODEX_HOME": f"{folder}/.codex", "DENSE_STATE_DIR": f"{folder}/state"}
        command = [sys.executable, "-m", "dense", "last"]
        done = subprocess.run(command, cwd=project, env=os.environ | home, capture_output=True, text=True, check=True)
    return "".join(done.stdout.splitlines(keepends=True)[:6])


def readme_page(page: str) -> str:
    """The README with the true output of its first command."""
    command = rf"(?<=\$ {re.escape(LAST_COMMAND)}\n).*?(?=```)"
    return re.sub(command, lambda _: last_example(), page, count=1, flags=re.DOTALL)


def main() -> None:
    (DOCS / "formats.md").write_text(formats_page())
    schema = DOCS / "schema.md"
    schema.write_text(schema_page(schema.read_text()))
    options = DOCS / "options.md"
    options.write_text(options_page(options.read_text()))
    analyst = DOCS / "built-in-analyst.md"
    analyst.write_text(analyst_page(analyst.read_text()))
    message = DOCS / "message.md"
    message.write_text(message_page(message.read_text()))
    (DOCS / "pictures").mkdir(exist_ok=True)
    (DOCS / "pictures" / "distill-example.svg").write_text(picture())
    readme = ROOT / "README.md"
    readme.write_text(readme_page(readme.read_text()))
    prose.main()


if __name__ == "__main__":
    main()
