import json
from pathlib import Path


def count(path: Path) -> list[int]:
    """Distinct responses of the main agent; a file of a sub-agent has nothing but sidechain lines."""
    main, side = set[str](), set[str]()
    for line in path.read_text(errors="replace").splitlines():
        try:
            record = json.loads(line)
        except ValueError:
            continue
        if record.get("type") == "assistant" and record["message"].get("model") != "<synthetic>":
            is_side = record.get("isSidechain") or record.get("parent_tool_use_id")
            (side if is_side else main).add(record["message"]["id"])
    return [len(main or side)]
