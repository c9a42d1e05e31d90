"""RMSNorm backward (tile_kernels.md section 4.9)."""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels._bridge import launched_together
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant.block_cast_kernel import check_blocks, dtype_name
from tile_kernels.quant.cast_plan import BYTES, UB_LIMIT
from tile_kernels.quant.norm_forward_kernel import WIDTHS, rows_of
from tile_kernels.utils import align, ceil_div

__all__ = ["norm_backward"]

HIDDEN_MULTIPLE = 32
MAX_ROWS = 16
TILES_UB_LIMIT = 232 * 1024  # of 248 KiB without SIMT


def norm_backward(
    out_grad: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    rstd: torch.Tensor,
    residual_out_grad: torch.Tensor | None = None,
    out_scale: float = 1.0,
    weight_grad: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Returns the gradients of `norm_forward`.

    With xh = x * rstd, g = out_grad * out_scale, gw = g * weight:
    `x_grad = (gw - xh * mean(xh * gw)) * rstd + residual_out_grad`, `weight_grad = sum(xh * g)`.

    Args:
        out_grad: bf16 or fp32 [tokens, hidden] or [batch, tokens, hidden], hidden a multiple of 32.
        x: the norm_input that the forward pass returned, same shape and dtype.
        weight: [hidden] in the same dtype, or None.
        rstd: fp32, as returned by the forward pass.
        residual_out_grad: like x, the gradient that reaches norm_input on its own.
        out_scale: as in the forward pass.
        weight_grad: bf16 or fp32 [hidden], to which the gradient is added; None makes a new one in
            the dtype of weight.

    Returns:
        (x_grad, contiguous, weight_grad or None without weight). How the rows are spread over cores
        sets the order in which weight_grad is summed.

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride or dtype that is not allowed;
            nothing is written.
    """
    if x.dtype not in (torch.bfloat16, torch.float32):
        raise TileKernelsTypeError(f"x has dtype {x.dtype}; allowed: bfloat16, float32")
    if x.dim() not in (2, 3):
        raise TileKernelsValueError(f"x has shape {tuple(x.shape)}; wanted 2 or 3 dimensions")
    hidden = x.shape[-1]
    check_blocks("norm_backward", hidden, HIDDEN_MULTIPLE)
    most = UB_LIMIT // (4 * BYTES[dtype_name(x.dtype)] + 4) // WIDTHS * WIDTHS
    if align(hidden, WIDTHS) > most:
        raise TileKernelsValueError(
            f"hidden is {hidden}; a row of {x.dtype} may have {most} elements, more do not fit the "
            "unified buffer"
        )
    for name, tensor in (("out_grad", out_grad), ("residual_out_grad", residual_out_grad)):
        if tensor is not None and (tensor.shape != x.shape or tensor.dtype != x.dtype):
            raise TileKernelsValueError(
                f"{name} is {tuple(tensor.shape)} {tensor.dtype}; wanted {tuple(x.shape)} {x.dtype}"
            )
    if rstd.dtype != torch.float32 or rstd.shape != x.shape[:-1] or not rstd.is_contiguous():
        raise TileKernelsValueError(
            f"rstd is {tuple(rstd.shape)} {rstd.dtype}; wanted contiguous {tuple(x.shape[:-1])} "
            "float32"
        )
    _check_weight("weight", weight, hidden, (x.dtype,))
    _check_weight("weight_grad", weight_grad, hidden, (torch.bfloat16, torch.float32))
    if weight is None and weight_grad is not None:
        raise TileKernelsValueError("weight_grad needs weight; pass it or drop weight_grad")
    given = [rows_of("out_grad", out_grad), rows_of("x", x)]
    residual = (
        None if residual_out_grad is None else rows_of("residual_out_grad", residual_out_grad)
    )
    x_grad = torch.empty(x.shape, dtype=x.dtype, device=x.device)
    total = weight_grad
    if weight is not None and total is None:
        total = torch.zeros_like(weight)
    if x.numel():
        _launch(given[0], given[1], weight, rstd.view(-1), residual, x_grad, out_scale, total)
    return x_grad, total


def _check_weight(
    name: str, tensor: torch.Tensor | None, hidden: int, dtypes: tuple[torch.dtype, ...]
) -> None:
    if tensor is None:
        return
    if tensor.dtype not in dtypes:
        raise TileKernelsTypeError(f"{name} has dtype {tensor.dtype}; allowed: {dtypes}")
    if tuple(tensor.shape) != (hidden,) or not tensor.is_contiguous():
        raise TileKernelsValueError(
            f"{name} is {tuple(tensor.shape)}; wanted contiguous ({hidden},)"
        )


def _tile(
    hidden: int, dtype: torch.dtype, has_residual: bool, has_weight: bool
) -> tuple[int, int, int]:
    """Rows of a tile, their width, and the copies of a tile that fit the unified buffer."""
    width, size = align(hidden, WIDTHS), BYTES[dtype_name(dtype)]
    # The weight and its gradient in fp32
    left = TILES_UB_LIMIT - width * (size + 4 if has_weight else 0)
    row = (2 + has_residual) * width * size
    versions = 2 if 2 * row <= left else 1
    rows = MAX_ROWS
    while rows > 1 and versions * rows * row > left:
        rows //= 2
    return rows, width, versions


def _launch(
    grad: torch.Tensor,
    x: torch.Tensor,
    weight: torch.Tensor | None,
    rstd: torch.Tensor,
    residual: torch.Tensor | None,
    x_grad: torch.Tensor,
    out_scale: float,
    total: torch.Tensor | None,
) -> None:
    from tile_kernels.quant.norm_backward_asc import column_sum
    from tile_kernels.quant.norm_backward_asc import norm_backward as kernel

    cores, hidden = settings.get_num_vec_cores(), x.shape[1]
    rows, width, versions = _tile(hidden, x.dtype, residual is not None, weight is not None)
    unused = torch.empty((1, 1), dtype=x.dtype, device=x.device)
    shape = (cores, hidden) if weight is not None else (1, 1)
    partial = torch.empty(shape, dtype=torch.float32, device=x.device)
    with launched_together():
        kernel(
            grad, x, unused.view(1) if weight is None else weight, rstd,
            unused if residual is None else residual, x_grad.view(-1, hidden), partial,
            out_scale, ceil_div(x.shape[0], rows),
            dtype=dtype_name(x.dtype), rows=rows, width=width, versions=versions,
            cores=cores, has_residual=residual is not None, has_weight=weight is not None,
        )  # fmt: skip
        if total is not None:
            column_sum(
                partial, total, cores, dtype=dtype_name(total.dtype), most=cores, cores=cores
            )
