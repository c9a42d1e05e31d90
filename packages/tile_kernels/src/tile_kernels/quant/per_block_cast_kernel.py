"""Casts with a scale per block of tokens and channels (tile_kernels.md section 4.2)."""

from __future__ import annotations

import torch

from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import check_blocks, run_cast
from tile_kernels.quant.types import QuantTensor

__all__ = [
    "per_block_cast", "per_block_cast_with_precomputed_sf", "per_block_cast_with_sf_only",
]  # fmt: skip

BLOCKS = ((32, 32), (128, 128))
HIDDEN_MULTIPLE = 64

Block = tuple[int, int]


def per_block_cast(
    x: torch.Tensor,
    fmt: str,
    block_size: Block,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    out: torch.Tensor | None = None,
) -> QuantTensor:
    """Quantises a matrix in square blocks.

    Args:
        x: contiguous bf16 or fp32 [tokens, hidden], hidden a multiple of 64; blocks at the edges
            may be partial.
        fmt: ``"e4m3"`` or ``"e2m1"``.
        block_size: (32, 32) or (128, 128).
        use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0: form of the scales, as in
            `per_token_cast`.
        out: where to write the codes.

    Returns:
        (codes, scales [token blocks, channel blocks]); a word of packed scales holds two of the
        latter.

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed; nothing is written.
    """
    config = _output(x, fmt, block_size, use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0)
    data, _, in_config = common.get_cast_input_and_config(x, None)
    codes, scales = run_cast(data, None, in_config, config, out=out)
    assert codes is not None
    return codes, scales


def per_block_cast_with_sf_only(
    x: torch.Tensor,
    fmt: str,
    block_size: Block,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    out_sf: torch.Tensor | None = None,
) -> torch.Tensor:
    """Returns the scales that `per_block_cast` would make; `out_sf`, row-major, receives them."""
    config = _output(x, fmt, block_size, use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0)
    data, _, in_config = common.get_cast_input_and_config(x, None)
    return run_cast(data, None, in_config, config, out_sf=out_sf, want_data=False)[1]


def per_block_cast_with_precomputed_sf(
    x: torch.Tensor,
    fmt: str,
    block_size: Block,
    sf: torch.Tensor,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """Returns the codes of x for given scales of any layout: `x * (1 / sf)`, rounded, saturated."""
    config = _output(x, fmt, block_size, use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0)
    data, _, in_config = common.get_cast_input_and_config(x, None)
    codes = run_cast(data, None, in_config, config, sf=sf, out=out)[0]
    assert codes is not None
    return codes


def _output(
    x: torch.Tensor, fmt: str, block_size: Block, col: bool, rounded: bool, packed: bool
) -> common.CastOutputConfig:
    block = (int(block_size[0]), int(block_size[1]))
    if block not in BLOCKS:
        raise TileKernelsValueError(f"block_size got {block}; allowed: (32, 32), (128, 128)")
    if not isinstance(x, torch.Tensor):
        raise TileKernelsTypeError(
            f"x must be a tensor, got {type(x).__name__}; cast_back it first if it is quantised"
        )
    config = common.get_cast_output_config(fmt, block, col, rounded, packed)
    if x.dim() == 2:
        check_blocks("per_block_cast", x.shape[1], HIDDEN_MULTIPLE)
        if not x.is_contiguous():
            raise TileKernelsValueError(
                f"x has stride {tuple(x.stride())}; it must be contiguous, pass x.contiguous()"
            )
    return config
