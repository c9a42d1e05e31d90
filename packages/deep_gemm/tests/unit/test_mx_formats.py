"""Packing and decoding of scaled operands against ml_dtypes (deep_gemm.md sections 2.1, 2.2)."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch

from deep_gemm.testing import (
    GemmCase,
    MxCase,
    decode_fp4,
    decode_mx,
    decode_scales,
    enumerate_mx,
    make_mx_inputs,
    pack_fp4,
    pack_scales,
)


def test_fp4_codes() -> None:
    codes = torch.arange(16, dtype=torch.uint8).view(1, 16)
    wanted = codes.numpy().view(ml_dtypes.float4_e2m1fn).astype(np.float64)
    decoded = decode_fp4(pack_fp4(codes))
    np.testing.assert_array_equal(decoded.numpy(), wanted)
    assert decoded[0, 15] == -6.0


def test_the_even_k_is_the_low_nibble() -> None:
    packed = pack_fp4(torch.tensor([[1, 2, 0, 15]]))
    assert packed.tolist() == [[0x21, 0xF0 - 256]]
    assert decode_fp4(packed).tolist() == [[0.5, 1.0, 0.0, -6.0]]


def test_every_scale() -> None:
    exponents = torch.arange(256, dtype=torch.uint8).view(1, 256)
    decoded = decode_scales(pack_scales(exponents), 256 * 32)
    wanted = exponents.numpy().view(ml_dtypes.float8_e8m0fnu).astype(np.float64)
    np.testing.assert_array_equal(decoded[:, ::32].numpy(), wanted)
    np.testing.assert_array_equal(decoded[:, 31::32].numpy(), wanted)


@pytest.mark.parametrize("groups", [0, 1, 2, 3, 7])
@pytest.mark.parametrize("rows", [0, 1, 5])
def test_layout_of_packed_scales(rows: int, groups: int) -> None:
    exponents = torch.randint(0, 256, (rows, groups), dtype=torch.uint8)
    sf = pack_scales(exponents)
    assert sf.dtype is torch.int16
    assert sf.shape == (rows, (groups + 1) // 2)
    assert sf.stride(0) == 1 or rows <= 1
    assert sf.stride(1) == rows or groups <= 2 or rows == 0
    # Little-endian bytes of a row are its exponents; the spare one is 0
    data = np.ascontiguousarray(sf.numpy()).view(np.uint8).reshape(rows, 2 * sf.shape[1])
    np.testing.assert_array_equal(data[:, :groups], exponents.numpy())
    assert not data[:, groups:].any()


def test_decoding_multiplies_groups_of_32() -> None:
    data = torch.ones(1, 70).to(torch.float8_e4m3fn)
    sf = pack_scales(torch.tensor([[128, 126, 130]], dtype=torch.uint8))
    assert decode_mx(data, sf)[0, [0, 31, 32, 63, 64, 69]].tolist() == [2, 2, 0.5, 0.5, 8, 8]


@pytest.mark.parametrize("fp4", [False, True])
@pytest.mark.parametrize("suffix", ["nt", "nn", "tn", "tt"])
def test_inputs_are_what_they_say(fp4: bool, suffix: str) -> None:
    case = MxCase(GemmCase(5, 6, 70, suffix, pad=3, offset=2), fp4, sf_pad=1)
    data = make_mx_inputs(case, seed=3)
    (a, sfa), (b, sfb) = data.a, data.b
    if suffix[0] == "t":
        a, sfa = a.t(), sfa.t()
    if suffix[1] == "n":
        b, sfb = b.t(), sfb.t()
    assert a.stride(1) == b.stride(1) == 1
    assert torch.equal(decode_mx(a, sfa), data.a_value)
    assert torch.equal(decode_mx(b, sfb), data.b_value)
    assert data.a_value.isfinite().all()
    assert data.a_value.shape == (5, 70)
    again = make_mx_inputs(case, seed=3)
    assert torch.equal(again.a_value, data.a_value)
    assert not torch.equal(make_mx_inputs(case, seed=4).a_value, data.a_value)


def test_published_cases() -> None:
    cases = list(enumerate_mx())
    assert len({str(case) for case in cases}) == len(cases)
    assert {case.fp4 for case in cases} == {False, True}
    assert all(case.base.k % 2 == 0 for case in cases if case.fp4)
    assert any(case.base.k == 4095 for case in cases)
    assert all(case.flops <= 10**9 for case in enumerate_mx(10**9))
    assert str(MxCase(GemmCase(128, 576, 7168))) in map(str, cases)
