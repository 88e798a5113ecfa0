"""A strict reader of reports, written against what is promised and not against the code that writes them."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

OPENER = re.compile(r'( *)<([a-z-]+)((?: [a-z-]+="[^"<>\n]*")*) end="([0-9a-f]{8}-[0-9]+)">')
ATTRIBUTE = re.compile(r' ([a-z-]+)="([^"]*)"')
GROUPS = {"report", "task", "shortcut", "lessons", "lesson", "key-action", "tool-call"}


@dataclass
class Element:
    """A block: its text, or its parts."""

    name: str
    attributes: dict[str, str]
    text: str = ""
    parts: list[Element] = field(default_factory=list["Element"])

    def __getitem__(self, name: str) -> str:
        return self.attributes[name]

    def get(self, name: str) -> str | None:
        return self.attributes.get(name)

    def names(self) -> list[str]:
        return [part.name for part in self.parts]

    def all(self, name: str, /, **attributes: str) -> list[Element]:
        return [p for p in self.parts if p.name == name and attributes.items() <= p.attributes.items()]

    def only(self, name: str, /, **attributes: str) -> Element:
        (found,) = self.all(name, **attributes)
        return found

    def below(self, name: str) -> list[Element]:
        """All of this name at any depth, in order."""
        found = [self] if self.name == name else []
        return found + [element for part in self.parts for element in part.below(name)]


class Parser:
    def __init__(self, report: str) -> None:
        self.report = report
        self.place = 0
        self.markers: list[str] = []

    def whole(self) -> Element:
        root = self.element(0)
        assert self.place == len(self.report), "something stands after the report's end"
        keys = {marker.split("-")[0] for marker in self.markers}
        assert len(keys) == 1
        assert len(set(self.markers)) == len(self.markers)
        assert self.report.count(keys.pop()) == 2 * len(self.markers), "the key stands in a text"
        for marker in self.markers:
            assert self.report.count(marker) == 2, "each block is opened and closed once"
        return root

    def element(self, depth: int) -> Element:
        opener = OPENER.match(self.report, self.place)
        assert opener, f"no opener at {self.report[self.place : self.place + 80]!r}"
        indent, name, attributes, marker = opener.groups()
        assert len(indent) == 2 * depth
        self.markers.append(marker)
        self.place = opener.end()
        pairs = ATTRIBUTE.findall(attributes)
        assert len(dict(pairs)) == len(pairs)
        assert all(value.isprintable() for _, value in pairs)
        found = Element(name, {key: html.unescape(value) for key, value in pairs})
        closer = f"</{name} {marker}>\n"
        end = self.report.index(closer, self.place)
        inside = self.report[self.place : end]
        if name in GROUPS and inside:
            self.place += 1
            while not self.report.startswith(indent + closer, self.place):
                found.parts.append(self.element(depth + 1))
            self.place += len(indent + closer)
            return found
        if inside.startswith("\n"):
            assert inside.endswith("\n" + indent)
            inside = inside[1 : len(inside) - len(indent) - 1]
            assert "\n" in inside
        else:
            assert "\n" not in inside
        found.text = inside
        self.place = end + len(closer)
        return found


@pytest.fixture(scope="session")
def parse() -> Callable[[str], Element]:
    """Recovers the structure of a report, and fails where it could be read in two ways."""
    return lambda report: Parser(report).whole()
