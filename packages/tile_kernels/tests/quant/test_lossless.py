"""The exact change from e2m1 to e4m3: numbers stay the same, bit for bit."""

import pytest
import torch

from tile_kernels import emulator
from tile_kernels.errors import LaunchError
from tile_kernels.quant import per_block_cast_lossless
from tile_kernels.testing.numeric import assert_equal
from tile_kernels.torch import quant_cast as ref

PACKED_COL = {
    "round_sf": True, "use_packed_ue8m0": True, "use_tma_aligned_col_major_sf": True,
}  # fmt: skip


@pytest.fixture(autouse=True)
def all_checkers():
    """Every case under all checkers, so that they share their kernels."""
    with emulator(checks=("memcheck", "racecheck", "initcheck", "synccheck")):
        yield


def case(tokens, hidden, spread=10, packed=False):
    """Every code, and scales that differ by up to 2 ** spread around each row's own exponent."""
    data = torch.randint(-128, 128, (tokens, hidden // 2), dtype=torch.int8)
    exponent = torch.randint(17, 252 - spread, (-(-tokens // 128), 1)).repeat_interleave(128, 0)
    exponent = exponent[:tokens] + torch.randint(0, spread + 1, (tokens, -(-hidden // 32)))
    if packed:
        return data, ref.pack_bytes(exponent.to(torch.uint8), (1, 32), 2)
    return data, (exponent.int() << 23).view(torch.float32)


def largest_exponent(values, block):
    """Biased exponent of the largest scale in each block of [tokens, groups of 32]."""
    rows, cols = block[0], block[1] // 32
    m, k = -(-values.shape[0] // rows), -(-values.shape[1] // cols)
    padded = torch.zeros(m * rows, k * cols)
    padded[: values.shape[0], : values.shape[1]] = values
    return padded.view(m, rows, k, cols).amax((1, 3)).view(torch.int32) >> 23


@pytest.mark.parametrize(
    ("block", "options"),
    [
        ((32, 32), {}),
        ((1, 128), PACKED_COL),
        ((128, 128), {"round_sf": True}),
        ((32, 64), PACKED_COL),
        ((128, 128), PACKED_COL),
    ],
)
def test_numbers_stay(block, options):
    for tokens, hidden in ((150, 704), (1, 64), (0, 128)):
        x = case(tokens, hidden, packed=bool(options.get("use_packed_ue8m0")))
        codes, sf = per_block_cast_lossless(x, "e4m3", (1, 32), block, **options)
        assert_equal(ref.cast_back((codes, sf), "fp32", block), ref.cast_back(x, "fp32", (1, 32)))
        if tokens:
            wanted = largest_exponent(ref.decode_sf(x[1], tokens, hidden, (1, 32)), block) - 6
            got = ref.decode_sf(sf, tokens, hidden, block).view(torch.int32) >> 23
            assert torch.equal(got, wanted)


def test_column_major_input():
    data, sf = case(150, 704)
    turned = sf.T.contiguous().T
    for block in ((128, 128), (32, 32)):
        wanted = per_block_cast_lossless((data, sf), "e4m3", (1, 32), block)
        got = per_block_cast_lossless((data, turned), "e4m3", (1, 32), block)
        assert_equal(got[0], wanted[0])
        assert_equal(got[1], wanted[1])


def test_column_major_scales_and_other_blocks():
    data, sf = case(150, 704)
    wanted = ref.cast_back((data, sf), "fp32", (1, 32))
    columns = sf.T.contiguous().T
    assert not columns.is_contiguous()
    for given, block in ((columns, (1, 32)), (sf.repeat_interleave(2, 1), (1, 16))):
        codes, new = per_block_cast_lossless((data, given), "e4m3", block, (2, 32))
        assert_equal(ref.cast_back((codes, new), "fp32", (2, 32)), wanted)


def test_scales_that_differ_too_much_and_no_powers_end_the_kernel():
    data, _ = case(32, 64)
    for block, width in (((1, 32), 2), ((1, 16), 4)):  # of both kernels
        for other, is_allowed in ((2.0**11, True), (2.0**12, False), (1.5, False), (-1.0, False)):
            sf = torch.full((32, width), 1.0)
            sf[7, 0] = other
            if is_allowed:
                per_block_cast_lossless((data, sf), "e4m3", block, (32, 32))
                continue
            with pytest.raises(LaunchError):
                per_block_cast_lossless((data, sf), "e4m3", block, (32, 32))


def test_bad_arguments():
    x = case(32, 64)
    with pytest.raises(ValueError, match="allowed: 'e4m3'"):
        per_block_cast_lossless(x, "e2m1", (1, 32), (32, 32))
    with pytest.raises(ValueError, match="multiples of x_block_size"):
        per_block_cast_lossless(x, "e4m3", (1, 32), (32, 16))
    with pytest.raises(TypeError, match="allowed: int8"):
        per_block_cast_lossless(ref.cast(torch.ones(4, 64), "e4m3", (1, 32)), "e4m3", (1, 32),
                                (1, 32))  # fmt: skip
    with pytest.raises(ValueError, match="needs round_sf"):
        per_block_cast_lossless(x, "e4m3", (1, 32), (32, 32), use_packed_ue8m0=True)
