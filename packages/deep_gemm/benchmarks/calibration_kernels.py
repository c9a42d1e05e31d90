"""Runs the kernel of a calibration row for its modelled time; nothing is computed or written.

The operands are `torch.empty` of the published size: with ``data="skip"`` no byte of them is
touched, so they cost address space only.
"""

from __future__ import annotations

import struct

import torch
from calibration_rows import DenseRow

import deep_gemm
from deep_gemm import _jit
from deep_gemm._shared.emulator.timing import TimingProfile, last_profile
from deep_gemm.heuristics import DType, GemmConfig, GemmDesc, choose_config

__all__ = ["model"]

_PAIR_K = 64  # K elements behind one int16 of scales
_HEADER = "deep_gemm/impls/fp8_gemm.hpp"
_TYPES = {"fp8": (DType.FP8, "fp8_e4m3fn_t", 1), "fp4": (DType.FP4, "fp4x2_e2m1_t", 2)}
# a, b, sfa, sfb, d | m, n, k | layout | groups | alpha, sfd, sfd_stride, shape_n
_ARGUMENTS = struct.Struct("<" + "Qqq" * 5 + "III4xQI4xf4xQII")


def model(row: DenseRow, *, mode: str = "replay") -> TimingProfile:
    """Returns the modelled time of our kernel for `row`."""
    with deep_gemm.emulator(timing=mode, data="skip"):
        if row.dtype == "bf16":
            _run_bf16(row)
        else:
            _run_mx(row)
        return last_profile()


def _run_bf16(row: DenseRow) -> None:
    a = torch.empty(row.m, row.k, dtype=torch.bfloat16)
    b = torch.empty(row.n, row.k, dtype=torch.bfloat16)
    deep_gemm.bf16_gemm_nt(a, b, torch.empty(row.m, row.n, dtype=torch.bfloat16))


def _run_mx(row: DenseRow) -> None:
    """The device kernel with the configuration of the search; scales are packed already."""
    dtype, _, pack = _TYPES[row.dtype]
    runtime = _jit.default_runtime()
    cores = int(runtime.device.get_num_aicore_cores())
    desc = GemmDesc(m=row.m, n=row.n, k=row.k, dtype=dtype, cd_dtype=DType.BF16, num_cores=cores)
    config = choose_config(desc)
    kernel = runtime.compile(f"{row.dtype}_gemm", _source(row, desc, config), None)
    pairs = -(-row.k // _PAIR_K)
    operands = [
        (torch.empty(row.m * row.k // pack, dtype=torch.uint8), row.k),
        (torch.empty(row.n * row.k // pack, dtype=torch.uint8), row.k),
        (torch.empty(pairs * row.m, dtype=torch.int16), row.m),
        (torch.empty(pairs * row.n, dtype=torch.int16), row.n),
        (torch.empty(row.m * row.n, dtype=torch.bfloat16), row.n),
    ]
    pointers = [word for tensor, stride in operands for word in (tensor.data_ptr(), stride, 0)]
    payload = _ARGUMENTS.pack(*pointers, row.m, row.n, row.k, 0, 1, 1.0, 0, 0, row.n)
    _jit.bind(runtime, kernel, config.launch.num_blocks)(payload)


def _source(row: DenseRow, desc: GemmDesc, config: GemmConfig) -> str:
    """Text of the translation unit: the template list of fp8_gemm.hpp in its order."""
    direct = str(config.direct_store).lower()
    suffix = "_direct_store" if config.direct_store else ""
    constants = (
        "mad::Major::K, mad::Major::K",
        f"0, {row.n}, {row.k}",
        f"{config.block_m}, {config.block_n}, {config.block_k}",
        f"{config.mad_m}, {config.mad_n}, {config.mad_k}",
        f"{config.num_l1_stages}, {config.num_l0_stages}",
        f"{config.sf_k_blocks}, {config.num_l1_sf_stages}",
        f"{config.num_epilogue_stages}",
        f"{desc.num_cores}",
        f"asc_load_l2_cache_mode::{config.hint_a.name}",
        f"asc_load_l2_cache_mode::{config.hint_b.name}",
        f"asc_store_l2_cache_mode::{config.hint_store.name}",
        "false, deep_gemm::GemmType::Normal",
        f"{_TYPES[row.dtype][1]}, bfloat16_t, deep_gemm::epilogue::Identity",
        "256",
        f"{direct}, {str(row.m <= config.block_m).lower()}",
    )
    lines = ",\n".join(f"    {text}" for text in constants)
    return (
        f"#include <{_HEADER}>\n\n"
        "[[maybe_unused]] static void* instance() {\n"
        f"    return reinterpret_cast<void*>(&deep_gemm::fp8_gemm_impl{suffix}<\n{lines}>);\n"
        "}\n"
    )
