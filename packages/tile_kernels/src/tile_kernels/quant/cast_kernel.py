"""The element-wise cast (tile_kernels.md section 4.5)."""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels._checks import check_tensor
from tile_kernels.errors import TileKernelsTypeError, TileKernelsValueError
from tile_kernels.quant.block_cast_kernel import dtype_name
from tile_kernels.utils import ceil_div, str_to_dtype

__all__ = ["cast"]

DTYPES = (torch.float32, torch.bfloat16, torch.float16, torch.float8_e4m3fn)
STOCHASTIC = (
    (torch.float32, torch.bfloat16),
    (torch.float32, torch.float8_e4m3fn),
    (torch.bfloat16, torch.float8_e4m3fn),
)
LAUNCH = 1 << 30  # elements of one launch, so that positions fit 32 bits


def cast(
    x: torch.Tensor, dtype: torch.dtype | str, stochastic_rounding: bool = False
) -> torch.Tensor:
    """Converts every element to another format.

    Args:
        x: contiguous tensor of any shape in float32, bfloat16, float16 or float8_e4m3fn.
        dtype: one of the same dtypes, or ``"fp32"``, ``"bf16"``, ``"e4m3"``. e4m3 saturates finite
            numbers and infinities at +-448 and keeps NaN.
        stochastic_rounding: rounds up or down at random, the nearer neighbour being the more
            likely; the same for equal input. From fp32 to bf16 or e4m3, and from bf16 to e4m3.

    Returns:
        A tensor of the shape of x, rounded to nearest even without stochastic_rounding.

    Raises:
        TileKernelsTypeError, TileKernelsValueError: a dtype or a pair of dtypes that is not
            allowed, or x is not contiguous.

    Example:
        >>> cast(torch.randn(3, 5), torch.bfloat16, stochastic_rounding=True)
    """
    check_tensor("x", x, DTYPES, range(x.dim() + 1) if isinstance(x, torch.Tensor) else 0)
    if isinstance(dtype, str):
        dtype = str_to_dtype(dtype)
    if dtype not in DTYPES:
        allowed = ", ".join(map(str, DTYPES))
        raise TileKernelsTypeError(f"dtype got {dtype}; allowed: {allowed}")
    if stochastic_rounding and (x.dtype, dtype) not in STOCHASTIC:
        pairs = "; ".join(f"{source} to {target}" for source, target in STOCHASTIC)
        raise TileKernelsValueError(
            f"stochastic_rounding from {x.dtype} to {dtype}; allowed: {pairs}"
        )
    out = torch.empty(x.shape, dtype=dtype, device=x.device)
    source, target = x.view(-1), out.view(-1)
    for start in range(0, x.numel(), LAUNCH):
        _launch(source[start : start + LAUNCH], target[start : start + LAUNCH], start,
                bool(stochastic_rounding))  # fmt: skip
    return out


def _launch(x: torch.Tensor, out: torch.Tensor, start: int, stochastic: bool) -> None:
    kinds = {"x_dtype": dtype_name(x.dtype), "out_dtype": dtype_name(out.dtype)}
    cores = settings.get_num_vec_cores()
    if not stochastic:
        from tile_kernels.quant import convert_asc

        tasks = ceil_div(x.numel(), convert_asc.RUN)
        convert_asc.convert_elements(x, out, tasks, **kinds, cores=cores)
        return
    from tile_kernels.quant.cast_asc import GROUP, RUN, cast_elements

    tasks = ceil_div(x.numel(), RUN)
    cast_elements(x[None], out[None], _wrapped(start // GROUP), tasks, **kinds, cores=cores)


def _wrapped(number: int) -> int:
    """A group's number as a signed word; the hash takes it modulo 2 ** 32."""
    return (number + 2**31) % 2**32 - 2**31
