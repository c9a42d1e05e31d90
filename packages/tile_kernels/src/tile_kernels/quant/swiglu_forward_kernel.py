"""SwiGLU forward, with or without a cast (tile_kernels.md section 4.8)."""

from __future__ import annotations

from dataclasses import replace

import torch

from tile_kernels import config as settings
from tile_kernels._checks import check_same_device, check_shape, check_tensor
from tile_kernels._gather import gathered
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import band_of, check_blocks, dtype_name
from tile_kernels.quant.cast_plan import Band
from tile_kernels.quant.first_generation import also_accepts
from tile_kernels.quant.psum import check_psum, check_weights
from tile_kernels.quant.swiglu_plan import plan_forward
from tile_kernels.quant.types import QuantTensor
from tile_kernels.utils import ceil_div, str_to_dtype

__all__ = ["swiglu_forward", "swiglu_forward_and_per_token_cast"]

GROUPS = (32, 128)
HIDDEN_MULTIPLE = 64


def swiglu_forward(
    x: torch.Tensor,
    fmt: str,
    psum_num_tokens_per_expert: torch.Tensor | None = None,
    topk_weights: torch.Tensor | None = None,
    routed_scaling_factor: float | None = None,
    clamp_value: float | None = None,
    clamped_count: torch.Tensor | None = None,
) -> torch.Tensor:
    """Returns silu(left half) * right half of each row, times its weight.

    Args:
        x: contiguous bf16 or fp32 [tokens, 2 hidden], hidden a multiple of 64.
        fmt: ``"bf16"`` or ``"fp32"``, the dtype of the result.
        psum_num_tokens_per_expert: int32 [experts], not decreasing: one after the last row of each
            expert, whose first row is the previous end rounded up to
            `tile_kernels.get_token_alignment()`. Other rows are padding: they are not read, and
            their results not written. None: all rows count.
        topk_weights: fp32 [tokens].
        routed_scaling_factor: multiplies the weights.
        clamp_value: left is limited to at most this, right to +- this, before the activation.
        clamped_count: int64 [4], to which are added: elements with left above the limit, right
            above, right below, and all valid elements; needs clamp_value.

    Returns:
        [tokens, hidden].

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, dtype or option that is not allowed;
            nothing is written.
    """
    if fmt not in ("bf16", "fp32"):
        raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'bf16', 'fp32'")
    tokens, hidden = _check(
        x, psum_num_tokens_per_expert, topk_weights, routed_scaling_factor, clamp_value,
        clamped_count,
    )  # fmt: skip
    out = torch.empty((tokens, hidden), dtype=str_to_dtype(fmt), device=x.device)
    _launch(
        x, out, None, None, psum_num_tokens_per_expert, topk_weights, routed_scaling_factor,
        clamp_value, clamped_count,
    )  # fmt: skip
    return out


def _first_generation(
    x: torch.Tensor,
    fmt: str,
    num_per_channels: int,
    pos_to_token_topk: torch.Tensor | None = None,
    topk_weights: torch.Tensor | None = None,
    pos_to_expert: torch.Tensor | None = None,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    swiglu_clamp_value: float | None = None,
    clamped_count: torch.Tensor | None = None,
    sf_clamp_min: float | None = None,
) -> QuantTensor:
    """The form with mappings: weights fp32 [tokens, k] by position, a count of three."""
    if (pos_to_token_topk is None) != (topk_weights is None):
        raise TileKernelsValueError("topk_weights needs pos_to_token_topk and the other way round")
    hidden = x.shape[-1] // 2
    if num_per_channels != hidden:
        _check_group(num_per_channels)
    elif use_tma_aligned_col_major_sf:
        raise TileKernelsValueError("one scale a row cannot be column-major; pass False")
    config = common.get_cast_output_config(
        fmt, (1, num_per_channels), use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0
    )
    if sf_clamp_min is not None:
        config = replace(config, clamp_min_value=float(sf_clamp_min))
    weights = None
    if topk_weights is not None and pos_to_token_topk is not None:
        weights = gathered(topk_weights, pos_to_token_topk)
    if clamped_count is None:
        return _cast(x, config, None, weights, None, swiglu_clamp_value, None)
    check_tensor("clamped_count", clamped_count, (torch.int64,), 1)
    check_shape("clamped_count", clamped_count, (3,))
    if pos_to_expert is not None:
        x = _without_padding(x, pos_to_expert)
    count = clamped_count.new_empty(4)
    count[:3] = clamped_count
    result = _cast(x, config, None, weights, None, swiglu_clamp_value, count)
    clamped_count.copy_(count[:3])
    return result


def _without_padding(x: torch.Tensor, pos_to_expert: torch.Tensor) -> torch.Tensor:
    """A copy of x with zeros, which no limit touches, in rows without an expert."""
    from tile_kernels._rows_asc import zero_rows

    check_tensor("pos_to_expert", pos_to_expert, (torch.int32,), 1)
    check_shape("pos_to_expert", pos_to_expert, (x.shape[0],))
    check_same_device(x=x, pos_to_expert=pos_to_expert)
    copy = x.clone(memory_format=torch.contiguous_format)
    if copy.numel():
        zero_rows(pos_to_expert, copy.view(torch.int8), cores=settings.get_num_vec_cores())
    return copy


@also_accepts(
    _first_generation,
    ("pos_to_token_topk", "pos_to_expert", "swiglu_clamp_value", "sf_clamp_min"),
    lambda args: len(args) > 4 and isinstance(args[4], torch.Tensor) and args[4].dim() == 2,
)
def swiglu_forward_and_per_token_cast(
    x: torch.Tensor,
    fmt: str,
    num_per_channels: int,
    psum_num_tokens_per_expert: torch.Tensor | None = None,
    topk_weights: torch.Tensor | None = None,
    routed_scaling_factor: float | None = None,
    use_tma_aligned_col_major_sf: bool = False,
    round_sf: bool = False,
    use_packed_ue8m0: bool = False,
    clamp_value: float | None = None,
    clamped_count: torch.Tensor | None = None,
) -> QuantTensor:
    """Returns `per_token_cast` of the fp32 result of `swiglu_forward`, in one kernel.

    Args:
        fmt: ``"e4m3"``.
        num_per_channels: channels per scale, 32 or 128.
        use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0: form of the scales, as in
            `per_token_cast`.

    The other arguments and the errors are those of `swiglu_forward`. Codes and scales of padding
    rows are not written.

    The form of the first generation is understood too: `(x, fmt, num_per_channels,
    pos_to_token_topk=None, topk_weights=None, pos_to_expert=None, ..., swiglu_clamp_value=None,
    clamped_count=None, sf_clamp_min=None)` with weights fp32 [tokens, k], int32 mappings [rows],
    clamped_count int64 [3], num_per_channels also hidden, and sf_clamp_min in place of the lower
    bound of a group's largest magnitude. With pos_to_expert and clamped_count x is copied once.
    """
    _check_group(num_per_channels)
    config = common.get_cast_output_config(
        fmt, (1, num_per_channels), use_tma_aligned_col_major_sf, round_sf, use_packed_ue8m0
    )
    return _cast(
        x, config, psum_num_tokens_per_expert, topk_weights, routed_scaling_factor, clamp_value,
        clamped_count,
    )  # fmt: skip


def _check_group(num_per_channels: int) -> None:
    if num_per_channels not in GROUPS:
        raise TileKernelsValueError(f"num_per_channels got {num_per_channels}; allowed: 32, 128")


def _cast(
    x: torch.Tensor,
    config: common.CastOutputConfig,
    psum: torch.Tensor | None,
    weights: torch.Tensor | None,
    factor: float | None,
    clamp_value: float | None,
    count: torch.Tensor | None,
) -> QuantTensor:
    if config.fmt != "e4m3":
        raise TileKernelsValueError(
            f"fmt got {config.fmt!r}; allowed: 'e4m3' (swiglu_forward makes 'bf16' and 'fp32')"
        )
    tokens, hidden = _check(x, psum, weights, factor, clamp_value, count)
    out = torch.empty((tokens, hidden), dtype=config.torch_dtype, device=x.device)
    storage = common.alloc_scaling_factors((tokens, hidden), config, x.device)
    sf = common.cast_epilogue(storage, config)
    _launch(x, out, sf, config, psum, weights, factor, clamp_value, count)
    return out, sf


def _check(
    x: torch.Tensor,
    psum: torch.Tensor | None,
    weights: torch.Tensor | None,
    factor: float | None,
    clamp_value: float | None,
    count: torch.Tensor | None,
) -> tuple[int, int]:
    common.get_cast_input_and_config(x, None)
    if not x.is_contiguous():
        raise TileKernelsValueError(
            f"x has stride {tuple(x.stride())}; it must be contiguous, pass x.contiguous()"
        )
    check_blocks("swiglu_forward (half of x)", x.shape[1] // 2, HIDDEN_MULTIPLE)
    check_psum(psum, x.device)
    check_weights(weights, factor, x.shape[0], x.device)
    if clamp_value is not None and not clamp_value > 0:
        raise TileKernelsValueError(f"clamp_value must be positive, got {clamp_value}")
    if count is not None:
        if clamp_value is None:
            raise TileKernelsValueError(
                "clamped_count needs clamp_value; pass it or drop the count"
            )
        if count.dtype != torch.int64:
            raise TileKernelsTypeError(f"clamped_count has dtype {count.dtype}; allowed: int64")
        if tuple(count.shape) != (4,) or not count.is_contiguous() or count.device != x.device:
            raise TileKernelsValueError(
                f"clamped_count is {tuple(count.shape)} on {count.device}; wanted (4,) on "
                f"{x.device}"
            )
    return x.shape[0], x.shape[1] // 2


def _launch(
    x: torch.Tensor,
    out: torch.Tensor,
    sf: torch.Tensor | None,
    config: common.CastOutputConfig | None,
    psum: torch.Tensor | None,
    weights: torch.Tensor | None,
    factor: float | None,
    clamp_value: float | None,
    count: torch.Tensor | None,
) -> None:
    if not out.numel():
        return
    from tile_kernels.quant.swiglu_forward_asc import swiglu_forward as kernel

    hidden = out.shape[1]
    plan = plan_forward(
        dtype_name(x.dtype), dtype_name(out.dtype), Band() if config is None else band_of(config),
        hidden, settings.get_num_vec_cores(),
        settings.get_token_alignment() if psum is not None else 0,
        weights is not None, clamp_value is not None, count is not None,
        count is None and _is_bf16(clamp_value),
    )  # fmt: skip
    device, across = x.device, ceil_div(hidden, plan.cols)
    items = (
        torch.empty((1, 1), device=device)
        if sf is None or config is None
        else common.sf_items(sf, config)
    )
    kernel(
        x,
        psum if psum is not None else torch.empty(1, dtype=torch.int32, device=device),
        weights if weights is not None else torch.empty(1, device=device),
        count if count is not None else torch.empty(4, dtype=torch.int64, device=device),
        out, items,
        1.0 if factor is None else float(factor), 0.0 if clamp_value is None else clamp_value,
        0 if config is None else common.float_bits(config.clamp_min_value),
        ceil_div(x.shape[0], plan.rows) * across, across,
        plan=plan, round_sf=config is not None and config.round_sf,
    )  # fmt: skip


def _is_bf16(value: float | None) -> bool:
    return value is not None and float(torch.tensor(value).bfloat16()) == value
