"""References of the casts in plain torch, for tests (tile_kernels.md sections 3 and 10).

They follow the formats' arithmetic on whole tensors and share no code with the kernels.
"""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels.quant.common import unpack_from_e2m1fn_x2
from tile_kernels.utils import align, ceil_div

__all__ = ["cast", "cast_back", "decode_sf", "encode_e2m1", "pack_bytes", "power_of_two"]

_LARGEST = {"e4m3": 448.0, "e2m1": 6.0}
_MIDPOINTS = (0.25, 0.75, 1.25, 1.75, 2.5, 3.5, 5.0)


def encode_e2m1(values: torch.Tensor) -> torch.Tensor:
    """Rounds to e2m1, ties to the even code, and packs pairs of the last dimension into int8."""
    magnitude = values.abs().double()
    middles = torch.tensor(_MIDPOINTS, dtype=torch.float64, device=values.device)
    # A tie falls below its middle when that leaves the even code.
    below = torch.searchsorted(middles, magnitude.contiguous(), right=False)
    above = torch.searchsorted(middles, magnitude.contiguous(), right=True)
    code = torch.where(below % 2 == 0, below, above)
    code = torch.where(values.isnan(), 0, code | (values.signbit() & ~values.isnan()) * 8)
    pairs = code.to(torch.int16).view(*code.shape[:-1], code.shape[-1] // 2, 2)
    packed: torch.Tensor = (pairs[..., 0] | pairs[..., 1] << 4).to(torch.uint8)
    return packed.view(torch.int8)


def decode_sf(sf: torch.Tensor, rows: int, cols: int, block: tuple[int, int]) -> torch.Tensor:
    """Returns scales of any layout as fp32 [row blocks, column blocks]."""
    m, k = ceil_div(rows, block[0]), ceil_div(cols, block[1])
    if sf.dtype not in (torch.int16, torch.int32):
        return sf.float()
    pack = sf.element_size()
    if block[1] == 1:
        data = sf.contiguous().view(torch.uint8).view(sf.shape[0], k, pack)
        data = data.transpose(1, 2).reshape(-1, k)[:m]
    else:
        # NOTE: `contiguous` keeps the strides of a single column, which no view as bytes allows.
        data = sf.clone(memory_format=torch.contiguous_format).view(torch.uint8)[:, :k]
    return (data.int() << 23).view(torch.float32)


def _spread(sf: torch.Tensor, block: tuple[int, int], shape: tuple[int, int]) -> torch.Tensor:
    wide = sf.repeat_interleave(block[0], 0).repeat_interleave(block[1], 1)
    return wide[: shape[0], : shape[1]]


def _values(x: torch.Tensor) -> torch.Tensor:
    return unpack_from_e2m1fn_x2(x) if x.dtype in (torch.int8, torch.uint8) else x.float()


def cast_back(
    x: tuple[torch.Tensor, torch.Tensor], fmt: str, block_size: tuple[int, int] = (32, 32)
) -> torch.Tensor:
    """Returns data * sf, rounded to ``"bf16"`` or ``"fp32"``."""
    values = _values(x[0])
    rows, cols = values.shape
    sf = decode_sf(x[1], rows, cols, block_size)
    result = values * _spread(sf, block_size, (rows, cols))
    return result.bfloat16() if fmt == "bf16" else result


def _block_amax(x: torch.Tensor, block: tuple[int, int]) -> torch.Tensor:
    m, k = ceil_div(x.shape[0], block[0]), ceil_div(x.shape[1], block[1])
    padded = x.new_zeros(m * block[0], k * block[1])
    padded[: x.shape[0], : x.shape[1]] = x.abs()
    return padded.view(m, block[0], k, block[1]).amax((1, 3))


def power_of_two(scale: torch.Tensor) -> torch.Tensor:
    """The exponent byte of the power of two not below each scale; 255 for inf and NaN."""
    mantissa, exponent = torch.frexp(scale)
    biased = torch.where(mantissa == 0.5, exponent - 1, exponent) + 127
    return torch.where(scale.isfinite(), biased, 255)


def pack_bytes(bytes_: torch.Tensor, block: tuple[int, int], pack: int) -> torch.Tensor:
    """Returns exponent bytes [row blocks, column blocks] as row-major words of packed scales."""
    dtype = {2: torch.int16, 4: torch.int32}[pack]
    m, k = bytes_.shape
    if block[1] == 1:
        full = torch.zeros(align(m, pack), k, dtype=torch.uint8)
        full[:m] = bytes_
        words = full.view(-1, pack, k).transpose(1, 2).reshape(-1, k * pack).contiguous()
        return words.view(dtype)
    full = torch.zeros(m, align(k, pack), dtype=torch.uint8)
    full[:, :k] = bytes_
    return full.view(dtype)


def cast(
    x: torch.Tensor | tuple[torch.Tensor, torch.Tensor],
    fmt: str,
    block_size: tuple[int, int] = (32, 32),
    sf: torch.Tensor | None = None,
    x_block_size: tuple[int, int] | None = None,
    round_sf: bool = False,
    use_tma_aligned_col_major_sf: bool = False,
    use_packed_ue8m0: bool = False,
    use_e4m3_sf: bool = False,
    pack: int = 2,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Quantises a matrix block by block.

    Args:
        x: [tokens, hidden] numbers, or (data, sf) with `x_block_size`.
        fmt: ``"e4m3"`` or ``"e2m1"``.
        block_size: (tokens, channels) of a scale.
        sf: given scales.
        round_sf, use_tma_aligned_col_major_sf, use_packed_ue8m0, use_e4m3_sf: form of the scales.
        pack: bytes in a word of packed scales.

    Returns:
        (codes, scales).
    """
    values = cast_back(x, "fp32", x_block_size or block_size) if isinstance(x, tuple) else x.float()
    shape = (values.shape[0], values.shape[1])
    largest = torch.tensor(_LARGEST[fmt])
    if sf is not None:
        inverse, stored = 1.0 / decode_sf(sf, *shape, block_size), sf
    else:
        floor = settings.get_amax_clamp_for_quant(fmt, use_e4m3_sf)
        amax = _block_amax(values, block_size).clamp(min=floor)
        stored, inverse = amax / largest, torch.full_like(amax, float(largest)) / amax
        if use_e4m3_sf:
            stored = stored.clamp(max=448.0).to(torch.float8_e4m3fn)
            inverse = 1.0 / stored.float()
        if round_sf:
            exponent = power_of_two(stored)
            stored = (exponent.int() << 23).view(torch.float32)
            inverse = torch.where(exponent >= 254, 0.0, torch.exp2(127.0 - exponent))
            if use_packed_ue8m0:
                stored = pack_bytes(exponent.to(torch.uint8), block_size, pack)
        if use_tma_aligned_col_major_sf and block_size[1] != 1:
            stored = stored.T.clone(memory_format=torch.contiguous_format).T
    scaled = (values * _spread(inverse, block_size, shape)).clamp(-largest, largest)
    codes = encode_e2m1(scaled) if fmt == "e2m1" else scaled.to(torch.float8_e4m3fn)
    return codes, stored
