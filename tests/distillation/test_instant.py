"""An analyst that answers at once: the same result as one that is waited for, with less ado."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_laws import trajectory

from dense.analyst.answers import MODELS, Answer, ReconciliationAnswer, ScoreAnswer
from dense.analyst.instant import Answering, InstantAnalyst
from dense.analyst.outline import OutlineAnalyst
from dense.analyst.questions import AnyQuestion, Cuts, Digest
from dense.distillation import Profile
from dense.distillation.panel import at_once
from dense.errors import AnalystFailed, KeyRefused
from dense.evidence.actions import EffectsOf, Remembered
from dense.service import Distillation, distill, distill_sync
from dense.trajectory import Observation, Source, Step, Trajectory
from dense.tree import leaves

PROFILES: tuple[Profile, ...] = ("fast", "paper")


class Instant:
    """The outline's answers, at once; or what it is told to say to a kind of question."""

    name = "instant"

    def __init__(self, **told: Answer | Exception) -> None:
        self.told = told
        self.asked: list[AnyQuestion] = []
        self.studied: list[Trajectory] = []

    def study(self, trajectory: Trajectory, effects: EffectsOf) -> Answering:
        self.studied.append(trajectory)
        for step in trajectory.steps:
            assert effects(step) is effects(step)
        return self.answer

    def answer(self, question: AnyQuestion) -> Answer:
        self.asked.append(question)
        told = self.told.get(question.kind)
        if isinstance(told, Exception):
            raise told
        if told is not None:
            return told
        reply: Any = json.loads(at_once(OutlineAnalyst().ask(question)))
        return MODELS[type(question)].validated(reply)


def said(done: Distillation) -> Any:
    """All that does not depend on the clock."""
    asked = [(asked.key, asked.attempts, asked.problems, asked.fell_back) for asked in done.record.asked]
    return done.source, done.reconciled, done.feedback, done.record.redactions, asked


@given(st.integers(1, 60), st.integers(0, 5), st.sampled_from(PROFILES))
def test_it_makes_the_same_of_a_trajectory_as_one_that_is_waited_for(count: int, seed: int, profile: Profile) -> None:
    waited = asyncio.run(distill(trajectory(count, seed), OutlineAnalyst(), profile=profile))
    assert said(distill_sync(trajectory(count, seed), Instant(), profile=profile)) == said(waited)


def test_it_needs_no_event_loop_and_minds_none() -> None:
    async def inside() -> Distillation:
        return distill_sync(trajectory(9, 1), Instant())

    async def awaited() -> Distillation:
        return await distill(trajectory(9, 1), Instant())

    alone = distill_sync(trajectory(9, 1), Instant())
    assert said(asyncio.run(inside())) == said(asyncio.run(awaited())) == said(alone)


@pytest.mark.parametrize("profile", PROFILES)
def test_each_step_is_looked_at_once_by_all_together(profile: Profile, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Step] = []
    look = Remembered._look  # pyright: ignore[reportPrivateUsage]

    def counted(known: Remembered, step: Step, *rest: Any) -> Any:
        seen.append(step)
        return look(known, step, *rest)

    monkeypatch.setattr(Remembered, "_look", counted)
    run = trajectory(30, 2)
    distill_sync(run, Instant(), profile=profile)
    assert sorted(map(id, seen)) == sorted(map(id, run.steps))


def test_it_studies_what_the_questions_show_without_secrets() -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    first, *rest = trajectory(8, 3).steps
    steps = (Step(first.source, observations=(Observation(token),)), *rest)
    analyst = Instant()
    done = distill_sync(Trajectory("test", "t", Source("t.jsonl"), steps=steps), analyst)
    (studied,) = analyst.studied
    assert token not in str(studied) and "[redacted: github-token 1]" in str(studied)
    assert all(leaf.step is step for leaf, step in zip(leaves(done.source.root), studied.steps, strict=True))


def test_it_sees_a_level_whole_however_long() -> None:
    analyst = Instant()
    distill_sync(trajectory(9_000, 4), analyst)
    cuts = [question for question in analyst.asked if isinstance(question, Cuts)]
    assert [len(question.queue) for question in cuts if question.level == 1] == [9_000]
    assert len({question.level for question in cuts}) == len(cuts)


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (ScoreAnswer(label=0), "ScoreAnswer where DigestAnswer was asked for"),
        (AnalystFailed("nothing to say"), "nothing to say"),
    ],
)
def test_an_answer_that_cannot_be_used_is_not_asked_for_again(answer: Any, problem: str) -> None:
    analyst = Instant(digest=answer)
    done = distill_sync(trajectory(20, 5), analyst)
    digests = [question for question in analyst.asked if isinstance(question, Digest)]
    fallen = [asked for asked in done.record.asked if asked.fell_back]
    assert digests and len(fallen) == len(digests)
    assert {(asked.attempts, asked.problems) for asked in fallen} == {(1, (problem,))}


def test_its_answers_are_checked_like_any_other() -> None:
    verdict = ReconciliationAnswer(coherence="coherent", completion="complete", key_action_ids=["n77"])
    done = distill_sync(trajectory(6, 6), Instant(reconciliation=verdict), profile="paper")
    assert done.reconciled.root.verdict is not None
    assert done.reconciled.root.verdict.state == "unknown"
    assert any("key_action_ids: n77 not among" in problem for asked in done.record.asked for problem in asked.problems)


def test_any_other_error_ends_the_run() -> None:
    for error in (KeyRefused("no"), ZeroDivisionError("no")):
        with pytest.raises(type(error)):
            distill_sync(trajectory(6, 7), Instant(cuts=error))


def test_work_that_waits_is_not_done_at_once() -> None:
    async def waits() -> None:
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="had to wait"):
        at_once(waits())


def test_an_analyst_is_instant_by_what_it_can_do() -> None:
    assert isinstance(Instant(), InstantAnalyst)
    assert not isinstance(OutlineAnalyst(), InstantAnalyst)
