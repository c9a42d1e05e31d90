"""Runs the kernel of a calibration row for its modelled time; nothing is computed or written.

The operands are `torch.empty` of the published size: with ``data="skip"`` no byte of them is
touched, so they cost address space only.
"""

from __future__ import annotations

import torch
from calibration_rows import DenseRow

import deep_gemm
from deep_gemm._shared.emulator.timing import TimingProfile, last_profile

__all__ = ["model"]

_PAIR_K = 64  # K elements behind one int16 of scales
# Data type of the tensor, and elements in one of its items
_TYPES = {"fp8": (torch.float8_e4m3fn, 1), "fp4": (torch.int8, 2)}


def model(row: DenseRow, *, mode: str = "replay") -> TimingProfile:
    """Returns the modelled time of our kernel for `row`."""
    with deep_gemm.emulator(timing=mode, data="skip"):
        d = torch.empty(row.m, row.n, dtype=torch.bfloat16)
        if row.dtype == "bf16":
            a = torch.empty(row.m, row.k, dtype=torch.bfloat16)
            b = torch.empty(row.n, row.k, dtype=torch.bfloat16)
            deep_gemm.bf16_gemm_nt(a, b, d)
        else:
            deep_gemm.fp8_fp4_gemm_nt(_operand(row, row.m), _operand(row, row.n), d)
        return last_profile()


def _operand(row: DenseRow, rows: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Data, and scales that are packed already."""
    dtype, pack = _TYPES[row.dtype]
    data = torch.empty(rows, row.k // pack, dtype=dtype)
    return data, torch.empty(-(-row.k // _PAIR_K), rows, dtype=torch.int16).t()
