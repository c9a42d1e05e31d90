"""Kernels through the whole npu path: tools, cache, ACL, emulator (architecture.md section 7)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from deep_jit._shared.jit.args import f32, i32
from deep_jit._shared.jit.config import Config
from deep_jit._shared.jit.errors import CompileError, LaunchError, LaunchTimeout
from deep_jit._shared.jit.options import LaunchOptions
from deep_jit._shared.jit.runtime import Runtime
from deep_jit._shared.testing.npu_tensors import NpuStream, register_npu_device, to_npu
from deep_jit._shared.testing.stand_ins import StandInToolkit
from deep_jit._shared.testing.stand_ins.harness import AclJournal

NUM_BLOCKS, TILE = 3, 64
COPY = f"""#include "c_api/asc_simd.h"

__global__ __vector__ __aicore__ void copy(__gm__ float* out, __gm__ float* in) {{
    asc_init();
    __ubuf__ float tile[{TILE}];
    uint32_t offset = static_cast<uint32_t>(asc_get_block_idx()) * {TILE};
    asc_copy_gm2ub(tile, in + offset, {TILE} * sizeof(float));
    asc_sync_notify(PIPE_MTE2, PIPE_MTE3, 0);
    asc_sync_wait(PIPE_MTE2, PIPE_MTE3, 0);
    asc_copy_ub2gm(out + offset, tile, {TILE} * sizeof(float));
}}
"""
SCALARS = """#include "c_api/asc_simd.h"

__global__ __vector__ __aicore__ void scalars(__gm__ float* out, int32_t add, float factor) {
    if (asc_get_block_idx() == 0) {
        out[0] = static_cast<float>(add) * factor + BIAS;
    }
}
"""
MIX = """#include "c_api/asc_simd.h"

__global__ __mix__(1, 2) __aicore__ void roles(__gm__ int32_t* out) {
    uint32_t slot = static_cast<uint32_t>(asc_get_block_idx()) * 4;
    if ASC_IS_AIC {
        out[slot] = 1;
    } else {
        out[slot + 1 + static_cast<uint32_t>(asc_get_sub_block_id())] = 2;
    }
}
"""
HANG = """#include "c_api/asc_simd.h"

__global__ __vector__ __aicore__ void hang(__gm__ volatile int32_t* flag) {
    asc_init();
    while (*flag == 0) {
    }
}
"""


@pytest.fixture
def runtime(
    make_toolkit: Callable[..., StandInToolkit],
    journal: AclJournal,
    jit_cache_root: Path,
    empty_jit_cache: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Runtime:
    """A runtime of the npu target whose kernels run in the emulator; its own cache is empty."""
    toolkit = make_toolkit(emulate=True, cache_dir=str(jit_cache_root))
    monkeypatch.setenv("ASCEND_HOME_PATH", str(toolkit.home))
    register_npu_device()
    return Runtime(Config("/", "T"), "ascend")


def npu(values: Any, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return to_npu(torch.as_tensor(np.asarray(values)).to(dtype))


def test_right_numbers(runtime: Runtime, journal: AclJournal) -> None:
    given = npu(np.arange(NUM_BLOCKS * TILE))
    out = torch.zeros(NUM_BLOCKS * TILE, device="npu")
    kernel = runtime.compile("copy", COPY)
    with register_npu_device().stream(NpuStream(0x40)):
        kernel(LaunchOptions(num_blocks=NUM_BLOCKS), out, given)
    assert torch.equal(out.cpu(), given.cpu())
    (launch,) = journal.launches()
    payload = out.data_ptr().to_bytes(8, "little") + given.data_ptr().to_bytes(8, "little")
    assert launch["payload"] == payload.hex()
    assert (launch["stream"], launch["num_blocks"]) == (0x40, NUM_BLOCKS)
    assert launch["timeout_seconds"] == 300


def test_disk_hit_runs_no_tool(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.compile("copy", COPY)
    again = Runtime(Config("/", "T"), "ascend")
    kernel = again.compile("copy", COPY)
    assert (again.stats.disk_hits, again.stats.builds) == (1, 0)
    given, out = npu(np.arange(TILE)), npu(np.zeros(TILE))
    kernel(LaunchOptions(num_blocks=1), out, given)
    assert torch.equal(out.cpu(), given.cpu())


def test_scalars_and_macros(runtime: Runtime) -> None:
    options = {"extra_bisheng_flags": ["-DBIAS=0.5f"]}
    kernel = runtime.compile("scalars", SCALARS, options)
    out = npu([0.0])
    kernel(LaunchOptions(num_blocks=1), out, i32(7), f32(2.0))
    assert out.cpu().tolist() == [14.5]


def test_mix_kernel_runs_both_kinds_of_cores(runtime: Runtime) -> None:
    kernel = runtime.compile("roles", MIX)
    assert kernel.info is not None
    assert (kernel.info.num_aic, kernel.info.num_aiv) == (1, 2)
    out = npu(np.zeros(8), torch.int32)
    kernel(LaunchOptions(num_blocks=2), out)
    assert out.cpu().tolist() == [1, 2, 2, 0, 1, 2, 2, 0]


def test_compiler_diagnostics_reach_the_caller(runtime: Runtime) -> None:
    with pytest.raises(CompileError, match="command failed with exit code") as caught:
        runtime.compile("bad", COPY.replace("asc_init()", "no_such_function()"))
    assert "no_such_function" in caught.value.output
    assert runtime.stats.build_failures == 1


@pytest.mark.parametrize("blocking", [True, False])
def test_timeout_shows_at_a_wait(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch, blocking: bool
) -> None:
    kernel = runtime.compile("hang", HANG)
    options = LaunchOptions(num_blocks=1, num_launch_timeout_secs=1)
    flag = npu([0], torch.int32)
    if blocking:
        monkeypatch.setenv("ASCEND_LAUNCH_BLOCKING", "1")
        with pytest.raises(LaunchTimeout, match="ACL error 507014: .*timeout"):
            kernel(options, flag)
    else:
        kernel(options, flag)
        acl = runtime.backend._acl  # type: ignore[attr-defined]
        with pytest.raises(LaunchTimeout):
            acl.synchronize_stream(0)
        acl.synchronize_stream(0)


def test_unload_and_compile_again(runtime: Runtime, journal: AclJournal) -> None:
    kernel = runtime.compile("copy", COPY)
    kernel.unload()
    with pytest.raises(LaunchError, match="kernel must be loaded before launch"):
        kernel(LaunchOptions(num_blocks=1), npu([0.0]), npu([0.0]))
    given, out = npu(np.arange(TILE)), npu(np.zeros(TILE))
    runtime.compile("copy", COPY)(LaunchOptions(num_blocks=1), out, given)
    assert torch.equal(out.cpu(), given.cpu())
    assert len(journal.calls("aclrtBinaryLoadFromFile")) == 2
