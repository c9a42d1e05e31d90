"""Operands with scale factors: packing, exact decoding, case lists (deep_gemm.md 2.1, 2.2, 6.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

from deep_gemm.testing.generators import (
    GemmCase,
    enumerate_normal,
    enumerate_strided,
    enumerate_unaligned_k,
    enumerate_unaligned_mn,
)

__all__ = [
    "MxCase",
    "MxInputs",
    "decode_fp4",
    "decode_mx",
    "decode_scales",
    "enumerate_mx",
    "make_mx_inputs",
    "pack_fp4",
    "pack_scales",
]

FP8, FP4 = torch.float8_e4m3fn, torch.int8
GROUP_K = 32  # K elements behind one scale
PAIR_K = 64  # K elements behind one int16
_MAGNITUDES = (0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0)
FP4_VALUES = torch.tensor([*_MAGNITUDES, *(-x for x in _MAGNITUDES)], dtype=torch.float64)
SCALE_VALUES = torch.tensor(
    [*(2.0 ** (e - 127) for e in range(255)), math.nan], dtype=torch.float64
)
FP8_NAN = (0x7F, 0xFF)
# Exponents of random scales, as the published suites draw them
EXPONENTS = {FP8: (118, 119, 120), FP4: (125, 126, 127)}


# Formats --------------------------------------------------------------------------------------


def pack_fp4(codes: torch.Tensor) -> torch.Tensor:
    """E2M1 codes 0..15 ``[mn, k]`` -> int8 ``[mn, k/2]``, the even k in the low nibble."""
    pairs = codes.to(torch.uint8).reshape(codes.shape[0], codes.shape[1] // 2, 2)
    return (pairs[..., 0] | (pairs[..., 1] << 4)).view(torch.int8)


def decode_fp4(packed: torch.Tensor) -> torch.Tensor:
    """int8 ``[mn, k/2]`` -> float64 ``[mn, k]``."""
    codes = packed.int() & 0xFF
    return FP4_VALUES[torch.stack((codes & 15, codes >> 4), dim=-1).flatten(1)]


def pack_scales(exponents: torch.Tensor) -> torch.Tensor:
    """UE8M0 bytes -> the int16 scales a GEMM takes.

    Args:
        exponents: ``[mn, ceil(k/32)]`` uint8; the scale is ``2**(e - 127)``, 255 is NaN.

    Returns:
        int16 ``[mn, ceil(k/64)]`` with stride 1 along mn; low byte: the lower 32 k. The high byte
        of an odd last group is 0.
    """
    rows, groups = exponents.shape
    low, high = exponents[:, ::2].int(), exponents[:, 1::2].int()
    packed = torch.empty(-(-groups // 2), rows, dtype=torch.int32, device=exponents.device)
    packed.copy_(low.t())
    packed[: groups // 2] |= high.t() << 8
    return packed.to(torch.int16).t()


def decode_scales(sf: torch.Tensor, k: int) -> torch.Tensor:
    """int16 ``[mn, ceil(k/64)]`` of any strides -> the factor of each element, float64 [mn, k]."""
    packed = sf.int() & 0xFFFF
    exponents = torch.stack((packed & 255, packed >> 8), dim=-1).flatten(1)
    return SCALE_VALUES[exponents].repeat_interleave(GROUP_K, dim=1)[:, :k]


def decode_mx(data: torch.Tensor, sf: torch.Tensor) -> torch.Tensor:
    """(data, scales) as ``[mn, k]`` -> exact float64 values."""
    values = decode_fp4(data) if data.dtype is FP4 else data.double()
    return values * decode_scales(sf, values.shape[1])


# Cases ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MxCase:
    """One GEMM of scaled operands.

    Attributes:
        base: sizes, suffix, D, C, alpha and padding; both majors are "K".
        fp4: packed fp4 operands, else fp8.
        sf_pad: int16 elements between the rows and the next pair of the scales.
    """

    base: GemmCase
    fp4: bool = False
    sf_pad: int = 0

    @property
    def dtype(self) -> torch.dtype:
        """dtype of A and B."""
        return FP4 if self.fp4 else FP8

    @property
    def flops(self) -> int:
        """Multiplications and additions."""
        return self.base.flops

    def __str__(self) -> str:
        padded = f"-sfpad{self.sf_pad}" if self.sf_pad else ""
        return f"{'fp4' if self.fp4 else 'fp8'}-{self.base}{padded}"


@dataclass(frozen=True)
class MxInputs:
    """Tensors of a case as passed, and the exact values of A ``[m, k]`` and B ``[n, k]``."""

    a: tuple[torch.Tensor, torch.Tensor]
    b: tuple[torch.Tensor, torch.Tensor]
    d: torch.Tensor
    c: torch.Tensor | None
    a_value: torch.Tensor
    b_value: torch.Tensor
    c_value: torch.Tensor | None  # C before the call

    @property
    def inputs(self) -> tuple[torch.Tensor, ...]:
        """What a call must not change: data and scales of A and B."""
        return (*self.a, *self.b)


def enumerate_mx(max_flops: int | None = None) -> Iterator[MxCase]:
    """The K-major part of the published suites, for fp8 and fp4 (an odd K doubles for fp4)."""
    suites = (enumerate_normal, enumerate_unaligned_mn, enumerate_unaligned_k, enumerate_strided)
    for fp4 in (False, True):
        for suite in suites:
            for case in suite():
                if (case.major_a, case.major_b) != ("K", "K"):
                    continue
                k = 2 * case.k if fp4 and case.k % 2 else case.k
                mx = MxCase(
                    GemmCase(case.m, case.n, k, fp32=case.fp32, c=case.c, pad=case.pad), fp4
                )
                if max_flops is None or mx.flops <= max_flops:
                    yield mx


def make_mx_inputs(case: MxCase, *, device: str = "cpu", seed: int = 0) -> MxInputs:
    """Random codes of every finite value with random scales; D holds noise to overwrite."""
    generator = torch.Generator().manual_seed(seed)
    base = case.base
    a, a_value = _operand(case, base.m, device, generator)
    b, b_value = _operand(case, base.n, device, generator)
    d = _output(base, device, generator)
    c = {"none": None, "in_place": d}.get(base.c)
    if base.c == "other":
        c = _output(base, device, generator)
    return MxInputs(
        a=_oriented(a, base.suffix[0] == "t"),
        b=_oriented(b, base.suffix[1] == "n"),
        d=d,
        c=c,
        a_value=a_value,
        b_value=b_value,
        c_value=None if c is None else c.clone(),
    )


def _operand(
    case: MxCase, rows: int, device: str, generator: torch.Generator
) -> tuple[tuple[torch.Tensor, torch.Tensor], torch.Tensor]:
    """((data, scales), exact values) as ``[rows, k]``."""
    k, base = case.base.k, case.base
    cols = k // 2 if case.fp4 else k
    codes = torch.randint(
        0, 256, (base.offset + rows * (cols + base.pad),), generator=generator, dtype=torch.uint8
    )
    if not case.fp4:
        for code in FP8_NAN:
            codes[codes == code] -= 1
    data = codes.to(device).view(case.dtype)
    data = data.as_strided((rows, cols), (cols + base.pad, 1), base.offset)
    groups = -(-k // GROUP_K)
    table = torch.tensor(EXPONENTS[case.dtype], dtype=torch.uint8)
    exponents = table[torch.randint(0, len(table), (rows, groups), generator=generator)]
    sf = _padded(pack_scales(exponents), case.sf_pad).to(device)
    return (data, sf), decode_mx(data.cpu(), sf.cpu())


def _padded(sf: torch.Tensor, pad: int) -> torch.Tensor:
    """The same scales with `pad` NaN exponents behind each column."""
    rows, pairs = sf.shape
    if pad == 0:
        return sf
    wide = torch.full((pairs, rows + pad), -1, dtype=torch.int16)
    wide[:, :rows] = sf.t()
    return wide[:, :rows].t()


def _output(case: GemmCase, device: str, generator: torch.Generator) -> torch.Tensor:
    pitch = case.n + case.pad
    noise = torch.randn(case.m * pitch + case.offset, generator=generator)
    storage = noise.to(case.dtype).to(device)
    return storage.as_strided((case.m, case.n), (pitch, 1), case.offset)


def _oriented(
    pair: tuple[torch.Tensor, torch.Tensor], transposed: bool
) -> tuple[torch.Tensor, torch.Tensor]:
    return (pair[0].t(), pair[1].t()) if transposed else pair
