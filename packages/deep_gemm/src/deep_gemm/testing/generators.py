"""Case lists and inputs of the BF16 GEMM suites (deep_gemm.md section 6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import torch

__all__ = [
    "GemmCase",
    "GemmInputs",
    "enumerate_bf16",
    "enumerate_normal",
    "enumerate_strided",
    "enumerate_unaligned_k",
    "enumerate_unaligned_mn",
    "make_inputs",
]

SUFFIXES = ("nt", "nn", "tn", "tt")
MAJORS = (("K", "K"), ("K", "MN"), ("MN", "K"), ("MN", "MN"))
C_KINDS = ("none", "in_place", "other")


@dataclass(frozen=True)
class GemmCase:
    """One GEMM to run: shape, layouts, output and extras.

    Attributes:
        suffix: nt, nn, tn or tt: the shapes in which a and b are passed.
        major_a: contiguous axis of A seen as [m, k], "K" or "MN"; major_b likewise.
        fp32: D is fp32, else bf16.
        c: "none", "in_place" (c is d) or "other".
        alpha: factor, or None.
        pad: extra elements in each row of A, B and D (0 = dense); operands are slices then.
        offset: elements by which A, B and D start inside their storage.
        compiled_dims: passed on; None takes the function's default.
    """

    m: int
    n: int
    k: int
    suffix: str = "nt"
    major_a: str = "K"
    major_b: str = "K"
    fp32: bool = False
    c: str = "none"
    alpha: float | None = None
    pad: int = 0
    offset: int = 0
    compiled_dims: str | None = None

    @property
    def dtype(self) -> torch.dtype:
        """dtype of D."""
        return torch.float32 if self.fp32 else torch.bfloat16

    @property
    def flops(self) -> int:
        """Multiplications and additions."""
        return 2 * self.m * self.n * self.k

    def __str__(self) -> str:
        parts = [f"{self.m}x{self.n}x{self.k}", self.suffix, self.major_a + self.major_b]
        parts.append("fp32" if self.fp32 else "bf16")
        if self.c != "none":
            parts.append(f"c_{self.c}")
        if self.alpha is not None:
            parts.append(f"alpha{self.alpha:g}")
        if self.pad or self.offset:
            parts.append(f"pad{self.pad}+{self.offset}")
        return "-".join(parts)


@dataclass(frozen=True)
class GemmInputs:
    """Tensors of a case: `a`, `b`, `d`, `c` as passed; `a_mk`, `b_nk` view the same data."""

    a: torch.Tensor
    b: torch.Tensor
    d: torch.Tensor
    c: torch.Tensor | None
    a_mk: torch.Tensor
    b_nk: torch.Tensor
    c_value: torch.Tensor | None  # C before the call


def enumerate_normal() -> Iterator[GemmCase]:
    """Model shapes: forward, and for m = 4096 the two backward products."""
    shapes = [
        (2112, 7168), (576, 7168), (24576, 1536), (32768, 512),
        (7168, 16384), (4096, 7168), (7168, 2048),
    ]  # fmt: skip
    for m in (1, 128, 4096):
        for n, k in shapes:
            yield GemmCase(m, n, k)
        for n, k in ((256, 7168), (129280, 7168)):
            yield GemmCase(m, n, k, fp32=True)
    for n, k in shapes:
        yield GemmCase(4096, k, n, major_b="MN")
        yield GemmCase(n, k, 4096, major_a="MN", major_b="MN", fp32=True, c="in_place")
        yield GemmCase(n, k, 4096, major_a="MN", major_b="MN")


def _with_majors(shapes: list[tuple[int, int, int]]) -> Iterator[GemmCase]:
    for (m, n, k), (major_a, major_b) in product(shapes, MAJORS):
        yield GemmCase(m, n, k, major_a=major_a, major_b=major_b, fp32=True, c="in_place")


def enumerate_unaligned_mn() -> Iterator[GemmCase]:
    """M and N that fill no tile, four majors, fp32 accumulation."""
    yield from _with_majors([
        (4, 4, 64), (17, 4096, 4096), (4096, 17, 4096), (15, 4096, 4096), (4096, 15, 4096),
        (130, 257, 2048), (513, 257, 4096),
    ])  # fmt: skip


def enumerate_unaligned_k() -> Iterator[GemmCase]:
    """K with a tail, four majors, fp32 accumulation."""
    yield from _with_majors([
        (64, 64, 4), (1024, 2048, 17), (8192, 4096, 15), (128, 128, 234), (2048, 8192, 4095),
    ])  # fmt: skip


def enumerate_strided() -> Iterator[GemmCase]:
    """Tiny to long-and-thin shapes, four majors; ours are slices of wider tensors."""
    shapes = [
        (4, 4, 4), (4, 4, 16384), (4, 16384, 4), (16384, 4, 4), (16384, 4, 16384),
        (4, 16384, 16384), (128, 128, 128), (256, 512, 1024), (1024, 256, 512), (4096, 4096, 4096),
    ]  # fmt: skip
    for (m, n, k), (major_a, major_b) in product(shapes, MAJORS):
        yield GemmCase(m, n, k, major_a=major_a, major_b=major_b, pad=8)


def enumerate_bf16(max_flops: int | None = None) -> Iterator[GemmCase]:
    """All published BF16 suites, optionally without the cases above `max_flops`."""
    suites = (
        enumerate_normal, enumerate_unaligned_mn, enumerate_unaligned_k, enumerate_strided,
    )  # fmt: skip
    for suite in suites:
        for case in suite():
            if max_flops is None or case.flops <= max_flops:
                yield case


def make_inputs(
    case: GemmCase, *, device: str = "cpu", seed: int = 0, scale: float = 1.0
) -> GemmInputs:
    """Tensors of a case: normal A and B, D filled with noise that a kernel must overwrite."""
    generator = torch.Generator().manual_seed(seed)
    a_mk = _operand(case.m, case.k, case.major_a, case, device, generator, scale)
    b_nk = _operand(case.n, case.k, case.major_b, case, device, generator, scale)
    d = _matrix(case.m, case.n, case.dtype, case, device, generator, scale)
    c: torch.Tensor | None = None
    if case.c == "in_place":
        c = d
    elif case.c == "other":
        c = _matrix(case.m, case.n, case.dtype, case, device, generator, scale)
    return GemmInputs(
        a=a_mk if case.suffix[0] == "n" else a_mk.t(),
        b=b_nk if case.suffix[1] == "t" else b_nk.t(),
        d=d,
        c=c,
        a_mk=a_mk,
        b_nk=b_nk,
        c_value=None if c is None else c.clone(),
    )


def _operand(
    rows: int,
    k: int,
    major: str,
    case: GemmCase,
    device: str,
    generator: torch.Generator,
    scale: float,
) -> torch.Tensor:
    if major == "K":
        return _matrix(rows, k, torch.bfloat16, case, device, generator, scale)
    return _matrix(k, rows, torch.bfloat16, case, device, generator, scale).t()


def _matrix(
    rows: int,
    cols: int,
    dtype: torch.dtype,
    case: GemmCase,
    device: str,
    generator: torch.Generator,
    scale: float,
) -> torch.Tensor:
    """[rows, cols] normal noise; with padding a slice of a larger tensor."""
    pitch = cols + case.pad
    storage = torch.randn(rows * pitch + case.offset, generator=generator) * scale
    matrix = storage.to(dtype).to(device)
    return matrix.as_strided((rows, cols), (pitch, 1), case.offset)
