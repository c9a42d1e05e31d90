"""Casts with a scale per group of channels of each token (tile_kernels.md section 4.1)."""

from __future__ import annotations

import torch

from tile_kernels.errors import TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import check_blocks, run_cast
from tile_kernels.quant.e5m6_kernel import cast_to_e5m6
from tile_kernels.quant.first_generation import block_size_at
from tile_kernels.quant.types import QuantTensor

__all__ = [
    "per_token_cast", "per_token_cast_with_precomputed_sf", "per_token_cast_with_sf_only",
]  # fmt: skip

GROUPS = (16, 32, 64, 128)
HIDDEN_MULTIPLE = 64

Block = tuple[int, int]


def per_token_cast(
    x: torch.Tensor | QuantTensor,
    fmt: str,
    num_per_channels: int,
    x_block_size: Block | None = None,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    use_e4m3_sf: bool = False,
    stochastic_cast: bool = False,
    out: torch.Tensor | None = None,
) -> QuantTensor:
    """Quantises each token in groups of channels.

    Args:
        x: bf16 or fp32 [tokens, hidden], rows may be strided; or (data, sf) with data e4m3
            [tokens, hidden] or int8 [tokens, hidden / 2] (e2m1).
        fmt: ``"e4m3"`` or ``"e2m1"``; or ``"e5m6"``, twelve bits a number, for x without scales and
            num_per_channels of hidden, with the form of the scales as the only options.
        num_per_channels: channels per scale: 16, 32, 64, 128, or hidden.
        x_block_size: (tokens, channels) of one input scale, for x as (data, sf).
        use_tma_aligned_col_major_sf: scales of one group lie together.
        round_sf: scales are powers of two.
        use_packed_ue8m0: scales are exponent bytes, two in an int16; needs round_sf.
        use_e4m3_sf: scales are e4m3 numbers; excludes round_sf.
        stochastic_cast: codes are rounded up or down at random, the same for equal inputs.
        out: where to write the codes.

    Returns:
        (codes, scales): e4m3 [tokens, hidden], int8 [tokens, hidden / 2] or for e5m6 uint8
        [tokens, 3 hidden / 2]; scales [tokens, groups], packed [tokens, groups / 2]. A group with
        infinity or NaN gets the scale infinity (byte 255) or NaN, and its finite elements become 0
        or NaN.

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed; nothing is written.

    Example:
        >>> codes, scales = per_token_cast(torch.randn(8, 256).bfloat16(), "e4m3", 128)
    """
    if fmt == "e5m6":
        if x_block_size is not None or use_e4m3_sf or stochastic_cast:
            raise TileKernelsValueError(
                "fmt='e5m6' excludes x_block_size, use_e4m3_sf and stochastic_cast; drop them"
            )
        return cast_to_e5m6(
            x, num_per_channels, use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0, out
        )
    data, sf_in, in_config = common.get_cast_input_and_config(x, x_block_size)
    config = _output(
        data, fmt, num_per_channels, use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0,
        use_e4m3_sf,
    )  # fmt: skip
    codes, scales = run_cast(data, sf_in, in_config, config, out=out, stochastic=stochastic_cast)
    assert codes is not None
    return codes, scales


@block_size_at(3)
def per_token_cast_with_sf_only(
    x: torch.Tensor | QuantTensor,
    fmt: str,
    num_per_channels: int,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    use_e4m3_sf: bool = False,
    out_sf: torch.Tensor | None = None,
    *,
    x_block_size: Block | None = None,
) -> torch.Tensor:
    """Returns the scales that `per_token_cast` would make; `out_sf`, row-major, receives them.

    `x_block_size` is for x as (data, sf); it may also stand behind num_per_channels, as in the
    first generation. Arguments and errors as of `per_token_cast`.
    """
    data, sf_in, in_config = common.get_cast_input_and_config(x, x_block_size)
    config = _output(
        data, fmt, num_per_channels, use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0,
        use_e4m3_sf,
    )  # fmt: skip
    return run_cast(data, sf_in, in_config, config, out_sf=out_sf, want_data=False)[1]


@block_size_at(4)
def per_token_cast_with_precomputed_sf(
    x: torch.Tensor | QuantTensor,
    fmt: str,
    num_per_channels: int,
    sf: torch.Tensor,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    use_e4m3_sf: bool = False,
    out: torch.Tensor | None = None,
    *,
    x_block_size: Block | None = None,
) -> torch.Tensor:
    """Returns the codes of x for given scales: rounded and saturated `x * (1 / sf)`.

    `sf` may have any layout; it is recognised by its dtype and strides. `x_block_size` may also
    stand behind it, as in the first generation. The other arguments and the errors are those of
    `per_token_cast`.
    """
    data, sf_in, in_config = common.get_cast_input_and_config(x, x_block_size)
    config = _output(
        data, fmt, num_per_channels, use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0,
        use_e4m3_sf,
    )  # fmt: skip
    codes = run_cast(data, sf_in, in_config, config, sf=sf, out=out)[0]
    assert codes is not None
    return codes


def _output(
    data: torch.Tensor, fmt: str, num_per_channels: int, col: bool, rounded: bool, packed: bool,
    e4m3_sf: bool,
) -> common.CastOutputConfig:  # fmt: skip
    hidden = common.get_logical_hidden(data.shape[1], data.dtype)
    if num_per_channels not in GROUPS and num_per_channels != hidden:
        raise TileKernelsValueError(
            f"num_per_channels got {num_per_channels}; allowed: {', '.join(map(str, GROUPS))} or "
            f"hidden ({hidden})"
        )
    check_blocks("per_token_cast", hidden, HIDDEN_MULTIPLE)
    return common.get_cast_output_config(fmt, (1, num_per_channels), col, rounded, packed, e4m3_sf)
