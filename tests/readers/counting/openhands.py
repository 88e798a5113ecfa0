"""Steps of OpenHands traces: answers of the model, told apart by their ID; actions without one count each."""

import json
import pathlib
from typing import Any

NO_TURNS = {"system", "recall", "change_agent_state", "null", "condensation", "condensation_request"}


def count(path: pathlib.Path) -> list[int]:
    if path.is_dir():
        events = sorted(path.glob("event-*.json")) or sorted((path / "events").glob("event-*.json"))
        return [_steps([json.loads(event.read_text()) for event in events])]
    if path.suffix == ".jsonl":
        values = [json.loads(line) for line in path.read_text().splitlines() if line.strip()]
        if "history" in values[0]:
            return [steps for row in values if (steps := _steps(row["history"]))]
        return [_steps(values)]
    value = json.loads(path.read_text())
    return [
        _steps(value if isinstance(value, list) else next(value[k] for k in ("events", "trajectory") if k in value))
    ]


def _steps(events: list[Any]) -> int:
    answers = []
    for event in events:
        if event.get("source") != "agent":
            continue
        if "kind" in event:
            if event["kind"] in ("ActionEvent", "MessageEvent"):
                answers.append(event.get("llm_response_id") or event["id"])
        elif "action" in event and event["action"] not in NO_TURNS:
            response = (event.get("tool_call_metadata") or {}).get("model_response") or {}
            answers.append(response.get("id") or event["id"])
    return len(set(answers))
