"""What a report says, as one frozen structure: tables, figures, the page and `report.json` are made of it alone.

Units: pass rates are percentages (0 … 100) and their differences percentage points; changes of tokens and of money are
percentages; rewards are as the verifier gave them; tokens are tokens; money is USD for one result. No value is rounded
here, and ranks go by values that are not; the ends of intervals have ten digits. None is unknown, or not to be had from
these data; words say which."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from refit.results import Cell, Prices

SCHEMA = "dense.report/2"
"""Of `report.json`."""

Role = Literal["baseline", "method", "ablation", "privileged"]
"""`baseline` is round 0; an `ablation` is DENSE without a part, in a table of its own; `privileged` saw outcomes."""
IntervalKind = Literal["bootstrap", "bound"]
"""Resampled over tasks; or, where all tasks but one or two have the same value, what so few cannot rule out."""
Verdict = Literal["higher", "lower", "no claim"]
"""What a comparison supports."""


class Interval(Struct, frozen=True):
    """A 95 % interval, in the unit of what it belongs to."""

    low: float
    """Its lower end."""
    high: float
    """Its upper end."""
    kind: IntervalKind = "bootstrap"
    """How it was made."""


class MeanEstimate(Struct, frozen=True):
    """A mean: repetitions averaged within a task, then tasks equally."""

    value: float | None = None
    """The number; None where nothing is known."""
    interval: Interval | None = None
    """Its interval; None with one task, or where the tasks do not vary and no bound holds."""
    tasks: int = 0
    """Tasks that it is computed from."""
    known: int = 0
    """Results (for a difference: pairs) that it is computed from."""
    of: int = 0
    """How many there are; more than `known` if some are unknown, and then every output of the number says so."""


class StandardCost(Struct, frozen=True):
    """USD for one result. Standardised: recorded tokens at the prices of the report, whatever was really charged."""

    execution: MeanEstimate
    """Of the recipient's own run."""
    feedback: MeanEstimate
    """Of making the feedback once; no value if no call was made (see `MethodRow.is_generated`)."""
    total: MeanEstimate
    """Both together, the source run not included."""
    total_change: MeanEstimate | None
    """Of the total, in percent of the baseline's; None for the baseline itself."""
    workflow: MeanEstimate
    """The source run, the feedback and the run together; no value in later rounds, which have several source runs."""
    uncached: int
    """Results whose record does not separate cached input: all their input is priced as uncached."""


class RecordedCost(Struct, frozen=True):
    """USD for one result as the programs themselves recorded it: shown apart, never mixed with the standardised."""

    execution: MeanEstimate
    """Of the recipient's runs."""
    feedback: MeanEstimate
    """Of the feedback."""


class Transition(Struct, frozen=True):
    """Pairs, by what they were in round 0 and what they are now."""

    retained: int
    """Passed before and now."""
    regressed: int
    """Passed before, not now."""
    repaired: int
    """Passed now, not before."""
    failed: int
    """Passed neither time."""
    regressed_without_tools: int | None
    """Of the regressed: runs without a single tool call; None where no tool calls are recorded."""

    @property
    def net(self) -> int:
        """Repaired less regressed."""
        return self.repaired - self.regressed

    @property
    def successes(self) -> int:
        """Passed now."""
        return self.retained + self.repaired

    @property
    def pairs(self) -> int:
        """All of them."""
        return self.retained + self.regressed + self.repaired + self.failed


class CellCounts(Struct, frozen=True):
    """Cells, by what came of them."""

    planned: int
    """All that there should be; for an import, all that there are."""
    scored: int
    """With a reward."""
    invalid: int
    """Executed, never scored: excluded, not zeros."""
    missing: int
    """Planned, without any result yet."""
    unpaired: int
    """Scored, and excluded because the other half of their pair was not."""
    out_of_context: int = 0
    """Of the invalid ones, those whose agent ran out of its model's context."""


class Ranks(Struct, frozen=True):
    """1 is best, 2 second; equal values share a rank and take no further one. None is not ranked."""

    passed: int | None = None
    """By pass rate, the baseline included."""
    tokens: int | None = None
    """By recipient tokens, the baseline included, fewest first."""
    execution: int | None = None
    """By USD of execution, the baseline included, cheapest first."""
    feedback: int | None = None
    """By USD of feedback, among methods that make calls."""
    total: int | None = None
    """By USD of both, the baseline included."""


class MethodRow(Struct, frozen=True):
    """One method in one round, for one recipient. The baseline is such a row too: method `run0`, round 0."""

    method: str
    """Its identifier."""
    label: str
    """As it is shown."""
    role: Role
    """How it is shown: ranked or apart."""
    round: int
    """Which."""
    counts: CellCounts
    """Of its cells."""
    passes: int
    """Strict passes among its pairs."""
    passed: MeanEstimate
    """Strict pass rate, over pairs of which both cells are scored."""
    change: MeanEstimate | None
    """Of the pass rate from round 0 in points, over the same pairs; None for the baseline, and without a round 0."""
    source_passed: float | None
    """Pass rate of round 0 over this row's pairs: differs from the baseline's row where cells are invalid."""
    means: dict[str, MeanEstimate]
    """The mean of each measure that is averaged, by its name (`refit.measures.AVERAGED`)."""
    tokens: MeanEstimate
    """The recipient's tokens."""
    tokens_change: MeanEstimate | None
    """Ratio of mean tokens to the baseline row's, less one, in percent."""
    partial: int
    """Results whose tokens are those of completed calls only."""
    is_generated: bool | None
    """Whether any call was made for its feedback; None where that is not recorded."""
    without_tools: int | None
    """Runs without a single tool call, among those where tool calls are recorded; None where none is."""
    cost: StandardCost | None
    """Standardised USD; None without prices."""
    recorded: RecordedCost | None
    """Recorded USD; None where nothing was recorded."""
    transition: Transition | None
    """Against round 0; None for the baseline, and without a round 0."""
    ranks: Ranks = Ranks()
    """Among the rows of its round that are ranked."""


class WorstCase(Struct, frozen=True):
    """A difference with cells that lack a grade counted against it: those of a higher method as failures, those of its
    reference as passes; of a lower one the other way round. Who loses failures on the way must not gain by it."""

    method_unscored: int
    """Cells of the method so counted."""
    reference_unscored: int
    """Cells of the reference so counted."""
    points: MeanEstimate
    """Difference of pass rates in points."""
    p: float | None
    """As the difference's own."""
    holm: float | None = None
    """`p` adjusted over the family, each member at its worst."""


class Difference(Struct, frozen=True):
    """A method against a reference, on pairs of which both cells are scored, and round 0 is where there is one."""

    family: str
    """What Holm corrects over: `run0`, `none`, `self-reflection` (each method less this), `dense` (it less any other
    method), or `cumulative` (solved at least once, through the last round). No comparison is in two families."""
    method: str
    """The minuend."""
    method_label: str
    """As it is shown."""
    reference: str
    """The subtrahend."""
    reference_label: str
    """As it is shown."""
    round: int
    """Of the method; the reference's is the same, or 0 for `run0`."""
    points: MeanEstimate
    """Difference of pass rates in points."""
    both: int
    """Pairs that both passed."""
    method_only: int
    """Pairs that only the method passed."""
    reference_only: int
    """Pairs that only the reference passed."""
    neither: int
    """Pairs that neither passed."""
    p: float | None
    """Two-sided, exact: signs of the tasks' differences flipped in all ways. The test that claims rest on."""
    smallest_p: float | None
    """What `p` would be if every task that differs pointed the same way: below it these data cannot go."""
    holm: float | None
    """`p` adjusted over the family by Holm."""
    mcnemar: float | None
    """Exact McNemar over pairs. It takes pairs of one task for independent, which they are not."""
    tokens: MeanEstimate | None
    """Relative change of mean recipient tokens against the reference, in percent, over pairs where both are known."""
    verdict: Verdict
    """Higher or lower only if Holm's p is below 0.05, the interval excludes zero and the tasks are not too few; and if
    the same holds of `worst`."""
    says: str
    """The verdict in words, with its reason."""
    worst: WorstCase | None = None
    """With unscored cells counted against it; None where there is none."""


class CumulativePoint(Struct, frozen=True):
    """Pairs solved at least once through a round."""

    round: int
    """Through which."""
    solved: int
    """How many pairs."""
    passed: MeanEstimate
    """Their share, pairs weighted equally, in percent."""


class CumulativeLine(Struct, frozen=True):
    """One method through the rounds, over the pairs that are matched among all methods of the recipient."""

    method: str
    """Its identifier."""
    label: str
    """As it is shown."""
    role: Role
    """How it is shown."""
    points: tuple[CumulativePoint, ...]
    """From round 0 on."""


class TaskOutcome(Struct, frozen=True):
    """One task under one method in one round, all repetitions."""

    method: str
    """`run0` for round 0."""
    round: int
    """Which."""
    passes: int
    """Strict passes."""
    scored: int
    """Repetitions with a reward."""
    planned: int
    """Repetitions that there should be."""
    rank: int | None = None
    """1 best, 2 second among the task's unprivileged methods of this round; None for others."""
    checks: tuple[str, ...] = ()
    """Of the verifier's checks, how many passed: one entry for each repetition whose verifier left a report."""
    means: dict[str, float | None] = {}
    """By measure the mean over the repetitions that are scored; None if unknown."""

    @property
    def rate(self) -> float | None:
        """Pass rate in percent; None where nothing was scored."""
        return 100 * self.passes / self.scored if self.scored else None


class TaskRow(Struct, frozen=True):
    """One task of one recipient."""

    task: str
    """Its name."""
    is_applicable: bool
    """Whether the recipient has it at all: grey in a heatmap where not."""
    outcomes: tuple[TaskOutcome, ...]
    """Round 0 first, then by round, methods in the order of the report."""


class UnscoredCell(Struct, frozen=True):
    """A cell that has no grade."""

    cell: Cell
    """Which."""
    is_missing: bool
    """Planned and not run yet; otherwise run and never scored."""
    reason: str
    """What ended it; empty where unknown."""
    is_out_of_context: bool = False
    """Run and never scored because the agent ran out of its model's context."""


class RecipientReport(Struct, frozen=True):
    """All numbers of one recipient."""

    recipient: str
    """Its name."""
    tasks_applicable: int
    """Tasks that it has."""
    repetitions: int
    """The most repetitions that a task has."""
    rounds: int
    """The last round."""
    baseline: MethodRow | None
    """Round 0; None where there is none."""
    rows: tuple[MethodRow, ...]
    """Each method in the first round with feedback, in the order of the report, privileged ones last."""
    later: tuple[MethodRow, ...]
    """The same in later rounds, by round. They are ranked within their round."""
    differences: tuple[Difference, ...]
    """Every comparison of the first round with feedback, by family; then of the last, cumulatively."""
    cumulative: tuple[CumulativeLine, ...]
    """By round; empty without a round 0 or without matched pairs."""
    cumulative_pairs: int
    """Matched pairs: scored in every round under every method."""
    cumulative_dropped: int
    """Pairs that are not."""
    tasks: tuple[TaskRow, ...]
    """Every task of the report, sorted by name, those that this recipient does not have included."""
    headline: str
    """Its main result in one sentence, with the interval."""
    caveats: tuple[str, ...]
    """What these data cannot say, in words."""
    prices: Prices | None
    """Of its model."""


class MethodSettings(Struct, frozen=True):
    """How a method's feedback was made, so that nobody takes one for another."""

    profile: str = ""
    """The analyst's profile, or `rules`; empty if unknown."""
    budget: str = ""
    """How large the feedback could be: bytes, `paper` or `default`; empty if unknown."""


class MethodName(Struct, frozen=True):
    """A method as the report shows it. The position in `Report.methods` is what its colour goes by."""

    method: str
    """Its identifier."""
    label: str
    """As it is shown."""
    short: str
    """Where space is small."""
    role: Role
    """How it is shown."""
    settings: MethodSettings = MethodSettings()
    """How its feedback was made."""


class Report(Struct, frozen=True):
    """Everything that a report says about an experiment."""

    schema: str
    """`SCHEMA`."""
    dense: str
    """The version that made it."""
    name: str
    """The experiment's."""
    notes: tuple[str, ...]
    """What must be said wherever a number of it is shown."""
    headline: str
    """The main result in one sentence, with its interval."""
    caveats: tuple[str, ...]
    """What holds for all recipients; each recipient has its own besides."""
    methods: tuple[MethodName, ...]
    """`run0` first, then in the experiment's order."""
    tasks: tuple[str, ...]
    """All tasks, sorted."""
    recipients: tuple[RecipientReport, ...]
    """In the experiment's order."""
    invalid: tuple[UnscoredCell, ...]
    """Every cell without a grade, sorted."""
    excluded: tuple[str, ...]
    """Tasks left out in `sensitivity`."""
    sensitivity: tuple[RecipientReport, ...]
    """All numbers once more, without the excluded tasks; empty where none is."""
    analyst_prices: Prices | None
    """Of the model that wrote the feedback."""
    seed: int
    """Of the resampling."""
    draws: int
    """How many samples of the tasks were drawn."""
    method_of_intervals: str
    """How intervals and p-values were made, in words."""
    facts: dict[str, Any]
    """What was run, as recorded by the experiment."""
