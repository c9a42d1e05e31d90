"""Formats, special values and published shapes of the FP8 and FP4 GEMM (2.1, 2.2, 6.2)."""

from __future__ import annotations

import pytest
import torch
from mx_runs import assert_within_bound, call_mx, run_mx_case

import deep_gemm
from deep_gemm.testing import (
    GemmCase,
    MxCase,
    assert_equal,
    bf16_reference,
    calc_diff,
    decode_mx,
    enumerate_mx,
    make_mx_inputs,
    pack_fp4,
    pack_scales,
)

FP8 = torch.float8_e4m3fn
M, N, K = 63, 47, 70
# Published cases of the default run; --level=2 runs all that take at most a minute or so
DEFAULT = {"fp8-128x576x7168-nt-KK-bf16", "fp4-130x257x2048-nt-KK-fp32-c_in_place"}
LARGE = 20_000_000_000


def scales(rows: int, *exponents: int) -> torch.Tensor:
    return pack_scales(torch.tensor(exponents, dtype=torch.uint8).repeat(rows, 1))


def ones(rows: int, k: int = K) -> torch.Tensor:
    return torch.ones(rows, k).to(FP8)


def gemm(a, b, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    d = torch.full((a[0].shape[0], b[0].shape[0]), 5.0).to(dtype)
    deep_gemm.fp8_fp4_gemm_nt(a, b, d, compiled_dims="")
    return d


def test_every_fp8_code_passes_unchanged() -> None:
    codes = (torch.arange(63 * 63) % 256).to(torch.uint8).view(63, 63)
    codes[(codes & 0x7F) == 0x7F] = 0  # NaN times zero would fill the row
    a, b = codes.view(FP8), torch.eye(63).to(FP8)
    d = gemm((a, scales(63, 127, 127)), (b, scales(63, 127, 127)), torch.bfloat16)
    torch.testing.assert_close(d, a.bfloat16(), rtol=0, atol=0)


def test_every_fp4_code_passes_unchanged() -> None:
    codes = (torch.arange(62 * 62) % 16).view(62, 62)
    identity = pack_fp4(2 * torch.eye(62, dtype=torch.uint8))  # code 2 is 1.0
    packed, sf = pack_fp4(codes), scales(62, 127, 127)
    d = gemm((packed, sf), (identity, sf))
    torch.testing.assert_close(d.double(), decode_mx(packed, sf), rtol=0, atol=0)


def test_the_low_byte_scales_the_lower_half() -> None:
    a, b = (ones(M), scales(M, 128, 130, 127)), (ones(N), scales(N, 127, 127, 129))
    assert_equal(gemm(a, b), torch.full((M, N), 32.0 * 2 + 32 * 8 + 6 * 4))


def test_smallest_and_largest_scales_meet() -> None:
    # 2**-127 * 2**127 for each product; either factor alone leaves fp32's normal range
    d = gemm((ones(M), scales(M, 0, 254, 0)), (ones(N), scales(N, 254, 0, 254)))
    assert_equal(d, torch.full((M, N), float(K)))


def test_a_nan_code_stays_in_its_row() -> None:
    a = ones(M)
    a.view(torch.uint8)[9, 69] = 0x7F
    d = gemm((a, scales(M, 127, 127, 127)), (ones(N), scales(N, 127, 127, 127)))
    assert d[9].isnan().all()
    keep = torch.arange(M) != 9
    assert_equal(d[keep], torch.full((M - 1, N), float(K)))


def test_a_nan_scale_stays_in_its_row_or_column() -> None:
    exponents = torch.full((N, 3), 127, dtype=torch.uint8)
    exponents[11, 2] = 255
    d = gemm((ones(M), scales(M, 127, 127, 127)), (ones(N), pack_scales(exponents)))
    assert d[:, 11].isnan().all()
    keep = torch.arange(N) != 11
    assert_equal(d[:, keep].contiguous(), torch.full((M, N - 1), float(K)))


def test_finite_bytes_behind_the_last_group_do_not_matter() -> None:
    wanted = gemm((ones(M), scales(M, 127, 127, 127)), (ones(N), scales(N, 127, 127, 127)))
    spare = scales(M, 127, 127, 127, 254), scales(N, 127, 127, 127, 200)
    assert_equal(gemm((ones(M), spare[0]), (ones(N), spare[1])), wanted)


@pytest.mark.parametrize("fp4", [False, True])
def test_repeated_calls_give_the_same_bits(fp4: bool) -> None:
    case = MxCase(GemmCase(33, 40, 200, fp32=fp4, offset=1, compiled_dims=""), fp4)
    data = make_mx_inputs(case)
    call_mx(case, data)
    first = data.d.clone()
    for _ in range(3):
        data.d.normal_()
        call_mx(case, data)
        assert_equal(data.d.clone(), first)


@pytest.mark.parametrize("fp4", [False, True])
def test_fast_numerics_stay_within_tolerance(fp4: bool) -> None:
    case = MxCase(GemmCase(33, 40, 200, fp32=fp4, offset=1, compiled_dims=""), fp4)
    data, result = run_mx_case(case, 1, numerics="fast")
    assert calc_diff(result, bf16_reference(data.a_value, data.b_value)) < 1e-5


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=str(case), marks=[] if str(case) in DEFAULT else [pytest.mark.slow])
        for case in enumerate_mx(LARGE)
    ],
)
def test_published_case(case: MxCase) -> None:
    data, result = run_mx_case(case, 1)
    assert_within_bound(case, data, result)


def test_the_default_cases_are_published_ones() -> None:
    assert {str(case) for case in enumerate_mx(LARGE)} >= DEFAULT
