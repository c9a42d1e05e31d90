"""Single flight, waiting, failure, interruption (deep_jit.md section 16)."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from deep_jit._shared.jit.mem_cache import MemCache


def in_threads(count: int, work: Any) -> list[Any]:
    """Run `work` in threads at once; results or exceptions in order of thread."""
    results: list[Any] = [None] * count
    barrier = threading.Barrier(count)

    def run(index: int) -> None:
        barrier.wait()
        try:
            results[index] = work(index)
        except BaseException as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,)) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    return results


def test_same_key_is_built_once() -> None:
    cache: MemCache[object] = MemCache()
    calls: list[int] = []
    waits: list[int] = []

    def build() -> object:
        calls.append(1)
        time.sleep(0.05)
        return object()

    results = in_threads(6, lambda i: cache.get("k", build, lambda: waits.append(i)))
    assert len(calls) == 1
    assert len({id(result) for result in results}) == 1
    assert len(waits) == 5


def test_different_keys_do_not_wait() -> None:
    cache: MemCache[int] = MemCache()
    barrier = threading.Barrier(3, timeout=10)
    assert in_threads(3, lambda i: cache.get(i, barrier.wait)) != [None] * 3
    assert len(cache) == 3


def test_waiters_get_the_same_exception_and_nothing_stays() -> None:
    cache: MemCache[int] = MemCache()

    def fail() -> int:
        time.sleep(0.05)
        raise ValueError("no")

    results = in_threads(3, lambda _: cache.get("k", fail))
    assert len({id(result) for result in results}) == 1
    assert isinstance(results[0], ValueError)
    assert cache.get("k", lambda: 7) == 7


def test_an_interrupted_producer_is_replaced_by_a_waiter() -> None:
    cache: MemCache[int] = MemCache()
    first = threading.Event()

    def build() -> int:
        if not first.is_set():
            first.set()
            time.sleep(0.05)
            raise KeyboardInterrupt
        return 3

    results = in_threads(3, lambda _: cache.get("k", build))
    assert sorted(map(repr, results)) == ["3", "3", "KeyboardInterrupt()"]


def test_a_factory_that_asks_for_itself() -> None:
    cache: MemCache[int] = MemCache()
    with pytest.raises(RuntimeError, match="asked for its own value"):
        cache.get("k", lambda: cache.get("k", lambda: 1))
    assert cache.peek("k") is None


def test_without_keeping() -> None:
    cache: MemCache[int] = MemCache(keep=False)
    numbers = iter(range(5))
    assert [cache.get("k", lambda: next(numbers)) for _ in range(3)] == [0, 1, 2]


def test_discard_and_clear() -> None:
    cache: MemCache[int] = MemCache()
    cache.get("a", lambda: 1)
    cache.get("b", lambda: 2)
    cache.discard("a")
    assert cache.values() == [2]
    cache.clear()
    assert len(cache) == 0
