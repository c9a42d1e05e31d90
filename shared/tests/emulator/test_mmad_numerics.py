"""Bits of the mmad numerics on every instruction set of this host (emulator.md section 3)."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deep_jit._shared.tests.emulator import mmad_reference as ref
from deep_jit._shared.tests.emulator.mmad_case import (
    ALL_PAIRS,
    C_POISON,
    FP4,
    FP8,
    Call,
    Case,
    check,
    float_codes,
    make_case,
    run,
)
from deep_jit._shared.tests.emulator.mmad_native import (
    EXACT_ISAS,
    FAST_ISAS,
    Isa,
    Numerics,
)

SHAPES = [
    (1, 1, 1), (1, 16, 16), (15, 1, 17), (16, 16, 16), (17, 33, 31), (29, 129, 48), (80, 70, 100),
]  # fmt: skip


@pytest.fixture(params=EXACT_ISAS, ids=lambda isa: isa.name)
def numerics(numerics_of: Callable[[Isa], Numerics], request: pytest.FixtureRequest) -> Numerics:
    return numerics_of(request.param)


@pytest.fixture(params=FAST_ISAS, ids=lambda isa: isa.name)
def fast_numerics(
    numerics_of: Callable[[Isa], Numerics], request: pytest.FixtureRequest
) -> Numerics:
    return numerics_of(request.param)


any_float = st.integers(0, 2**32 - 1).map(lambda bits: struct.unpack("<f", struct.pack("<I", bits)))
finite = any_float.map(lambda one: one[0]).filter(math.isfinite)


@settings(max_examples=300, deadline=None)
@given(finite, finite, finite, st.booleans())
def test_reference_step_is_a_correctly_rounded_fma(
    a: float, b: float, c: float, near: bool
) -> None:
    if near and math.isfinite(a * b) and a * b != 0:  # cancellation: c close to -a * b
        c = float(np.float32(np.clip(-a * b, -3e38, 3e38)))
    got = ref.fma(np.array([a]), np.array([b]), np.array([c], np.float32))[0]
    assert got.view(np.uint32) == ref.fma_by_fractions(a, b, c).view(np.uint32)


def test_isa_names(numerics: Numerics) -> None:
    assert numerics.isa_name == numerics.isa.reported
    assert numerics.fast_unit == "exact" or numerics.isa.reported == "avx512"


@pytest.mark.parametrize("init", ["zero", "accumulate", "bias"])
@pytest.mark.parametrize("pair", ALL_PAIRS, ids="-".join)
def test_every_pair(numerics: Numerics, pair: tuple[str, str], init: str) -> None:
    check(numerics, make_case(pair, (21, 75, 37), init=init))


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["bf16", "f32", "e4m3", "i8"])
def test_shapes_and_tails(numerics: Numerics, name: str, shape: tuple[int, int, int]) -> None:
    check(numerics, make_case((name, name), shape, init="accumulate"))


@pytest.mark.parametrize("pair", [pair for pair in ALL_PAIRS if pair != ("i8", "i8")], ids="-".join)
def test_any_bit_pattern(numerics: Numerics, pair: tuple[str, str]) -> None:
    """Infinities, NaNs and subnormals of every format, one NaN-free column included."""
    case = make_case(pair, (18, 9, 33), kind="any", init="bias")
    case.a[0], case.b[0] = 0, 0
    check(numerics, case)


SMALL = (2.0**-75, 1.5 * 2.0**-75, 2.0**-74, 2.0**-60, 1.0)
LARGE = (1.0, 2.0**63, 2.0**64, 3.0 * 2.0**126)
EDGES = {"small": SMALL, "large": LARGE, "all": (2.0**-133, 2.0**-126, *SMALL, *LARGE, math.inf)}


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("name", ["bf16", "f32"])
def test_underflow_and_overflow(numerics: Numerics, name: str, edges: str) -> None:
    """All products of range ends, both signs, added to starts around them."""
    codes = float_codes(name, [[sign * x] for x in EDGES[edges] for sign in (1.0, -1.0)])
    size = len(codes)
    for start in np.array([0.0, -0.0, 2.0**-149, 1.5 * 2.0**127, -math.inf], np.float32):
        starts = np.full((size, size), start.view(np.uint32))
        check(numerics, Case(name, name, codes, codes, "accumulate", starts))


# x * y is 1 - 2^-40, 1 + 2^-36, and 1 + 0.84 * 2^-28: with 2^-24 of it added to a number next to
# one, rounding to double first meets (or leaves) the halfway point between two fp32 numbers.
NEAR_ONE = [
    (1 + 2.0**-20, 1 - 2.0**-20),
    (1 + 2.0**-12, 1 - 4095 * 2.0**-24),
    (1 + 12288 * 2.0**-23, 1 - 24540 * 2.0**-24),
]


@pytest.mark.parametrize("factors", NEAR_ONE, ids=["below", "above", "next"])
def test_sums_round_once(numerics: Numerics, factors: tuple[float, float]) -> None:
    x, y = float_codes("f32", [[factors[0]], [-factors[0]]]), factors[1] * 2.0**-24
    starts = np.array([1.0, 1 + 2.0**-23, -1.0, -1 - 2.0**-23], np.float32).view(np.uint32)
    case = Case("f32", "f32", x, float_codes("f32", [[y]] * 4), "bias", starts)
    check(numerics, case)


@pytest.mark.parametrize("ties_away", [False, True], ids=["even", "away"])
def test_hf32_rounding(numerics: Numerics, ties_away: bool) -> None:
    """Halfway patterns, carries into the exponent, overflow to Inf, subnormals, NaN payloads."""
    low = [0x0000, 0x0FFF, 0x1000, 0x1001, 0x1FFF, 0x3000]
    high = [0x3F800000, 0x3FFFE000, 0x7F7FE000, 0x00000000, 0x007FE000, 0x7F800000, 0xBF802000]
    codes = np.array([[h | x] for h in high for x in low], np.uint32)
    one = np.array([[0x3F800000]], np.uint32)
    case = Case("f32", "f32", codes, one, hf32=True, ties_away=ties_away)
    check(numerics, case)
    wide = make_case(("f32", "f32"), (20, 40, 20))
    check(numerics, replace(wide, hf32=True, ties_away=ties_away))


def test_hf32_does_not_touch_other_formats(numerics: Numerics) -> None:
    case = make_case(("f16", "f16"), (4, 8, 4))
    assert (run(numerics, replace(case, hf32=True)) == run(numerics, case)).all()


@pytest.mark.parametrize("k", [64, 1024, 1100, 2500])
def test_int8_wraps(numerics: Numerics, k: int) -> None:
    """The largest products, k beyond the exact fp32 range, starts at both ends of int32."""
    start = np.full((17, 18), 0x7FFFFFF0, np.uint32)
    start[:, ::2] = 0x80000000
    for code in (0x80, 0x7F):
        codes = np.full((18, k), code, np.uint8)
        check(numerics, Case("i8", "i8", codes[:17], codes, "accumulate", start))


MX_PAIRS = [*((a, b) for a in FP8 for b in FP8), *((a, b) for a in FP4 for b in FP4)]


@pytest.mark.parametrize("scales", [(120, 134), (0, 40), (0, 255), (247, 254)], ids=str)
@pytest.mark.parametrize("pair", MX_PAIRS, ids="-".join)
def test_mx_scales(numerics: Numerics, pair: tuple[str, str], scales: tuple[int, int]) -> None:
    check(numerics, make_case(pair, (19, 128, 21), init="accumulate", scales=scales))


# Largest finite code, and the largest scale that keeps it below 2^128.
MX_LIMITS = {"e4m3": (0x7E, 246), "e5m2": (0x7B, 239), "e2m1": (0x7, 252), "e1m2": (0x7, 254)}


@pytest.mark.parametrize("name", MX_LIMITS)
def test_mx_scales_around_the_fp32_range(numerics: Numerics, name: str) -> None:
    code, limit = MX_LIMITS[name]
    for scale in {limit, min(limit + 1, 254)}:
        case = make_case((name, name), (4, 64, 4), scales=(20, 20))
        case.a[:], case.scale_a[:] = code, scale
        assert np.isfinite(run(numerics, case).view(np.float32)).all()
        check(numerics, case)
        check(
            numerics, replace(case, a=case.b, b=case.a, scale_a=case.scale_b, scale_b=case.scale_a)
        )


def test_mx_scales_that_cancel(numerics: Numerics) -> None:
    """2^127 * 2^-127: a scaled operand above the fp32 range does not overflow by itself."""
    case = make_case(("e4m3", "e4m3"), (5, 64, 6), scales=(127, 127))
    case = replace(case, scale_a=np.full((5, 2), 254, np.uint8), scale_b=np.zeros((6, 2), np.uint8))
    assert np.isfinite(run(numerics, case).view(np.float32)).all()
    check(numerics, case)


def test_mx_nan_scale_reaches_zero_operands(numerics: Numerics) -> None:
    for other in (0, 127, 254):
        case = make_case(("e2m1", "e2m1"), (3, 128, 4), scales=(other, other))
        case.a[:], case.scale_a[1, 1] = 0, 255
        got = run(numerics, case)
        assert (got[1] == ref.CANONICAL_NAN).all()
        assert (got[[0, 2]] == 0).all()
        nan_start = replace(case, init="bias", start=np.full(4, 0xFFC01234, np.uint32))
        assert (run(numerics, nan_start) == ref.CANONICAL_NAN).all()


@pytest.mark.parametrize("pair", [*ALL_PAIRS[:5], ("e4m3", "e5m2"), ("e2m1", "e1m2")], ids="-".join)
def test_gemv(numerics: Numerics, pair: tuple[str, str]) -> None:
    check(numerics, replace(make_case(pair, (1, 140, 50)), gemv=True))
    check(numerics, replace(make_case(pair, (3, 20, 17)), gemv=True))  # ignored: m is not 1


def test_nan_starts_keep_their_bits(numerics: Numerics) -> None:
    """Finite operands pass a NaN start on, quieted; with an Inf operand NaNs are canonical."""
    case = make_case(("bf16", "bf16"), (2, 5, 13), init="accumulate")  # with poison around it
    case.start[:, :3] = [0xFFC01234, 0x7F812345, 0xFF800001]
    got = run(numerics, case)
    assert [hex(x) for x in got[0, :3]] == ["0xffc01234", "0x7fc12345", "0xffc00001"]
    case.a[1, 2] = 0x7F80
    assert (run(numerics, case)[:, :3] == ref.CANONICAL_NAN).all()


@pytest.mark.parametrize("shape", [(0, 4, 4), (4, 0, 4), (4, 4, 0)], ids=str)
def test_empty_is_a_no_op(numerics: Numerics, shape: tuple[int, int, int]) -> None:
    call = Call(make_case(("bf16", "bf16"), (4, 4, 4)))
    call.problem.m, call.problem.k, call.problem.n = shape
    numerics.mmad(call.problem)
    assert (call.c == C_POISON).all()


def test_float_environment_is_ours_and_restored(numerics: Numerics) -> None:
    """Flush-to-zero and upward rounding of the caller change nothing."""
    case = make_case(("bf16", "bf16"), (8, 3, 16), kind="any", init="accumulate")
    call = Call(case)
    assert numerics.mmad_hostile(call.problem)
    assert (call.result() == case.expected()).all()


def version_call() -> Call:
    """Bytes that are finite numbers in B in every format; A is free."""
    call = Call(make_case(("bf16", "bf16"), (16, 32, 16)), a_version=11, b_version=12)
    call.b[:] = 0x3C
    return call


def check_versions(numerics: Numerics, *, fast: bool) -> None:
    """The same version means the same A; another address, shape or type unpacks again."""
    call = version_call()
    other = np.full_like(call.a, 0xFF)  # NaN in the formats used here

    def first() -> int:
        numerics.mmad(call.problem, fast=fast)
        return int(call.c[0])

    before = first()
    call.a[:] = 0xFF
    assert first() == before
    for change in ({"a_version": 99}, {"a": other.ctypes.data}, {"k": 16}, {"m": 8},
                   {"a_type": 5, "b_type": 5}, {"a_type": 1, "b_type": 1}):  # fmt: skip
        call.a[:] = 0
        call.problem.a_version += 1
        assert first() == 0
        call.a[:] = 0xFF
        saved = {name: getattr(call.problem, name) for name in change}
        for name, value in change.items():
            setattr(call.problem, name, value)
        assert first() == ref.CANONICAL_NAN, change
        for name, value in saved.items():
            setattr(call.problem, name, value)


def test_versions_reuse_the_unpacked_operand(numerics: Numerics) -> None:
    check_versions(numerics, fast=False)


def test_versions_in_fast_mode(fast_numerics: Numerics) -> None:
    check_versions(fast_numerics, fast=True)
    call = version_call()
    fast_numerics.mmad(call.problem, fast=True)
    before = call.result()
    call.b[:] = 0xFF
    fast_numerics.mmad(call.problem, fast=True)
    assert (call.result() == before).all()
    call.problem.b_version = 13
    fast_numerics.mmad(call.problem, fast=True)
    assert (call.result() == ref.CANONICAL_NAN).all()


def test_version_zero_always_unpacks(numerics: Numerics) -> None:
    call = Call(make_case(("f32", "f32"), (16, 8, 16)))
    numerics.mmad(call.problem)
    call.a[:] = 0
    numerics.mmad(call.problem)
    assert (call.result() & 0x7FFFFFFF == 0).all()


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    pair=st.sampled_from(ALL_PAIRS),
    shape=st.tuples(st.integers(1, 70), st.integers(1, 90), st.integers(1, 70)),
    kind=st.sampled_from(["any", "normal"]),
    init=st.sampled_from(["zero", "accumulate", "bias"]),
    low=st.integers(0, 255),
)
def test_all_isas_agree(
    numerics_of: Callable[[Isa], Numerics], seed: int, pair: tuple[str, str],
    shape: tuple[int, int, int], kind: str, init: str, low: int,
) -> None:  # fmt: skip
    scales = (low, min(low + 20, 255)) if pair in MX_PAIRS and seed % 2 else None
    case = make_case(pair, shape, kind=kind, init=init, seed=seed, scales=scales)
    usable = [isa for isa in EXACT_ISAS if not isa.missing()]
    results = [run(numerics_of(isa), case) for isa in usable]
    for isa, result in zip(usable[1:], results[1:], strict=True):
        assert (result == results[0]).all(), f"{isa.name} differs from {usable[0].name}: {case}"


def largest_error(numerics: Numerics, case: Case) -> float:
    """Error of fast mode over the sum of absolute products (and the start)."""
    a, b = case.values("a"), case.values("b")
    start = case.start_bits().view(np.float32).astype(np.float64)
    got = run(numerics, case, fast=True).view(np.float32)
    size = np.maximum(np.abs(a) @ np.abs(b).T + np.abs(start), 2.0**-100)
    return float((np.abs(got - (start + a @ b.T)) / size).max())


FAST_PAIRS = [("bf16", "bf16"), ("e4m3", "e5m2"), ("hif8", "hif8"), ("e2m1", "e1m2")]


@pytest.mark.parametrize("init", ["zero", "accumulate", "bias"])
@pytest.mark.parametrize("shape", [*SHAPES, (200, 96, 64)], ids=str)
@pytest.mark.parametrize("pair", FAST_PAIRS, ids="-".join)
def test_fast_is_close(
    fast_numerics: Numerics, pair: tuple[str, str], shape: tuple[int, int, int], init: str
) -> None:
    assert fast_numerics.fast_unit == fast_numerics.isa.name
    case = make_case(pair, shape, init=init)
    assert largest_error(fast_numerics, case) < 2e-6, str(case)


def test_fast_mx(fast_numerics: Numerics) -> None:
    for pair in MX_PAIRS:
        case = make_case(pair, (33, 192, 40), init="accumulate", scales=(110, 140))
        assert largest_error(fast_numerics, case) < 2e-6, str(case)


def test_fast_rounds_differently_somewhere(fast_numerics: Numerics) -> None:
    """The pair unit is really in use."""
    case = make_case(("bf16", "bf16"), (64, 128, 64))
    assert (run(fast_numerics, case, fast=True) != case.expected()).any()


@pytest.mark.parametrize(
    ("a", "b"),
    [(2.0**-130, 1.0), (2.0**-130, 2.0**120), (2.0**-70, 2.0**-70)],
    ids=["subnormal", "subnormal-large", "small-product"],
)
def test_fast_takes_the_exact_kernel_where_units_flush(
    fast_numerics: Numerics, a: float, b: float
) -> None:
    case = make_case(("bf16", "bf16"), (64, 128, 64))
    case.a[5, 7], case.b[9, 3] = float_codes("bf16", [[a, b]])[0]
    check(fast_numerics, case, fast=True)


def test_fast_specials(fast_numerics: Numerics) -> None:
    """Inf and NaN come out where exact mode has them, NaN as the canonical one."""
    case = make_case(("bf16", "bf16"), (32, 32, 32))
    case.a[1, 2], case.a[3, 4], case.b[5, 6], case.b[7, 2] = 0x7F80, 0x7FC1, 0xFF80, 0
    want = case.expected()
    got = run(fast_numerics, case, fast=True)
    special = (want & 0x7F800000) == 0x7F800000
    assert (got[special] == want[special]).all()
    assert np.isfinite(got[~special].view(np.float32)).all()


@pytest.mark.parametrize("name", ["f16", "f32", "i8"])
def test_fast_equals_exact_for_other_formats(fast_numerics: Numerics, name: str) -> None:
    check(fast_numerics, make_case((name, name), (33, 40, 35), init="bias"), fast=True)
