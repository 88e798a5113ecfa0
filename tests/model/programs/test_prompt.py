"""The one text that a program reads: no program finds a command or the name of a file in it, and it can be undone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from dense.model.chat import ChatRequest, Message
from dense.model.programs.prompt import answer_without_escape, program_prompt, without_escape

TEXTS = st.text(st.sampled_from("@‹›at12345 /!#\nx"), max_size=60) | st.text(
    st.characters(exclude_categories=["Cs"]), max_size=60
)


def request(*texts: str, system: str = "") -> ChatRequest:
    roles = ("user", "assistant", "user")
    return ChatRequest(system, tuple(Message(role, text) for role, text in zip(roles, texts, strict=False)))


@given(TEXTS, TEXTS)
def test_the_escape_can_be_undone(system: str, text: str) -> None:
    prompt = program_prompt(request(text, system=system))
    assert "@" not in prompt
    assert prompt[0] not in "/!#@ \n"
    assert without_escape(prompt) == (f"{system}\n\n{text}" if system else text)


@given(TEXTS, TEXTS, TEXTS)
def test_a_conversation_arrives_whole(first: str, answer: str, second: str) -> None:
    text = without_escape(program_prompt(request(first, answer, second)))
    parts = [text.index(piece) for piece in (f"the request]\n{first}", f"your answer]\n{answer}", f"]\n{second}\n\n[")]
    assert parts[0] < parts[1]


def test_an_answer_that_repeats_the_escape_is_undone() -> None:
    prompt = program_prompt(request("owner: ann@example.org"))
    assert answer_without_escape(prompt, "ann‹at›example.org, and b@c") == "ann@example.org, and b@c"


def test_a_schema_is_described() -> None:
    prompt = program_prompt(ChatRequest("Be short.", (Message("user", "Why?"),), {"type": "object", "$comment": "@"}))
    assert '"type":"object"' in prompt and "@" not in prompt
