"""RMSNorm with a cast of its result (tile_kernels.md section 4.9)."""

from __future__ import annotations

import math

import torch

from tile_kernels import config as settings
from tile_kernels._bridge import launched_together
from tile_kernels._checks import check_whole
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import (
    band_of,
    check_blocks,
    dtype_name,
    output_or_new,
    run_cast,
)
from tile_kernels.quant.cast_plan import Band, CastPlan, make_plan, plan_norm_cast
from tile_kernels.quant.norm_forward_kernel import (
    check_norm,
    norm_forward,
    norm_results,
    rows_of,
)
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

    The codes are those of `per_token_cast` of the rounded result of `norm_forward`. It takes one
    kernel, two for rows over 8192 and groups of 16, and one more for `mega_moe_sf`.

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
    check_norm(x, weight, eps, residual, out_bf16, residual_out)
    _check_mega(mega_moe_sf, mega_moe_block_m, x, config)
    sf, parts = _new_scales(x, config)
    plan = _plan_of(x, config, in_place=residual is None and not with_out_bf16)
    result = out_bf16
    with launched_together():
        if plan is None:
            result, rstd, norm_input = norm_forward(
                x, weight, eps, residual, out_scale, out_bf16, residual_out
            )
            _cast_parts(result, codes, parts, config)
        else:
            if with_out_bf16 and result is None:
                result = torch.empty_like(x, memory_format=torch.contiguous_format)
            rstd, norm_input = norm_results(x, residual, residual_out)
            others = (residual, result, None if residual is None else norm_input)
            _in_one(plan, x, others, weight, rstd, codes, parts, config, eps, out_scale)
        if mega_moe_sf is not None and codes.numel():
            _write_mega(sf, config, mega_moe_sf, mega_moe_block_m)
    return (codes, sf), result if with_out_bf16 else None, rstd, norm_input


def _plan_of(x: torch.Tensor, config: common.CastOutputConfig, in_place: bool) -> CastPlan | None:
    """The plan of one kernel for norm and cast; None where they take two."""
    if not x.numel():
        return None
    plan = make_plan(
        "cast", dtype_name(x.dtype), dtype_name(config.torch_dtype), config.fmt, Band(),
        band_of(config), settings.get_num_vec_cores(),
    )  # fmt: skip
    return plan_norm_cast(plan, x.shape[-1], in_place)


def _new_scales(
    x: torch.Tensor, config: common.CastOutputConfig
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    """New scales of x, and the same as those of each part of x that a kernel takes.

    In column-major layouts each batch has storage of its own and is a part.
    """
    if x.dim() == 2 or not config.sf_layout.is_column_major:
        rows = (math.prod(x.shape[:-1]), x.shape[-1])
        sf = common.cast_epilogue(common.alloc_scaling_factors(rows, config, x.device), config)
        return sf.view(*x.shape[:-1], sf.shape[-1]) if x.dim() == 3 else sf, [sf]
    batches, tokens, hidden = x.shape
    one = common.alloc_scaling_factors((tokens, hidden), config, x.device)
    shape = (batches, one.shape[0], max(one.stride(0), tokens))
    stored = torch.empty(shape, dtype=one.dtype, device=one.device)[..., :tokens]
    return stored.transpose(1, 2), [stored[batch].T for batch in range(batches)]


def _part(tensor: torch.Tensor, index: int, count: int) -> torch.Tensor:
    """Rows of a part of x, or of a tensor like it: all, or those of a batch."""
    return rows_of("x", tensor) if count == 1 else tensor[index]


def _cast_parts(
    result: torch.Tensor,
    codes: torch.Tensor,
    parts: list[torch.Tensor],
    config: common.CastOutputConfig,
) -> None:
    for index, sf in enumerate(parts):
        rows = _part(result, index, len(parts))
        _, in_sf, in_config = common.get_cast_input_and_config(rows, None)
        part = _part(codes, index, len(parts))
        run_cast(rows, in_sf, in_config, config, out=part, new_sf=sf)


def _in_one(
    plan: CastPlan,
    x: torch.Tensor,
    others: tuple[torch.Tensor | None, ...],
    weight: torch.Tensor | None,
    rstd: torch.Tensor,
    codes: torch.Tensor,
    parts: list[torch.Tensor],
    config: common.CastOutputConfig,
    eps: float,
    out_scale: float,
) -> None:
    """Runs the kernel for each part; `others` are residual, result and its sum with x, or None."""
    from tile_kernels.quant.norm_cast_asc import norm_cast

    count = len(parts)
    unused = torch.empty((1, 1), dtype=x.dtype, device=x.device)
    is_packed_col = plan.sf.layout.kind == "packed_col"
    for index, sf in enumerate(parts):
        rows = _part(x, index, count)
        residual, result, kept = (
            unused if tensor is None else _part(tensor, index, count) for tensor in others
        )
        norm_cast(
            rows, residual, unused.view(1) if weight is None else weight, result,
            rstd.view(count, -1)[index], kept, _part(codes, index, count),
            common.sf_items(sf, config, words=is_packed_col),
            eps, out_scale, common.float_bits(config.clamp_min_value),
            ceil_div(rows.shape[0], plan.rows),
            plan=plan, round_sf=config.round_sf, has_residual=others[0] is not None,
            has_weight=weight is not None, has_out=others[1] is not None,
        )  # fmt: skip


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
