"""Times calls next to each other, on a machine whose clock and load change."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

# Seconds until the threads of the call before have gone to sleep.
PAUSE = 0.05

Clock = Callable[[], float]
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}


def best_seconds(
    calls: list[Callable[[], object]], rounds: int, clock: Clock = time.perf_counter
) -> list[float]:
    """Best time of each call over interleaved rounds, each after a pause."""
    best = [float("inf")] * len(calls)
    for call in calls:
        call()
    for _ in range(rounds):
        for index, call in enumerate(calls):
            best[index] = min(best[index], _timed(call, clock))
    return best


def _timed(call: Callable[[], object], clock: Clock) -> float:
    time.sleep(PAUSE)
    start = clock()
    call()
    return clock() - start


@dataclass
class Times:
    """Seconds of calls of a reference and of a variant, round by round."""

    reference: list[float]
    variant: list[float]

    def ratio(self) -> float:
        """Median of the rounds' ratios, reference / variant."""
        return median(a / b for a, b in zip(self.reference, self.variant, strict=True))


def paired(
    reference: Callable[[], object],
    variant: Callable[[], object],
    rounds: int,
    clock: Clock = time.perf_counter,
) -> Times:
    """Calls both in every round, each of them first in every second round."""
    times = Times([], [])
    for index in range(rounds):
        turns = [(reference, times.reference), (variant, times.variant)]
        for call, seconds in reversed(turns) if index % 2 else turns:
            seconds.append(_timed(call, clock))
    return times
