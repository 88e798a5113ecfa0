"""A constructed experiment for the paper's settings: three tasks, a harness with fixed traces and grades, and a model
on loopback that answers every question from a script. Nothing here says anything about models."""

from __future__ import annotations

import json
import re
from typing import Any

from aiohttp import web
from loopback import said
from made_harness import MadeHarness

from dense.trajectory import Usage
from refit.harness import AttemptOrder, AttemptResult

METHODS = (
    *("none", "advisor", "self-reflection", "all-at-once", "step-by-step"),
    *("dense", "dense-no-shortcuts", "dense-no-hierarchy", "verifier-feedback"),
)
BODY = 40_000
"""Bytes of each file that the attempt at `beta` writes."""
SMALL_STEPS = (
    ("python3 sum.py", "ModuleNotFoundError: No module named 'pandas'"),
    ("cat > sum.py <<'E'\nimport csv\nE", ""),
    ("python3 -m pytest -q", "1 passed"),
    ("gnuplot chart.gp", "gnuplot: command not found"),
    ("echo done > note.txt", ""),
    ("", ""),
)
"""What the attempts at `alpha` and `gamma` do: command and output; the last is a message."""
GRADES = {
    # task: run0, then the methods in order
    "alpha": (0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.5, 1.0, 1.0),
    "beta": (1.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0),
    "gamma": (0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0),
}


def steps_of(task: str) -> list[tuple[str, str]]:
    """The commands and outputs of every attempt at a task."""
    if task != "beta":
        return list(SMALL_STEPS)
    return [(f"cat > part{n}.txt <<'E'\n{str(n) * BODY}\nE", "") for n in range(1, 7)]


class PaperHarness(MadeHarness):
    """Every attempt at a task does the same; its grade is in the table. One recipient takes messages as an argument."""

    def _made(self, order: AttemptOrder) -> AttemptResult:
        recipient, task, _, _, method, _ = order.name.split("--")
        trial = order.folder / "trial"
        (trial / "agent").mkdir(parents=True, exist_ok=True)
        (trial / "verifier").mkdir(exist_ok=True)
        (trial / "agent" / "trajectory.json").write_text(json.dumps(self._trace(order, task)))
        (trial / "verifier" / "test-stdout.txt").write_text(f"verifier of {task}\n")
        place = 0 if method == "run0" else METHODS.index(method) + 1
        record: dict[str, object] = {
            "task_name": task,
            "trial_name": "trial",
            "verifier_result": {"rewards": {"reward": GRADES[task][place]}},
            # Each method takes 100 tokens less than the one before it; of the input a cache served half.
            "agent_result": {"n_input_tokens": 2_000 - 100 * place, "n_output_tokens": 100, "cost_usd": None},
            "steps": 5,
            "finished_at": "2026-01-01T00:00:00Z",
        }
        (trial / "result.json").write_text(json.dumps(record))
        self.is_argument = recipient == "argument"
        reported = self._reported(order, record)
        tokens = 2_000 - 100 * place
        return AttemptResult(
            **{name: getattr(reported, name) for name in reported.__struct_fields__ if name != "usage"},
            usage=Usage(tokens // 2, tokens // 2, None, 100, None),
        )

    def _trace(self, order: AttemptOrder, task: str) -> dict[str, object]:
        instruction = order.message if order.message is not None else (order.task / "instruction.md").read_text()
        acted: list[dict[str, object]] = []
        for number, (command, output) in enumerate(steps_of(task), 1):
            step: dict[str, object] = {"step_id": number + 1, "source": "agent", "message": f"Step {number}."}
            if command:
                call = {"tool_call_id": f"c{number}", "function_name": "bash", "arguments": {"command": command}}
                step |= {"tool_calls": [call], "observation": {"results": [{"content": output}]}}
            acted.append(step)
        return {
            "schema_version": "ATIF-v1.6",
            "session_id": "fixed",
            "agent": {"name": "made", "version": "1", "model_name": "made"},
            "steps": [{"step_id": 1, "source": "user", "message": instruction}, *acted],
        }


# The analyst

KEPT = {"title": "", "dead_end": "", "working_path": "", "outcome": "unknown", "open_issue": ""}
SUMMARIES = {
    "small": {"n7": ("Sum", "Summed with csv, tested."), "n8": ("Chart", "No chart was drawn.")},
    "large": {"n7": ("First half", "Parts 1 to 3."), "n8": ("Second half", "Parts 4 to 6.")},
}


async def answer(request: web.Request) -> web.StreamResponse:
    """What the scripted analyst says: by the fields that are asked for, and the node that the question names."""
    body = await request.json()
    schema = body["response_format"]["json_schema"]["schema"]
    texts = [_text(message["content"]) for message in body["messages"]]
    return web.json_response(said(_answered(set(schema["properties"]), schema, "\n".join(texts), texts[-1])))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def _answered(fields: set[str], schema: dict[str, Any], everything: str, last: str) -> str:
    kind = "large" if "part1.txt" in everything or "Parts 1" in everything or "task beta" in everything else "small"
    if fields == {"reasoning", "action_index"}:
        (head,) = re.findall(r"from ordinal (\d+) \(its head\)", last)
        found: Any = {"reasoning": None, "action_index": int(head) + 2}
    elif fields == {"reasoning", "label"}:
        found = {"reasoning": "LABEL-REASON", "label": -1}
    elif "subtitle" in fields:
        (node,) = re.findall(r"What can a rerun use of the subtask (n\d+)\?", last)
        title, summary = SUMMARIES[kind][node]
        empty = dict.fromkeys(fields, "none")
        found = {**empty, "subtitle": title, "summary": summary, "artifacts": "note.txt", "open_issues": "FACET"}
    elif "can_mount_all" in fields:
        found = {"reasoning": "two phases", "can_mount_all": True}
    elif "groups" in fields:
        found = {"groups": _groups(re.findall(r"in this order: ([n\d, ]+)\.", last)[0].split(", "), kind)}
    elif "coherence" in fields:
        found = _verdict(re.findall(r"\nIs (n\d+) coherent", last)[0], kind)
    elif "strategy" in fields:
        found = {"strategy": ["Read the task."], "risks": ["None."], "checklist": ["Look."]}
    elif "actions" in fields:
        numbers = schema["properties"]["actions"]["items"]["properties"]["action_index"]["enum"]
        found = {"actions": [{"action_index": n, "reasoning": f"why {n}", "label": -1} for n in numbers]}
    elif "known_basis" in fields:
        (number,) = schema["properties"]["action_index"]["enum"]
        found = {"action_index": number, "known_basis": "the task", "reasoning": f"why {number}", "label": 0}
    elif "task gamma" in everything:  # the report on this task is never usable
        return "Well."
    else:
        found = {"evidence": [], "status": "incomplete", "summary": "So far.", "lessons": [], "next_steps": ["Draw."]}
    return json.dumps(found)


def _groups(children: list[str], kind: str) -> list[dict[str, Any]]:
    """All kept; of the small attempt the first two actions are one shortcut."""
    kept = [
        {"mode": "keep", "source_node_ids": [child], **KEPT, "evidence_node_ids": [], "key_action_ids": []}
        for child in children
    ]
    if kind == "large" or children[0] != "n0":
        return kept
    shortcut = {
        "mode": "shortcut",
        "source_node_ids": children[:2],
        "title": "Sum without pandas",
        "dead_end": "pandas is missing",
        "working_path": "use csv",
        "outcome": "succeeded",
        "open_issue": "",
        "evidence_node_ids": ["n1"],
        "key_action_ids": [],
    }
    return [shortcut, *kept[2:]]


def _verdict(node: str, kind: str) -> dict[str, Any]:
    """The first half is complete; the second leaves an issue open; the root does not mention it."""
    found: dict[str, Any] = {"coherence": "coherent", "completion": "complete", "summary": "", "open_issues": []}
    found |= {"fatal_issues": [], "resolved_issue_ids": [], "resolution_evidence": {"issue_0": []}}
    keys = {"n7": ["n0", "n1", "n2"], "n8": ["n3", "n4", "n5"], "n6": []}[node] if kind == "large" else []
    if node == "n8":
        missing = ("chart.png is missing", "n3") if kind == "small" else ("part7.txt is missing", "n5")
        found |= {"open_issues": [{"issue": missing[0], "evidence_node_ids": [missing[1]]}]}
    if node == "n6":
        found |= {"summary": "One half is done."}
    return {**found, "key_action_ids": keys}
