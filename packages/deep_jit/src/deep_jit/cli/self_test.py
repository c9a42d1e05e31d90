"""The kernel `deep-jit doctor` runs on a target: a copy through the Unified Buffer."""

from __future__ import annotations

import struct
import time
from pathlib import Path
from typing import Any

__all__ = ["TARGETS", "run_self_test"]

TARGETS = ("cpu", "npu")

_NUM_BLOCKS, _TILE = 4, 64
_SOURCE = f"""#include "c_api/asc_simd.h"

__global__ __vector__ __aicore__ void deep_jit_self_test(__gm__ float* out, __gm__ float* in) {{
    asc_init();
    __ubuf__ float tile[{_TILE}];
    uint32_t offset = static_cast<uint32_t>(asc_get_block_idx()) * {_TILE}; asc_copy_gm2ub(tile, in
    + offset, {_TILE} * sizeof(float)); asc_sync_notify(PIPE_MTE2, PIPE_MTE3, 0);
    asc_sync_wait(PIPE_MTE2, PIPE_MTE3, 0); asc_copy_ub2gm(out + offset, tile, {_TILE} *
    sizeof(float));
}}
"""


def run_self_test(target: str) -> dict[str, Any]:
    """Compiles, loads and launches the kernel; checks every number.

    Args:
        target: `cpu` (emulator) or `npu` (ACL, needs torch with device npu).

    Returns:
        `status` (`passed`, `failed` or `absent`), `seconds`, and `detail` when it did not pass.
    """
    start = time.monotonic()
    try:
        absent = _why_absent(target)
        if absent:
            return {"status": "absent", "detail": absent}
        wrong = _run(target)
    except Exception as error:
        detail = f"{type(error).__name__}: {error}"
        return {"status": "failed", "seconds": _since(start), "detail": detail}
    if wrong:
        return {"status": "failed", "seconds": _since(start), "detail": wrong}
    return {"status": "passed", "seconds": _since(start)}


def _why_absent(target: str) -> str:
    """Why the target is not on this machine, empty when it is."""
    if target == "cpu":
        return ""
    from .._shared.jit.backends.ascend.acl import load_acl
    from .._shared.jit.backends.ascend.toolkit import find_toolkit
    from .._shared.jit.errors import ToolchainError

    try:
        load_acl(find_toolkit().library_dirs())
    except ToolchainError as error:
        return str(error)
    return ""


def _run(target: str) -> str:
    """Returns what is wrong with the result, empty when nothing is."""
    from .._shared.jit.config import Config
    from .._shared.jit.options import LaunchOptions
    from .._shared.jit.runtime import Runtime

    config = Config.with_global_prefix(Path(__file__).parent)
    runtime = Runtime(config, "ascend" if target == "npu" else "cpu")
    kernel = runtime.compile("deep_jit_self_test", _SOURCE)
    values = [float(index) for index in range(_NUM_BLOCKS * _TILE)]
    buffers: _HostBuffers | _NpuBuffers
    buffers = _NpuBuffers(values) if target == "npu" else _HostBuffers(values)
    kernel(LaunchOptions(num_blocks=_NUM_BLOCKS), buffers.out, buffers.inputs)
    got = buffers.read()
    for index, (value, wanted) in enumerate(zip(got, values, strict=True)):
        if value != wanted:
            return f"element {index} is {value}, expected {wanted}"
    return ""


class _HostBuffers:
    """Arrays of the standard library: the self-test needs neither numpy nor torch."""

    def __init__(self, values: list[float]) -> None:
        self.inputs = bytearray(struct.pack(f"{len(values)}f", *values))
        self.out = bytearray(len(self.inputs))

    def read(self) -> list[float]:
        return list(struct.unpack(f"{len(self.out) // 4}f", self.out))


class _NpuBuffers:
    """Tensors of torch device npu."""

    def __init__(self, values: list[float]) -> None:
        import torch

        self.inputs = torch.tensor(values, dtype=torch.float32).to("npu")
        self.out = torch.zeros(len(values), dtype=torch.float32, device="npu")

    def read(self) -> list[float]:
        return [float(value) for value in self.out.cpu()]


def _since(start: float) -> float:
    return round(time.monotonic() - start, 3)
