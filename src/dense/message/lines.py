"""The items of the report on a tree, with what they are about: whoever selects them reads these fields, never the
text."""

from __future__ import annotations

from dense.message.page import Item


class Line(Item, frozen=True, kw_only=True, omit_defaults=True):
    """A line, its text still being chosen."""

    head: str = ""
    """What its text begins with: the actions that it is about, with their state."""
    tries_head: str = ""
    """The same if its first clause, on tries that failed, is left out; empty for the same."""
    span: str = ""
    """The actions that it is about: `a3-a7`."""
    number: int = 0
    """Its place among the next steps, with which its text begins; 0 for a line of another kind."""
    issue: str = ""
    """The open issue that it reports."""
    names: tuple[str, ...] = ()
    """The code that it names. If something else shows all of it, the line of a need says nothing."""
    more: str = ""
    """The clause at its end that says how many more there are, which says nothing without the others."""

    @property
    def content(self) -> str:
        """The text behind the head."""
        return self.text[len(self.head) :]


class QuotedAction(Item, frozen=True, kw_only=True, omit_defaults=True):
    """An action with what is quoted of it."""

    path: str = ""
    """The file that it is about, with which its text ends."""
