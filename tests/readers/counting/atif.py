import json
from pathlib import Path


def count(path: Path) -> list[int]:
    """Agent steps that are neither copied nor only the output of an earlier call, with those of the continuation."""
    text = path.read_text()
    document = json.loads(text or "{}")
    agent = [s for s in document.get("steps", []) if s["source"] == "agent" and not s.get("is_copied_context")]
    agent = [s for s in agent if s.get("tool_calls") or "tool_call_id" not in (s.get("extra") or {})]
    further = path.parent / str(document.get("continued_trajectory_ref"))
    total = len(agent) + (count(further)[0] if further.is_file() else 0)
    return [total] if total else []
