"""The experiment's file: the forms that it may take, and what is said of one that is wrong."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from made_experiment import config, made_plan, run_all
from made_harness import MadeHarness
from pydantic import ValidationError

from dense.errors import BadConfig, DenseError
from refit.cli.run import seed_notices
from refit.experiment.config import as_data, read_config
from refit.experiment.costs import describe_costs
from refit.experiment.experiment import experiment_of
from refit.experiment.identity import identity_differences, identity_of
from refit.experiment.results_table.files import read_table, write_table
from refit.report import build
from refit.results import Experiment

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
    assert config.analyst.options.profile == "paper" and config.environment.type == "sandbox"
    assert len(config.methods) == 7 and config.repetitions == 3


def test_short_forms(tmp_path: Path) -> None:
    text = "name: x\ntasks: tasks\nrecipients: [{name: a, agent: nop}]\nmethods: [none]\nanalyst: rules\n"
    config = read_config(written(tmp_path, text))
    assert config.tasks.path == Path("tasks") and config.analyst.options.model is None
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
        (("repetitions: 3", "repetitions: 99999999"), "repetitions: Input should be less than or equal to 1000"),
        (("repetitions: 3", "repetition: 3"), "repetition: is no key that an experiment has"),
        (("name: demo", "name: ../demo"), "name: String should match pattern"),
        (("name: demo", ""), "name: is missing"),
        (("tasks: {path: tasks/}", "tasks: {}"), "tasks: give either `path` or `dataset`"),
        (("dense, verifier", "dence, verifier"), "methods: unknown method 'dence'"),
        (("dense, verifier", "dense, dense, verifier"), "methods: method 'dense' is there twice"),
        (("[none,", "[run0,"), "methods: `run0` is the shared round 0"),
        (("180 KiB", "180 furlongs"), "budget: '180 furlongs' is neither a number of bytes nor `paper`"),
        (("180 KiB", "100"), "budget: a budget of 100 bytes is too small: at least 512 are needed"),
        (("recipients: [", "recipients: [{name: kimi, agent: nop}, "), "recipients: recipient 'kimi' is there twice"),
        (("tasks: {path: tasks/}", "tasks: {dataset: terminal-bench@2.1}"), "say `environment: {type: sandbox, force"),
        (("name: demo", "name: [demo"), "no YAML"),
        (("name: demo", "name: !!timestamp x"), "no YAML"),
        (("repetitions: 3", f"repetitions: {'9' * 5_000}"), "no YAML"),
        (("environment: sandbox", "environment: 'dense.harness.own:X'"), "write 'refit.harness.own:X'"),
    ],
)
def test_what_is_wrong_is_reported_by_place(tmp_path: Path, change: tuple[str, str], reported: str) -> None:
    path = written(tmp_path, ISSUE.replace(*change))
    with pytest.raises(BadConfig) as error:
        read_config(path)
    assert str(path) in str(error.value) and reported in str(error.value)


def test_everything_wrong_is_reported_at_once(tmp_path: Path) -> None:
    text = ISSUE.replace("rounds: 1", "rounds: none").replace("memory: 3", "memory: 0").replace("agent:", "agnet:")
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, text))
    assert all(place in str(error.value) for place in ("rounds:", "memory:", "recipients.0.agent: is missing"))


MOVED = (
    ("environment", "dense.harness.sandbox.environment:SandboxEnvironment"),
    ("methods", "dense.methods.baselines.task_only:NoFeedback"),
    ("methods", "dense.methods.baselines.task_only:Advisor"),
    ("methods", "dense.methods.baselines.replay:SelfReflection"),
    ("methods", "dense.methods.baselines.replay:VerifierFeedback"),
    ("methods", "dense.methods.baselines.all_at_once:AllAtOnce"),
    ("methods", "dense.methods.baselines.step_by_step:StepByStep"),
)
"""Every class that an experiment of release 0.1 could name and that is elsewhere now."""


@pytest.mark.parametrize(("key", "path"), MOVED)
def test_a_moved_class_is_refused_with_the_name_that_it_has_now(tmp_path: Path, key: str, path: str) -> None:
    change = ("environment: sandbox", f"environment: '{path}'") if key == "environment" else ("[none,", f"['{path}',")
    with pytest.raises(BadConfig) as error:
        read_config(written(tmp_path, ISSUE.replace(*change)))
    module, _, name = str(error.value).rpartition("write '")[2].rstrip("'").partition(":")
    spec = find_spec(module)
    assert spec is not None and spec.origin is not None
    assert f"class {name}(" in (source := Path(spec.origin).read_text()) or f"class {name}:" in source


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


def test_arms_of_one_method() -> None:
    found = config(methods=["none", "dense", {"method": "dense", "profile": "paper", "budget": "paper"}])
    assert list(found.arms) == ["none", "dense", "dense@paper"]
    assert [arm.method for arm in found.arms.values()] == ["none", "dense", "dense"]
    sized = {"method": "advisor", "budget": "20 KiB", "label": "long"}
    assert list(config(methods=[sized, {"method": "dense", "budget": 9000}]).arms) == ["advisor@long", "dense@9000"]
    with pytest.raises(ValidationError, match="method 'dense' is there twice"):
        config(methods=["dense", {"method": "dense"}])


def test_a_plan_imports_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even a method of one's own, whose module would run; the run says in one line what is wrong with it."""
    (tmp_path / "own_module_that_runs.py").write_text("raise SystemExit('it ran')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    made = made_plan(tmp_path, methods=["own_module_that_runs:Method", "no.such.package:Method"])
    assert len(made.cells) == 2 * 2 * 3
    assert any("does not import" in line or "by the built-in rules" in line for line in describe_costs(made, None))
    with pytest.raises(DenseError, match=r"^the method 'own_module\w+:Method' cannot be loaded: [^\n]*it ran[^\n]*$"):
        made.config.load_methods()
    for name in ("not a module:Class", "module:", ":Class", "a..b:C"):
        with pytest.raises(ValidationError, match=r"is no `module:Class`"):
            config(methods=[name])


def test_an_agent_whose_package_is_missing_is_one_line(tmp_path: Path) -> None:
    made = made_plan(tmp_path, recipients=[{"name": "r", "agent": "no_such_package.agents:Own"}])
    with pytest.raises(DenseError, match=r"'no_such_package\.agents:Own' cannot be loaded: No module named"):
        identity_of(made.config, tuple(made.tasks.values()), made.base)


def test_deeply_nested_yaml_is_one_line(tmp_path: Path) -> None:
    file = tmp_path / "refit.yaml"
    file.write_text("name: x\noptions: " + "[" * 5_000)
    with pytest.raises(BadConfig, match=r"refit\.yaml: .*nested too deeply"):
        read_config(file)


def test_compose_files_lie_beside_the_experiment_and_are_part_of_it(tmp_path: Path) -> None:
    place = {"type": "docker", "settings": {"extra_docker_compose": ["compose.yaml"], "force_build": True}}
    made = made_plan(tmp_path, environment=place)
    file = made.base / "compose.yaml"
    assert made.config.environment.settings_at(made.base) == {
        "extra_docker_compose": [str(file)],
        "force_build": True,
    }
    found = list[dict[str, object]]()
    for text in ("services: {}", "services: {main: {}}"):
        file.write_text(text)
        found.append(identity_of(made.config, tuple(made.tasks.values()), made.base))
    assert [words.partition(" (")[0] for words, _ in identity_differences(*found)] == ["environment: files changed"]


def test_a_recipient_that_takes_no_seed_is_named() -> None:
    people = [
        {"name": "drawn", "agent": "nop", "options": {"llm_call_kwargs": {"seed": "{seed}"}}},
        {"name": "free", "agent": "nop", "options": {"temperature": 0}},
    ]
    [notice] = seed_notices(config(recipients=people))
    assert notice.startswith("recipient 'free': no option uses {seed}")


def test_tasks_of_a_recipient(tmp_path: Path) -> None:
    people = [{"name": "all", "agent": "nop"}, {"name": "some", "agent": "nop", "exclude": ["*-2"]}]
    made = made_plan(tmp_path, recipients=people, methods=["none"], repetitions=1)
    assert [(pair.recipient, pair.task) for pair in made.pairs] == [
        ("all", "task-1"),
        ("some", "task-1"),
        ("all", "task-2"),
    ]
    assert [task.name for task in made.tasks_of("some")] == ["task-1"]
    run_all(made, MadeHarness())
    report = build(experiment_of(made.folder))
    assert [row.task for row in report.recipients[1].tasks if row.is_applicable] == ["task-1"]
    assert report.recipients[1].tasks_applicable == 1 and not report.invalid
    with pytest.raises(BadConfig, match="recipient 'r': exclude: no task is called 'nope'"):
        made_plan(tmp_path, recipients=[{"name": "r", "agent": "nop", "exclude": ["nope"]}])
    with pytest.raises(BadConfig, match="no task is left"):
        made_plan(tmp_path, recipients=[{"name": "r", "agent": "nop", "exclude": ["*"]}])
    # To run more tasks only adds cells; to run fewer would drop results.
    before = identity_of(made.config, tuple(made.tasks.values()), made.base)
    more = made_plan(tmp_path, recipients=[people[0], {**people[1], "exclude": []}], methods=["none"], repetitions=1)
    now = identity_of(more.config, tuple(more.tasks.values()), more.base)
    assert identity_differences(before, now) == [("excluded: some: task-2 is gone", True)]
    assert identity_differences(now, before) == [("excluded: some: task-2 is new", False)]


def test_a_plan_has_an_end(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match="an experiment of 12,002,000 cells: at most 1,000,000 are possible; split it"):
        made_plan(tmp_path, repetitions=1000, rounds=1000)


def test_arms_are_named_by_profile_and_budget(tmp_path: Path) -> None:
    arms = ["none", "dense", {"method": "dense", "budget": "paper"}, {"method": "dense-flat", "label": "x"}]
    made = made_plan(tmp_path, methods=arms, repetitions=1)
    run_all(made, MadeHarness())
    report = build(experiment_of(made.folder))
    assert [(name.label, name.role, name.settings.budget) for name in report.methods] == [
        ("Baseline", "baseline", ""),
        ("None (second try)", "method", ""),
        ("DENSE (rules)", "method", "default"),
        ("DENSE (rules, paper)", "method", "paper"),
        ("DENSE, flat (rules, x)", "ablation", "default"),
    ]
    table = tmp_path / "table.csv"
    experiment = experiment_of(made.folder)
    write_table(experiment.results, table)
    again = build(Experiment("again", read_table(table).results))
    assert sorted(name.label for name in again.methods) == sorted(name.label for name in report.methods)
