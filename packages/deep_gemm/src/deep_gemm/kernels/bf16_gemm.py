"""Host side of `include/deep_gemm/impls/bf16_gemm.hpp` (deep_gemm.md sections 3.9 and 4.2).

The template list, the launch arguments and the generated text keep the same groups in the same
order, so that a mismatch with the device code shows by eye.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from deep_gemm.heuristics.records import DType, EpilogueType
from deep_gemm.kernels.source import compiled_sizes, instance_source, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deep_gemm.heuristics.records import GemmConfig, GemmDesc

UNIT_NAME = "bf16_gemm"
HEADER = "deep_gemm/impls/bf16_gemm.hpp"
GROUP_ALIGNMENT = 256  # rows; grouped kernels only, part of every kernel's list

_DTYPES = {DType.BF16: "bfloat16_t", DType.FP32: "float"}
_EPILOGUES = {EpilogueType.IDENTITY: "Identity", EpilogueType.ALPHA: "Alpha"}


def kernel_name(config: GemmConfig) -> str:
    """The template: cube and vector cores, or cube cores alone."""
    suffix = "_direct_store" if config.direct_store else ""
    return f"deep_gemm::bf16_gemm_impl{suffix}"


def template_groups(desc: GemmDesc, config: GemmConfig) -> tuple[tuple[str, ...], ...]:
    """Template constants in the order of the device code, one tuple per line."""
    return (
        # MajorA, MajorB
        (f"mad::Major::{desc.major_a.value}", f"mad::Major::{desc.major_b.value}"),
        # M, N, K; 0 = at run time
        compiled_sizes(desc.m, desc.n, desc.k, desc.compiled_dims),
        # BLOCK_M, BLOCK_N, BLOCK_K
        texts(config.block_m, config.block_n, config.block_k),
        # MAD_M, MAD_N, MAD_K
        texts(config.mad_m, config.mad_n, config.mad_k),
        # kNumL1Stages, kNumL0Stages, kNumEpilogueStages
        texts(config.num_l1_stages, config.num_l0_stages, config.num_epilogue_stages),
        # kNumCores
        texts(desc.num_cores),
        # kLoadHintA, kLoadHintB, kStoreHint
        (
            f"asc_load_l2_cache_mode::{config.hint_a.name}",
            f"asc_load_l2_cache_mode::{config.hint_b.name}",
            f"asc_store_l2_cache_mode::{config.hint_store.name}",
        ),
        # kAccumulate, kGemmType
        texts(desc.acc, f"deep_gemm::GemmType::{desc.gemm_type.value}"),
        # DType, EpilogueType
        (_DTYPES[desc.cd_dtype], f"deep_gemm::epilogue::{_EPILOGUES[desc.epilogue]}"),
        # kGroupAlignment
        texts(GROUP_ALIGNMENT),
        # kDirectStore, kResidentA, kResidentB
        texts(config.direct_store, config.resident_a, config.resident_b),
    )


def kernel_source(desc: GemmDesc, config: GemmConfig) -> str:
    """Text of the translation unit: one instance of the device template."""
    return instance_source(HEADER, kernel_name(config), template_groups(desc, config))


class LaunchArgs:
    """Arguments of a launch; everything but pointers and alpha is fixed at construction.

    Layout (deep_jit.md section 7.1): gm_ptr a, b, d {address, stride_outer, stride_batch}; u32 m,
    n, k; i32* grouped_layout; u32 num_groups; {f32 alpha, i16* sfd, u32 sfd_stride, u32 shape_n}.
    """

    # a, b, d | m, n, k | layout | groups | alpha, sfd, sfd_stride, shape_n
    FORMAT = struct.Struct("<QqqQqqQqqIII4xQI4xf4xQII")

    __slots__ = ("_desc", "_stride_a", "_stride_b", "_stride_d")

    def __init__(self, desc: GemmDesc) -> None:
        self._desc = desc
        self._stride_a = desc.pitch_a_bytes * 8 // desc.bits
        self._stride_b = desc.pitch_b_bytes * 8 // desc.bits
        self._stride_d = desc.pitch_d_bytes * 8 // desc.cd_dtype.bits

    def pack(self, pointers: Sequence[int], alpha: float) -> bytes:
        """The payload for the addresses of a, b, d."""
        a, b, d = pointers
        desc = self._desc
        return self.FORMAT.pack(
            a, self._stride_a, 0,
            b, self._stride_b, 0,
            d, self._stride_d, 0,
            desc.m, desc.n, desc.k,
            0, 1,
            alpha, 0, 0, desc.n,
        )  # fmt: skip
