"""The experiment's file: the forms that it may take, and what is said of one that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from dense.errors import BadConfig
from dense.refit.config import as_data, read_config

ISSUE = """
name: demo
tasks: {path: tasks/}
environment: sandbox
recipients: [{name: kimi, agent: terminus-2, model: openrouter/kimi-k2.6, options: {temperature: 0}}]
methods: [none, advisor, self-reflection, all-at-once, step-by-step, dense, verifier-feedback]
analyst: {model: gemini/gemini-3-flash-preview, profile: paper}
repetitions: 3
rounds: 1
memory: 3
budget: 180 KiB
concurrency: 4
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "refit.yaml"
    path.write_text(text)
    return path


def test_the_file_of_the_issue(tmp_path: Path) -> None:
    config = read_config(written(tmp_path, ISSUE))
    assert config.budget == 180 * 1024
    assert config.analyst.profile == "paper" and config.environment.type == "sandbox"
    assert len(config.methods) == 7 and config.repetitions == 3


def test_short_forms(tmp_path: Path) -> None:
    text = "name: x\ntasks: tasks\nrecipients: [{name: a, agent: nop}]\nmethods: [none]\nanalyst: rules\n"
    config = read_config(written(tmp_path, text))
    assert config.tasks.path == Path("tasks") and config.analyst.model is None
    assert (config.repetitions, config.rounds, config.memory) == (3, 1, 3)


@pytest.mark.parametrize(
    ("given", "budget"), [("100 KiB", 102_400), ("paper", "paper"), ("5000", 5_000), ("null", None)]
)
def test_a_budget_is_bytes_the_paper_s_or_the_default(tmp_path: Path, given: str, budget: object) -> None:
    assert read_config(written(tmp_path, ISSUE.replace("180 KiB", given))).budget == budget


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        (("repetitions: 3", "repetitions: 0"), "repetitions: Input should be greater than or equal to 1"),
        (("repetitions: 3", "repetition: 3"), "repetition: is no key that an experiment has"),
        (("name: demo", "name: ../demo"), "name: String should match pattern"),
        (("name: demo", ""), "name: is missing"),
        (("tasks: {path: tasks/}", "tasks: {}"), "tasks: give either `path` or `dataset`"),
        (("dense, verifier", "dence, verifier"), "methods: unknown method 'dence'"),
        (("dense, verifier", "dense, dense, verifier"), "methods: method 'dense' is there twice"),
        (("[none,", "[run0,"), "methods: `run0` is the shared round 0"),
        (("180 KiB", "180 furlongs"), "budget"),
        (("180 KiB", "100"), "greater than or equal to 512"),
        (("recipients: [", "recipients: [{name: kimi, agent: nop}, "), "recipients: recipient 'kimi' is there twice"),
        (("tasks: {path: tasks/}", "tasks: {dataset: terminal-bench@2.1}"), "say `environment: {type: sandbox, force"),
        (("name: demo", "name: [demo"), "no YAML"),
    ],
)
def test_what_is_wrong_is_told_by_place(tmp_path: Path, change: tuple[str, str], reported: str) -> None:
    path = written(tmp_path, ISSUE.replace(*change))
    with pytest.raises(BadConfig) as error:
        read_config(path)
    assert str(path) in str(error.value) and reported in str(error.value)


def test_everything_wrong_is_told_at_once(tmp_path: Path) -> None:
    text = ISSUE.replace("rounds: 1", "rounds: none").replace("memory: 3", "memory: 0").replace("agent:", "agnet:")
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, text))
    assert all(place in str(error.value) for place in ("rounds:", "memory:", "recipients.0.agent: is missing"))


@pytest.mark.parametrize("text", ["", "- a\n", "just words", "\xff"])
def test_what_is_no_experiment_at_all(tmp_path: Path, text: str) -> None:
    path = tmp_path / "refit.yaml"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadConfig):
        read_config(path)
    with pytest.raises(BadConfig, match="cannot be read"):
        read_config(tmp_path / "absent.yaml")


def test_terminal_bench_may_be_forced_into_the_sandbox(tmp_path: Path) -> None:
    text = ISSUE.replace("tasks: {path: tasks/}", "tasks: {dataset: terminal-bench@2.1}")
    forced = text.replace("environment: sandbox", "environment: {type: sandbox, force: true}")
    assert read_config(written(tmp_path, forced)).environment.force
    assert read_config(written(tmp_path, text.replace("environment: sandbox", "environment: docker")))


def test_credentials_are_not_written_down(tmp_path: Path) -> None:
    secret = "sk-very-secret-0123456789"
    env = f"env: {{OPENAI_API_KEY: {secret}, OTHER_TOKEN: '${{OTHER_TOKEN}}', MODE: fast}}"
    text = ISSUE.replace("options: {temperature: 0}", f"{env}, options: {{api_key: {secret}}}")
    data = as_data(read_config(written(tmp_path, text)))
    assert secret not in str(data)
    recipient = data["recipients"][0]
    assert recipient["env"]["OTHER_TOKEN"] == "${OTHER_TOKEN}" and recipient["env"]["MODE"] == "fast"
    assert recipient["options"]["api_key"].startswith("sha256:")


def test_a_server_beside_the_file_is_found(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("")
    text = ISSUE.replace("options: {temperature: 0}", "server: [python, model.py, --port, '{port}']")
    recipient = read_config(written(tmp_path, text)).recipients[0].recipient(tmp_path)
    assert Path(recipient.server[0]).is_absolute()
    assert recipient.server[1:] == (str(tmp_path / "model.py"), "--port", "{port}")
