import json
from pathlib import Path

CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call", "tool_search_call")
SPOKEN = {"message", "reasoning", "image_generation_call", *CALLS}


def count(path: Path) -> list[int]:
    """Runs of the agent's items, cut at outputs and at counts of tokens, or at marks where there are some; the summary
    before a compaction is none."""
    text = _unpacked(path)
    has_marks = '"record_type":"state"' in text
    total, is_open, last = 0, False, []
    for record in map(json.loads, text.splitlines()):
        item = record.get("payload") or record
        kind = item.get("type")
        if record.get("kind") == "codex_event":  # a log of the user interface
            total += item["msg"]["type"] == "agent_message"
        elif record.get("type") == "item.completed":  # codex exec --json
            total += record["item"]["type"] in ("agent_message", "command_execution")
        elif record.get("type") == "compacted":
            total -= last == ["message"] and bool(item.get("message"))
        elif record.get("type") == "event_msg" and kind != "token_count":
            continue
        elif kind in SPOKEN and item.get("role", "assistant") == "assistant":
            total += not is_open
            last = [*last, kind] if is_open else [kind]
            is_open = True
        elif record.get("record_type") == "state" or (str(kind).endswith("output") and not has_marks):
            is_open, last = False, []
        elif record.get("type") == "token_usage_record" or (
            kind == "token_count" and (item.get("info") or {}).get("last_token_usage")
        ):
            is_open = is_open and last == ["reasoning"]
        elif (item.get("role") == "user" and "<turn_aborted>" not in str(item)) or kind == "agent_message":
            is_open = False
    base = (json.loads(text.partition("\n")[0]).get("payload") or {}).get("history_base")
    if base:  # a fork goes on from all lines of another rollout
        (before,) = path.parent.glob(f"*{base['thread_id']}.jsonl")
        total += sum(count(before))
    return [total]


def _unpacked(path: Path) -> str:
    if path.suffix == ".zst":
        import zstandard

        with zstandard.open(path, "rt") as file:
            return file.read()
    return path.read_text()
