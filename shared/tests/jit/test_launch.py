"""Launches: checks, payload, streams, lifecycle, dry run (deep_jit.md sections 5 to 7)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deep_jit._shared.jit import (
    ArgumentError,
    Kernel,
    LaunchError,
    LaunchOptionError,
    LaunchOptions,
    Stream,
    dry_run,
    i32,
)
from deep_jit._shared.tests.jit.fake_backend import SOURCE, FakeBackend, make_runtime, source_of

Count = Callable[[], int]
ONE = LaunchOptions(num_blocks=1)


def test_launch_checks(root: Path) -> None:
    runtime = make_runtime()
    kernel = runtime.compile("run", SOURCE)
    with pytest.raises(ArgumentError, match="kernel must not be null"):
        runtime.launch(None, ONE)
    with pytest.raises(ArgumentError, match="got str"):
        runtime.launch("kernel", ONE)  # type: ignore[arg-type]
    with pytest.raises(LaunchOptionError, match="Ascend block count must be positive"):
        kernel({}, None, 1)
    with pytest.raises(LaunchOptionError, match="num_ubuf_bytes=999999 exceeds .* 262144 bytes"):
        kernel({"num_blocks": 1, "num_ubuf_bytes": 999999}, None, 1)
    with pytest.raises(ArgumentError, match="got 1 arguments; the kernel takes 2"):
        kernel(ONE, None)
    with pytest.raises(LaunchOptionError, match="stream must be a deep_jit.Stream"):
        kernel({"num_blocks": 1, "stream": 5}, None, 1)
    assert kernel.loaded.launches == []  # type: ignore[attr-defined]


def test_payload(root: Path) -> None:
    kernel = make_runtime().compile("run", SOURCE)
    kernel(ONE, None, 258)
    kernel.launch({"num_blocks": 3, "stream": None}, None, i32(258))
    payload = bytes(8) + (258).to_bytes(8, "little")
    assert [launch[0] for launch in kernel.loaded.launches] == [payload] * 2  # type: ignore[attr-defined]


def test_signature_argument(root: Path) -> None:
    runtime = make_runtime()
    kernel = runtime.compile("run", SOURCE, signature="float*, int64_t")
    kernel(ONE, None, 1 << 40)
    assert kernel is not runtime.compile("run", SOURCE)


def test_lifecycle(root: Path, compiler_log: Count) -> None:
    runtime = make_runtime()
    kernel = runtime.compile("run", SOURCE)
    loaded: Any = kernel.loaded
    kernel.unload()
    kernel.unload()
    assert loaded.unloads == 1
    with pytest.raises(LaunchError, match="kernel must be loaded before launch"):
        kernel(ONE, None, 1)
    fresh = runtime.compile("run", SOURCE)
    assert fresh is not kernel
    fresh(ONE, None, 1)
    assert compiler_log() == 1


def test_a_failing_kernel_is_named(root: Path) -> None:
    runtime = make_runtime()
    kernel = runtime.compile("bad_tag", SOURCE + "// fails_at_launch\n")
    with pytest.raises(LaunchError, match=r"kernel void run\(.*\) \(tag bad_tag\): block 3 read"):
        kernel(ONE, None, 1)
    stream = Stream()
    kernel({"num_blocks": 1, "stream": stream}, None, 1)
    with pytest.raises(LaunchError, match=r"\(tag bad_tag\): block 3 read address 0"):
        stream.synchronize()


def test_async_launch(root: Path) -> None:
    backend = FakeBackend()
    gate = threading.Event()
    backend.on_launch = lambda: gate.wait(10) and None
    runtime = make_runtime(backend, async_launch=True)
    kernel = runtime.compile("run", SOURCE)
    kernel(ONE, None, 1)
    assert kernel.loaded.launches == []  # type: ignore[attr-defined]
    gate.set()
    runtime.synchronize()
    assert runtime.stats.launches == 1


def test_dry_run(root: Path, compiler_log: Count) -> None:
    backend = FakeBackend()
    runtime = make_runtime(backend)
    loaded = runtime.compile("run", source_of(2))
    with dry_run():
        stub = runtime.compile("run", SOURCE)
        stub(ONE, "anything", "goes")
        loaded(ONE)
        runtime.launch(None, ONE)
    assert isinstance(stub, Kernel)
    assert stub.artifact.is_dir()
    assert len(backend.loads) == 1
    assert loaded.loaded.launches == []  # type: ignore[attr-defined]
    with pytest.raises(LaunchError, match="kernel must be loaded before launch"):
        stub(ONE, None, 1)
    assert runtime.compile("run", SOURCE) is not stub
    assert compiler_log() == 2
