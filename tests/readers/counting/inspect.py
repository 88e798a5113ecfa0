"""Steps of Inspect logs: messages of the assistant, by sample. zstd alone is not in the standard library."""

import json
import re
import zipfile
from pathlib import Path
from typing import Any


def count(path: Path) -> list[int]:
    if path.suffix == ".json":
        return [_acts(sample["messages"]) for sample in json.loads(path.read_text())["samples"]]
    names = zipfile.ZipFile(path).namelist()
    samples = [name for name in names if re.fullmatch(r"samples/[^/]+\.json|samples/[^/]+/sample\.json", name)]
    return [_acts(_messages(path, name, names)) for name in samples]


def _messages(path: Path, name: str, names: list[str]) -> list[dict[str, Any]]:
    sample = _member(path, name)
    if "messages" in sample:
        return sample["messages"]
    chunks = [n for n in names if n.startswith(name.replace("sample.json", "messages/"))]
    pool = [m for n in sorted(chunks, key=lambda n: int(n.split("/")[-1][:-5])) for m in _member(path, n)]
    return [message for start, end in sample["message_refs"] for message in pool[start:end]]


def _member(path: Path, name: str) -> Any:
    archive = zipfile.ZipFile(path)
    info = archive.getinfo(name)
    if info.compress_type != 93:
        return json.loads(archive.read(name))
    import zstandard

    data = path.read_bytes()[info.header_offset :]
    start = 30 + int.from_bytes(data[26:28], "little") + int.from_bytes(data[28:30], "little")
    packed = data[start : start + info.compress_size]
    return json.loads(zstandard.ZstdDecompressor().decompressobj().decompress(packed))


def _acts(messages: list[dict[str, Any]]) -> int:
    return sum(message["role"] == "assistant" for message in messages)
