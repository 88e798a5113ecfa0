"""The example tasks: their own solution passes, doing nothing fails, and results that only look right fail."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import NamedTuple

import pytest

from refit.harness.harbor import EnvironmentSettings, HarborHarness
from refit.harness.harness import AttemptOrder, AttemptResult, Recipient
from refit.harness.sandbox import Sandbox, SandboxSettings
from refit.harness.sandbox.transfer import members_of

TASKS = Path(__file__).parents[2] / "examples" / "refit" / "tasks"
NAMES = sorted(folder.name for folder in TASKS.iterdir())


class Wrong(NamedTuple):
    """A result that is not right: the task's solution with something changed in it, and something done after it."""

    task: str
    says: str
    """What the verifier must say."""
    old: str = ""
    new: str = ""
    then: str = ""


SLOW = "    return sum(one + other == wanted for at, one in enumerate(readings) for other in readings[:at])\n"
SET = "    known = set(readings)\n    return sum(wanted - one in known for one in known) // 2\n"
MET = "{(found[2], found[3]) for found in met}"
PAIRS = """    seen, count = Counter(), 0
    for reading in readings:
        count += seen[wanted - reading]
        seen[reading] += 1
    return count
"""
WRONG = [
    Wrong("csv-report", "no JSON object", then="echo 2769.5 > /app/summary.json"),
    Wrong("csv-report", "there is no chart.png", then="rm /app/chart.png"),
    Wrong("csv-report", "not a PNG image", then="cp /app/sales.csv /app/chart.png"),
    Wrong("csv-report", "is damaged", then="truncate -s 300 /app/chart.png"),
    Wrong("csv-report", "not the sum", old='replace(",", ".")', new='partition(",")[0]'),
    Wrong("csv-report", "not a number", old="float(sum(amounts.values()))", new="str(sum(amounts.values()))"),
    Wrong("csv-report", "in proportion", old="float(amount / max(amounts.values())) * most", new="60 + 40 * place"),
    Wrong("csv-report", "3 bars in colours of their own", old="colours[place % 4]", new="colours[place % 3]"),
    Wrong("csv-report", "not white", old="[(255, 255, 255)] * width", new="[(0, 0, 0)] * width"),
    Wrong("csv-report", "one base line", old="range(base - tall, base)", new="range(9 * place, 9 * place + tall)"),
    Wrong("csv-report", "not solid", old="range(base - tall, base)", new="range(base - tall, base, 2)"),
    Wrong("csv-report", "wrong size", old="320, 240, 220, 200", new="320, 110, 100, 90"),
    Wrong("csv-report", "sales.csv was changed", then="sed -i 's/412/4/' /app/sales.csv"),
    Wrong("split-password", "right half: neither", old="front + back", new='"7QKOLDPASS0001EXAM2Z"'),
    Wrong("split-password", "right half: first", old="front + back", new="front"),
    Wrong("split-password", "right half: second", old="front + back", new="back"),
    Wrong("split-password", "not one line", old='front + back + "\\n"', new='front + "\\n" + back'),
    Wrong("split-password", "not hold the password", then="sed -i 's/^/password: /' /app/password.txt"),
    Wrong("split-password", "were changed", then="echo >> /app/disk.img"),
    Wrong("service-config", "workers must be a number", old="workers = 4", new="workers = many"),
    Wrong("service-config", "timeout must be at least", old="conf.d/10-limits.ini", new="config.ini"),
    Wrong("service-config", "/srv/catalog.tsv does not exist", old="conf.d/90-site.ini", new="config.ini"),
    Wrong("service-config", "folder /app/service/run", old="mkdir -p run", new=""),
    Wrong("service-config", "fewer than 2 workers", old="workers = 4", new="workers = 1"),
    Wrong("service-config", "serve.py was changed", then="echo >> /app/service/serve.py"),
    Wrong("service-config", "its own catalog", "/app/service/data/catalog.tsv", "/tmp/c", "head -3 data/* > /tmp/c"),
    Wrong("service-config", "nothing answers", then="sed -i 's|^socket = .*|socket = /tmp/s|' /app/service/config.ini"),
    Wrong("merge-ledgers", "lost letters", old="encoding=encoding", new='encoding="utf-8", errors="ignore"'),
    Wrong("merge-ledgers", "lost letters", old='"latin-1"', new='"cp437"'),
    Wrong("merge-ledgers", "updated last", old='< row["updated"]', new='< "9"'),
    Wrong("merge-ledgers", "one row for each id", old=".strip().upper()", new=""),
    Wrong("merge-ledgers", "one row for each id", old="sorted(members)", new="members"),
    Wrong("merge-ledgers", "four columns", then="sed -i 's/,/;/g' /app/merged.csv"),
    Wrong("merge-ledgers", "not UTF-8", then="iconv -t latin1 /app/merged.csv > /tmp/m; mv /tmp/m /app/merged.csv"),
    Wrong("slow-pairs", "too slow", PAIRS, SLOW),
    Wrong(
        "slow-pairs",
        "not count right",
        PAIRS,
        SET,
    ),
    Wrong("slow-pairs", "not count right", PAIRS, "    return 2747\n"),
    Wrong("slow-pairs", "pairs fails", PAIRS, "    return wanted.missing\n"),
    Wrong("slow-pairs", "does not print the count", old="    print(pairs(", new="    (pairs("),
    Wrong("slow-pairs", "measure.py was changed", then="sed -i 's/60_000/10**9/' /app/measure.py"),
    Wrong("log-incident", "no JSON object", then="echo '[]' > /app/incident.json"),
    Wrong("log-incident", "`first` is not", old=".iterdir()", new='.glob("*[!z]")'),
    Wrong("log-incident", "`first` is not", old=".astimezone(timezone.utc)", new=""),
    Wrong("log-incident", "`requests` is not", old="len({found[2] for found in met})", new="len(met)"),
    Wrong("log-incident", "`user` is not", MET, "[(0, found[3]) for found in met]"),
    Wrong("log-incident", "logs were changed", then="rm /app/logs/shop.log.1"),
]


def test_the_solution_passes_and_doing_nothing_fails(able: None, tmp_path: Path) -> None:
    async def attempts() -> dict[tuple[str, str], AttemptResult]:
        harness, gate = HarborHarness(EnvironmentSettings("sandbox")), asyncio.Semaphore(4)

        async def attempt(task: str, agent: str) -> AttemptResult:
            async with gate:
                order = AttemptOrder(
                    f"{task}-{agent}", Recipient(agent, agent), TASKS / task, tmp_path / f"{task}-{agent}"
                )
                return await harness.attempt(order)

        pairs = [(task, agent) for task in NAMES for agent in ("oracle", "nop")]
        async with harness:
            return dict(zip(pairs, await asyncio.gather(*(attempt(*pair) for pair in pairs)), strict=True))

    found = asyncio.run(attempts())
    assert {pair: (one.reward, one.exception) for pair, one in found.items()} == {
        (task, agent): (1.0 if agent == "oracle" else 0.0, None) for task in NAMES for agent in ("oracle", "nop")
    }


@pytest.mark.parametrize("task", NAMES)
def test_wrong_results_are_refused(able: None, task: str) -> None:
    solution = (TASKS / task / "solution" / "solve.sh").read_text()
    cases = [case for case in WRONG if case.task == task]

    async def graded() -> list[tuple[str, str]]:
        sandbox = await Sandbox.start(SandboxSettings())
        try:
            for part, place in (("environment", "/seed"), ("tests", "/tests")):
                await sandbox.put(members_of(TASKS / task / part), place)
            return [await grade(sandbox, case) for case in cases]
        finally:
            await sandbox.stop()

    async def grade(sandbox: Sandbox, case: Wrong) -> tuple[str, str]:
        """The reward, and what the verifier said."""
        assert case.old in solution
        script = solution.replace(case.old, case.new) if case.old else solution
        fresh = "rm -rf /app /logs && cp -a /seed /app && cd /app"
        verify = "bash /tests/test.sh; echo reward $(cat /logs/verifier/reward.txt)"
        done = await sandbox.run(["bash", "-c", f"{fresh}\n{script}\n{case.then}\n{verify}"])
        said, _, reward = done.out.rpartition("reward ")
        return reward.strip(), said

    for case, (reward, said) in zip(cases, asyncio.run(graded()), strict=True):
        assert case.says in said, (case, said)
        assert reward == "0", (case, said)
