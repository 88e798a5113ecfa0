"""Steps of tau-bench results: messages of the agent; tau2's opening greeting is none."""

import json
import pathlib


def count(path: pathlib.Path) -> list[int]:
    text = path.read_text()
    try:
        value = json.loads(text)
    except ValueError:
        value = [json.loads(line) for line in text.splitlines() if line.strip()]
    if isinstance(value, list):
        return [sum(message["role"] == "assistant" for message in row["traj"]) for row in value]
    counts = []
    for simulation in value.get("simulations") or [value]:
        roles = [message["role"] for message in simulation["messages"] if message["role"] != "system"]
        counts.append(roles.count("assistant") - (roles[:1] == ["assistant"]))
    return counts
