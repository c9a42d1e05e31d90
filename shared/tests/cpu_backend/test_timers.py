"""Launch timers of several runtimes in one process (deep_jit.md section 20)."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal
from pathlib import Path

import numpy as np

import deep_jit

number = signal.SIGRTMIN + 6  # of the timers
seen = []
signal.signal(number, lambda number, frame: seen.append(number))  # as a runtime loaded before
kernel = deep_jit.Runtime(deep_jit.Config(Path.cwd(), "T"), backend="cpu").compile("k", '''
#include <c_api/asc_simd.h>
extern "C" __global__ __vector__ void k(__gm__ int32_t* out, int32_t hang) {
    volatile int zero = 0;
    while (hang && !zero) {}
    out[0] = 1;
}
''')
out = np.zeros(1, np.int32)
kernel({"num_blocks": 1}, out, 0)
os.kill(os.getpid(), number)  # not a timer of this runtime
assert seen == [number], seen
try:
    kernel({"num_blocks": 1, "num_launch_timeout_secs": 1}, out, 1)
except deep_jit.LaunchTimeout:
    print("stopped", len(seen))
"""


@pytest.mark.faults
def test_a_timer_of_another_runtime_is_handed_on():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout == "stopped 1\n", done.stdout + done.stderr
