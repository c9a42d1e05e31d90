"""Launches casts with a scale a row, and their way back, on vector registers.

The public functions check; `run_cast` and `cast_back` come here with rows that a tile can hold.
"""

from __future__ import annotations

import torch

from tile_kernels import config as settings
from tile_kernels.quant import common
from tile_kernels.quant.cast_plan import BYTES, PER_ITEM, row_tile
from tile_kernels.quant.common import BaseCastConfig, CastOutputConfig
from tile_kernels.utils import ceil_div

__all__ = ["launch_row_cast", "launch_row_scaled", "takes_rows"]

OTHER_GROUPS = (1, 16, 32, 64, 128)  # have kernels of their own


def takes_rows(hidden: int, config: BaseCastConfig, *dtypes: torch.dtype) -> bool:
    """Whether rows have one scale each, of a kind these kernels take, and fit a tile."""
    return (
        config.sf_block == (1, hidden)
        and hidden not in OTHER_GROUPS
        and not config.use_e4m3_sf
        and _tile(hidden, dtypes) is not None
    )


def launch_row_cast(
    x: torch.Tensor, codes: torch.Tensor | None, sf: torch.Tensor, config: CastOutputConfig
) -> None:
    """Casts x [tokens, hidden]; without codes only the scales are written."""
    from tile_kernels.quant.row_cast_asc import row_cast

    tokens, hidden = x.shape
    words = common.sf_items(sf, config, words=True).reshape(-1)[:tokens]
    rows, width, stages = _tile(hidden, (x.dtype, config.torch_dtype)) or (0, 0, 0)
    out = codes
    if out is None:
        out = torch.empty((1, 1), dtype=config.torch_dtype, device=x.device)
    row_cast(
        x, out, words, common.float_bits(config.clamp_min_value), ceil_div(tokens, rows),
        x_dtype=_name(x.dtype), out_dtype=_name(config.torch_dtype), sf_dtype=_name(words.dtype),
        fmt=config.fmt, rows=rows, width=width, stages=stages, cores=settings.get_num_vec_cores(),
        round_sf=config.round_sf, wants=codes is not None,
    )  # fmt: skip


def launch_row_scaled(
    x: torch.Tensor, sf: torch.Tensor, config: BaseCastConfig, out: torch.Tensor, fmt: str = ""
) -> None:
    """Writes x times the scales of its rows, or with a fmt the codes of x over these scales."""
    from tile_kernels.quant.row_cast_asc import row_scaled

    words = common.sf_items(sf, config, words=True)
    if config.sf_layout.is_column_major:
        words = words[:1].T
    data = x.view(torch.uint8) if x.dtype == torch.float8_e4m3fn else x
    hidden = common.get_logical_hidden(x.shape[1], x.dtype)
    rows, width, stages = _tile(hidden, (x.dtype, out.dtype)) or (0, 0, 0)
    row_scaled(
        data, words, out, ceil_div(x.shape[0], rows),
        x_dtype=_name(data.dtype), sf_dtype=_name(words.dtype), out_dtype=_name(out.dtype),
        fmt=fmt, rows=rows, width=width, stages=stages, cores=settings.get_num_vec_cores(),
    )  # fmt: skip


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _tile(hidden: int, dtypes: tuple[torch.dtype, ...]) -> tuple[int, int, int] | None:
    names = [_name(dtype) for dtype in dtypes]
    return row_tile(hidden, sum(2 * BYTES[name] // PER_ITEM.get(name, 1) for name in names))
