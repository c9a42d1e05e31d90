"""RMSNorm with a cast of its result (tile_kernels.md section 4.9)."""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels._bridge import launched_together
from tile_kernels._checks import check_whole
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import (
    check_blocks,
    dtype_name,
    output_or_new,
    run_cast,
)
from tile_kernels.quant.norm_forward_kernel import norm_forward
from tile_kernels.quant.types import QuantTensor
from tile_kernels.utils import align, ceil_div

__all__ = ["norm_forward_and_per_token_cast"]

GROUPS = (16, 32, 64, 128)
HIDDEN_MULTIPLE = 32
MEGA_GROUP = 32  # channels of a scale that mega_moe_sf holds
MEGA_WIDTH = 128  # channels of a word of it


def norm_forward_and_per_token_cast(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    eps: float,
    fmt: str,
    num_per_channels: int,
    residual: torch.Tensor | None = None,
    out_scale: float = 1.0,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    with_out_bf16: bool = False,
    out: torch.Tensor | None = None,
    out_bf16: torch.Tensor | None = None,
    residual_out: torch.Tensor | None = None,
    mega_moe_sf: torch.Tensor | None = None,
    mega_moe_block_m: int = 0,
) -> tuple[QuantTensor, torch.Tensor | None, torch.Tensor, torch.Tensor]:
    """Returns ((codes, scales), out_bf16 or None, rstd, norm_input).

    The codes are those of `per_token_cast` of the rounded result of `norm_forward`; it takes two
    kernels, and one more for `mega_moe_sf`.

    Args:
        x: as in `norm_forward`.
        fmt, num_per_channels: ``"e4m3"`` and channels per scale: 16, 32, 64 or 128.
        with_out_bf16: also returns the result before the cast.
        out: where to write the codes, contiguous; `out_bf16` the result before the cast.
        mega_moe_sf: int32 [rows, hidden / 128] with strides (1, at least rows), which receives the
            exponents once more, four groups of 32 channels a word, the first lowest. Token t of
            block b = t // block_m, at i = t % block_m, has row `b * align(block_m, 128) +
            i // 128 * 128 + i % 32 * 4 + i % 128 // 32`; other rows are not written. Needs
            round_sf, groups of 32, x in 2 dimensions and hidden a multiple of 128.
        mega_moe_block_m: tokens of a block.

    The other arguments are those of `norm_forward` and `per_token_cast`. For x [batch, tokens,
    hidden] scales are [batch, tokens, groups], column-major inside each batch.

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed; nothing is written.
    """
    if fmt != "e4m3":
        raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'e4m3'")
    if num_per_channels not in GROUPS:
        raise TileKernelsValueError(
            f"num_per_channels got {num_per_channels}; allowed: 16, 32, 64, 128"
        )
    if out_bf16 is not None and not with_out_bf16:
        raise TileKernelsValueError("out_bf16 needs with_out_bf16=True")
    config = common.get_cast_output_config(
        fmt, (1, num_per_channels), use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0
    )
    check_blocks("norm_forward_and_per_token_cast", x.shape[-1], HIDDEN_MULTIPLE)
    codes = output_or_new(out, tuple(x.shape), config.torch_dtype, x.device)
    _check_mega(mega_moe_sf, mega_moe_block_m, x, config)
    with launched_together():
        result, rstd, norm_input = norm_forward(
            x, weight, eps, residual, out_scale, out_bf16, residual_out
        )
        if x.dim() == 3:
            sf = _cast_batches(result, codes, config)
        else:
            sf = _cast_into(result, codes, config, None)
        if mega_moe_sf is not None and codes.numel():
            _write_mega(sf, config, mega_moe_sf, mega_moe_block_m)
    return (codes, sf), result if with_out_bf16 else None, rstd, norm_input


def _cast_into(
    result: torch.Tensor,
    codes: torch.Tensor,
    config: common.CastOutputConfig,
    sf: torch.Tensor | None,
) -> torch.Tensor:
    _, in_sf, in_config = common.get_cast_input_and_config(result, None)
    return run_cast(result, in_sf, in_config, config, out=codes, new_sf=sf)[1]


def _cast_batches(
    result: torch.Tensor, codes: torch.Tensor, config: common.CastOutputConfig
) -> torch.Tensor:
    """Casts [batch, tokens, hidden]; each batch has storage of its own for the scales."""
    if config.sf_layout.kind in ("row", "packed_row"):
        hidden = result.shape[-1]
        sf = _cast_into(result.view(-1, hidden), codes.view(-1, hidden), config, None)
        return sf.view(*result.shape[:2], sf.shape[-1])
    tokens, hidden = result.shape[1:]
    one = common.alloc_scaling_factors((tokens, hidden), config, result.device)
    shape = (result.shape[0], one.shape[0], max(one.stride(0), tokens))
    stored = torch.empty(shape, dtype=one.dtype, device=one.device)[..., :tokens]
    for batch in range(result.shape[0]):
        _cast_into(result[batch], codes[batch], config, stored[batch].T)
    return stored.transpose(1, 2)


def _check_mega(
    mega: torch.Tensor | None, block_m: int, x: torch.Tensor, config: common.CastOutputConfig
) -> None:
    if mega is None:
        if block_m:
            raise TileKernelsValueError(f"mega_moe_block_m={block_m} needs mega_moe_sf")
        return
    check_whole("mega_moe_block_m", block_m, 1)
    if x.dim() != 2 or x.shape[1] % MEGA_WIDTH:
        raise TileKernelsValueError(
            f"x has shape {tuple(x.shape)}; mega_moe_sf needs [tokens, hidden] with hidden a "
            f"multiple of {MEGA_WIDTH}"
        )
    if not config.round_sf or config.sf_block[1] != MEGA_GROUP:
        raise TileKernelsValueError(
            f"mega_moe_sf needs round_sf=True and num_per_channels={MEGA_GROUP}, got "
            f"{config.round_sf} and {config.sf_block[1]}"
        )
    if not isinstance(mega, torch.Tensor) or mega.dtype != torch.int32:
        got = mega.dtype if isinstance(mega, torch.Tensor) else type(mega).__name__
        raise TileKernelsTypeError(f"mega_moe_sf must be an int32 tensor, got {got}")
    rows = ceil_div(x.shape[0], block_m) * align(block_m, MEGA_WIDTH)
    columns = x.shape[1] // MEGA_WIDTH
    has_form = mega.dim() == 2 and mega.shape[0] >= rows and mega.shape[1] == columns
    if not has_form or (mega.stride(0) != 1 and rows > 1) or mega.device != x.device:
        raise TileKernelsValueError(
            f"mega_moe_sf is {tuple(mega.shape)} with stride {tuple(mega.stride())} on "
            f"{mega.device}; wanted at least ({rows}, {columns}) with stride(0) == 1 on {x.device}"
        )


def _write_mega(
    sf: torch.Tensor, config: common.CastOutputConfig, mega: torch.Tensor, block_m: int
) -> None:
    from tile_kernels.quant.mega_moe_sf_asc import mega_moe_words

    items = common.sf_items(sf, config)
    mega_moe_words(
        items, mega.T, sf.shape[0], block_m, align(block_m, MEGA_WIDTH),
        layout=config.sf_layout, dtype=dtype_name(items.dtype), cores=settings.get_num_vec_cores(),
    )  # fmt: skip
