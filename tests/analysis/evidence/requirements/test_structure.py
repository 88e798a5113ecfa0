"""Where a name stands: headings, lists, lead-ins, code, quotations, reports of faults."""

from __future__ import annotations

from dense.analysis.evidence.requirements import requirements
from dense.trajectory import Task


def files(text: str) -> dict[str, str]:
    return {found.subject: found.role for found in requirements(Task(text)) if found.kind == "file"}


def test_sections_for_input_and_output():
    text = """# Rates

## Input
- `/data/rates.csv`: one rate a day

## Output
- `/data/mean.json` — the mean
- the maximum, in a second line

### `/data/log.txt`
What was done.
"""
    assert files(text) == {"/data/rates.csv": "given", "/data/mean.json": "deliverable", "/data/log.txt": "deliverable"}


def test_a_lead_in_speaks_for_its_list():
    text = "Read in.csv and make two files from it:\n\n- `a.json`: a sum\n- `b.png`: a chart of in.csv\n\nThanks."
    assert files(text) == {"in.csv": "given", "a.json": "deliverable", "b.png": "deliverable"}


def test_an_item_that_begins_with_a_name_and_what_it_holds_is_a_result():
    made = "Create three files:\n- `a.txt` with one word\n- `b.txt`, two of them\n- `c.txt` containing the rest\n"
    assert files(made) == {"a.txt": "deliverable", "b.txt": "deliverable", "c.txt": "deliverable"}
    assert files("Deliver:\n* a.csv — the rows\n* b.json — the counts\n") == {
        "a.csv": "deliverable",
        "b.json": "deliverable",
    }
    assert files("Input files:\n- `a.txt` with one word\n") == {"a.txt": "given"}
    used = "Create the following files:\n- `a.txt` with one word\n- use `in.txt` with care\n"
    assert files(used) == {"a.txt": "deliverable", "in.txt": "given"}


def test_a_path_alone_in_a_code_block_ends_the_sentence_before_it():
    assert files("Write the chart to:\n```\n/app/chart.html\n```\n") == {"/app/chart.html": "deliverable"}


def test_code_names_no_deliverables():
    text = "Repair the loader.\n\n```python\nwith open('out.txt', 'w') as f:\n    f.write('x')\n```\n"
    assert files(text) == {}


def test_quotations_only_mention():
    assert files("> Please write the result to out.txt.\n\nAnswer this letter.") == {"out.txt": "mentioned"}


def test_a_report_of_a_fault_asks_for_no_file():
    text = """Loader loses the last line
I'm using version 3. To reproduce, create a file `demo.py`:

```python
import loader
```

Expected behavior: all lines. It seems that `loader/core.py` stops early.
"""
    assert set(files(text).values()) <= {"mentioned", "given"}
    assert "demo.py" in files(text)


def test_a_record_of_a_session_asks_for_no_file():
    text = "Go on.\n$ git status\n$ git diff\nAdd a.rs to b.rs\n$ cargo build\n$ cargo test\nThinking: fix lib.rs now\n"
    assert "deliverable" not in files(text).values()


def test_asides_only_mention():
    text = "Fix the parser.\n\n## Submission\n\nCreate patch.txt with `git diff`.\n\n## Example\n\nWrite to demo.txt.\n"
    assert files(text) == {"patch.txt": "mentioned", "demo.txt": "mentioned"}


def test_the_strongest_role_stays_and_each_subject_comes_once():
    text = "The notes are in ./notes.md. Update notes.md with the date. Then read notes.md again."
    found = [one for one in requirements(Task(text)) if one.kind == "file"]
    assert [(one.subject, one.role) for one in found] == [("./notes.md", "deliverable")]
    assert found[0].clause == "Update notes.md with the date."


def test_what_is_asked_for_survives_a_flood_of_names():
    flood = " ".join(f"see doc{number}.md." for number in range(200))
    found = requirements(Task(f"{flood} Write the index to index.html."))
    assert len(found) == 60
    assert [one.subject for one in found if one.role == "deliverable"] == ["index.html"]


def test_the_end_of_a_very_long_text_is_read():
    text = "A list of words follows.\n" + "lorem ipsum dolor\n" * 20_000 + "\nWrite the longest word to word.txt.\n"
    assert files(text) == {"word.txt": "deliverable"}
