"""e5m6 there and back, bit for bit against the reference, with the borders of the format."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.quant import cast_back, per_token_cast, per_token_cast_back
from tile_kernels.testing.generator import generate_e5m6_inputs
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.testing.quant import quant_inputs
from tile_kernels.torch import cast_back_from_e5m6, cast_to_e5m6

PACKED_COL = {
    "round_sf": True, "use_packed_ue8m0": True, "use_tma_aligned_col_major_sf": True,
}  # fmt: skip


@pytest.mark.parametrize("options", [{}, PACKED_COL], ids=["plain", "packed"])
def test_there_and_back(options):
    for tokens, hidden in ((37, 704), (1, 64), (0, 64)):
        x = quant_inputs(tokens, hidden, torch.float32, spread=1.0)
        with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
            quantised = per_token_cast(x, "e5m6", hidden, **options)
            back = per_token_cast_back(quantised, "fp32", hidden, "e5m6")
        wanted = cast_to_e5m6(x, hidden, **{"round_sf": False, **options})
        assert_equal(quantised[0], wanted[0])
        assert_equal(quantised[1], wanted[1])
        assert_equal(back, cast_back_from_e5m6(wanted, "fp32", (1, hidden)))
        torch.testing.assert_close(back, x, rtol=2**-6, atol=float(2**-20 * x.abs().sum() + 1e-9))


def test_bf16_there_and_back():
    x = quant_inputs(100, 704)
    x[3, 5], x[7] = 0, 0
    quantised = per_token_cast(x, "e5m6", 704, round_sf=True)
    wanted = cast_to_e5m6(x, 704, round_sf=True)
    assert_equal(quantised[0], wanted[0])
    assert_equal(quantised[1], wanted[1])
    back = per_token_cast_back(quantised, "bf16", 704, "e5m6")
    assert_equal(back, cast_back_from_e5m6(wanted, "bf16", (1, 704)))


def test_borders_of_the_format():
    x = generate_e5m6_inputs(12, 128)
    quantised = per_token_cast(x, "e5m6", 128)
    wanted = cast_to_e5m6(x, 128)
    assert_equal(quantised[0], wanted[0])
    assert_equal(quantised[1], wanted[1])
    back = per_token_cast_back(quantised, "fp32", 128, "e5m6")
    assert_equal(back, cast_back_from_e5m6(wanted, "fp32", (1, 128)))


def test_every_code():
    h = torch.arange(4096, dtype=torch.int64).view(8, -1, 8).unbind(-1)
    w = torch.stack((
        h[0] << 20 | h[1] << 8 | h[2] >> 4, h[2] << 28 | h[3] << 16 | h[4] << 4 | h[5] >> 8,
        h[5] << 24 | h[6] << 12 | h[7],
    ), -1)  # fmt: skip
    data = w.to(torch.int32).flatten(1).contiguous().view(torch.uint8)
    sf = torch.ones(8, 1)
    got = cast_back((data, sf), "fp32", (1, 512), "e5m6")
    wanted = (torch.arange(4096) << 4).to(torch.int16).view(torch.float16).float().view(8, 512)
    torch.testing.assert_close(got, wanted, rtol=0, atol=0, equal_nan=True)


def test_bad_arguments():
    x = torch.zeros(4, 64)
    with pytest.raises(ValueError, match=r"allows hidden \(64\) only"):
        per_token_cast(x, "e5m6", 32)
    with pytest.raises(ValueError, match="excludes x_block_size"):
        per_token_cast(x, "e5m6", 64, stochastic_cast=True)
    quantised = cast_to_e5m6(x, 64)
    with pytest.raises(ValueError, match=r"allows \(1, 64\) only"):
        cast_back(quantised, "bf16", (1, 32), "e5m6")
    with pytest.raises(TypeError, match="uint8"):
        cast_back((x, quantised[1]), "bf16", (1, 64), "e5m6")
