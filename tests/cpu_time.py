"""Guards against quadratic work that no busy machine can fail.

One measurement of one test says little: the garbage collector walks all that the worker holds, and another program may
take the core. So the collector is off, CPU time counts, and a bound is called broken only if several turns break it:
quadratic work breaks every turn, a disturbed turn is made up for by the next."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

TURNS = 6


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of one turn, the garbage collector off."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        start = time.process_time()
        work()
        return time.process_time() - start
    finally:
        if was_on:
            gc.enable()


def assert_within(seconds: float, work: Callable[[], object]) -> None:
    """One of several turns stays below so many seconds."""
    taken: list[float] = []
    while not taken or (taken[-1] >= seconds and len(taken) < TURNS):
        taken.append(cpu_seconds(work))
    assert taken[-1] < seconds, f"every turn took longer than {seconds} s: {taken}"


def assert_growth(
    prepare: Callable[[int], Callable[[], object]], small: int, large: int, *, most: float, spare: float = 0.05
) -> None:
    """The work of the large size takes at most so many times that of the small one, and `spare` seconds.

    `prepare` makes the work of one size; making it is not measured."""
    short, long = cpu_seconds(prepare(small)), cpu_seconds(prepare(large))
    for _ in range(TURNS - 1):
        if long < most * short + spare:
            break
        long = min(long, cpu_seconds(prepare(large)))
    assert long < most * short + spare, f"{large / small:g} times the size: {long:.3f} s against {short:.3f} s"
