"""RMSNorm forward (tile_kernels.md section 4.9)."""

from __future__ import annotations

import math

import torch

from tile_kernels import config as settings
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant.block_cast_kernel import check_blocks, dtype_name
from tile_kernels.quant.cast_plan import BYTES, UB_LIMIT
from tile_kernels.utils import align, ceil_div

__all__ = ["WIDTHS", "check_norm", "norm_forward", "norm_results", "rows_of"]

HIDDEN_MULTIPLE = 32
MAX_ROWS = 16
MIN_COLS, MAX_COLS, TILE_BYTES = 1024, 8192, 32768  # of a tile on vector registers
WIDTHS = 1024  # rows share a kernel when their lengths round up to the same multiple


def norm_forward(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    eps: float,
    residual: torch.Tensor | None = None,
    out_scale: float = 1.0,
    out: torch.Tensor | None = None,
    residual_out: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Normalises each row by its root mean square.

    With r = x + residual rounded to the dtype of x: `rstd = 1 / sqrt(mean(r * r) + eps)` and
    `out = (r * rstd) * (weight * out_scale)`.

    Args:
        x: bf16 or fp32 [tokens, hidden], rows may be strided, or contiguous [batch, tokens,
            hidden]; hidden a multiple of 32, and a row must fit the unified buffer.
        weight: [hidden] in the dtype of x, or None.
        eps: at least 2 ** -126.
        residual: like x.
        out_scale: multiplies the weight.
        out, residual_out: where to write; residual_out needs residual. They must not overlap the
            inputs or each other.

    Returns:
        (out, rstd fp32 [tokens] or [batch, tokens], r); r is x itself without residual.

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed; nothing is written.
    """
    check_norm(x, weight, eps, residual, out, residual_out)
    out = torch.empty_like(x, memory_format=torch.contiguous_format) if out is None else out
    rstd, norm_input = norm_results(x, residual, residual_out)
    if x.numel():
        given = residual if residual is None else rows_of("residual", residual)
        kept = None if residual is None else rows_of("residual_out", norm_input)
        _launch(
            rows_of("x", x), given, weight, rows_of("out", out), rstd.view(-1), kept, eps, out_scale
        )
    return out, rstd, norm_input


def check_norm(
    x: torch.Tensor,
    weight: torch.Tensor | None,
    eps: float,
    residual: torch.Tensor | None,
    out: torch.Tensor | None,
    residual_out: torch.Tensor | None,
) -> None:
    """Raises what `norm_forward` raises for these arguments."""
    if x.dtype not in (torch.bfloat16, torch.float32):
        raise TileKernelsTypeError(f"x has dtype {x.dtype}; allowed: bfloat16, float32")
    if x.dim() not in (2, 3):
        raise TileKernelsValueError(f"x has shape {tuple(x.shape)}; wanted 2 or 3 dimensions")
    if not eps >= 2.0**-126:
        raise TileKernelsValueError(f"eps must be at least 2**-126, got {eps}")
    hidden = x.shape[-1]
    check_blocks("norm_forward", hidden, HIDDEN_MULTIPLE)
    if residual_out is not None and residual is None:
        raise TileKernelsValueError("residual_out needs residual; pass it or drop residual_out")
    if weight is not None and (
        tuple(weight.shape) != (hidden,) or weight.dtype != x.dtype or not weight.is_contiguous()
    ):
        raise TileKernelsValueError(
            f"weight is {tuple(weight.shape)} {weight.dtype}; wanted contiguous ({hidden},) "
            f"{x.dtype}"
        )
    _row_bytes(hidden, x.dtype)
    rows_of("x", x)
    for name, tensor in (("residual", residual), ("out", out), ("residual_out", residual_out)):
        if tensor is None:
            continue
        if tensor.shape != x.shape or tensor.dtype != x.dtype:
            raise TileKernelsValueError(
                f"{name} is {tuple(tensor.shape)} {tensor.dtype}; wanted {tuple(x.shape)} {x.dtype}"
            )
        rows_of(name, tensor)


def norm_results(
    x: torch.Tensor, residual: torch.Tensor | None, residual_out: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Returns (rstd, norm_input) to be filled; norm_input is x itself without residual.

    Rows without channels, which no kernel visits, have the mean of nothing: their rstd is NaN.
    """
    rstd = torch.empty(x.shape[:-1], dtype=torch.float32, device=x.device)
    if x.shape[-1] == 0:
        rstd.fill_(math.nan)
    if residual is None:
        return rstd, x
    if residual_out is None:
        residual_out = torch.empty_like(x, memory_format=torch.contiguous_format)
    return rstd, residual_out


def _row_bytes(hidden: int, dtype: torch.dtype) -> int:
    size = BYTES[dtype_name(dtype)]
    most = UB_LIMIT // (3 * size) // WIDTHS * WIDTHS
    if align(hidden, WIDTHS) > most:
        raise TileKernelsValueError(
            f"hidden is {hidden}; a row of {dtype} may have {most} elements, more do not fit the "
            "unified buffer"
        )
    return align(hidden, WIDTHS) * size


def rows_of(name: str, tensor: torch.Tensor) -> torch.Tensor:
    """Returns a tensor as [rows, hidden] without a copy, or raises a TileKernelsValueError."""
    if tensor.dim() == 3:
        if not tensor.is_contiguous():
            raise TileKernelsValueError(
                f"{name} has stride {tuple(tensor.stride())}; three dimensions must be contiguous"
            )
        return tensor.flatten(0, 1)
    if tensor.stride(-1) != 1 and tensor.numel():
        raise TileKernelsValueError(
            f"{name} has stride {tuple(tensor.stride())}; the last must be 1"
        )
    return tensor


def _launch(
    x: torch.Tensor,
    residual: torch.Tensor | None,
    weight: torch.Tensor | None,
    out: torch.Tensor,
    rstd: torch.Tensor,
    residual_out: torch.Tensor | None,
    eps: float,
    out_scale: float,
) -> None:
    from tile_kernels.quant.norm_forward_asc import norm_forward as by_threads
    from tile_kernels.quant.token_norm_asc import token_norm

    row, hidden = _row_bytes(x.shape[1], x.dtype), x.shape[1]
    unused = torch.empty((1, 1), dtype=x.dtype, device=x.device)
    tensors = (
        x,
        unused if residual is None else residual,
        unused.view(1) if weight is None else weight,
        out, rstd,
        unused if residual_out is None else residual_out,
    )  # fmt: skip
    options = {
        "dtype": dtype_name(x.dtype), "cores": settings.get_num_vec_cores(),
        "has_residual": residual is not None, "has_weight": weight is not None,
    }  # fmt: skip
    if hidden <= MAX_COLS:
        cols = max(MIN_COLS, 1 << (hidden - 1).bit_length())
        rows = max(TILE_BYTES // (cols * BYTES[dtype_name(x.dtype)]), 1)
        tasks = ceil_div(x.shape[0], rows)
        token_norm(*tensors, eps, out_scale, tasks, rows=rows, cols=cols, **options)
        return
    rows = MAX_ROWS
    while rows > 1 and (2 * rows + 1) * row > UB_LIMIT // 2:
        rows //= 2
    tasks, width = ceil_div(x.shape[0], rows), align(hidden, WIDTHS)
    by_threads(*tensors, eps, out_scale, tasks, rows=rows, width=width, **options)
