"""What an attempt learned: tokens, pieces, their worth, and the output that backs a sentence."""

from __future__ import annotations

import pytest

from dense.analysis.actions.action import Actions
from dense.analysis.flow.conclusions import backing, is_conclusion
from dense.analysis.flow.flow import Flow
from dense.analysis.flow.pieces import MIN_BLOCK_CHARS, pieces_of, sentences, stretches
from dense.analysis.flow.tokens import is_data, line_tokens, shape, tokens
from dense.trajectory import Observation, Source, Step, ToolCall


def step(said: str, command: str, output: str) -> Step:
    return Step(Source("x"), said, calls=(ToolCall("bash", {"command": command}),), observations=(Observation(output),))


def flow_of(*steps: Step, task: str = "Recover the log.") -> Flow:
    return Flow(Actions(steps).transcript, task)


def index_of(flow: Flow, text: str) -> int:
    return next(index for index, piece in enumerate(flow.pieces) if text in piece.text)


def test_tokens_are_words_names_paths_and_numbers() -> None:
    assert tokens("Wrote /app/out.txt, 0x42 = 66!") == {"wrote", "app/out.txt", "out.txt", "0x42", "66"}
    assert tokens("残業は45時間") == {"残業", "は", "45", "時間"}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("   17\tM73 P0", {"m73", "p0"}),
        ("12:def run", {"def", "run"}),
        ("12:30 start", {"12", "30", "start"}),
        ("2026-11-19 due", {"2026-11-19", "due"}),
    ],
)
def test_the_number_of_a_line_is_none_of_its_tokens(line: str, expected: set[str]) -> None:
    assert line_tokens(line) == expected


def test_encoded_data_is_no_text() -> None:
    assert is_data("iVBORw0KGgo" * 20)
    assert not is_data('{"id":"E-733","title":"Atlas","due":"2026-11-19","branch":"north","fine":0}' * 3)
    assert not is_data("https://example.org/" + "a" * 150)


def test_lines_that_differ_in_numbers_have_one_shape() -> None:
    assert shape("G1 X57.172 Y86") == shape("G1 X60.288 Y81")
    assert shape("G1 X57.172 Y86") != shape("M204 P4000")


def test_what_is_used_later_is_worth_more_than_what_nobody_uses() -> None:
    flow = flow_of(step("", "file a.wal b.wal", "magic 753d44c0\nsalt 91ab77e2"), step("", "xor a.wal 753d44c0", "ok"))
    used, unused = index_of(flow, "magic"), index_of(flow, "salt")
    assert flow.gains[used] > 1.5 * flow.gains[unused]


def test_what_is_shown_already_adds_less() -> None:
    flow = flow_of(step("", "ls", "alpha.py beta.py"))
    index = index_of(flow, "alpha.py")
    assert flow.gain(index, {"alpha.py": 1, "beta.py": 1}) < flow.gain(index, {}) == pytest.approx(flow.gains[index])


def test_a_repeated_line_and_encoded_data_are_never_worth_showing() -> None:
    flow = flow_of(step("", "a", "same line"), step("", "b", f"same line\n{'QUJD' * 40}"))
    assert flow.gains[-1] < 0 and flow.gains[-2] < 0 < flow.gains[index_of(flow, "same line")]


def test_a_sentence_is_backed_by_one_line_that_shows_all_of_it() -> None:
    outputs = step("", "solve", "mod 9973 seed 77")
    told = step("The seed is 77 and values wrap at 9973.", "next", "ok")
    flow = flow_of(outputs, told)
    sentence = index_of(flow, "The seed is 77")
    assert is_conclusion(flow, sentence) and backing(flow, [sentence]) == [1]


@pytest.mark.parametrize(
    "output",
    [
        "seed 77\nmod 9973",  # two lines: nobody says that they belong together
        "seed 77",  # half of it
        "",
    ],
)
def test_a_sentence_that_no_line_shows_whole_is_the_agent_s_word(output: str) -> None:
    flow = flow_of(step("", "solve", output), step("The seed is 77 and values wrap at 9973.", "next", "ok"))
    sentence = index_of(flow, "The seed is 77")
    assert not is_conclusion(flow, sentence) and backing(flow, [sentence]) == []


def test_an_output_that_comes_later_backs_nothing() -> None:
    flow = flow_of(step("The seed is 77 and values wrap at 9973.", "solve", "seed 77 mod 9973"))
    assert backing(flow, [index_of(flow, "The seed is 77")]) == []


def test_messages_are_sentences_and_code() -> None:
    code = "```python\nx = 1\n```"
    text = f"It fails. The cause is the missing delimiter in the reader.\n{code}\nSo I set it to a semicolon now."
    assert list(sentences(text)) == [
        ("says", "It fails. The cause is the missing delimiter in the reader."),
        ("code", "x = 1"),
        ("says", "So I set it to a semicolon now."),
    ]


def test_a_long_line_becomes_stretches_that_hold_all_of_it() -> None:
    line = " ".join(f"word{number}" for number in range(200))
    parts = list(stretches(line))
    assert len(parts) > 3 and " ".join(part.strip("…") for part in parts) == line


def test_of_a_large_block_the_telling_lines_are_read() -> None:
    output = "\n".join(["line of progress"] * 5_000 + ["ValueError: 1.200.00"] + ["line of progress"] * 5_000)
    (action,) = Actions([step("", "run", output)]).transcript
    texts = [piece.text for piece in pieces_of(0, action, MIN_BLOCK_CHARS)]
    assert "ValueError: 1.200.00" in texts and len(texts) < 100
