"""Streams of target cpu (deep_jit.md section 16)."""

from __future__ import annotations

import threading
import time

import pytest

from deep_jit._shared.jit.stream import Stream


def fail() -> None:
    raise ValueError("kernel died")


def test_order_and_thread() -> None:
    stream = Stream()
    seen: list[int] = []
    threads: set[int] = set()
    for index in range(50):
        stream.submit(lambda i=index: (seen.append(i), threads.add(threading.get_ident())))  # type: ignore[misc]
    stream.synchronize()
    assert seen == list(range(50))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


def test_query() -> None:
    stream = Stream()
    gate = threading.Event()
    assert stream.query()
    stream.submit(lambda: gate.wait() and None)
    assert not stream.query()
    with pytest.raises(TimeoutError, match="still running after"):
        stream.synchronize(timeout=0.01)
    gate.set()
    stream.synchronize()
    assert stream.query()


def test_error_is_raised_once_and_drops_the_rest() -> None:
    stream = Stream()
    seen: list[int] = []
    gate = threading.Event()
    stream.submit(lambda: gate.wait() and None)
    stream.submit(fail)
    stream.submit(lambda: seen.append(1))
    gate.set()
    with pytest.raises(ValueError, match="kernel died"):
        stream.synchronize()
    stream.synchronize()
    stream.submit(lambda: seen.append(2))
    stream.synchronize()
    assert seen == [2]


def test_error_is_raised_at_the_next_submit() -> None:
    stream = Stream()
    stream.submit(fail)
    while not stream.query():
        time.sleep(0.001)
    with pytest.raises(ValueError, match="kernel died"):
        stream.submit(lambda: None)
