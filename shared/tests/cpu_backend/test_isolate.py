"""Isolated launches: whatever a kernel does to its process, this one and the outputs stay whole."""

from __future__ import annotations

import ctypes
import os
import time

import numpy as np
import pytest

from deep_jit._shared.emulator import emulator, gm_range
from deep_jit._shared.emulator.sanitizer import SanitizerError, SanitizerWarning, record
from deep_jit._shared.jit.config import Config
from deep_jit._shared.jit.errors import (
    ArgumentError,
    LaunchError,
    LaunchOptionError,
    LaunchTimeout,
)
from deep_jit._shared.jit.kernel import Kernel
from deep_jit._shared.jit.runtime import Runtime
from deep_jit._shared.jit.stream import Stream

SOURCE = """
#include <c_api/asc_simd.h>
#include <csignal>
#include <cstdio>
#include <unistd.h>
extern "C" __global__ __vector__ void wild(__gm__ int32_t* out, __gm__ const int32_t* in,
                                           int32_t what) {
    volatile int zero = 0;
    out[0] = in[0] + 1;
    if (what == 1) _exit(7);
    if (what == 2) raise(SIGKILL);
    if (what == 3) *reinterpret_cast<volatile int*>(0x10) = 1;
    if (what == 4) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, nullptr);
        while (!zero) {}
    }
    if (what == 5) asc_sync_wait(PIPE_MTE2, PIPE_V, 0);
    if (what == 6) asc_sync_notify(PIPE_MTE2, PIPE_V, 0);
    if (what == 7)
        asc_copy_ub2gm_align(reinterpret_cast<__gm__ uint8_t*>(out), (__ubuf__ uint8_t*)0, 64);
    if (what == 8) std::printf("said by the kernel");
}
"""


@pytest.fixture(scope="module")
def runtime(tmp_path_factory) -> Runtime:
    root = tmp_path_factory.mktemp("isolate")
    return Runtime(Config(root, "DJX", extra_signature="isolate"), backend="cpu")


@pytest.fixture(scope="module")
def kernel(runtime) -> Kernel:
    return runtime.compile("wild", SOURCE)


@pytest.fixture
def launch(kernel):
    """Launches on fresh arrays: `(what, timeout=60, **keywords) -> out`."""

    def run(what: int, timeout: int = 60, out: np.ndarray | None = None, **keywords):
        out = np.zeros(4, np.int32) if out is None else out
        source = np.full(4, 41, np.int32)
        options = {"num_blocks": 1, "num_launch_timeout_secs": timeout}
        kernel.launch(options, out, source, what, isolate=True, **keywords)
        assert (source == 41).all()
        return out

    return run


def test_results_come_back(launch, runtime, kernel):
    assert launch(0).tolist() == [42, 0, 0, 0]
    out = np.zeros(1, np.int32)
    runtime.launch(kernel, {"num_blocks": 1}, out, np.zeros(1, np.int32), 0, isolate=True)
    assert out[0] == 1


def test_views_and_their_neighbours(launch):
    base = np.arange(12, dtype=np.int32)
    launch(0, out=base[4:8])
    assert base.tolist() == [0, 1, 2, 3, 42, 5, 6, 7, 8, 9, 10, 11]


def test_on_a_stream(kernel):
    stream, out = Stream(), np.zeros(1, np.int32)
    kernel.launch({"num_blocks": 1, "stream": stream}, out, np.zeros(1, np.int32), 0, isolate=True)
    stream.synchronize()
    assert out[0] == 1


@pytest.mark.faults
@pytest.mark.parametrize(
    ("what", "text"),
    [
        (1, "kernel wild ended its process: it exited with status 7; the outputs were left"),
        (2, "kernel wild ended its process: signal SIGKILL"),
        (3, "SIGSEGV"),
        (5, "deadlock|no core can go on"),
    ],
)
def test_a_crash_ends_only_the_child(launch, what, text):
    out = np.zeros(4, np.int32)
    with pytest.raises(LaunchError, match=text):
        launch(what, out=out)
    assert not out.any()
    assert launch(0).tolist() == [42, 0, 0, 0]


@pytest.mark.faults
def test_a_hang_that_no_signal_ends_is_killed(launch):
    start, out = time.monotonic(), np.zeros(4, np.int32)
    with pytest.raises(LaunchTimeout, match="longer than its limit of 1 s; its process was killed"):
        launch(4, timeout=1, out=out)
    assert time.monotonic() - start < 60
    assert not out.any()
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)  # no child is left


def test_findings_of_the_checkers_come_back(launch):
    with emulator(checks="synccheck"):
        with record() as findings:
            launch(6)
        assert "is still set when the kernel ends" in findings[0].message
        with pytest.warns(SanitizerWarning, match="is still set"):
            launch(6)
    with emulator(checks="memcheck"), pytest.raises(SanitizerError) as caught:
        launch(7)
    assert caught.value.reports[0].checker == "memcheck"


def test_what_the_kernel_prints_is_not_lost(launch, capfd):
    launch(8)
    assert capfd.readouterr().out.count("said by the kernel") == 1


def test_all_tensors_must_be_known(kernel):
    out, source = np.zeros(4, np.int32), np.zeros(4, np.int32)
    hidden = ctypes.c_void_p(out.ctypes.data)
    with pytest.raises(ArgumentError, match="must know every tensor of wild.*memory="):
        kernel.launch({"num_blocks": 1}, hidden, source, 0, isolate=True)
    kernel.launch({"num_blocks": 1}, hidden, source, 0, isolate=True, memory=[gm_range(out)])
    assert out[0] == 1


def test_only_the_emulator_isolates(kernel, monkeypatch):
    monkeypatch.setattr(kernel._runtime.backend, "name", "ascend", raising=False)
    with pytest.raises(LaunchOptionError, match="works on backend cpu, got backend ascend"):
        kernel.launch({"num_blocks": 1}, None, None, 0, isolate=True)
