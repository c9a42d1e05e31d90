"""Host side of `include/deep_gemm/impls/fp8_gemm.hpp` (deep_gemm.md sections 3.9 and 4.2).

One template for fp8 x fp8 and fp4 x fp4. The template list, the launch arguments and the generated
text keep the same groups in the same order as the device code.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from deep_gemm.heuristics.records import DType, EpilogueType
from deep_gemm.kernels.source import compiled_sizes, instance_source, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from deep_gemm.heuristics.records import GemmConfig, GemmDesc

HEADER = "deep_gemm/impls/fp8_gemm.hpp"
GROUP_ALIGNMENT = 256  # rows; grouped kernels only, part of every kernel's list

_UNITS = {DType.FP8: "fp8_gemm", DType.FP4: "fp4_gemm"}
_DTYPES = {
    DType.FP8: "fp8_e4m3fn_t",
    DType.FP4: "fp4x2_e2m1_t",
    DType.BF16: "bfloat16_t",
    DType.FP32: "float",
}
_EPILOGUES = {EpilogueType.IDENTITY: "Identity", EpilogueType.ALPHA: "Alpha"}


def unit_name(desc: GemmDesc) -> str:
    """Name of the unit in the kernel cache."""
    return _UNITS[desc.dtype]


def kernel_name(config: GemmConfig) -> str:
    """The template: cube and vector cores, or cube cores alone."""
    suffix = "_direct_store" if config.direct_store else ""
    return f"deep_gemm::fp8_gemm_impl{suffix}"


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
        # kNumL1Stages, kNumL0Stages
        texts(config.num_l1_stages, config.num_l0_stages),
        # kSfKBlocks, kNumSfStages
        texts(config.sf_k_blocks, config.num_l1_sf_stages),
        # kNumEpilogueStages
        texts(config.num_epilogue_stages),
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
        # ab_t, cd_t, Epilogue
        (
            _DTYPES[desc.dtype],
            _DTYPES[desc.cd_dtype],
            f"deep_gemm::epilogue::{_EPILOGUES[desc.epilogue]}",
        ),
        # kGroupAlignment
        texts(GROUP_ALIGNMENT),
        # kDirectStore, kSingleMBlock
        texts(config.direct_store, desc.m <= config.block_m),
    )


def kernel_source(desc: GemmDesc, config: GemmConfig) -> str:
    """Text of the translation unit: one instance of the device template."""
    return instance_source(HEADER, kernel_name(config), template_groups(desc, config))


class LaunchArgs:
    """Arguments of a launch; everything but pointers and alpha is fixed at construction.

    Layout (deep_jit.md section 7.1): gm_ptr a, b, sfa, sfb, d {address, stride_outer,
    stride_batch}; u32 m, n, k; i32* grouped_layout; u32 num_groups; {f32 alpha, i16* sfd, u32
    sfd_stride, u32 shape_n}. Strides count elements, packed fp4 ones too.
    """

    # a, b, sfa, sfb, d | m, n, k | layout | groups | alpha, sfd, sfd_stride, shape_n
    FORMAT = struct.Struct("<" + 5 * "Qqq" + "III4xQI4xf4xQII")

    __slots__ = ("_desc", "_stride_a", "_stride_b", "_stride_d", "_stride_sfa", "_stride_sfb")

    def __init__(self, desc: GemmDesc, stride_sfa: int, stride_sfb: int) -> None:
        self._desc = desc
        self._stride_a = desc.pitch_a_bytes * 8 // desc.bits
        self._stride_b = desc.pitch_b_bytes * 8 // desc.bits
        self._stride_d = desc.pitch_d_bytes * 8 // desc.cd_dtype.bits
        self._stride_sfa = stride_sfa
        self._stride_sfb = stride_sfb

    def pack(self, pointers: Sequence[int], alpha: float) -> bytes:
        """The payload for the addresses of a, b, sfa, sfb, d."""
        a, b, sfa, sfb, d = pointers
        desc = self._desc
        return self.FORMAT.pack(
            a, self._stride_a, 0,
            b, self._stride_b, 0,
            sfa, self._stride_sfa, 0,
            sfb, self._stride_sfb, 0,
            d, self._stride_d, 0,
            desc.m, desc.n, desc.k,
            0, 1,
            alpha, 0, 0, desc.n,
        )  # fmt: skip
