"""One multiply as a value: what goes in, what the kernels write, what the reference says."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from deep_jit._shared.tests.emulator import mmad_reference as ref
from deep_jit._shared.tests.emulator.mmad_native import Numerics, Problem

INITS = ("zero", "accumulate", "bias")
FP8, FP4 = ("e4m3", "e5m2"), ("e2m1", "e1m2")
ALL_PAIRS = [
    *((name, name) for name in ("bf16", "f16", "f32", "i8", "hif8")),
    *itertools.product(FP8, FP8),
    *itertools.product(FP4, FP4),
]
POISON = {"i8": 0x55, "hif8": 0x80, "e2m1": 0x77, "e1m2": 0x77}  # others: 0xFF bytes, a NaN
C_POISON = 0xDEADBEEF

Words = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Case:
    """Codes `a [m, k]`, `b [n, k]`, starting bits `[m, n]` or `[n]`, scales `[rows, k / 32]`."""

    a_format: str
    b_format: str
    a: ref.Codes
    b: ref.Codes
    init: str = "zero"
    start: Words | None = None
    scale_a: ref.Bytes | None = None
    scale_b: ref.Bytes | None = None
    hf32: bool = False
    ties_away: bool = False
    gemv: bool = False

    @property
    def shape(self) -> tuple[int, int, int]:
        """m, k, n."""
        return self.a.shape[0], self.a.shape[1], self.b.shape[0]

    def __str__(self) -> str:
        m, k, n = self.shape
        return f"{self.a_format}-{self.b_format} {m=} {k=} {n=} {self.init} {self.hf32=}"

    def start_bits(self) -> Words:
        """The value every sum starts from, `[m, n]`."""
        m, _, n = self.shape
        if self.init == "zero" or self.start is None:
            return np.zeros((m, n), np.uint32)
        return np.ascontiguousarray(np.broadcast_to(self.start, (m, n)))

    def values(self, side: str) -> ref.Doubles:
        """Operand values after HF32 rounding and scaling."""
        codes, name, scales = (
            (self.a, self.a_format, self.scale_a)
            if side == "a"
            else (self.b, self.b_format, self.scale_b)
        )
        values = ref.FORMATS[name].decode(codes)
        if self.hf32:
            values = ref.round_hf32(values, ties_away=self.ties_away)
        if scales is not None:
            factor = np.where(scales == 255, np.nan, np.ldexp(1.0, scales.astype(np.int32) - 127))
            values = values * np.repeat(factor, 32, axis=1)[:, : codes.shape[1]]
        return values

    def expected(self) -> Words:
        """Bits of C from the reference."""
        start = self.start_bits()
        if self.a_format == "i8":
            return ref.multiply_i8(self.values("a"), self.values("b"), start.view(np.int32))
        return ref.multiply(self.values("a"), self.values("b"), start.view(np.float32))


def operand(rng: np.random.Generator, name: str, shape: tuple[int, int], kind: str) -> ref.Codes:
    """Random codes: `any` bit pattern, or `normal` numbers near one."""
    fmt = ref.FORMATS[name]
    if kind == "any" or fmt.bits == 4 or name == "i8":
        return rng.integers(0, 1 << fmt.bits, shape, dtype=np.uint64).astype(fmt.code_dtype)
    if fmt.bits == 8:
        finite = np.flatnonzero(
            np.isfinite(ref.FORMATS[name].decode(np.arange(256, dtype=np.uint8)))
        )
        return rng.choice(finite, shape).astype(np.uint8)
    values = rng.standard_normal(shape).astype(np.float32)
    if name == "f32":
        return values.view(np.uint32)
    if name == "f16":
        return values.astype(np.float16).view(np.uint16)
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def make_case(
    pair: tuple[str, str],
    shape: tuple[int, int, int],
    *,
    kind: str = "normal",
    init: str = "zero",
    seed: int = 0,
    scales: tuple[int, int] | None = None,
) -> Case:
    """A random case; `scales` is the range of e8m0 codes of an mx multiply."""
    rng = np.random.default_rng(seed)
    m, k, n = shape
    start = None
    if init != "zero":
        size = (n,) if init == "bias" else (m, n)
        start = rng.standard_normal(size).astype(np.float32).view(np.uint32)
    case = Case(
        *pair,
        a=operand(rng, pair[0], (m, k), kind),
        b=operand(rng, pair[1], (n, k), kind),
        init=init,
        start=start,
    )
    if scales is None:
        return case
    blocks = -(-k // 32)
    return replace(
        case,
        scale_a=rng.integers(scales[0], scales[1] + 1, (m, blocks), dtype=np.uint8),
        scale_b=rng.integers(scales[0], scales[1] + 1, (n, blocks), dtype=np.uint8),
    )


def float_codes(name: str, values: list[list[float]]) -> ref.Codes:
    """Values to codes of bf16 or f32."""
    bits = np.array(values, np.float32).view(np.uint32)
    return (bits >> 16).astype(np.uint16) if name == "bf16" else bits


def _address(array: npt.NDArray[np.generic] | None) -> int | None:
    return None if array is None else array.ctypes.data


class Call:
    """The buffers and the `MmadProblem` of a case; keep it alive during the call."""

    def __init__(self, case: Case, *, a_version: int = 0, b_version: int = 0) -> None:
        """Lays the operands out as the L0 buffers hold them, with poison in all padding."""
        self.case = case
        m, k, n = case.shape
        a_format, b_format = ref.FORMATS[case.a_format], ref.FORMATS[case.b_format]
        self.a = ref.nz_bytes(case.a, a_format, POISON.get(case.a_format, 0xFF))
        if case.gemv and m == 1:  # k consecutive elements: the pieces without their 15 siblings
            self.a = np.ascontiguousarray(self.a.reshape(-1, 16, 32)[:, 0]).reshape(-1)
        self.b = ref.nz_bytes(case.b, b_format, POISON.get(case.b_format, 0xFF))
        self.offsets = ref.c_offsets(m, n)
        self.c = np.full(ref.ceil16(m) * ref.ceil16(n), C_POISON, np.uint32)
        if case.init == "accumulate":
            self.c[self.offsets] = case.start_bits()
        self.bias = None
        if case.init == "bias":
            self.bias = case.start_bits()[0].copy()
        self.scales = [
            None if scales is None else ref.scale_bytes(scales, k, 0xFF)
            for scales in (case.scale_a, case.scale_b)
        ]
        self.problem = Problem(
            a=_address(self.a), b=_address(self.b), c=_address(self.c), m=m, k=k, n=n,
            a_type=a_format.number, b_type=b_format.number, init=INITS.index(case.init),
            bias=_address(self.bias), scale_a=_address(self.scales[0]),
            scale_b=_address(self.scales[1]), hf32=case.hf32, hf32_ties_away=case.ties_away,
            gemv=case.gemv, a_version=a_version, b_version=b_version, a_pitch=0, b_pitch=0,
        )  # fmt: skip

    def result(self) -> Words:
        """C `[m, n]`, after a check that the padding kept its content."""
        out = self.c[self.offsets]
        rest = np.ones(self.c.size, bool)
        rest[self.offsets] = False
        assert (self.c[rest] == C_POISON).all(), f"padding of C was written: {self.case}"
        return out


def run(numerics: Numerics, case: Case, *, fast: bool = False) -> Words:
    """Bits of C from the compiled kernels."""
    call = Call(case)
    numerics.mmad(call.problem, fast=fast)
    return call.result()


def check(numerics: Numerics, case: Case, *, fast: bool = False) -> None:
    """Compares bits with the reference; the message names the first difference."""
    got, want = run(numerics, case, fast=fast), case.expected()
    if (got == want).all():
        return
    where = tuple(int(i) for i in np.argwhere(got != want)[0])
    raise AssertionError(
        f"{numerics.isa.name}: {case}: {(got != want).sum()} of {got.size} differ, first at "
        f"{where}: got {got[where]:#010x}, want {want[where]:#010x}"
    )
