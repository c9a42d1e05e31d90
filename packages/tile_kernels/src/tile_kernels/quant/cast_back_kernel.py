"""Dequantisation (tile_kernels.md section 4.4)."""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels.errors import TileKernelsValueError
from tile_kernels.quant import common
from tile_kernels.quant.block_cast_kernel import band_of, check_blocks, dtype_name
from tile_kernels.quant.cast_plan import back_tile, quads_back_tile
from tile_kernels.quant.e5m6_kernel import cast_back_from_e5m6
from tile_kernels.quant.row_cast_kernel import launch_row_scaled, takes_rows
from tile_kernels.quant.types import QuantTensor
from tile_kernels.utils import ceil_div, str_to_dtype

__all__ = ["cast_back", "per_token_cast_back"]

HIDDEN_MULTIPLE = 64


def cast_back(
    x: QuantTensor, fmt: str, x_block_size: tuple[int, int], x_special_fmt: str | None = None
) -> torch.Tensor:
    """Returns the numbers of quantised data.

    Args:
        x: (data, sf): e4m3 [tokens, hidden] or int8 [tokens, hidden / 2] (e2m1), rows may be
            strided, hidden a multiple of 64; scales in any layout, recognised by dtype and strides.
        fmt: ``"bf16"`` or ``"fp32"``, the dtype of the result.
        x_block_size: (tokens, channels) of a scale, any sizes.
        x_special_fmt: None; or ``"e5m6"`` for uint8 data [tokens, 3 hidden / 2] with a scale a row,
            hidden a multiple of 8.

    Returns:
        [tokens, hidden]: `float(data) * sf`, rounded to nearest even.

    Raises:
        TileKernelsValueError, TileKernelsTypeError: a shape, stride, dtype or option that is not
            allowed.

    Example:
        >>> y = cast_back(per_token_cast(x, "e4m3", 32), "bf16", (1, 32))
    """
    if fmt not in ("bf16", "fp32"):
        raise TileKernelsValueError(f"fmt got {fmt!r}; allowed: 'bf16', 'fp32'")
    if x_special_fmt not in (None, "e5m6"):
        raise TileKernelsValueError(f"x_special_fmt got {x_special_fmt!r}; allowed: None, 'e5m6'")
    if x_special_fmt == "e5m6":
        return cast_back_from_e5m6(x, str_to_dtype(fmt), x_block_size)
    data, sf, config = common.get_cast_input_and_config(x, x_block_size)
    assert sf is not None
    tokens, hidden = data.shape[0], common.get_logical_hidden(data.shape[1], data.dtype)
    check_blocks("cast_back", hidden, HIDDEN_MULTIPLE)
    out = torch.empty((tokens, hidden), dtype=str_to_dtype(fmt), device=data.device)
    if out.numel():
        _launch(data, sf, config, out)
    return out


def per_token_cast_back(
    x: QuantTensor, fmt: str, num_per_channels: int, x_special_fmt: str | None = None
) -> torch.Tensor:
    """Same as `cast_back` with blocks of (1, num_per_channels)."""
    return cast_back(x, fmt, (1, num_per_channels), x_special_fmt)


def _launch(
    data: torch.Tensor, sf: torch.Tensor, config: common.CastInputConfig, out: torch.Tensor
) -> None:
    if takes_rows(out.shape[1], config, data.dtype, out.dtype):
        launch_row_scaled(data, sf, config, out)
        return
    from tile_kernels.quant.cast_back_asc import cast_back as kernel

    band = band_of(config)
    x_dtype, out_dtype = dtype_name(data.dtype), dtype_name(out.dtype)
    fast = quads_back_tile(band, out_dtype)
    if fast is not None:
        from tile_kernels.quant.quads_back_asc import quads_back

        kind = torch.int8 if data.dtype == torch.int8 else torch.uint8
        across = ceil_div(out.shape[1], fast[1])
        quads_back(
            data.view(kind), common.sf_items(sf, config), out,
            ceil_div(out.shape[0], fast[0]) * across, across, band=band, x_dtype=dtype_name(kind),
            out_dtype=out_dtype, rows=fast[0], cols=fast[1], cores=settings.get_num_vec_cores(),
        )  # fmt: skip
        return
    rows, cols = back_tile(x_dtype, out_dtype, band)
    across = ceil_div(out.shape[1], cols)
    kernel(
        data, common.sf_items(sf, config), out, ceil_div(out.shape[0], rows) * across, across,
        band=band, x_dtype=x_dtype, out_dtype=out_dtype, rows=rows, cols=cols,
        cores=settings.get_num_vec_cores(),
    )  # fmt: skip
